"""How a webhook is signed; docs/webhooks.md says how a receiver checks it."""

import hashlib
import hmac
from collections.abc import Mapping


def signed_headers(key: bytes, delivery: str, timestamp: int, body: bytes) -> Mapping[str, str]:
    """The headers that prove who sent a body, and which delivery of which moment it is."""
    return {
        "X-Webhook-Id": delivery,
        "X-Webhook-Timestamp": str(timestamp),
        "X-Webhook-Signature": sign(key, body),
        "X-Webhook-Signature-V2": sign(key, f"{delivery}.{timestamp}.".encode() + body),
    }


def sign(key: bytes, content: bytes) -> str:
    """HMAC-SHA256 in lower-case hex."""
    return hmac.new(key, content, hashlib.sha256).hexdigest()
