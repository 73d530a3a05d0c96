"""Logs and metrics of the scrape service, whatever it scrapes: what they say, and what never."""

import string
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.services import KEY, ServiceThread
from tests.site import Reply
from tests.unit.core.log_lines import LogLines, captured_logs

MANY = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@dataclass(frozen=True)
class Logged:
    """A service at work and everything it logs."""

    thread: ServiceThread
    lines: LogLines

    def scrape(self, url: str, target_type: str, **more: Any) -> dict[str, Any]:
        """A task when it is over."""
        service = self.thread.service

        async def submit_and_wait() -> dict[str, Any]:
            return await service.finished(await service.submit(url, target_type, **more))

        return self.thread.run(submit_and_wait())


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Logged]:
    folder = tmp_path_factory.mktemp("service")
    # Breakers would stay open for the examples that follow.
    with (
        captured_logs("DEBUG") as lines,
        ServiceThread(folder, breaker={"window": 1000, "threshold": 1000}) as thread,
    ):
        yield Logged(thread, lines)


pages = st.sampled_from(
    [
        ("http://shop01.test/product/{}", "product"),
        ("http://shop02.test/product/{}", "page"),
        ("http://shop01.test/nowhere/{}", "product"),
        ("http://private.test/{}", "page"),
        ("http://blocked.test/captcha?n={}", "page"),
        ("http://partly.test/{}", "job_posting"),
    ]
)


# Feature: scraping-microservices, Property 38: Structured log format
@MANY
@given(pages, st.integers(1, 20), st.text(string.printable, max_size=20))
def test_every_line_is_structured_and_tells_of_every_task(
    logged: Logged, page: tuple[str, str], number: int, header: str
) -> None:
    logged.lines.forget()
    logged.thread.request("GET", "/api/v1/adapters", params={"x": header})

    task = logged.scrape(page[0].format(number), page[1])

    lines = logged.lines.parsed()
    assert all({"request_id", "level", "timestamp"} <= line.keys() for line in lines)
    (line,) = [line for line in lines if line["request_id"] == task["task_id"]]
    if line["event"] == "failed":
        assert task["status"] == "failed"
        assert {"target_url", "proxy_used", "error_reason"} <= line.keys()
        assert line["error_reason"] == task["error"]
    else:
        assert {"target_domain", "duration_ms", "fields_extracted"} <= line.keys()


#: Recognisable, so that it cannot stand in a line by chance.
marks = st.text(string.ascii_letters, min_size=6, max_size=20).map(lambda text: f"Zq{text}qZ")


# Feature: scraping-microservices, Property 39: No credentials in logs or metrics
@MANY
@given(person=marks, secret=marks, kind=st.sampled_from(["company_website", "page"]))
def test_neither_secrets_nor_what_pages_say_is_logged_or_counted(
    logged: Logged, person: str, secret: str, kind: str
) -> None:
    site = logged.thread.service.site
    html = (
        f"<html><head><title>{person} Ltd</title>"
        f"<meta property='og:site_name' content='{person} Ltd'>"
        f"<meta name='description' content='The company of {person}'></head><body><h1>{person} Ltd"
        f"</h1><p>Write to <a href='mailto:{person}@people.test'>{person}</a></p></body></html>"
    )
    site.reply("people.test", f"/{person}", Reply(200, html))
    logged.lines.forget()

    task = logged.scrape(
        f"http://people.test/{person}?token={secret}",
        kind,
        callback_url=f"http://shop01.test/hook?key={secret}",
    )
    logged.thread.request("GET", "/api/v1/adapters", headers={"X-Service-Key": secret})
    metrics = logged.thread.request("GET", "/metrics").text

    assert person in str(task["result"])
    written = logged.lines.text
    assert secret not in written + metrics
    assert KEY not in written + metrics
    # The path of a page that was asked for is the caller's own word, not the page's.
    assert person not in written.replace(f"/{person}", "") + metrics
