"""Logs: one JSON object a line, with nothing in it that must not be written down."""

from datetime import UTC, datetime
from typing import Any

import pytest
import structlog

from penstock.core.log import MAX_VALUE_LENGTH, NO_REQUEST, REDACTED, get_logger, redact
from tests.unit.core.log_lines import captured_logs

SECRET = "hunter2-correct-horse"


def test_line_has_timestamp_level_event_and_request_id() -> None:
    with captured_logs() as lines:
        get_logger().warning("policies reloaded", request_id="r-1", domains=3)

    line = lines.only()
    assert datetime.fromisoformat(line.pop("timestamp")).tzinfo == UTC
    assert line == {
        "level": "warning",
        "event": "policies reloaded",
        "request_id": "r-1",
        "domains": 3,
    }


def test_line_without_a_request_says_so() -> None:
    with captured_logs() as lines:
        get_logger().info("started")

    assert lines.only()["request_id"] == NO_REQUEST


def test_request_id_of_the_context_is_on_every_line() -> None:
    with captured_logs() as lines, structlog.contextvars.bound_contextvars(request_id="r-7"):
        get_logger().info("one")
        get_logger().error("two")

    assert [line["request_id"] for line in lines.parsed()] == ["r-7", "r-7"]


def test_lines_below_the_level_are_not_written() -> None:
    with captured_logs("warning") as lines:
        get_logger().info("quiet")
        get_logger().warning("loud")

    assert [line["event"] for line in lines.parsed()] == ["loud"]


def test_exception_is_told_in_its_own_line_without_its_secrets() -> None:
    with captured_logs() as lines:
        try:
            raise ValueError(f"cannot reach https://jo:{SECRET}@proxy.test:8080/")
        except ValueError:
            get_logger().exception("internal error", request_id="r-1")

    line = lines.only()
    assert "ValueError" in line["exception"]
    assert "proxy.test" in line["exception"]
    assert SECRET not in lines.text


def test_newlines_in_a_value_cannot_forge_a_line() -> None:
    forged = '\n{"event": "all is well", "request_id": "r-1"}\r\n\u2028\u0085'
    with captured_logs() as lines:
        get_logger().info(f"failed{forged}", url=f"http://h.test/{forged}")

    assert lines.only()["event"] == f"failed{forged}"


def test_number_that_json_has_no_word_for_is_written_as_text() -> None:
    with captured_logs() as lines:
        get_logger().info("measured", seconds=float("nan"), most=[float("inf")])

    line = lines.only()
    assert (line["seconds"], line["most"]) == ("nan", ["inf"])


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"https://h.test/a?token={SECRET}", f"https://h.test/a?{REDACTED}"),
        (f"https://h.test/a?q=two words {SECRET}", f"https://h.test/a?{REDACTED}"),
        (f"https://h.test/a?q='\"<{SECRET}>", f"https://h.test/a?{REDACTED}"),
        (f"https://h.test/a#access_token={SECRET}", f"https://h.test/a#{REDACTED}"),
        (f"https://jo:{SECRET}@h.test/a", f"https://{REDACTED}@h.test/a"),
        (f"https://jo:p@{SECRET}@h.test/a", f"https://{REDACTED}@h.test/a"),
        (f"https://jo:p@/{SECRET}@h.test/a", f"https://{REDACTED}@h.test/a"),
        (f"postgresql://jo:a/{SECRET}@h.test/db", f"postgresql://{REDACTED}@h.test/db"),
        (f"redis://:{SECRET}?b@h.test:6379/0", f"redis://{REDACTED}@h.test:6379/0"),
        (f"to http://jo:{SECRET}#b@h.test failed", f"to http://{REDACTED}@h.test failed"),
        (f"https:/jo:{SECRET}@h.test/a", f"https:/{REDACTED}@h.test/a"),
        (f"https:\\\\jo:{SECRET}@h.test/a", f"https:\\\\{REDACTED}@h.test/a"),
        (f"socks5://{SECRET}@h.test:1080", f"socks5://{REDACTED}@h.test:1080"),
        (f"got http://h.test/?k={SECRET} late", f"got http://h.test/?{REDACTED} late"),
        (f"bearer {SECRET}", f"bearer {REDACTED}"),
        (f"sent Basic {SECRET}== to h", f"sent Basic {REDACTED} to h"),
        (f"Authorization: Digest u={SECRET}", f"Authorization: {REDACTED}"),
        (f"{{'Cookie': 'id={SECRET}'}}", f"{{'Cookie': {REDACTED}"),
    ],
)
def test_secret_is_cut_out_of_a_text_and_the_rest_is_kept(text: str, kept: str) -> None:
    assert redact(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "https://h.test/@jo/post",
        "https://h.test:8443/@jo/post",
        "https://[::1]:8443/@jo/post",
        "line 3: Disallow: /private",
        "closed until 06:00 UTC",
        "mail us at ops@h.test",
        "what? a plain question #1",
    ],
)
def test_text_without_a_secret_is_left_alone(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    "value",
    [
        {"headers": {"Authorization": SECRET, "Proxy-Authorization": SECRET}},
        {"Set-Cookie": [SECRET]},
        {"password": {"of": SECRET}},
        {"API_KEY": SECRET, "x-service-key": SECRET, "private-key": SECRET},
        {"passphrase": SECRET, "pwd": SECRET, "session_id": SECRET},
        [("Cookie", SECRET), ["X-Auth-Token", SECRET]],
        {f"https://h.test/?k={SECRET}": 1},
        {"at": [({"url": f"http://h.test/?{SECRET}"},)]},
        f"https://jo:{SECRET}@h.test".encode(),
    ],
)
def test_secret_is_cut_out_wherever_it_stands(value: Any) -> None:
    assert SECRET not in repr(redact(value))


def test_value_is_cut_to_a_bounded_length() -> None:
    assert len(redact("x" * 10 * MAX_VALUE_LENGTH)) == MAX_VALUE_LENGTH


def test_cut_through_a_password_shows_none_of_it() -> None:
    for password in (SECRET, f"/{SECRET}"):
        text = "x" * (MAX_VALUE_LENGTH - 20) + f" https://jo:{password}@h.test/"

        assert redact(text).endswith(f" https://{REDACTED}")


def test_data_nested_without_end_is_cut_off() -> None:
    endless: list[Any] = []
    endless.append(endless)

    assert REDACTED in repr(redact(endless))


def test_plain_values_keep_their_type() -> None:
    plain = {"n": 1, "f": 0.5, "b": True, "none": None, "list": [1, "two"]}

    assert redact(plain) == plain
