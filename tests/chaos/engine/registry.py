"""All scenarios, in the order of the table."""

from tests.chaos.engine import clocks, crashes, disks, kills, lists, monitored, outages
from tests.chaos.engine.scenarios import Scenario, Size

SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("kill -9", kills.kill_at_random, Size(5_000, 20), Size(200_000, 1_000)),
        Scenario("kill -9, one ledger", kills.kill_with_slots, Size(500, 1), Size(20_000, 20)),
        Scenario("SIGTERM", kills.end_gently, Size(1_000, 3), Size(50_000, 50)),
        Scenario("SIGTERM twice", kills.end_at_once, Size(300, 1), Size(5_000, 20)),
        Scenario("SIGSTOP, SIGCONT", kills.freeze, Size(2_000, 1), Size(50_000, 20)),
        Scenario("late write", kills.write_late, Size(2_000, 1), Size(50_000, 20)),
        Scenario(
            "SIGSTOP, shipped pulse",
            kills.freeze_with_defaults,
            Size(2_000, 1),
            Size(50_000, 4),
        ),
        Scenario("fetch --durable", lists.kill_durable_fetch, Size(1_000, 2), Size(50_000, 50)),
        Scenario("monitored targets", monitored.kill_monitors, Size(300, 2), Size(5_000, 20)),
        Scenario("death at every step", crashes.die_at_every_step, Size(2_000, 1), Size(5_000, 20)),
        Scenario(
            "PostgreSQL killed",
            outages.kill_postgres,
            Size(2_000, 2),
            Size(50_000, 50),
            engines=("postgresql",),
        ),
        Scenario("Redis flushed, killed", outages.lose_redis, Size(1_000, 2), Size(20_000, 20)),
        Scenario("RabbitMQ killed", outages.kill_rabbitmq, Size(1_000, 1), Size(20_000, 20)),
        Scenario(
            "disk full",
            disks.fill_the_disk,
            Size(1_000, 1),
            Size(5_000, 20),
            engines=("sqlite",),
            ground=disks.small_disk,
            missing=disks.no_mount,
        ),
        Scenario(
            "fsync fails",
            disks.fail_to_sync,
            Size(2_000, 3),
            Size(50_000, 200),
            engines=("sqlite",),
            missing=disks.no_strace,
        ),
        Scenario("clock set", clocks.set_the_clock, Size(2_000, 2), Size(20_000, 40)),
        Scenario(
            "clock set between starts",
            clocks.set_the_clock_between_starts,
            Size(1_000, 3),
            Size(20_000, 40),
        ),
        Scenario(
            "power cut",
            disks.cut_the_power,
            Size(300, 2),
            Size(2_000, 20),
            engines=("sqlite",),
            ground=disks.own_disk,
            missing=disks.no_loop,
        ),
    )
}
