"""A stand-in for S3, from the package index."""

import http.client
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from tools.provision.model import Server, Tool

MOTO_SERVER = Tool(
    name="moto_server",
    variable="PENSTOCK_TEST_MOTO_BINARY",
    program="moto_server",
    folders=(str(Path(sys.executable).parent),),
)


def s3_arguments(program: str, _folder: Path, port: int) -> list[str]:
    return [program, "--host", "127.0.0.1", "--port", str(port)]


def s3_answers(address: str) -> bool:
    url = urlsplit(address)
    secure = url.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    try:
        with closing(kind(url.hostname or "127.0.0.1", url.port, timeout=2)) as connection:
            connection.request("GET", "/")
            # Without a signature it may refuse to list buckets; that is an answer too.
            return connection.getresponse().status < 500
    except (OSError, ValueError, http.client.HTTPException):
        return False


S3 = Server(
    name="s3",
    variable="PENSTOCK_TEST_S3_URL",
    tool=MOTO_SERVER,
    address="http://127.0.0.1:{port}",
    arguments=s3_arguments,
    answers=s3_answers,
    compose_port=5000,
)
