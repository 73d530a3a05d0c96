"""JSON as pages write it is read; what is code, cut off or too deep is not guessed at."""

import json
from typing import Any

import pytest

from penstock.extract.page.loose_json import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_TOKENS,
    read_json,
    read_literal,
)


def nested(depth: int, opening: str = "[", closing: str = "]", core: str = "") -> str:
    return opening * depth + core + closing * depth


def depth_of(value: Any) -> int:
    depth = 0
    while isinstance(value, list) and value:
        depth, value = depth + 1, value[0]
    return depth


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        (
            ' [1, 2.5, -3, 1e2, true, false, null, "x"] ',
            [1, 2.5, -3, 100.0, True, False, None, "x"],
        ),
        ('{"a": {"b": [{"c": ""}]}}', {"a": {"b": [{"c": ""}]}}),
        ("{}", {}),
        ("[]", []),
    ],
)
def test_correct_json_is_read_as_it_is(text: str, value: Any) -> None:
    assert read_json(text) == value


@pytest.mark.parametrize(
    "text",
    [
        '/* shop */ {"name": "Lamp", "price": 5}',
        '{"name": "Lamp", /* net: */ "price": 5}',
        '{"name": "Lamp", // what it is called\n"price": 5}',
        '// first\n{"name": "Lamp", "price": 5} // last',
        '<!-- {"name": "Lamp", "price": 5} -->',
        '//<!--\n{"name": "Lamp", "price": 5}\n//-->',
        '<![CDATA[{"name": "Lamp", "price": 5}]]>',
        '//<![CDATA[\n{"name": "Lamp", "price": 5}\n//]]>',
        '{"name": "Lamp", "price": 5,}',
        '{"name": "Lamp",, "price": 5}',
        '{"name": "Lamp" "price": 5}',
        "{'name': 'Lamp', 'price': 5}",
        "{`name`: `Lamp`, `price`: 5}",
        "{name: 'Lamp', price: 5}",
        '{"name": "Lamp", "price": 5};',
        '{"name": "Lamp", "price": 5}}}]',
        '\ufeff{"name": "Lamp", "price": 5}',
        'var state = {"name": "Lamp", "price": 5}; start(state);',
        "{&quot;name&quot;: &quot;Lamp&quot;, &quot;price&quot;: 5}",
        "{&#34;name&#34;: &#034;Lamp&#034;, &#x22;price&#X22;: 5}",
    ],
)
def test_what_pages_do_to_json_is_undone(text: str) -> None:
    assert read_json(text) == {"name": "Lamp", "price": 5}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('["a", "b",]', ["a", "b"]),
        ("['a', 'b']", ["a", "b"]),
        ('{"a": [1, 2,], }', {"a": [1, 2]}),
        ("""{'a': 'say "hi"'}""", {"a": 'say "hi"'}),
        ("""{"a": "it's",}""", {"a": "it's"}),
        ("{'a': 'it\\'s'}", {"a": "it's"}),
        (
            '{"a": "http://x.test/ /* no */ // comment",}',
            {"a": "http://x.test/ /* no */ // comment"},
        ),
        ('{"a": "b}, {]",}', {"a": "b}, {]"}),
        (
            "{a: True, b: False, c: undefined, d: None}",
            {"a": True, "b": False, "c": None, "d": None},
        ),
        ("{$key: 1, key_2: 2, 3: 4}", {"$key": 1, "key_2": 2, "3": 4}),
    ],
)
def test_quotes_and_commas_are_told_from_what_they_hold(text: str, value: Any) -> None:
    assert read_json(text) == value


@pytest.mark.parametrize("entity", ["&amp;", "&quot;", "&#8364;"])
def test_entities_between_real_quotes_stay_for_the_reader_of_the_field(entity: str) -> None:
    assert read_json(f'{{"name": "A {entity} B",}}') == {"name": f"A {entity} B"}


@pytest.mark.parametrize("character", ["\n", "\t", "\r\n", "\x00", "\x0b", "\x1f", "\x7f"])
def test_control_characters_in_strings_do_no_harm(character: str) -> None:
    assert read_json(f'{{"name": "A{character}B", "price": 5}}') == {
        "name": f"A{character}B",
        "price": 5,
    }


@pytest.mark.parametrize(
    ("escaped", "character"),
    [
        (r"\u00e9", "é"),
        (r"\u20AC", "€"),
        (r"\ud83d\ude00", "😀"),
        (r"x\ud83d\ude00\ud83d\ude01y", "x😀😁y"),
        (r"\u{1F600}", "😀"),
        (r"\xe9", "é"),
        (r"\n\t\r", "\n\t\r"),
        (r"\/", "/"),
        (r"\"", '"'),
        (r"\'", "'"),
        (r"\\", "\\"),
        (r"\\u00e9", r"\u00e9"),
        ("a\\\nb", "ab"),
    ],
)
def test_escapes_become_their_characters(escaped: str, character: str) -> None:
    assert read_json(f'{{"name": "{escaped}",}}') == {"name": character}


@pytest.mark.parametrize("half", [r"\ud83d", r"\ude00", r"\ude00\ud83d", r"\ud83d \ude00"])
def test_half_a_surrogate_pair_becomes_something_that_can_be_stored(half: str) -> None:
    name = read_json(f'{{"name": "A{half}B",}}')["name"]
    assert name.startswith("A")
    assert name.encode()


def test_number_beyond_unicode_is_replaced() -> None:
    assert read_json(r"{'name': '\u{110000}'}") == {"name": "\ufffd"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, "b": "cut', {"a": 1, "b": None}),
        ('{"a": 1, "b": 12', {"a": 1, "b": None}),
        ('{"a": 1, "b": tru', {"a": 1, "b": None}),
        ('{"a": 1, "b":', {"a": 1, "b": None}),
        ('{"a": 1, "b', {"a": 1}),
        ('{"a": 1, "b": "cut\\', {"a": 1, "b": None}),
        ('["a", "cut', ["a", None]),
        ('{"a": "x", /* never closed', {"a": "x"}),
    ],
)
def test_value_that_is_cut_off_is_none(text: str, value: Any) -> None:
    assert read_json(text) == value


@pytest.mark.parametrize(
    "code",
    [
        "price()",
        "cart.total",
        "cart['total']",
        "5 * 3",
        "5 + shipping",
        "'a' + b",
        "`${price}`",
        "function () { return {a: [1, 2]}; }",
        "(a, b) => ({x: a})",
        "new Date(2025, 1, 1)",
        "{x: 1}.x",
        "[1, 2].length",
    ],
)
def test_code_is_no_value_and_does_not_hide_what_follows(code: str) -> None:
    assert read_json(f"{{before: 1, code: {code}, after: 2}}") == {
        "before": 1,
        "code": None,
        "after": 2,
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"price": 12,50}', "12,50"),
        ('{"price": 1.299.00,}', "1.299.00"),
        ('{"price": 12.50,}', 12.5),
        ('{"price": -3,}', -3),
        (f'{{"price": {"9" * 41},}}', None),
        ('{"price": 1e999,}', None),
        ('{"price": NaN,}', None),
        ('{"price": Infinity,}', None),
    ],
)
def test_numbers_keep_what_can_be_read_of_them(text: str, value: Any) -> None:
    assert read_json(text) == {"price": value}


@pytest.mark.parametrize("between", ["", " ", ",", ";", ",\n", ";;"])
def test_several_objects_in_a_row_come_as_a_list(between: str) -> None:
    assert read_json(f'{{"a": 1}}{between}{{"b": 2}}') == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize("text", ["", " ", "Lamp", "var x = f();", "}", "]", ")", "<p>Lamp</p>"])
def test_text_without_object_or_list_gives_nothing(text: str) -> None:
    assert read_json(text) is None


def test_literal_is_read_from_its_place_in_a_script() -> None:
    script = "a = {x: 1}; window.state = {product: {'name': 'Lamp',},}; start({y: 2});"
    assert read_literal(script, script.index("window")) == {"product": {"name": "Lamp"}}


def test_literal_behind_the_end_of_a_script_is_none() -> None:
    assert read_literal("{a: 1}", 100) is None


@pytest.mark.parametrize("comma", ["", ","], ids=["strict", "loose"])
def test_nesting_is_read_down_to_a_depth(comma: str) -> None:
    assert depth_of(read_json(nested(MAX_DEPTH, core=f"1{comma}"))) == MAX_DEPTH


@pytest.mark.parametrize("depth", [MAX_DEPTH + 2, 1_000, 200_000])
@pytest.mark.parametrize(
    ("opening", "closing", "core"),
    [
        ("[", "]", "1"),
        ("[", "]", "1,"),
        ('{"a":', "}", "1"),
        ("{a:", "}", "1"),
        ("[", "", ""),
        ('{"a":[', "", ""),
    ],
)
def test_nesting_that_is_too_deep_gives_nothing(
    depth: int, opening: str, closing: str, core: str
) -> None:
    assert read_json(nested(depth, opening, closing, core)) is None
    assert read_literal(nested(depth, opening, closing, core), 0) is None


def test_text_that_is_too_long_is_not_read() -> None:
    assert read_json(json.dumps(["x" * MAX_CHARACTERS])) is None
    assert read_json(json.dumps(["x" * (MAX_CHARACTERS - 4)])) is not None


def test_tokens_are_counted() -> None:
    many = read_json("[" + "1," * MAX_TOKENS + "]")
    assert 0 < len(many) < MAX_TOKENS


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece",
    [
        *('"', "'", "`", "\\", '\\"', '"\\', "\"'`\\", '"a":"', "{'"),
        *("/*", "//", "/", "<!--", "// ", "-", "1e", "&quot;", "\\u"),
        *("{", "(", "}", ":", ",", "{a:", " ", "é", "\ud800", "{}"),
    ],
)
@pytest.mark.parametrize("start", ["", "{a: "])
def test_million_characters_are_read_in_linear_time(start: str, piece: str) -> None:
    text = (start + piece * (MAX_CHARACTERS // len(piece)))[:MAX_CHARACTERS]
    read_json(text)
    read_literal(text, 0)


@pytest.mark.parametrize("behind", [" x", " </div>", '"', ".", ")", ");", "\n// end", " && go()"])
def test_what_stands_behind_a_value_does_not_cost_it(behind: str) -> None:
    assert read_json(f'{{"a": 1}}{behind}') == {"a": 1}
