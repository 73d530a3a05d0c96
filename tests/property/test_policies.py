"""Policy files, whatever valid entries they hold: property 23."""

import string
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.kernel.headers import problem_with
from penstock.kernel.policy import dump, load

labels = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=8)
domains = st.just("default") | st.builds("{}.{}.{}".format, labels, labels, st.just("test"))
texts = st.text(max_size=12)
header_names = st.text(string.ascii_letters, min_size=1, max_size=12).map("X-{}".format)
header_values = texts.filter(lambda value: problem_with("X", value) is None)
numbers = st.integers(1, 10_000)
hours = st.fixed_dictionaries({"start": st.integers(0, 23), "end": st.integers(0, 24)}).filter(
    lambda window: window["start"] != window["end"]
)
robots = st.fixed_dictionaries(
    {},
    optional={
        "obey_star": st.booleans(),
        "on_unreachable": st.sampled_from(["deny", "allow"]),
    },
)
proxies = st.fixed_dictionaries(
    {}, optional={"use": st.sampled_from(["never", "always"]), "region": st.none() | labels}
)
policies = st.fixed_dictionaries(
    {},
    optional={
        "tokens_per_interval": st.none() | numbers,
        "interval_seconds": st.integers(1, 86400) | st.floats(1e-9, 86400),
        "request_delay_ms": st.integers(0, 3_600_000),
        "max_concurrent": numbers,
        "min_delay_ms": st.integers(0, 1000),
        "max_delay_ms": st.integers(1000, 9000),
        "allowed_hours": st.none() | hours,
        "respect_robots_txt": st.booleans(),
        "robots": robots,
        "group": st.sampled_from(["shops", "null", "yes", "1", "1e3", "0x1f", "2026-01-01"]),
        "split_hosts": st.booleans(),
        "fetcher": st.sampled_from(["http", "browser"]),
        "proxy": proxies,
        "identity": st.sampled_from(["honest", "browser"]),
        "headers": st.dictionaries(header_names, header_values, max_size=3),
        "blocks_count": st.booleans(),
    },
)


# Feature: scraping-microservices, Property 23: Domain policy YAML parsing round trip
@pytest.mark.property_number(23)
@settings(max_examples=120, deadline=None)
@given(st.dictionaries(domains, policies, max_size=4))
def test_policies_survive_being_read_and_written(
    tmp_path_factory: pytest.TempPathFactory, configured: dict[str, dict[str, Any]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "round-trip.yaml"
    path.write_text(yaml.safe_dump({"domains": configured}), encoding="utf-8")
    entries = load(path)

    path.write_text(dump(entries), encoding="utf-8")

    assert load(path) == entries
    assert yaml.safe_load(path.read_text(encoding="utf-8")) == {"domains": configured}
