"""What a receiver believes: only what was signed with its secret, a short while ago."""

import json

import pytest

from penstock.client import Webhook, WebhookInvalid, verify_webhook
from penstock.notify.signature import signed_headers

SECRET = "shared"
NOW = 1_772_625_600
BODY = json.dumps(
    {
        "job_id": "j1",
        "status": "completed",
        "summary": {"total": 1, "completed": 1, "failed": 0},
        "results": [{"task_id": "t1"}],
    }
).encode()


def headers(body: bytes = BODY, at: int = NOW, secret: str = SECRET) -> dict[str, str]:
    return dict(signed_headers(secret.encode(), "event-1", at, body))


def verify(
    body: bytes = BODY,
    found: dict[str, str] | None = None,
    tolerance: float | None = 300.0,
    secret: str | bytes = SECRET,
) -> Webhook:
    return verify_webhook(body, found or headers(), secret, tolerance, now=lambda: float(NOW))


@pytest.mark.parametrize("tolerance", [300.0, None])
def test_what_was_signed_with_our_secret_is_read(tolerance: float | None) -> None:
    webhook = verify(tolerance=tolerance)

    assert (webhook.id, webhook.job_id, webhook.status) == ("event-1", "j1", "completed")
    assert webhook.summary.total == 1
    assert webhook.results == ({"task_id": "t1"},)


def test_names_of_headers_may_be_in_any_case() -> None:
    verify(found={name.lower(): value for name, value in headers().items()})
    verify(found={name.upper(): value for name, value in headers().items()})
    verify(secret=SECRET.encode())


@pytest.mark.parametrize("tolerance", [300.0, None])
@pytest.mark.parametrize(
    ("body", "found"),
    [
        (BODY.replace(b"completed", b"cancelled"), headers()),
        (BODY, headers(secret="another")),
        (BODY, {"Content-Type": "application/json"}),
        (BODY + b" ", headers()),
        (BODY, {**headers(), "X-Webhook-Signature": "ü", "X-Webhook-Signature-V2": "ü"}),
    ],
)
def test_anything_else_is_refused(
    body: bytes, found: dict[str, str], tolerance: float | None
) -> None:
    with pytest.raises(WebhookInvalid):
        verify(body, found, tolerance)


@pytest.mark.parametrize("at", [NOW - 301, NOW + 301])
def test_one_that_is_sent_again_later_is_refused(at: int) -> None:
    with pytest.raises(WebhookInvalid, match="too old"):
        verify(found=headers(at=at))


@pytest.mark.parametrize(
    "change",
    [
        {"X-Webhook-Timestamp": str(NOW + 1)},
        {"X-Webhook-Id": "event-2"},
        {"X-Webhook-Timestamp": ""},
        {"X-Webhook-Timestamp": "²"},
    ],
)
def test_id_and_time_are_signed_too(change: dict[str, str]) -> None:
    with pytest.raises(WebhookInvalid):
        verify(found={**headers(), **change})


def test_without_a_secret_nothing_is_believed() -> None:
    with pytest.raises(WebhookInvalid, match="no secret"):
        verify(found=headers(secret=""), secret="")


def test_what_is_signed_but_no_callback_is_refused() -> None:
    with pytest.raises(WebhookInvalid, match="looks like"):
        verify(b"[]", headers(b"[]"))
