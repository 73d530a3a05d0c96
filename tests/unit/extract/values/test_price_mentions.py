"""Amounts in a text: where each stands, with which sign, and how far a text is read."""

from penstock.extract.values.price_mentions import MAX_TEXT, mentions_in


def test_mentions_stand_in_order_with_their_signs() -> None:
    text = "Size 42, £12.50 or 3 x 5 €"

    found = [(one.number, one.symbol) for one in mentions_in(text)]

    assert found == [("42", ""), ("12.50", "£"), ("3", ""), ("5", "€")]
    assert [text[one.start : one.end] for one in mentions_in(text)] == ["42", "12.50", "3", "5"]


def test_mentions_of_a_long_text_are_those_of_its_beginning() -> None:
    assert [one.number for one in mentions_in(f"£5 {'x' * MAX_TEXT} £6")] == ["5"]
