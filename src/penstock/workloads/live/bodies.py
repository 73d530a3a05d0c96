"""What people send about feeds."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, StringConstraints

from penstock.web.bodies import JSON_NUMBER, AdapterName, Address, Body
from penstock.workloads.live.model import DEFAULT_PRIORITY, HIGHEST, LOWEST, Feed
from penstock.workloads.live.service import ID_PATTERN, RESERVED

SHORTEST, LONGEST = 0.1, 3600

Priority = Annotated[
    int,
    Field(ge=HIGHEST, le=LOWEST, description=f"{HIGHEST} goes first, {LOWEST} last."),
    JSON_NUMBER,
]
Interval = Annotated[float, Field(ge=SHORTEST, le=LONGEST), JSON_NUMBER]
Name = Annotated[
    str,
    StringConstraints(pattern=ID_PATTERN),
    Field(json_schema_extra={"not": {"enum": sorted(RESERVED)}}),
]


class NewFeed(Body):
    """A page to watch. One that is known is changed: what is absent is as for a new one."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"url": "https://scores.example.com/match/7", "adapter": "cricket"},
                {
                    "url": "https://scores.example.com/match/7",
                    "match_id": "final",
                    "adapter": "selectors",
                    "options": {
                        "select": {"runs": [".runs", ".m-runs"], "status": [".status"]},
                        "critical": ["runs"],
                        "ended": {"field": "status", "text": "(?i)ended|result"},
                    },
                    "interval": 5,
                    "priority": 1,
                },
            ]
        }
    )

    url: Address
    match_id: Name | None = Field(None, description="Its id; made from the URL if absent.")
    adapter: AdapterName | None = Field(
        None, description="Who reads it, see `/adapters`; chosen by the URL if absent."
    )
    options: dict[str, Any] = Field(default_factory=dict, description="For the adapter.")
    priority: Priority = DEFAULT_PRIORITY
    interval: Interval | None = Field(
        None, description="Seconds between two looks, at first; as the settings say if absent."
    )

    def as_feed(self) -> Feed:
        """The feed that somebody wants."""
        return Feed(
            match_id=self.match_id or "",
            url=self.url,
            adapter=self.adapter or "",
            options=self.options,
            priority=self.priority,
            interval=self.interval,
        )
