"""What a process is told about its memory, in one of its own."""

# ruff: noqa: S603 - the interpreter that runs this test
import platform
import subprocess
import sys

import pytest

CYCLES = """
import gc
from penstock.core.memory import prepare_memory
prepare_memory()
class Node: pass
def leave_cycles(number):
    for _ in range(number):
        node = Node(); node.self = node
before = gc.get_freeze_count()
leave_cycles(50_000)
print(before > 0, sum(isinstance(each, Node) for each in gc.get_objects()) < 50_000)
"""
#: Threads that are all there at once and allocate what Python leaves to the C library.
THREADS = """
import ctypes, sys, threading
from penstock.core.memory import prepare_memory
prepare_memory()
together = threading.Barrier(6)
def allocate():
    together.wait()
    kept = [bytearray(5_000) for _ in range(100)]
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(6)]
for each in threads: each.start()
for each in threads: each.join()
libc = ctypes.CDLL(None)
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
"""


def said_by(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout


def test_what_was_loaded_is_left_out_and_cycles_are_still_found() -> None:
    assert said_by(CYCLES).split() == ["True", "True"]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has arenas")
def test_all_threads_allocate_from_one_place() -> None:
    assert said_by(THREADS).count("<heap ") == 1
