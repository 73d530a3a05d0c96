"""The memory of a process that handles many pages and keeps few of them."""

import ctypes
import gc

#: Objects that must outlive their makers before a search for cycles; 700 unless told.
BETWEEN_SEARCHES = 10_000
#: Of glibc's `mallopt`.
M_ARENA_MAX = -8


def prepare_memory() -> None:
    """Let memory come to rest soon; called once, when everything is imported and no thread runs."""
    _share_one_arena()
    _collect_rarely()


def _share_one_arena() -> None:
    """Let all threads allocate from one place.

    Else each gets its own, up to eight for every processor, and what one has freed no other uses:
    they go on growing for thousands of pages.
    """
    # Other C libraries have neither arenas nor this function.
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):
        mallopt(M_ARENA_MAX, 1)


def _collect_rarely() -> None:
    """Leave out what was loaded so far, and search for cycles less often.

    What a page leaves behind goes without a search; what a start loads stays for good.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(BETWEEN_SEARCHES)
