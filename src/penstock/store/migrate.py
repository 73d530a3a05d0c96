"""The tables of the store: which version they have, and how to change it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.script.revision import RevisionError
from alembic.util.exc import CommandError

from penstock.core.errors import SettingsError, StoreOutdated
from penstock.store.store import Store
from penstock.store.unit import Unit

FOLDER = Path(__file__).with_name("migrations")


@dataclass(frozen=True, slots=True)
class Versions:
    """The version of the tables, the newest that is known, and the steps between them."""

    current: str | None
    newest: str
    missing: tuple[str, ...]

    @property
    def is_current(self) -> bool:
        """Whether the tables are those of this version of Penstock."""
        return self.current == self.newest


async def look_up(store: Store) -> Versions:
    """Which version the tables have."""
    return await store.read(_versions)


async def upgrade(store: Store, to: str = "head") -> Versions:
    """Bring the tables to a version, the newest by default; what is in them is kept."""
    return await store.write(lambda unit: _move(unit, command.upgrade, to))


async def downgrade(store: Store, to: str) -> Versions:
    """Take steps back, to a version or by `-1`."""
    return await store.write(lambda unit: _move(unit, command.downgrade, to))


async def make_ready(store: Store) -> None:
    """Upgrade an embedded store by itself; for a shared one that is behind, say what to do."""
    versions = await look_up(store)
    if versions.is_current:
        return
    if store.engine == "sqlite":
        await upgrade(store)
        return
    raise StoreOutdated(
        f"the tables are at version {versions.current or 'none'} and {versions.newest} is needed: "
        "run `penstock db upgrade`"
    )


def _versions(unit: Unit) -> Versions:
    script = ScriptDirectory(str(FOLDER))
    current = MigrationContext.configure(unit.connection).get_current_revision()
    newest = script.get_current_head() or ""
    try:
        steps = [step.revision for step in script.iterate_revisions(newest, current or "base")]
    except (CommandError, RevisionError) as error:
        raise StoreOutdated(
            f"the tables are at version {current}, which this Penstock does not know: "
            "it is older than the store; install the newer one again"
        ) from error
    return Versions(current, newest, tuple(reversed(steps)))


def _move(unit: Unit, step: Callable[[Config, str], None], to: str) -> Versions:
    unit.take_turns("migrations")
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = unit.connection
    try:
        step(config, to)
    except CommandError as error:
        raise SettingsError(f"{to}: {error}") from error
    return _versions(unit)
