"""The readable text of pages, made by a process of its own.

    python -m penstock.workloads.scrape.readable SECONDS

The library that finds it is given whatever the web holds, and takes minutes over some pages. Here
it holds up nobody, and can be ended. Requests and answers are JSON behind their length, on standard
input and output; a page that takes more than SECONDS of a processor ends the process.
"""

import re
import resource
import signal
import sys
from collections.abc import Mapping, Sequence
from html import unescape
from typing import Any, BinaryIO

import orjson

LENGTH = 4
#: Of what is longer, all text is taken as it stands: what matters is not looked for.
MOST_SEARCHED = 1_000_000
MOST_MEMORY = 2 * 1024**3
_UNSEEN = re.compile(r"<!--.*?-->|<(script|style|noscript|template|svg)\b.*?</\1\s*>", re.I | re.S)
_INLINE = re.compile(
    r"</?(?:a|abbr|b|code|em|font|i|mark|small|span|strong|sub|sup|u)\b[^>]*>", re.I
)
_TAG = re.compile(r"<[a-z/!?][^>]*>", re.I)
FORMS: Mapping[str, str] = {"text": "txt", "markdown": "markdown"}


def frame(content: Mapping[str, Any]) -> bytes:
    """A message with its length before it."""
    data = orjson.dumps(content)
    return len(data).to_bytes(LENGTH) + data


def texts_of(html: str, url: str, forms: Sequence[str]) -> dict[str, str]:
    """What a person would read of a page, by form; one that cannot be made is left out."""
    found = {}
    for form in forms:
        is_long = len(html) > MOST_SEARCHED
        if text := _whole(html) if is_long else _searched(html, url, FORMS[form]):
            found[form] = text
    return found


def _searched(html: str, url: str, form: str) -> str | None:
    import trafilatura  # noqa: PLC0415 - heavy, and only the process needs it

    return trafilatura.extract(
        html,
        url=url,
        output_format=form,
        include_links=form == "markdown",
        include_tables=True,
        favor_recall=True,
    )


def _whole(html: str) -> str:
    """All text that is not markup, a line for each block; what stalls this ends the process."""
    text = unescape(_TAG.sub("\n", _INLINE.sub("", _UNSEEN.sub("", html))))
    return "\n".join(folded for line in text.splitlines() if (folded := " ".join(line.split())))


def main(seconds: float) -> None:
    """Answer requests until there are no more, also while everybody else is told to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # To load everything takes a second, which is not the first page's.
    _searched("<p>Nothing", "", "markdown")
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    while (asked := _read(sys.stdin.buffer)) is not None:
        # Nobody catches the signal: it ends the process, whatever that is doing.
        signal.setitimer(signal.ITIMER_PROF, seconds)
        answer = _answer(asked)
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.buffer.write(frame(answer))
        sys.stdout.buffer.flush()


def _answer(asked: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return {"texts": texts_of(asked["html"], asked["url"], asked["forms"])}
    except Exception as error:
        # Of a library that is given whatever the web holds.
        return {"texts": {}, "error": type(error).__name__}


def _read(stream: BinaryIO) -> Any:
    length = stream.read(LENGTH)
    return orjson.loads(stream.read(int.from_bytes(length))) if length else None


if __name__ == "__main__":
    main(float(sys.argv[1]))
