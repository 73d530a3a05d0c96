"""What only the process that watches a feed knows: it is asked over its API."""

from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from penstock.cli.monitoring import trouble
from penstock.cli.stores import require_store
from penstock.client import Client, ClientError, Retrying
from penstock.settings import Settings, load_settings
from penstock.web.keys import service_key

T = TypeVar("T")

AtUrl = Annotated[
    str | None,
    typer.Option("--url", help="Ask the process that watches, as http://localhost:8003."),
]


def ask(url: str, question: Callable[[Client], T]) -> T:
    """What a process answers; it is asked with the service key of the settings or of the store."""
    try:
        with Client(url, _key(load_settings()), retrying=Retrying(retries=1)) as penstock:
            return question(penstock)
    except ClientError as error:
        raise trouble(f"{url}: {error}") from error


def _key(settings: Settings) -> str:
    if not settings.api.service_key.get_secret_value():
        require_store(settings.store)
    return service_key(settings.api, settings.store.keys)[0]
