"""`penstock adapter`: which there are, which one reads a URL, and how to write one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from penstock.app import open_reader
from penstock.cli.output import ExitCode, complain, print_table, safe, stderr, stdout, write_json
from penstock.cli.pages import describe_fault
from penstock.cli.readings import words
from penstock.core.errors import PenstockError, SettingsError
from penstock.core.urls import parse
from penstock.extract.adapter import Adapter
from penstock.extract.golden import (
    META,
    Case,
    Difference,
    Trial,
    case_folder,
    find_cases,
    is_case,
    is_safe_name,
    try_case,
)
from penstock.extract.page.document import Document
from penstock.extract.registry import KINDS, SETTING, Registry, open_registry
from penstock.extract.scaffold import Draft
from penstock.kernel.reader import Reader
from penstock.settings import Settings, load_settings

app = typer.Typer(
    no_args_is_help=True, help="Which adapters there are, which one reads a URL, how to write one."
)

AsJson = Annotated[bool, typer.Option("--json", help="One object per line.")]


@app.command("list")
def show_all(as_json: AsJson = False) -> None:
    """List the adapters: Penstock's own, and those that PENSTOCK_EXTRACT__ADAPTERS names."""
    adapters = open_registry(load_settings().extract.adapters).list()
    if as_json:
        for adapter in adapters:
            write_json(_facts(adapter))
        return
    headings = ("id", "version", "gives", "domain", "JS", "URLs")
    print_table("", headings, [_row(adapter) for adapter in adapters])


def _facts(adapter: Adapter) -> dict[str, Any]:
    return {
        "id": adapter.id,
        "version": adapter.version,
        "gives": adapter.gives,
        "domain": adapter.domain or None,
        "requires_javascript": adapter.requires_javascript,
        "urls": list(adapter.urls),
    }


def _row(adapter: Adapter) -> tuple[str, ...]:
    needs = "yes" if adapter.requires_javascript else "no"
    urls = words(adapter.urls) or "any"
    return adapter.id, adapter.version, adapter.gives, adapter.domain or "any", needs, urls


@app.command("which")
def which(
    url: Annotated[str, typer.Argument(help="A URL; nothing is fetched.")],
    wanted: Annotated[str, typer.Option("--as", help="A target type or an adapter's id.")] = "",
    as_json: AsJson = False,
) -> None:
    """Say which adapter reads a URL, why, and why not the others.

    The pattern that says most decides; without any, the adapter for any site does.

    penstock adapter which https://www.sgammo.com/product/some-ammo
    """
    registry = open_registry(load_settings().extract.adapters)
    choice = registry.choose(parse(url), wanted)
    if as_json:
        others = [{"adapter": name, "why_not": why} for name, why in choice.others]
        chosen = {"url": url, "adapter": choice.adapter.name, "why": choice.why}
        write_json({**chosen, "others": others})
        return
    stdout().print(Text.assemble((choice.adapter.name, "bold green"), f": {safe(choice.why)}"))
    if choice.others:
        print_table("", ("others", "why not"), choice.others)


@app.command("new")
def new(
    name: Annotated[str, typer.Argument(help="The id of the new adapter, such as myshop.")],
    origin: Annotated[
        str, typer.Option("--from", metavar="NAME/CASE", help="The golden case to begin with.")
    ],
    into: Annotated[Path, typer.Option(help="The folder for its file.")] = Path("adapters"),
) -> None:
    """Write the first draft of an adapter, with what is found on a golden case already.

    Prints what to do next. A file that exists is not touched.

    penstock capture https://myshop.example/lamp --as myshop/lamp
    penstock adapter new myshop --from myshop/lamp
    """
    settings = load_settings()
    registry = open_registry(settings.extract.adapters)
    path = into / f"{name}.py"
    _check_new(name, path, registry)
    draft = _draft(name, _open_case(origin, settings), registry)
    _write(path, draft.source())
    found = ", ".join(draft.found) or "nothing"
    stdout().print(
        safe(f"{path} is written. {draft.extraction.adapter} finds: {found}."), markup=False
    )
    stdout().print(_next_steps(name, path, settings, draft.missing), markup=False)


def _check_new(name: str, path: Path, registry: Registry) -> None:
    if not is_safe_name(name):
        raise SettingsError(f"'{name}' cannot name an adapter; use a-z, 0-9, - and _")
    if name in KINDS or registry.get(name):
        raise SettingsError(f"there is an adapter '{name}' already; choose another name")
    if path.exists():
        raise SettingsError(f"{path} exists; edit it, or choose another name")


def _open_case(name: str, settings: Settings) -> Case:
    folder = case_folder(settings.extract.golden, name)
    if not is_case(folder):
        raise SettingsError(f"there is no {folder / META}; first: penstock capture URL --as {name}")
    return Case.open(folder)


def _draft(name: str, case: Case, registry: Registry) -> Draft:
    """What the adapter for any site finds on a case, to begin with."""
    chosen = registry.choose(parse(case.meta.url), case.wanted).adapter
    generic = next(one for one in registry.list() if one.gives == chosen.gives and not one.urls)
    return Draft(name, case, generic, generic.read(Document.of(case.page)))


def _write(path: Path, source: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}") from error


def _next_steps(name: str, path: Path, settings: Settings, missing: list[str]) -> str:
    loaded = [*settings.extract.adapters, str(path)]
    listed = "".join(f"\n           - {one}" for one in loaded)
    fill = f" (not found yet: {', '.join(missing)})" if missing else ""
    return f"""
Next:
  1. Let Penstock load it, with a variable or in penstock.yaml:
       export {SETTING}={",".join(loaded)}
     or
       extract:
         adapters:{listed}
  2. Fill in SELECTORS in {path}{fill}.
  3. See what it changes:    penstock adapter test {name}
  4. Accept what is right:   penstock adapter test {name} --accept
"""


@app.command("test")
def try_cases(
    name: Annotated[str, typer.Argument(help="Only the cases NAME/…; default: all.")] = "",
    accept: Annotated[
        bool, typer.Option("--accept", help="What is read now is right: expect it from now on.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read the golden cases and show, field by field, what differs from what is expected.

    Every case is read twice, and has to give the same both times. Exit code 1 if anything
    differs, or if there are no cases.

        penstock adapter test myshop
        penstock adapter test myshop --accept
    """
    settings = load_settings()
    folders = list(find_cases(settings.extract.golden, name))
    if not folders:
        wanted = f"{settings.extract.golden}/{name or '*'}"
        complain(f"no cases in {wanted}; first: penstock capture URL --as {name or 'NAME'}/CASE")
        raise typer.Exit(ExitCode.TROUBLE)
    _note_if_not_loaded(name, settings)
    reader = open_reader(settings)
    results = [_try(folder, reader) for folder in folders]
    accepted = [result for result in results if accept and _accept(result)]
    _report(results, accepted, as_json)
    if any(not result.passed and result not in accepted for result in results):
        raise typer.Exit(ExitCode.TROUBLE)


def _note_if_not_loaded(name: str, settings: Settings) -> None:
    """Somebody who tests an adapter by its name wants it to be the one that reads."""
    if name and not open_registry(settings.extract.adapters).get(name):
        note = f"note: no adapter '{name}' is loaded ({SETTING}); the URL decides who reads"
        stderr().print(safe(note), markup=False)


@dataclass(frozen=True, slots=True)
class _Result:
    """How a case went; with a problem it could not be tried at all."""

    name: str
    trial: Trial | None
    problem: str = ""

    @property
    def passed(self) -> bool:
        return self.trial is not None and self.trial.passed

    @property
    def differences(self) -> tuple[Difference, ...]:
        return self.trial.differences if self.trial else ()

    @property
    def unsteady(self) -> tuple[Difference, ...]:
        return self.trial.unsteady if self.trial else ()


def _try(folder: Path, reader: Reader) -> _Result:
    name = f"{folder.parent.name}/{folder.name}"
    try:
        return _Result(name, try_case(Case.open(folder), reader))
    except PenstockError as error:
        return _Result(name, None, str(error))
    except Exception as error:  # an adapter may be anybody's, and other cases wait
        return _Result(name, None, f"the adapter failed: {describe_fault(error)}")


def _accept(result: _Result) -> bool:
    """Expect what was read, if it was read the same twice."""
    trial = result.trial
    if trial is None or trial.unsteady or not trial.differences:
        return False
    trial.case.accept(trial.reading)
    return True


def _report(results: list[_Result], accepted: list[_Result], as_json: bool) -> None:
    for result in results:
        if as_json:
            write_json(_result_json(result, result in accepted))
        elif not result.passed:
            _print_result(result, result in accepted)
    if not as_json:
        passed = sum(result.passed for result in results)
        failed = len(results) - passed - len(accepted)
        counts = (("as expected", passed), ("accepted", len(accepted)), ("not as expected", failed))
        summary = ", ".join(f"{count} {what}" for what, count in counts if count)
        cases = "1 case" if len(results) == 1 else f"{len(results)} cases"
        stdout().print(f"{cases}: {summary}", markup=False)


def _result_json(result: _Result, accepted: bool) -> dict[str, Any]:
    return {
        "case": result.name,
        "passed": result.passed,
        "accepted": accepted,
        "problem": result.problem or None,
        "differences": [_difference_json(one) for one in result.differences],
        "unsteady": [one.field for one in result.unsteady],
    }


def _difference_json(difference: Difference) -> dict[str, Any]:
    return {"field": difference.field, "expected": difference.expected, "got": difference.got}


def _print_result(result: _Result, accepted: bool) -> None:
    mark, style = ("accepted", "yellow") if accepted else ("✗", "red")
    stdout().print(Text.assemble((mark, style), f" {result.name}"))
    if result.problem:
        stdout().print(f"  {safe(result.problem)}", markup=False)
    if result.unsteady:
        fields = ", ".join(one.field for one in result.unsteady)
        stdout().print(f"  read twice, it gave two different things: {fields}", markup=False)
    if result.differences:
        rows = [(one.field, words(one.expected), words(one.got)) for one in result.differences]
        print_table("", ("field", "expected", "got"), rows)
