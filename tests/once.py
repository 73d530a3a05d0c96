"""What every service of the tests would make anew, and all alike, made once in a process.

A test has a service of its own, with all routes and pages. A third of the time that making one
takes goes to what says nothing of it: validators of parameters, and templates in Python.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi._compat import v2
from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket
from pydantic import TypeAdapter

from penstock.console import pages


class Validators:
    """Stands for pydantic's `TypeAdapter`: the same one for all that is declared alike."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, str], TypeAdapter[Any]] = {}

    def __call__(self, kind: Any, *, config: Any = None) -> TypeAdapter[Any]:
        # Of what is declared beside the type nothing can be looked up but what it prints.
        key = kind.__origin__, repr((kind.__metadata__, config))
        if key not in self._known:
            self._known[key] = TypeAdapter(kind, config=config)
        return self._known[key]


class Templates(BytecodeCache):
    """What templates became, for every environment that comes after the first."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._known.get(bucket.key)

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._known[bucket.key] = bucket.code

    def environment(self, **options: Any) -> Environment:
        """An environment that remembers."""
        return Environment(bytecode_cache=self, **options)  # noqa: S701 - its maker says


@pytest.fixture(scope="session", autouse=True)
def _once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(v2, "TypeAdapter", Validators())
        patch.setattr(pages, "Environment", Templates().environment)
        yield
