"""`penstock live run` as a process of its own, on hosts that may be asked quickly."""

import asyncio
import re
import signal
from collections.abc import AsyncIterator, Sequence

import httpx
import pytest

from tests.forks import Command
from tests.shell import Shell

#: Hosts of these tests; elsewhere a page is asked for every two seconds at most.
QUICK_HOSTS = ("live01.test", "live02.test")
PAGE = f"http://{QUICK_HOSTS[0]}/match/7/plain"
KEY = "a-key-for-tests"


class LiveProcess:
    """A process that runs, and where it listens."""

    def __init__(self, process: Command, address: str) -> None:
        self.process = process
        self.address = address
        self.http = httpx.AsyncClient(base_url=address, headers={"X-Service-Key": KEY})

    async def end(self) -> int:
        """End it as Ctrl-C does; the code that it ends with."""
        await self.http.aclose()
        self.process.send_signal(signal.SIGINT)
        async with asyncio.timeout(20):
            await self.process.communicate()
        return self.process.returncode or 0


@pytest.fixture(autouse=True)
def quick(shell: Shell) -> None:
    """Let some hosts be asked quickly, by all commands of a shell, on a store of its own."""
    policy = shell.folder / "policy.yaml"
    policy.write_text("domains:\n" + "".join(map(_entry, QUICK_HOSTS)))
    shell.environment |= {
        "PENSTOCK_POLICIES__FILES": str(policy),
        "PENSTOCK_STORE__FOLDER": str(shell.folder / "store"),
        "PENSTOCK_API__SERVICE_KEY": KEY,
    }


def _entry(host: str) -> str:
    return f"  {host}: {{tokens_per_interval: 100, interval_seconds: 1, request_delay_ms: 0}}\n"


@pytest.fixture
async def running(shell: Shell) -> AsyncIterator[LiveProcess]:
    process = await start_live(shell)
    yield process
    if process.process.returncode is None:
        assert await process.end() == 0


async def start_live(
    shell: Shell, port: int = 0, command: Sequence[str] = ("live", "run")
) -> LiveProcess:
    """Start one; it listens when this returns."""
    process = await shell.start(*command, "--port", str(port))
    said = ""
    async with asyncio.timeout(30):
        while " is up" not in said:
            said += (await process.stderr.readline()).decode()
    found = re.search(r"listens on (http://\S+)", said)
    assert found, said
    return LiveProcess(process, found[1])
