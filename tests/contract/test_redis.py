"""What holds for the Redis back ends alone: keys, scripts, the server's clock, lost answers."""

import asyncio
import socket
import sys

import pytest
import redis

from penstock.app import build
from penstock.core.errors import SettingsError, SharedStateLost
from penstock.kernel.model import Pass, Ticket
from penstock.kernel.policy import Pace, Rate
from penstock.kernel.ports import RobotsAnswer
from penstock.kernel.redis import RedisPacing, connect
from penstock.kernel.redis.presence import BEAT, SILENCE, Presence
from penstock.kernel.settings import SharedSettings
from penstock.settings import load_settings
from tests.clocks import HandClock
from tests.contract.conftest import InRedis

PACE = Pace((Rate(2, 10.0),), 1.0, 4)
A_MOMENT = 0.2


def about(seconds: float) -> object:
    return pytest.approx(seconds, abs=A_MOMENT)


async def test_keys_have_the_names_of_the_specs_and_all_run_out(in_redis: InRedis) -> None:
    pacing, breaker = await in_redis.pacing(), await in_redis.breaker()
    robots = await in_redis.robots_cache()
    for _ in range(2):
        await pacing.reserve("shop.test", PACE)
    await pacing.slow_down("slow.test", 300)
    await breaker.report(Pass("shop.test", 0), well=False)
    await robots.put("https://shop.test", RobotsAnswer("allow"), 86400)
    await robots.claim("https://shop.test", 120)

    ttls = in_redis.ttls()

    assert {key if not key.startswith("alive:") else "alive:" for key in ttls} == {
        "alive:",
        "rate_limit:shop.test",
        "rate_limit:shop.test:starts",
        "rate_limit:shop.test:plans",
        "rate_limit:shop.test:slots",
        "rate_limit:slow.test",
        "rate_limit_slowed",
        "breaker:window:shop.test",
        "robots:https://shop.test",
        "robots:https://shop.test:claim",
    }
    assert all(0 < seconds < 2 * 86400 for seconds in ttls.values())
    assert ttls["rate_limit:slow.test"] >= 299


async def test_short_penalty_does_not_cut_a_long_one(in_redis: InRedis) -> None:
    pacing = await in_redis.pacing()
    await pacing.hold("shop.test", 3000)
    await pacing.slow_down("shop.test", 1)
    await pacing.reserve("shop.test", PACE)

    assert in_redis.ttls()["rate_limit:shop.test"] >= 2999


async def test_slot_of_a_process_that_fell_silent_is_free_before_its_lease_runs_out(
    in_redis: InRedis, clock: HandClock
) -> None:
    lost, living = await in_redis.pacing(lease_seconds=600), await in_redis.pacing()
    pace = Pace((Rate(1_000_000, 1.0),), 0.0, 1)
    await lost.reserve("shop.test", pace)

    clock.move(SILENCE - 1)
    waiting = await living.reserve("shop.test", pace)
    clock.move(2)

    assert not waiting.granted
    assert (await living.reserve("shop.test", pace, waiting)).granted


async def test_process_that_beats_keeps_its_slots(in_redis: InRedis, clock: HandClock) -> None:
    server, other = await in_redis.connect(), await in_redis.pacing()
    busy, presence = RedisPacing(server, clock, lease_seconds=600), Presence(server, clock)
    pace = Pace((Rate(1_000_000, 1.0),), 0.0, 1)
    await busy.reserve("shop.test", pace)

    for _ in range(5):
        beating = asyncio.create_task(presence.keep_beating())
        await asyncio.sleep(0)
        await busy.release(Ticket("nobody:1", "nowhere.test", 0.0))  # answered after the beat
        beating.cancel()
        clock.move(SILENCE - BEAT - 1)  # it sleeps, too, by this clock

    assert not (await other.reserve("shop.test", pace)).granted


async def test_robots_file_that_a_lost_process_asked_for_is_asked_for_by_another(
    in_redis: InRedis, clock: HandClock
) -> None:
    lost, living = await in_redis.robots_cache(), await in_redis.robots_cache()
    await lost.claim("https://shop.test", 120)

    clock.move(SILENCE - 1)
    too_early = await living.claim("https://shop.test", 120)
    clock.move(2)

    assert not too_early
    assert await living.claim("https://shop.test", 120)


async def test_server_that_forgot_its_scripts_is_taught_again(in_redis: InRedis) -> None:
    pacing, breaker = await in_redis.pacing(), await in_redis.breaker()
    await pacing.reserve("shop.test", PACE)
    with redis.Redis.from_url(in_redis.settings.url.get_secret_value()) as client:
        client.script_flush()

    answers = await asyncio.gather(
        *(breaker.enter("shop.test") for _ in range(20)),
        *(pacing.reserve(f"shop{n}.test", PACE) for n in range(20)),
    )

    assert len(answers) == 40


async def test_concurrent_calls_share_round_trips(in_redis: InRedis) -> None:
    pacing = await in_redis.pacing()
    await pacing.reserve("shop.test", PACE)
    with redis.Redis.from_url(in_redis.settings.url.get_secret_value()) as client:
        before = client.info("stats")["total_reads_processed"]
        await asyncio.gather(*(pacing.reserve(f"shop{n}.test", PACE) for n in range(200)))
        reads = client.info("stats")["total_reads_processed"] - before

    assert reads < 50


async def test_caller_that_went_away_does_not_disturb_the_others(in_redis: InRedis) -> None:
    pacing = await in_redis.pacing()
    impatient = asyncio.create_task(pacing.reserve("shop.test", PACE))
    patient = asyncio.create_task(pacing.reserve("other.test", PACE))
    await asyncio.sleep(0)
    impatient.cancel()

    assert (await patient).granted


async def test_penalties_and_leases_survive_a_clock_that_goes_back_and_freeze_nothing(
    in_redis: InRedis, clock: HandClock
) -> None:
    pacing = await in_redis.pacing(lease_seconds=30)
    one_at_a_time = Pace((Rate(1000, 1.0),), 0.0, 1)
    await pacing.reserve("leased.test", one_at_a_time)
    await pacing.hold("held.test", 60)
    clock.move(-900)

    held = await pacing.reserve("held.test", PACE)
    full = await pacing.reserve("leased.test", one_at_a_time)
    clock.move(30.5)
    leased = await pacing.reserve("leased.test", one_at_a_time, full)

    assert not held.granted
    assert held.at - clock.monotonic() + 30.5 == about(60)
    assert not full.granted
    assert leased.granted


async def test_circuit_survives_a_clock_that_goes_back_and_does_not_freeze(
    in_redis: InRedis, clock: HandClock
) -> None:
    breaker = await in_redis.breaker(
        trip="consecutive", threshold=1, cooldown_seconds=30, probe_seconds=20
    )
    await breaker.report(Pass("shop.test", 0), well=False)
    clock.move(-900)
    assert await breaker.look("shop.test") == about(30)
    clock.move(30)
    probe = await breaker.enter("shop.test")
    clock.move(-900)

    assert isinstance(probe, Pass)
    assert await breaker.look("shop.test") == about(30)
    clock.move(30.5)
    assert isinstance(await breaker.enter("shop.test"), Pass)


async def test_robots_answers_and_claims_do_not_outlive_a_clock_that_goes_back(
    in_redis: InRedis, clock: HandClock
) -> None:
    robots = await in_redis.robots_cache()
    await robots.put("https://shop.test", RobotsAnswer("allow"), 100)
    await robots.claim("https://shop.test", 100)
    clock.move(-900)

    entry = await robots.get("https://shop.test")
    claim = await robots.claim("https://shop.test", 100)
    clock.move(100)

    assert entry == (RobotsAnswer("allow"), about(100))
    assert not claim
    assert await robots.get("https://shop.test") is None
    assert await robots.claim("https://shop.test", 100)


async def test_text_no_server_can_store_is_stored_all_the_same(in_redis: InRedis) -> None:
    robots = await in_redis.robots_cache()
    await robots.put("https://shop.test", RobotsAnswer("rules", "Disallow: /\udc80\x00"), 100)

    entry = await robots.get("https://shop.test")

    assert entry is not None
    assert entry[0].text == "Disallow: /?\x00"


async def test_server_that_is_not_there_at_the_start_names_the_setting() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nobody = SharedSettings(url=f"redis://127.0.0.1:{taken.getsockname()[1]}")

        with pytest.raises(SharedStateLost, match="PENSTOCK_SHARED__URL"):
            async with connect(nobody):
                pass


async def test_server_that_refuses_a_script_is_lost(in_redis: InRedis) -> None:
    with redis.Redis.from_url(in_redis.settings.url.get_secret_value()) as client:
        client.set(f"{in_redis.settings.prefix}breaker:window:shop.test", "not a circuit", ex=60)
    breaker = await in_redis.breaker()

    with pytest.raises(SharedStateLost, match="WRONGTYPE"):
        await breaker.look("shop.test")


async def test_nothing_can_be_asked_after_the_connection_was_closed(
    in_redis: InRedis, clock: HandClock
) -> None:
    async with connect(in_redis.settings) as server:
        pacing = RedisPacing(server, clock, 120)

    with pytest.raises(SharedStateLost):
        await pacing.reserve("shop.test", PACE)


@pytest.mark.parametrize("url", ["http://127.0.0.1", "redis://127.0.0.1:port"])
async def test_address_that_is_none_names_the_setting(url: str) -> None:
    with pytest.raises(SettingsError, match="PENSTOCK_SHARED__URL"):
        async with connect(SharedSettings(url=url)):
            pass


async def test_missing_client_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.startswith(("penstock.kernel.redis", "redis")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("penstock.kernel.redis")
    monkeypatch.setitem(sys.modules, "redis", None)

    with pytest.raises(SettingsError, match=r"penstock\[redis\]"):
        async with build(load_settings(shared={"url": "redis://127.0.0.1"})):
            pass
