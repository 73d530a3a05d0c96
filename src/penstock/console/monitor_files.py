"""Targets from a file, looked at before they are taken in; and all of them as a file."""

from collections.abc import Mapping
from typing import Any

from fastapi import Response
from fastapi.responses import StreamingResponse

from penstock.console.monitor_forms import checked, given, problems, typed
from penstock.console.monitor_targets import source_names
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.web.errors import ApiError, invalid
from penstock.workloads.monitor.bodies import Import
from penstock.workloads.monitor.importing import Format, Report
from penstock.workloads.monitor.service import MonitorService

FIELDS = (
    *("text", "format", "source", "adapter", "schedule", "priority"),
    *("existing", "url_column"),
)
SHOWN_PROBLEMS = 200
MEDIA = {Format.CSV: "text/csv", Format.JSON: "application/x-ndjson"}


def add(console: Console, services: Services) -> None:
    """Take files in, and give them out."""
    _add_import(console, services.monitor)
    _add_export(console, services.monitor)


def _add_import(console: Console, monitor: MonitorService) -> None:
    async def view(
        values: Mapping[str, str],
        wrong: Mapping[str, str],
        report: Report | None = None,
        status: int = 200,
    ) -> View:
        shown: dict[str, Any] = {
            "title": "Import targets",
            "values": values,
            "errors": wrong,
            "report": report,
            "shown": SHOWN_PROBLEMS,
            "formats": [each.value for each in Format],
            "sources": await source_names(monitor),
            "adapters": monitor.shops.drafter.adapters(),
        }
        return View("monitor_import.html", shown, status)

    @console.page("/monitor/import")
    async def show(_ask: Ask) -> View:
        return await view(dict.fromkeys(FIELDS, ""), {})

    @console.action("/monitor/import")
    async def load(form: Form) -> Done | View:
        values = typed(form, *FIELDS)
        is_wanted = form.get("do") == "import"
        try:
            values["text"] = await _text(form) or values["text"]
            body = checked(Import, {**given(values), "dry_run": not is_wanted})
            who = form.visitor.key.name
            report = await monitor.importer.load(body.text, body.as_plan(), who)
        except ApiError as error:
            return await view(values, problems(error), status=error.status)
        if not is_wanted or not report.is_good:
            return await view(values, {}, report, 200 if report.is_good else 422)
        says = f"{report.added} targets were added, {report.skipped} were there already."
        detail = {"added": report.added, "skipped": report.skipped}
        subject = f"{report.lines} lines"
        return Done(f"{ROOT}/monitor/targets", says, "import targets", subject, detail)


async def _text(form: Form) -> str:
    try:
        return (await form.file("file")).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise invalid("file", "is not written in UTF-8: save it so, and try again") from None


def _add_export(console: Console, monitor: MonitorService) -> None:
    @console.page("/monitor/export")
    async def export(ask: Ask) -> Response:
        wanted = ask.get("format") or Format.CSV
        if wanted not in set(Format):
            raise invalid("format", f"must be one of {', '.join(Format)}")
        file_format = Format(wanted)
        source_id = await monitor.source_id(ask.get("source") or None)
        exporter = monitor.exporter
        is_csv = file_format is Format.CSV
        lines = exporter.csv(source_id) if is_csv else exporter.json_lines(source_id)
        headers = {
            "Content-Disposition": f'attachment; filename="targets.{file_format}"',
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }
        return StreamingResponse(lines, media_type=MEDIA[file_format], headers=headers)
