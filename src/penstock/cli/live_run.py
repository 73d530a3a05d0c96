"""`penstock live run`: a process for live pages alone."""

from penstock.cli.up import Parts, Port, run_parts, with_port
from penstock.settings import load_settings
from penstock.workloads.live.model import WORKLOAD


def run(port: Port = None) -> None:
    """Watch feeds and serve their API, and do nothing else; `penstock up` does this as well.

    /health has the form that monitors of live pages know. Ctrl-C lets every cycle come to its end
    and gives the feeds back; a second one stops at once. Nothing is lost either way, and any other
    process takes the feeds over.

        penstock live run --port 8003
    """
    settings = load_settings()
    parts = Parts(works=True, serves=True, answers=True, only=[WORKLOAD])
    run_parts(with_port(settings, settings.live.port if port is None else port), parts)
