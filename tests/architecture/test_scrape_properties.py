"""Every property of the scrape service's specification is tested, once, on enough examples."""

import importlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "property"
NUMBERS = range(1, 44)
TAG = re.compile(
    r"^# Feature: scraping-microservices, Property (\d+): .+\n(?:@.*\n(?:[ )].*\n)*)*"
    r"(?:async )?def (test_\w+)",
    re.M,
)


def tagged() -> Iterator[tuple[int, Any]]:
    """The number and the function of each tagged test."""
    for file in sorted(FOLDER.glob("test_*.py")):
        for number, name in TAG.findall(file.read_text()):
            yield int(number), getattr(importlib.import_module(f"tests.property.{file.stem}"), name)


def test_every_property_has_one_test_of_at_least_a_hundred_examples() -> None:
    tests = list(tagged())

    assert Counter(number for number, _ in tests) == Counter(NUMBERS)
    examples = {number: examples_of(test) for number, test in tests}
    assert not {number: count for number, count in examples.items() if count < 100}


def examples_of(test: Any) -> int:
    assert test.is_hypothesis_test, test.__name__
    count: int = test._hypothesis_internal_use_settings.max_examples
    return count
