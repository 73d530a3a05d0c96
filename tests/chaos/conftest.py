"""What tests under attack share: the local site, a scrape service on it, and servers."""

from tests.kafka_server import kafka, own_kafka
from tests.page_fetchers import durable, servers
from tests.platforms import site, whole_site
from tests.services import service

__all__ = ["durable", "kafka", "own_kafka", "servers", "service", "site", "whole_site"]
