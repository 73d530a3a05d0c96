"""Adapters of other people: entry points of installed packages and Python files.

One is loaded only where a setting names it, and whatever is wrong with it is the setting's error.
"""

import importlib.util
import sys
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar
from zlib import crc32

from penstock.core.errors import SettingsError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Loader(Generic[T]):
    """Loads adapters of one kind, which a setting names."""

    kind: type[T]
    setting: str
    #: The group of entry points that packages offer them in.
    group: str

    def load(self, name: str) -> T:
        """The adapter of an entry point or, if the name ends in `.py`, of a file."""
        return self._load_file(Path(name)) if name.endswith(".py") else self._load_entry(name)

    def _load_entry(self, name: str) -> T:
        entries = entry_points(group=self.group, name=name)
        found = sorted({entry.value: entry for entry in entries}.items())
        if not found:
            raise SettingsError(f"{self.setting}: no installed package has an adapter '{name}'")
        if len(found) > 1:
            places = " and ".join(value for value, _ in found)
            raise SettingsError(
                f"{self.setting}: several packages have an adapter '{name}': {places}"
            )
        try:
            thing = found[0][1].load()
        except Exception as error:  # an adapter may be anybody's
            raise SettingsError(
                f"{self.setting}: adapter '{name}' cannot be loaded: {error!r}"
            ) from error
        return self._checked(thing, name)

    def _load_file(self, path: Path) -> T:
        """The `ADAPTER` of a Python file."""
        name = f"penstock_adapter_{path.stem}_{crc32(str(path.resolve()).encode()):08x}"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise SettingsError(f"{self.setting}: there is no file {path}")
        module = importlib.util.module_from_spec(spec)
        # Dataclasses look for the module that they are defined in.
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:  # an adapter may be anybody's
            del sys.modules[name]
            raise SettingsError(f"{self.setting}: {path} cannot be loaded: {error!r}") from error
        return self._checked(getattr(module, "ADAPTER", None), str(path))

    def _checked(self, thing: Any, where: str) -> T:
        if not isinstance(thing, self.kind):
            raise SettingsError(
                f"{self.setting}: {where} has no ADAPTER of type {self.kind.__name__}"
            )
        return thing
