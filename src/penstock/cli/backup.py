"""`penstock backup` and `penstock restore`: everything that is kept, in one file."""

import io
import tarfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Annotated, Any

import orjson
import typer

from penstock import __version__
from penstock.app.engine import open_blobs
from penstock.cli.output import ExitCode, complain, stdout, write_json
from penstock.cli.stores import with_existing_store, with_store
from penstock.core.errors import StoreError
from penstock.settings import Settings
from penstock.store import dump, migrate
from penstock.store.store import Store
from penstock.store.unit import Unit

MANIFEST, TABLES, BLOBS, KEYS = "manifest.json", "tables/", "blobs/", "keys/"
IN_MEMORY = 32 * 1024 * 1024
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


def backup(
    file: Annotated[Path, typer.Argument(help="Where to write it (.tar or .tar.gz).")],
    as_json: AsJson = False,
) -> None:
    """Write the store, the blobs and the keys to one file, while everything goes on.

    The tables are those of one moment. Either engine can be restored from it.
    """
    part = file.with_name(f"{file.name}.part")

    async def save(settings: Settings, store: Store) -> dict[str, int]:
        counts: dict[str, int] = {}
        with tarfile.open(part, _mode("w", file)) as archive:
            version = (await migrate.look_up(store)).current
            about = {"penstock": __version__, "tables": version, "at": _now()}
            _add(archive, MANIFEST, orjson.dumps(about))
            await store.read(lambda unit: _add_tables(unit, archive, counts))
            counts["blobs"] = await _add_blobs(settings, archive)
            counts["keys"] = _add_keys(settings, archive)
        return counts

    try:
        counts = with_existing_store(save)
        part.replace(file)
    except OSError as error:
        complain(f"{file} cannot be written: {error.strerror}")
        raise typer.Exit(ExitCode.TROUBLE) from error
    finally:
        part.unlink(missing_ok=True)
    _tell(f"backed up to {file}", counts, as_json)


def restore(
    file: Annotated[Path, typer.Argument(help="What `penstock backup` wrote.")],
    as_json: AsJson = False,
) -> None:
    """Put a backup back, into a store that is empty; all of it or nothing."""

    async def put_back(settings: Settings, store: Store) -> dict[str, int]:
        with tarfile.open(file) as archive:
            orjson.loads(_read(archive, MANIFEST))
            await migrate.upgrade(store)
            counts = await store.write(lambda unit: _load_tables(unit, archive))
            counts["blobs"] = await _load_blobs(settings, archive)
            counts["keys"] = _load_keys(settings, archive)
        return counts

    try:
        counts = with_store(put_back, ready=False)
    except (OSError, tarfile.TarError, KeyError, orjson.JSONDecodeError) as error:
        complain(f"{file} cannot be restored: {error}")
        raise typer.Exit(ExitCode.TROUBLE) from error
    _tell(f"restored from {file}", counts, as_json)


def _add_tables(unit: Unit, archive: tarfile.TarFile, counts: dict[str, int]) -> None:
    def write(name: str, rows: Iterator[dict[str, Any]]) -> None:
        with SpooledTemporaryFile(IN_MEMORY) as lines:
            counts[name] = 0
            for row in rows:
                lines.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
                counts[name] += 1
            _add_file(archive, f"{TABLES}{name}.jsonl", lines)

    dump.dump(unit, write)


def _load_tables(unit: Unit, archive: tarfile.TarFile) -> dict[str, int]:
    if not dump.is_empty(unit):
        raise StoreError("this store is not empty: restore into a new one (PENSTOCK_STORE__FOLDER)")
    counts = {}
    for table in dump.tables():
        try:
            lines = archive.extractfile(f"{TABLES}{table.name}.jsonl")
        except KeyError:
            # The backup is older than this table.
            continue
        rows: Iterable[bytes] = lines or ()
        counts[table.name] = dump.load(unit, table.name, (orjson.loads(line) for line in rows))
    return counts


async def _add_blobs(settings: Settings, archive: tarfile.TarFile) -> int:
    blobs, number = open_blobs(settings), 0
    async for address in blobs.addresses():
        if (data := await blobs.get(address)) is not None:
            _add(archive, f"{BLOBS}{address}", data)
            number += 1
    return number


async def _load_blobs(settings: Settings, archive: tarfile.TarFile) -> int:
    blobs, number = open_blobs(settings), 0
    for member in archive:
        if member.isfile() and member.name.startswith(BLOBS):
            # Its address is made of its content: the name in the archive decides nothing.
            await blobs.put(_read(archive, member.name))
            number += 1
    return number


def _add_keys(settings: Settings, archive: tarfile.TarFile) -> int:
    files = sorted(path for path in settings.store.keys.glob("*") if path.is_file())
    for path in files:
        _add(archive, f"{KEYS}{path.name}", path.read_bytes())
    return len(files)


def _load_keys(settings: Settings, archive: tarfile.TarFile) -> int:
    number, folder = 0, settings.store.keys
    for member in archive:
        name = member.name.removeprefix(KEYS)
        if member.isfile() and member.name.startswith(KEYS) and name == Path(name).name:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            (folder / name).write_bytes(_read(archive, member.name))
            (folder / name).chmod(0o600)
            number += 1
    return number


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    _add_file(archive, name, io.BytesIO(data))


def _add_file(archive: tarfile.TarFile, name: str, file: IO[bytes]) -> None:
    about = tarfile.TarInfo(name)
    about.size = file.seek(0, io.SEEK_END)
    about.mode = 0o600
    file.seek(0)
    archive.addfile(about, file)


def _read(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    return file.read() if file else b""


def _mode(letter: str, file: Path) -> Any:
    return f"{letter}:gz" if file.suffix in (".gz", ".tgz") else letter


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _tell(what: str, counts: dict[str, int], as_json: bool) -> None:
    if as_json:
        write_json(counts)
        return
    listed = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
    stdout().print(f"{what}: {listed or 'nothing'}", markup=False)
