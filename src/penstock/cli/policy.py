"""`penstock policy`: what a domain is owed, and who says so."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.output import print_table, stdout, write_json
from penstock.core.log import configure
from penstock.core.urls import parse
from penstock.kernel.policy import DEFAULT, load
from penstock.kernel.policy_words import MEANINGS, answers_of, in_words
from penstock.kernel.settings import open_policies
from penstock.settings import load_settings

app = typer.Typer(no_args_is_help=True, help="What a domain is owed, and who says so.")


@app.command("show")
def show(
    domain: Annotated[str, typer.Argument(help="A domain or host name.")],
    workload: Annotated[str, typer.Option(help="On behalf of this workload.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False,
) -> None:
    """Show the policy in force for a domain, and where each value comes from."""
    settings = load_settings()
    configure(settings.log.level, form=settings.log.form)
    book = open_policies(settings.pacing, settings.policies)
    host = parse(domain if "://" in domain else f"http://{domain}/").host
    policy = book.look_up(host, workload)
    answers = answers_of(policy)
    files = _files(policy.said_by, settings.policies.all_files)
    if as_json:
        values = {name: value for name, value, _ in answers}
        write_json({"host": host, **values, "said_by": dict(policy.said_by), "files": files})
        return
    rows = [(name, in_words(value), said) for name, value, said in answers]
    print_table(f"Policy for {host}", ("setting", "value", "said by"), rows)
    for word, meaning in (files | MEANINGS).items():
        if any(said == word for _, _, said in answers):
            stdout().print(f"{word}: {meaning}", markup=False)


@app.command("check")
def check(
    files: Annotated[list[Path], typer.Argument(help="Policy files to check.")],
    as_json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False,
) -> None:
    """Check policy files; an error names the file, the domain and the key."""
    numbers = {str(path): len(load(path)) for path in files}
    if as_json:
        write_json({"policies": numbers})
        return
    for path, number in numbers.items():
        stdout().print(f"{path}: {number} policies, all good")


def _files(said_by: Mapping[str, str], paths: Sequence[Path]) -> dict[str, str]:
    """The file in which each entry stands that had a say; a later file replaces an entry."""
    where = {name: str(path) for path in paths for name in load(path)}
    said = {_said(name): path for name, path in where.items()}
    return {name: path for name, path in said.items() if name in said_by.values()}


def _said(entry: str) -> str:
    """How an entry of a file is named where it has a say."""
    return "default policy" if entry == DEFAULT else f"policy of {entry}"
