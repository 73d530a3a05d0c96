"""The collector is told to search less, in a process of its own."""

# ruff: noqa: S603 - the interpreter that runs this test
import subprocess
import sys

PROGRAM = """
import gc
from penstock.core.garbage import collect_rarely
collect_rarely()
class Node: pass
def leave_cycles(number):
    for _ in range(number):
        node = Node(); node.self = node
before = gc.get_freeze_count()
leave_cycles(50_000)
print(before > 0, sum(isinstance(each, Node) for each in gc.get_objects()) < 50_000)
"""


def test_what_was_loaded_is_left_out_and_cycles_are_still_found() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["True", "True"]
