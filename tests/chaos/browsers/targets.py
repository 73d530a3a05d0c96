"""What the soak asks for: of every ten pages three fail, each in another way."""

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import count, cycle

from penstock.client import Target, TargetType

TEN, FAILING = 10, 3
SITE = "http://scripted.test"
PRODUCTS = 20


def _product(path: str) -> Target:
    return _target(TargetType.PRODUCT, f"{SITE}{path}")


def _page(url: str) -> Target:
    return _target(TargetType.PAGE, url)


def _target(kind: TargetType, url: str) -> Target:
    return Target(target_type=kind, target_url=url, workspace_id="soak", fetcher="browser")


#: Makes a target of a number, and how its task ends.
Way = tuple[str | None, Callable[[int], Target]]
WELL: Sequence[Way] = (
    (None, lambda n: _product(f"/product/{1 + n % PRODUCTS}?{n}")),
    (None, lambda n: _page(f"http://lazy.test/product/{1 + n % PRODUCTS}?{n}")),
    (None, lambda n: _product(f"/product/{1 + n % PRODUCTS}?{n}")),
    (None, lambda n: _page(f"http://shop01.test/product/{1 + n % PRODUCTS}?{n}")),
)
NOT_THERE: Way = ("http_404", lambda n: _page(f"{SITE}/missing?{n}"))
CRASHES: Way = ("page_crashed", lambda n: _page(f"{SITE}/dies?{n}"))
THROWS: Way = ("PRICE_NOT_FOUND", lambda n: _product(f"/throws?{n}"))
HANGS: Way = ("page_hung", lambda n: _page(f"{SITE}/hangs?{n}"))
NO_ANSWER: Way = ("timeout", lambda n: _page(f"http://slow.test/headers?seconds=60&{n}"))
#: Those that take their whole time are fewer.
FAILURES = (NOT_THERE, CRASHES, THROWS, HANGS, NOT_THERE, CRASHES, THROWS, NO_ANSWER)


def endless_targets(chance: random.Random) -> Iterator[tuple[Target, str | None]]:
    """Targets with their errors, in tens, each ten in another order."""
    numbers, well, failures = count(), cycle(WELL), cycle(FAILURES)
    while True:
        ways = [next(failures) for _ in range(FAILING)]
        ways += [next(well) for _ in range(TEN - FAILING)]
        for error, make in chance.sample(ways, TEN):
            yield make(next(numbers)), error
