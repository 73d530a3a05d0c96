"""Switches: contact is stopped at once, and nothing else is."""

import asyncio

import pytest

from penstock.kernel.switches import EVERYTHING, Paused, Switches


async def endless() -> str:
    await asyncio.Event().wait()
    return "never"


async def quick() -> str:
    return "there"


async def test_a_paused_domain_is_broken_off_and_others_go_on() -> None:
    switches = Switches()
    broken = asyncio.create_task(switches.contact("a.test", endless()))
    going = asyncio.create_task(switches.contact("b.test", endless()))
    await asyncio.sleep(0)
    switches.set({"a.test"})
    with pytest.raises(Paused):
        await broken
    assert switches.is_paused("a.test")
    assert not switches.is_paused("b.test")
    assert not going.done()
    switches.set({EVERYTHING})
    with pytest.raises(Paused):
        await going
    assert switches.is_paused("anything.test")


async def test_a_time_out_of_the_work_itself_is_not_a_pause() -> None:
    async def slow() -> str:
        raise TimeoutError("of its own")

    with pytest.raises(TimeoutError, match="of its own"):
        await Switches().contact("a.test", slow())


async def test_what_is_not_paused_passes() -> None:
    switches = Switches()
    switches.set({"b.test"})
    assert await switches.contact("a.test", quick()) == "there"
    switches.set(())
    assert await switches.contact("b.test", quick()) == "there"
