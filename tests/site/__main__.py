"""Serve the site in the foreground: `python -m tests.site [--port N]`."""

import argparse
import asyncio
import sys
from contextlib import suppress

from tests.site.hosts import HOSTS
from tests.site.server import Site
from tests.site.settings import SiteSettings


async def serve(port: int) -> None:
    async with Site(port=port, settings=SiteSettings(keep_hits=1000)) as site:
        sys.stdout.write(f"http://{site.address}, routed by Host header; also /_echo on each:\n")
        for host, entry in HOSTS.items():
            sys.stdout.write(f"  {host:22} {entry.shows}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.site", description=__doc__)
    parser.add_argument("--port", type=int, default=8099, help="0 chooses a free one")
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(parser.parse_args().port))


if __name__ == "__main__":
    main()
