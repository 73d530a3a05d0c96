"""HTTP with a body, behind the guard of every other way out."""

from dataclasses import dataclass
from typing import Any

from penstock.kernel.fetchers.http import HttpFetcher
from penstock.kernel.ports import Hop


@dataclass(frozen=True, slots=True)
class Post(Hop):
    """A hop that brings something along."""

    method: str = "POST"
    body: bytes = b""


class Poster(HttpFetcher):
    """Sends bodies; names, literal addresses and replies are checked as for any page."""

    name = "poster"

    async def _way_out(self, hop: Hop) -> tuple[Any, dict[str, Any]]:
        session, options = await super()._way_out(hop)
        return session, {**options, "data": hop.body} if isinstance(hop, Post) else options
