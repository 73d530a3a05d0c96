"""The garbage collector in a process that handles many pages and keeps few of them."""

import gc

#: Objects that must outlive their makers before a search for cycles; 700 unless told.
BETWEEN_SEARCHES = 10_000


def collect_rarely() -> None:
    """Leave out what was loaded so far, and search for cycles less often.

    What a page leaves behind goes without a search; what a start loads stays for good. Called
    once, when everything is imported.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(BETWEEN_SEARCHES)
