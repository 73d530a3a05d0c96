"""How the brokers are reached, and what their exceptions mean."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiokafka import errors
from aiokafka.helpers import create_ssl_context

from penstock.core.errors import EventRefused, EventsLost, PenstockError, SettingsError

#: A broker that has not answered a request after so many seconds is as good as away.
ANSWER_SECONDS = 4.0
#: How long to wait before something is tried again.
PAUSE_SECONDS = 0.2

#: What the client itself, the network and the brokers raise.
TROUBLE = (errors.KafkaError, errors.IllegalOperation, errors.ConsumerStoppedError, OSError)
TOO_LARGE = (
    errors.MessageSizeTooLargeError,
    errors.RecordListTooLargeError,
    errors.RecordTooLargeError,
)
#: What no repetition mends, as it is about the event.
REFUSALS = (
    *TOO_LARGE,
    errors.InvalidTimestampError,
    errors.PolicyViolationError,
    errors.UnsupportedForMessageFormatError,
)
_TLS_FILES = {"ssl_cafile": "cafile", "ssl_certfile": "certfile", "ssl_keyfile": "keyfile"}


@dataclass(frozen=True, slots=True)
class Cluster:
    """The servers to begin with, and what the client has to know to be let in."""

    servers: str
    options: Mapping[str, Any]

    @property
    def connection(self) -> dict[str, Any]:
        """What every client of aiokafka is made with."""
        return {
            "bootstrap_servers": self.servers,
            "request_timeout_ms": int(ANSWER_SECONDS * 1000),
            "retry_backoff_ms": int(PAUSE_SECONDS * 1000),
            **self.options,
        }

    def meaning_of(self, error: BaseException) -> PenstockError:
        """An exception of the client, as one of ours."""
        if isinstance(error, REFUSALS):
            return EventRefused(f"Kafka ({self.servers}) refused an event: {in_words(error)}")
        return EventsLost(f"Kafka ({self.servers}) does not confirm: {in_words(error)}")


def reach(servers: str, options: Mapping[str, Any]) -> Cluster:
    """The brokers behind some servers; options are aiokafka's, and files of certificates.

    `ssl_cafile`, `ssl_certfile`, `ssl_keyfile` and `ssl_password` say how TLS is spoken.
    """
    # It speaks of every vain attempt; whoever publishes hears of them in our words.
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL + 1)
    given = {name: value for name, value in options.items() if value not in ("", None)}
    files = {name: given.pop(option) for option, name in _TLS_FILES.items() if option in given}
    password = given.pop("ssl_password", None)
    if "SSL" in given.get("security_protocol", "").split("_"):
        try:
            given["ssl_context"] = create_ssl_context(**files, password=password)
        except (OSError, ValueError) as error:
            raise SettingsError(f"the TLS files for Kafka cannot be used: {error}") from error
    return Cluster(servers, given)


def in_words(error: BaseException) -> str:
    """What went wrong, and what helps if that is known."""
    match error:
        case errors.UnknownTopicOrPartitionError():
            return "there is no such topic, and no broker makes one unasked: create it"
        case errors.KafkaConnectionError():
            return f"{error}: is it running, and are address, user and password right?"
        case TimeoutError():
            return "no answer in time"
    return " ".join([type(error).__name__, *filter(None, [str(error)])])
