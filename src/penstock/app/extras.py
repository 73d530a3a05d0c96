"""Back ends whose clients are optional packages: imported when they are wanted, not before."""

from importlib import import_module
from types import ModuleType

from penstock.core.errors import SettingsError


def needed(name: str, extra: str, wanted_by: str) -> ModuleType:
    """A module of ours; where its client is missing, an error that says what to install.

    `wanted_by` is the setting that asks for it.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("penstock"):
            raise
        raise SettingsError(f"{wanted_by} needs: pip install 'penstock[{extra}]'") from error
