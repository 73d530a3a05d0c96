"""What tests under attack share: the local site, and a scrape service on it."""

from tests.platforms import site, whole_site
from tests.services import service

__all__ = ["service", "site", "whole_site"]
