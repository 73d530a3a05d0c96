"""Errors: one tree, and messages that say where to look."""

import importlib
import pkgutil

import pytest

import penstock
from penstock.core import errors
from penstock.core.errors import AddressRefused, PenstockError, PolicyError


def test_every_exception_of_ours_has_one_root() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]

    assert len(kinds) > 1
    assert all(issubclass(kind, PenstockError) for kind in kinds)


def test_every_exception_stands_in_the_drawing_of_the_tree() -> None:
    names = [name for name, kind in vars(errors).items() if isinstance(kind, type)]

    assert [name for name in names if name not in (errors.__doc__ or "")] == []


def test_no_exception_of_ours_stands_outside_the_drawing() -> None:
    for module in pkgutil.walk_packages(penstock.__path__, "penstock."):
        if not module.name.startswith(("penstock.cli", "penstock.store.migrations.env")):
            importlib.import_module(module.name)
    roots = {
        kind for kind in PenstockError.__subclasses__() if kind.__module__.startswith("penstock")
    }

    assert [kind for kind in roots if kind.__name__ not in (errors.__doc__ or "")] == []


@pytest.mark.parametrize(
    ("domain", "key", "message"),
    [
        ("", "", "p.yaml: is empty"),
        ("h.test", "", "p.yaml: h.test: is empty"),
        ("h.test", "hours.start", "p.yaml: h.test: hours.start: is empty"),
    ],
)
def test_policy_error_says_as_much_as_is_known_of_where(
    domain: str, key: str, message: str
) -> None:
    assert str(PolicyError("is empty", source="p.yaml", domain=domain, key=key)) == message


def test_refused_address_is_not_told() -> None:
    assert str(AddressRefused("private")).endswith("(private)")
