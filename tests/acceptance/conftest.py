"""What acceptance tests share: the local site, a platform or a service on it, and a clock."""

import pytest

from tests.platforms import VisitClock, platform, site, whole_site
from tests.services import idle, service

__all__ = ["idle", "platform", "service", "site", "whole_site"]


@pytest.fixture
def clock() -> VisitClock:
    return VisitClock()
