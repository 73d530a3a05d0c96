"""The event log in the console."""

from pathlib import Path

from sqlalchemy import insert

from penstock.events.ports import Message
from penstock.events.tables import deliveries
from tests.consoles import XSS, RunningConsole, assert_harmless, console_on, text_of
from tests.site import Site


async def tell(console: RunningConsole, *messages: Message) -> None:
    engine = console.service.engine
    await engine.store.write(lambda unit: engine.log.append(unit, messages))


def about(number: int, topic: str = "price.changed") -> Message:
    return Message(f"id-{topic}-{number}", topic, f"key-{number}", {"status": f"state {number}"})


async def park(console: RunningConsole, sink: str, seq: int, text: str = "no") -> None:
    row = {"sink": sink, "seq": seq, "key": text, "state": "parked"}
    row |= {"attempts": 9, "next_at": 0, "error": text}
    await console.service.engine.store.write(
        lambda unit: unit.run(insert(deliveries), row) and None
    )


async def test_an_empty_log_says_where_events_come_from(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        assert "penstock events tail -f" in text_of(await console.get("/events"))


async def test_the_log_is_shown_in_parts_the_newest_first(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        await tell(console, *(about(number) for number in range(60)))

        first = await console.get("/events")
        rest = await console.get("/events", after="11")

        assert text_of(first).index("key-59") < text_of(first).index("key-10")
        assert "key-9 " not in text_of(first)
        assert "after=11" in first.text
        assert "key-9 state 9" in text_of(rest)
        assert 'rel="next"' not in rest.text


async def test_one_topic_is_shown(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        await tell(console, about(1), about(2, "run.finished"))

        shown = text_of(await console.get("/events", topic="run.finished"))

        assert "key-2" in shown
        assert "key-1" not in shown


async def test_one_event_is_shown_with_its_data(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        await tell(console, about(1))

        page = await console.get("/events/1")

        assert '"status": "state 1"' in text_of(page)
        for nowhere in ("2", "x", "9" * 40, "-1"):
            assert (await console.get(f"/events/{nowhere}")).status_code == 404


async def test_parked_deliveries_are_delivered_again(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        assert "Everybody has taken everything" in text_of(await console.get("/events/deliveries"))
        await tell(console, about(1))
        await park(console, "kafka", 1)
        await park(console, "file", 1)

        page = await console.post("/events/deliveries/retry", sink="kafka")

        shown = text_of(page)
        assert "1 events will be delivered again" in shown
        assert "kafka waiting 1" in shown
        assert "file parked 1" in shown
        await console.reader.post("/events/deliveries/retry")
        assert "file parked 1" in text_of(await console.get("/events/deliveries"))


async def test_whatever_an_event_says_stays_text(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        for number, text in enumerate(XSS, 1):
            data = {"status": text, "url": text, "reason": text, "message": text, text: [text]}
            await tell(console, Message(f"{number}{text}", text, text, data, text))
            await park(console, text, number, text)
            assert_harmless(await console.get(f"/events/{number}"))
            assert_harmless(await console.get("/events", topic=text, after=text))

        assert_harmless(await console.get("/events"))
        assert_harmless(await console.get("/events/deliveries"))
