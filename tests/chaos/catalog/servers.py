"""The servers that a crawl needs: a store, a broker, what paces, and a bucket."""

import http.client
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests import postgres_server, private_server, rabbitmq_server, redis_server
from tests.postgres_server import PrivatePostgres
from tests.private_server import PrivateServer
from tests.rabbitmq_server import PrivateRabbitMQ
from tests.redis_server import PrivateRedis
from tools.provision.s3 import MOTO_SERVER, S3

BUCKET = "penstock-chaos"
Sections = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Servers:
    """Servers that run; the first two may be killed."""

    postgres: PrivatePostgres
    rabbitmq: PrivateRabbitMQ
    redis: PrivateRedis
    s3: PrivateServer

    @property
    def sections(self) -> Sections:
        """The settings of who uses all of them."""
        return {
            "store": {"url": self.postgres.url},
            "broker": {"url": self.rabbitmq.url, "resend_seconds": 3},
            "shared": {"url": self.redis.url, "retry_seconds": 0.5},
            "blobs": {
                "url": f"s3://{BUCKET}/pages",
                "endpoint": self.s3.url,
                "access_key": "key",
                "secret_key": "secret",
            },
        }


@contextmanager
def open_servers(folder: Path) -> Iterator[Servers]:
    """New servers, started together; their data are thrown away in the end."""
    postgres = PrivatePostgres(postgres_server.find_program())
    rabbitmq = PrivateRabbitMQ(rabbitmq_server.find_program())
    redis = PrivateRedis(redis_server.find_program(), folder)
    s3 = PrivateServer(S3, private_server.find_program(MOTO_SERVER))
    with ExitStack() as stack:
        for stop in (postgres.stop, rabbitmq.stop, redis.kill, s3.stop):
            stack.callback(stop)
        with ThreadPoolExecutor() as threads:
            list(threads.map(lambda server: server.start(), (postgres, rabbitmq, redis, s3)))
        make_bucket(s3.url)
        yield Servers(postgres, rabbitmq, redis, s3)


def make_bucket(url: str) -> None:
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)) as connection:
        connection.request("PUT", f"/{BUCKET}")
        connection.getresponse().read()
