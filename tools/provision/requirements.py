"""Everything that the tests need: programs that they start themselves, and servers."""

from tools.provision.axe import NPM
from tools.provision.kafka import KAFKA
from tools.provision.maven import JAVA, MAVEN
from tools.provision.model import Requirement, Server, Tool
from tools.provision.pgbouncer import PGBOUNCER
from tools.provision.postgres import POSTGRES, POSTGRES_SERVER
from tools.provision.rabbitmq import RABBITMQ, RABBITMQ_SERVER
from tools.provision.redis import REDIS, REDIS_SERVER
from tools.provision.s3 import MOTO_SERVER, S3
from tools.provision.search import SEARCH

CHROMIUM = Tool(
    name="chromium",
    variable="PENSTOCK_TEST_CHROMIUM",
    program="chromium-headless-shell",
    package="chromium-headless-shell",
    folders=("/usr/lib/chromium",),  # the one on the PATH is a script that the browser outlives
)

PROMTOOL = Tool("promtool", "PENSTOCK_TEST_PROMTOOL", "promtool", "prometheus")

TOOLS: tuple[Tool, ...] = (
    # The servers also on their own: tests that kill a server start a private one.
    REDIS_SERVER,
    POSTGRES_SERVER,
    PGBOUNCER,
    RABBITMQ_SERVER,
    MOTO_SERVER,
    JAVA,
    MAVEN,
    NPM,
    CHROMIUM,
    PROMTOOL,
    Tool("tinyproxy", "PENSTOCK_TEST_TINYPROXY", "tinyproxy", "tinyproxy"),
    Tool("microsocks", "PENSTOCK_TEST_MICROSOCKS", "microsocks", "microsocks"),
    Tool("strace", "PENSTOCK_TEST_STRACE", "strace", "strace"),
    Tool("faketime", "PENSTOCK_TEST_FAKETIME", "faketime", "faketime"),
)

SERVERS: tuple[Server, ...] = (REDIS, POSTGRES, RABBITMQ, S3, KAFKA, SEARCH)
REQUIREMENTS: tuple[Requirement, ...] = (*TOOLS, *SERVERS)
