"""Keeps the browsers of one worker: ends them all, whatever way the worker ends.

Runs as a program of its own between the worker and Playwright's driver:

    python keeper.py WORKER_PID FOLDER USER DRIVER ARGUMENT...

It adopts every process below it, so that none is lost and none stays a zombie. When the driver or
the worker is gone it kills what is left and removes the folder. With a USER the driver and the
browsers run as that user and no longer as root.

Nothing of Penstock is imported here: it starts in a few milliseconds.
"""

import ctypes
import os
import pwd
import shutil
import signal
import sys
import time
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
#: What programs need to know of the machine, by how the names begin; all else may be a secret.
HARMLESS = (
    *("PATH", "LANG", "LC_", "TZ", "FONTCONFIG_", "LD_LIBRARY_PATH"),
    *("PLAYWRIGHT_", "XDG_DATA_"),
)
#: Would let a page past the local proxy to this machine's own services.
UNWANTED = ("PLAYWRIGHT_DISABLE_FORCED_CHROMIUM_PROXIED_LOOPBACK",)
KILL_SECONDS = 8.0
#: That the worker is gone, told once for each of its threads, and that somebody below has ended.
#: Nobody is interrupted by them: they wait until they are looked for.
NEWS = (signal.SIGTERM, signal.SIGCHLD)


def main(worker: int, folder: Path, user: str, command: list[str]) -> int:
    """Run the driver until it or the worker ends; leave nothing behind."""
    os.setsid()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, NEWS)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    try:
        return wait_for(start(folder, user, command, libc)) if os.getppid() == worker else 1
    finally:
        end_all()
        remove(folder)


def start(folder: Path, user: str, command: list[str], libc: ctypes.CDLL) -> int:
    """Start the driver in a folder of its own; the browsers will be its children."""
    home = folder / "home"
    home.mkdir()
    account = pwd.getpwnam(user) if user else None
    if account:
        folder.chmod(0o711)
        os.chown(home, account.pw_uid, account.pw_gid)
    driver = os.fork()
    if driver == 0:
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, NEWS)
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if account:
                os.setgroups([])
                os.setgid(account.pw_gid)
                os.setuid(account.pw_uid)
                # A change of user forgets the signal.
                libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            os.chdir(home)
            os.execve(command[0], command, environment(home))  # noqa: S606 - Playwright's driver
        finally:
            os._exit(127)
    # The pipes are the driver's: the worker shall see when it ends.
    for inherited in (0, 1):
        os.close(inherited)
        os.open(os.devnull, os.O_RDWR)
    return driver


def environment(home: Path) -> dict[str, str]:
    """What the driver and the browsers know: no settings, no secrets, a folder for their files."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(HARMLESS) and name not in UNWANTED
    }
    place = str(home)
    return {**inherited, "TMPDIR": place, "HOME": place, "XDG_CONFIG_HOME": place}


def wait_for(driver: int) -> int:
    """Bury whoever dies, until the driver or the worker is gone; how the driver ended."""
    while signal.sigwait(NEWS) != signal.SIGTERM:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == driver:
                return os.waitstatus_to_exitcode(ended[1]) & 0xFF
    return 1


def end_all() -> None:
    """Kill everything below; whose parent dies becomes a child of ours, so look again."""
    deadline = time.monotonic() + KILL_SECONDS
    while time.monotonic() < deadline:
        for pid in children():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.005)


def children() -> list[int]:
    lists = Path("/proc/self/task").glob("*/children")
    return [int(pid) for file in lists for pid in file.read_text().split()]


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4:]))
