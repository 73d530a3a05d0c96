"""What acceptance tests share: the local site, a platform or a service on it, servers, a clock."""

import pytest

from tests.kafka_server import kafka
from tests.page_fetchers import durable, servers
from tests.platforms import VisitClock, platform, site, whole_site
from tests.services import idle, service

__all__ = ["durable", "idle", "kafka", "platform", "servers", "service", "site", "whole_site"]


@pytest.fixture
def clock() -> VisitClock:
    return VisitClock()
