"""A search server: OpenSearch, one node without a password, on this machine's Java."""

import http.client
import os
import shutil
import signal
import zipfile
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from tools.provision.maven import JAVA, ask_maven, cache_folder
from tools.provision.model import Server
from tools.provision.processes import free_port, unprivileged

VERSION = "2.19.5"
#: The whole server, with no other module than that for its network.
ARTIFACT = f"org.opensearch.distribution.integ-test-zip:opensearch:{VERSION}:zip"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>penstock</groupId><artifactId>search</artifactId><version>1</version>
  <packaging>pom</packaging>
</project>
"""
#: Quick to start rather than quick for days.
JVM = ("-Xms512m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
MAIN = "org.opensearch.bootstrap.OpenSearch"
SETTINGS = {
    "cluster.name": "penstock",
    "discovery.type": "single-node",
    "network.host": "127.0.0.1",
    "node.store.allow_mmap": "false",
    # A machine whose disk is nearly full can still run tests.
    "cluster.routing.allocation.disk.threshold_enabled": "false",
}
#: As root it refuses to run; every Unix has this user.
USER = "daemon"


def search_arguments(program: str, folder: Path, port: int) -> list[str]:
    user = unprivileged(USER)
    home = folder / f"opensearch-{VERSION}"
    if not home.exists():
        unpack(folder, home)
    own = {"path.home": home, "path.conf": home / "config", "distribution.type": "zip"}
    properties = [f"-Dopensearch.{name}={value}" for name, value in own.items()]
    temporary = [f"-Djava.io.tmpdir={home / 'data'}", f"-Djna.tmpdir={home / 'data'}"]
    java = [*user, program, *JVM, *temporary, "-Djava.security.manager=allow", *properties]
    settings = SETTINGS | {"http.port": port, "transport.port": free_port()}
    chosen = [f"-E{name}={value}" for name, value in settings.items()]
    return [*java, "-cp", f"{home}/lib/*", MAIN, *chosen]


def unpack(folder: Path, home: Path) -> None:
    """Put a server of the run's own in a folder, where the user that it runs as can be."""
    with zipfile.ZipFile(archive()) as packed:
        packed.extractall(folder)
    (home / "data").mkdir()
    if os.geteuid() == 0:
        folder.chmod(0o711)
        for own in ("config", "data", "logs"):
            for path in (home / own, *(home / own).rglob("*")):
                shutil.chown(path, USER, USER)


def archive() -> Path:
    """Where the packed server is; Maven fetches it once."""
    kept = cache_folder() / f"opensearch-{VERSION}.zip"
    if kept.exists():
        return kept
    fresh = cache_folder() / f"search.{os.getpid()}"
    fresh.mkdir(parents=True)
    try:
        (fresh / "pom.xml").write_text(POM)
        options = (f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={fresh}")
        ask_maven("OpenSearch", "copy", fresh / "pom.xml", *options)
        return (fresh / kept.name).replace(kept)
    finally:
        shutil.rmtree(fresh)


def search_answers(address: str) -> bool:
    """Whether a server says that its data can be read and written."""
    url = urlsplit(address)
    try:
        with closing(
            http.client.HTTPConnection(url.hostname or "127.0.0.1", url.port, timeout=2)
        ) as connection:
            connection.request("GET", "/_cluster/health")
            reply = connection.getresponse()
            return reply.status == 200 and b'"status":"red"' not in reply.read()
    except (OSError, ValueError, http.client.HTTPException):
        return False


SEARCH = Server(
    name="search",
    variable="PENSTOCK_TEST_SEARCH_URL",
    tool=JAVA,
    address="http://127.0.0.1:{port}",
    arguments=search_arguments,
    answers=search_answers,
    compose_port=9200,
    ending=signal.SIGKILL,
)
