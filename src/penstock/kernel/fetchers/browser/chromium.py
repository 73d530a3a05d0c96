"""Chromium, the program: where it is found, who may run it, and what it is told."""

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

PLACES = (
    "/usr/lib/chromium/chromium-headless-shell",
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
)
#: Where Playwright puts the browsers that it downloads itself, newest last.
DOWNLOADS = (
    "chromium_headless_shell-*/chrome-headless-shell-linux*/chrome-headless-shell",
    "chromium_headless_shell-*/chrome-linux/headless_shell",
    "chromium-*/chrome-linux*/chrome",
)
#: Side doors are shut, and nothing is asked for that no page needs.
ARGUMENTS = (
    "--disable-gpu",
    "--in-process-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--dns-prefetch-disable",
    "--no-first-run",
    "--no-pings",
    "--block-new-web-contents",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
)


def find(executable: str = "") -> str | None:
    """Chromium's program: the one that is named, else the first of the usual ones."""
    if executable:
        return shutil.which(executable)
    for place in PLACES:
        if found := shutil.which(place):
            return found
    downloads = Path.home() / ".cache" / "ms-playwright"
    for pattern in DOWNLOADS:
        if found_files := sorted(downloads.glob(pattern)):
            return str(found_files[-1])
    return None


def others_may_run(path: str) -> bool:
    """Whether a user who owns nothing may run a program."""
    file, wanted = Path(path).resolve(), stat.S_IROTH | stat.S_IXOTH
    with suppress(OSError):
        return others_may_pass(file) and file.stat().st_mode & wanted == wanted
    return False


def others_may_pass(path: Path) -> bool:
    """Whether a user who owns nothing may pass all folders above something."""
    with suppress(OSError):
        return all(parent.stat().st_mode & stat.S_IXOTH for parent in path.resolve().parents)
    return False


def is_root() -> bool:
    """Whether we may do everything, and Chromium must not."""
    return os.geteuid() == 0
