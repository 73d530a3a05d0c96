"""What schemathesis has to know: URLs of hosts that there are, and what nobody waits for."""

import json
from contextlib import suppress
from typing import Any

import schemathesis
from hypothesis import strategies as st

#: Seconds that an endpoint may be asked to wait.
LONGEST_WAIT = 30
LONGEST_NAME = 200
HOSTS = ("shop01.test", "shop02.test", "private.test", "blocked.test")

#: Sources that the test adds, one for each domain.
SOURCES = {"Shop 1": "shop01.test", "Shop 2": "shop02.test"}
WORDS = {
    "adapter": ("product", "sgammo"),
    "source": tuple(SOURCES),
    "domain": tuple(SOURCES.values()),
    "schedule": ("6h", "1d", "0 6 * * *"),
    "header-name": ("Accept-Language", "X-Shop"),
    "header-value": ("en", "de"),
}

for name, words in WORDS.items():
    schemathesis.openapi.format(name, st.sampled_from(words))
schemathesis.openapi.format(
    "uri",
    st.builds("http://{}/product/{}".format, st.sampled_from(HOSTS), st.integers(1, 20)),
)


CRAWLER = "/api/v1/admin"
FEEDS = "/api/v1/live/feeds"
#: A page that stays open takes no turn of its domain, however many there are.
READING = {"adapter": "selectors", "options": {"select": {"score": [".score"]}, "way": "page"}}
#: How long cursors are that only a list itself can make.
CURSORS = {"/api/v1/products": 4096, "/api/v1/products/search": 1024}


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Events that do not come are not waited for, lists begin where they do.

    Options of a feed are those of its adapter, which the document does not know.

    What is wrong stays wrong.
    """
    del context, kwargs
    with suppress(AttributeError, TypeError, ValueError):
        if case.path.startswith(CRAWLER):
            # The pace of a domain is for all who contact it: others would have to wait.
            case.body = json.loads(json.dumps(case.body).replace("shop0", "goods0"))
    with suppress(AttributeError, TypeError):
        if case.path == FEEDS and _is_about_right(case.body):
            case.body = {**case.body, **READING}
    with suppress(KeyError, TypeError):
        cursor = case.query["cursor"]
        if isinstance(cursor, str) and len(cursor) <= CURSORS[case.path]:
            del case.query["cursor"]
    with suppress(KeyError, TypeError, ValueError):
        if 0 <= float(case.query["wait"]) <= LONGEST_WAIT:
            case.query["wait"] = 0


def _is_about_right(feed: dict[str, Any]) -> bool:
    adapter, options = feed.get("adapter"), feed.get("options", {})
    is_named = isinstance(adapter, str) and 0 < len(adapter) <= LONGEST_NAME
    return (adapter is None or is_named) and isinstance(options, dict)
