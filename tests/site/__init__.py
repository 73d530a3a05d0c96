"""A small real web site on loopback with many host names; see `python -m tests.site`."""

from tests.site.answers import Answer, Handler, Hit, Raw, Reply, Reset
from tests.site.hosts import DEMO_HOSTS, HOSTS
from tests.site.server import Site
from tests.site.settings import SiteSettings

__all__ = [
    "DEMO_HOSTS",
    "HOSTS",
    "Answer",
    "Handler",
    "Hit",
    "Raw",
    "Reply",
    "Reset",
    "Site",
    "SiteSettings",
]
