"""What may stand in a source's scrape config."""

from typing import Any

import pytest

from penstock.products.sources import read_config
from penstock.web.errors import InvalidRequest


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"rateLimit": {"requestsPerSecond": 0.5}},
        {"fetcherType": "playwright", "customHeaders": {"Accept-Language": "en-US"}},
        {"fetcherType": "http"},
        {"fetcherType": "browser"},
    ],
)
def test_config_is_read(config: dict[str, Any]) -> None:
    assert read_config(config).model_dump(exclude_defaults=True) == config


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"ratelimit": {}}, "ratelimit"),
        ({"rateLimit": {"requestsPerSecond": 0}}, "rateLimit.requestsPerSecond"),
        ({"rateLimit": {"requestsPerSecond": float("inf")}}, "rateLimit.requestsPerSecond"),
        ({"rateLimit": {"requestsPerSecond": float("nan")}}, "rateLimit.requestsPerSecond"),
        ({"rateLimit": {"perSecond": 1}}, "rateLimit"),
        ({"fetcherType": "curl"}, "fetcherType"),
        ({"customHeaders": {"Host": "other.example"}}, "customHeaders"),
        ({"customHeaders": {"User-Agent": "Mozilla"}}, "customHeaders"),
        ({"customHeaders": {"X-A": "b\r\nX-C: d"}}, "customHeaders"),
    ],
)
def test_config_that_is_wrong_is_named(config: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidRequest, match=rf"scrape_config\.{named}"):
        read_config(config)
