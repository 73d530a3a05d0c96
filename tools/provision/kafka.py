"""Kafka, one broker that is its own controller, on this machine's Java."""

import hashlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.provision.answers import reply_to
from tools.provision.maven import JAVA, ask_maven, cache_folder
from tools.provision.model import Run, Server, UnavailableError, Way
from tools.provision.processes import READY_SECONDS, call, free_port, stop

#: The second one writes what the broker says to its standard error.
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>penstock</groupId><artifactId>kafka</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId>
      <version>4.1.1</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId>
      <version>1.7.36</version>
    </dependency>
  </dependencies>
</project>
"""

#: A broker that was killed is let in again when its session is over.
SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
log.dirs={folder}/data
auto.create.topics.enable=false
broker.heartbeat.interval.ms=300
broker.session.timeout.ms=2000
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=2097152
num.io.threads=2
num.network.threads=1
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
"""
#: Quick to start rather than quick for days.
JVM = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"


def kafka_arguments(program: str, folder: Path, port: int) -> list[str]:
    java = [program, *JVM, QUIET, "-cp", class_path()]
    settings = folder / "server.properties"
    if not settings.exists():
        text = SETTINGS.format(folder=folder, port=port, controller=free_port())
        settings.write_text(text)
        name = ["--cluster-id", "MkU3OEVBNTcwNTJENDM2Qg", "--config", str(settings)]
        call([*java, "kafka.tools.StorageTool", "format", *name], READY_SECONDS)
    return [*java, "kafka.Kafka", str(settings)]


def class_path() -> str:
    """Where Kafka's classes are; Maven fetches them once."""
    kept = cache_folder() / f"kafka-{hashlib.sha256(POM.encode()).hexdigest()[:12]}.classpath"
    if kept.exists() and all(map(os.path.exists, kept.read_text().split(os.pathsep))):
        return kept.read_text()
    kept.parent.mkdir(parents=True, exist_ok=True)
    fresh = kept.with_suffix(f".{os.getpid()}")
    pom = kept.with_suffix(".xml")
    pom.write_text(POM)
    options = ("-DincludeScope=runtime", f"-Dmdep.outputFile={fresh}")
    ask_maven("Kafka", "build-classpath", pom, *options)
    return fresh.replace(kept).read_text()


def kafka_answers(address: str) -> bool:
    """Whether a broker names brokers that can be used; as it starts, there are none."""
    metadata = b"\0\3\0\0\0\0\0\1\xff\xff\0\0\0\0"
    first = address.partition(",")[0].rpartition("/")[2]
    reply = reply_to(len(metadata).to_bytes(4, "big") + metadata, f"kafka://{first}", 9092)
    correlation, brokers = reply[4:8], reply[8:12]
    return correlation == b"\0\0\0\1" and int.from_bytes(brokers, "big") in range(1, 1000)


def mock_cluster() -> Iterator[Way]:
    if importlib.util.find_spec("confluent_kafka"):
        yield Way("librdkafka's mock cluster, which is no real broker", start_mock)


def start_mock(run: Run) -> str:
    """Start brokers that only play: they forget all, know no admin calls and make every topic."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("kafka_mock.py"))],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    run.undo.callback(stop, process)
    address = process.stdout.readline().decode().strip() if process.stdout else ""
    if not address:
        raise UnavailableError("it ended at once")
    return address


KAFKA = Server(
    name="kafka",
    variable="PENSTOCK_TEST_KAFKA_SERVERS",
    tool=JAVA,
    address="127.0.0.1:{port}",
    arguments=kafka_arguments,
    answers=kafka_answers,
    compose_port=None,
    stand_ins=mock_cluster,
)
