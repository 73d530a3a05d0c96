"""Is this webhook ours? The check that a receiver makes before it believes a callback."""

import hashlib
import hmac
import time
from collections.abc import Callable, Mapping

from pydantic import ValidationError

from penstock.client.errors import WebhookInvalid
from penstock.client.models import Webhook

#: Seconds that a webhook may be old, or from the future.
TOLERANCE = 300.0


def verify_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secret: str | bytes,
    tolerance: float | None = TOLERANCE,
    *,
    now: Callable[[], float] = time.time,
) -> Webhook:
    """The content of a callback that was signed with our secret, else `WebhookInvalid`.

    `body` are the bytes as they came. With a tolerance, the id and the time are checked too, so
    that one that is sent again later by somebody else is refused. With None only the body is:
    that is all that `X-Webhook-Signature` tells.
    """
    key = secret.encode() if isinstance(secret, str) else secret
    found = {name.lower(): value for name, value in headers.items()}
    delivery = found.get("x-webhook-id", "")
    if not key:
        raise WebhookInvalid("there is no secret to check the webhook with")
    if tolerance is None:
        _require(key, body, found.get("x-webhook-signature"))
    else:
        timestamp = found.get("x-webhook-timestamp", "")
        signed = f"{delivery}.{timestamp}.".encode("utf-8", "replace") + body
        _require(key, signed, found.get("x-webhook-signature-v2"))
        _require_recent(timestamp, tolerance, now())
    try:
        return Webhook.model_validate_json(body).model_copy(update={"id": delivery})
    except ValidationError as error:
        raise WebhookInvalid("the webhook is signed, but not what a callback looks like") from error


def _require(key: bytes, content: bytes, signature: str | None) -> None:
    if not signature:
        raise WebhookInvalid("the webhook is not signed")
    expected = hmac.new(key, content, hashlib.sha256).hexdigest()
    # As bytes: text that is not ASCII cannot be compared in constant time.
    if not hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace")):
        raise WebhookInvalid("the webhook's signature is not of our secret")


def _require_recent(timestamp: str, tolerance: float, now: float) -> None:
    if not (timestamp.isascii() and timestamp.isdigit()):
        raise WebhookInvalid("the webhook has no time")
    if abs(now - int(timestamp)) > tolerance:
        raise WebhookInvalid("the webhook is too old, or the clocks differ")
