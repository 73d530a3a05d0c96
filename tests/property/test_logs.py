"""Logs, whatever is logged: always one line of JSON, and never a secret in it."""

import string
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.core.log import get_logger
from tests.unit.core.log_lines import captured_logs

SECRET_NAMES = (
    "authorization",
    "Proxy-Authorization",
    "cookie",
    "Set-Cookie",
    "password",
    "user_passwd",
    "client_secret",
    "access_token",
    "api_key",
    "X-Api-Key",
    "apikey",
    "X-Service-Key",
    "credentials",
)
PLACES = (
    "https://jo:{}@h.test/a",
    "https://{}@h.test",
    "http://jo:p@{}@h.test:8080/",
    "https:/jo:{}@h.test/",
    "postgresql://jo:/{}@h.test/db",
    "http://jo:{}#a?b@h.test",
    "socks5://jo:{}@[::1]:1080",
    "https://h.test/a?key={}",
    "https://h.test?{}",
    "https://h.test/?a=b&c='\"<{}>",
    "http://h.test/a?b#c={}",
    "http://h.test/#token={}",
    "Bearer {}",
    "BASIC {}==",
    "Authorization: Token {}",
    "cookie: a=b; c={}",
)
NAMES = ("url", "detail", "task", "error", "n", "target_domain")

#: Recognisable, so that it cannot stand in a line by chance.
secrets = st.text(string.ascii_letters + string.digits + "-_.~", min_size=8, max_size=40).map(
    lambda text: f"Zq9{text}9qZ"
)
#: A word before and after is not part of a URL.
around = st.text(st.characters(exclude_categories=["Cs"]), max_size=40).map(
    lambda text: f" {text} "
)
plain = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.binary(max_size=20)
)
values = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def nested(draw: st.DrawFn, value: Any) -> Any:
    """The value somewhere inside lists, tuples and maps."""
    for _ in range(draw(st.integers(0, 8))):
        wrapped: tuple[Any, ...] = (
            [value],
            (1, value, "x"),
            {"inner": value},
            {"a": 1, "b": [value]},
        )
        value = draw(st.sampled_from(wrapped))
    return value


def log_line(event: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    with captured_logs() as lines:
        get_logger().info(event, **fields)
    return lines.text, lines.only()


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters()), st.dictionaries(st.sampled_from(NAMES), values))
def test_every_line_is_json_with_request_id_level_and_timestamp(
    event: str, fields: dict[str, Any]
) -> None:
    text, line = log_line(event, **fields)

    assert text.count("\n") == 1
    assert {"request_id", "level", "timestamp", "event", *fields} == set(line)


@settings(max_examples=200, deadline=None)
@given(st.data(), secrets, st.sampled_from(SECRET_NAMES))
def test_value_under_a_secret_sounding_name_is_never_written(
    data: st.DataObject, secret: str, name: str
) -> None:
    name = data.draw(st.sampled_from([name, name.upper(), f"their_{name}"]))
    under_a_name = data.draw(st.sampled_from([{name: secret}, {name: [secret]}, (name, secret)]))

    text, _ = log_line("sent", headers=data.draw(nested(under_a_name)))

    assert secret not in text


@settings(max_examples=300, deadline=None)
@given(st.data(), secrets, st.sampled_from(PLACES), around, around)
def test_secret_in_a_url_or_header_is_never_written(
    data: st.DataObject, secret: str, place: str, before: str, after: str
) -> None:
    told = before + place.format(secret) + after

    text, line = log_line(told, detail=data.draw(nested(told)), url=place.format(secret))

    assert secret not in text
    assert line["level"] == "info"
