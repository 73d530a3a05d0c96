"""Structured data of every syntax comes out in one shape, all of it, within bounds."""

import json
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from penstock.extract.page.structured import (
    MAX_BLOCKS,
    MAX_DEPTH,
    MAX_ITEMS,
    MAX_META,
    MAX_TAG,
    MAX_TEXT,
    MICRODATA,
    RDFA,
    Item,
    Syntax,
    as_list,
    bare_name,
    fold,
    json_ld,
    json_ld_spans,
    marked_up,
    meta_tags,
    types_of,
    within,
    without_fragment,
)

LAMP = {"@type": "Product", "name": "Lamp"}
TENT = {"@type": "Product", "name": "Tent"}


def block(data: Any, tag: str = '<script type="application/ld+json">') -> str:
    return f"{tag}{data if isinstance(data, str) else json.dumps(data)}</script>"


def items_of(page: str) -> list[Item]:
    return list(json_ld(page, json_ld_spans(page)))


def marked(page: str, syntax: Syntax = MICRODATA) -> list[Item]:
    return [item for item, _ in marked_up(LexborHTMLParser(page), syntax)]


class TestJsonLd:
    def test_one_block_is_one_item(self) -> None:
        assert items_of(f"<html><head>{block(LAMP)}</head>") == [LAMP]

    @pytest.mark.parametrize(
        "data",
        [
            [LAMP, TENT],
            [[LAMP], [[TENT]]],
            {"@graph": [LAMP, TENT]},
            {"@context": "https://schema.org", "@graph": [LAMP, {"@graph": [TENT]}]},
            [{"@graph": LAMP}, TENT],
            [None, "text", 5, LAMP, [], {}, TENT],
            json.dumps(LAMP) + json.dumps(TENT),
        ],
    )
    def test_lists_and_graphs_are_unfolded(self, data: Any) -> None:
        assert items_of(block(data)) == [LAMP, TENT]

    def test_graph_with_a_type_of_its_own_is_an_item_too(self) -> None:
        page = {"@type": "WebPage", "@graph": [LAMP]}
        assert items_of(block(page)) == [LAMP, page]

    def test_nested_items_stay_in_their_item(self) -> None:
        offer = {"@type": "Offer", "price": "5.00"}
        assert items_of(block({**LAMP, "offers": [offer]})) == [{**LAMP, "offers": [offer]}]

    def test_blocks_that_disagree_are_both_kept_in_order(self) -> None:
        cheap, dear = ({**LAMP, "offers": {"price": price}} for price in ("5", "6"))
        assert items_of(block(cheap) + "<p>Lamp</p>" + block(dear)) == [cheap, dear]

    def test_broken_block_does_not_hide_the_next(self) -> None:
        assert items_of(block("oops(") + block(LAMP)) == [LAMP]

    def test_block_without_an_end_reaches_to_the_end_of_the_page(self) -> None:
        assert items_of(f'<script type="application/ld+json">{json.dumps(LAMP)}') == [LAMP]

    @pytest.mark.parametrize(
        "tag",
        [
            '<SCRIPT TYPE="application/ld+json">',
            "<script type='application/ld+json'>",
            "<script type=application/ld+json>",
            '<script type = " application/ld+json" >',
            '<script type="application/ld+json; charset=utf-8">',
            '<script id="x" data-a="1"\n type="application/ld+json" class="y">',
            '<script type="application/ld&#43;json">',
            '<script type="application/ld&#x2B;json">',
            '<script data-src="schema.org" type="application/LD+JSON">',
        ],
    )
    def test_script_tag_is_known_in_any_spelling(self, tag: str) -> None:
        page = block({"@context": "https://schema.org", **LAMP}, tag)
        assert [item["name"] for item in items_of(page)] == ["Lamp"]

    def test_script_may_end_in_capitals(self) -> None:
        page = f'<SCRIPT TYPE="application/ld+json">{json.dumps(LAMP)}</SCRIPT>'
        assert items_of(page + block(TENT)) == [LAMP, TENT]

    @pytest.mark.parametrize(
        "page",
        [
            f"<!-- {block(LAMP)} -->",
            f"<!-- a -->\n<!--\n{block(LAMP)}\n-->",
            f"<script>x()</script><!-- {block(LAMP)} -->",
            f"<!-- {block(LAMP)}",
            block(LAMP, '<div data-type="application/ld+json">'),
            block(LAMP, '<template type="application/ld+json">'),
            block(LAMP, '<script type="text/javascript">'),
            block(LAMP, '<script data-note="ld+json">'),
            "<p>ld+json</p>" + block(LAMP, "<script>"),
        ],
    )
    def test_what_is_no_block_is_ignored(self, page: str) -> None:
        assert items_of(page) == []
        assert items_of(page.replace("<!-- a", "<!-- b") + "-->" + block(TENT)) == [TENT]

    @pytest.mark.parametrize(
        "before",
        [
            "<!-- shop -->",
            "<!-- a --><!-- b -->",
            "<script>s = '<!--';</script>",
            "<script><!--\nx()\n//--></script>",
        ],
    )
    def test_comment_that_is_over_hides_nothing(self, before: str) -> None:
        assert items_of(before + block(LAMP)) == [LAMP]

    def test_comment_marks_inside_a_block_hide_nothing(self) -> None:
        text = {**LAMP, "description": "a <!-- b"}
        assert items_of(block(text) + block(TENT)) == [text, TENT]

    def test_blocks_and_items_are_counted(self) -> None:
        assert len(items_of(block(LAMP) * (MAX_BLOCKS + 5))) == MAX_BLOCKS
        assert len(items_of(block([LAMP] * (MAX_ITEMS + 5)))) == MAX_ITEMS

    def test_blocks_share_the_characters_that_are_read(self) -> None:
        large = block({**LAMP, "description": "x" * 600_000})
        names = [item["name"] for item in items_of(large + large + block(TENT))]
        assert names == ["Lamp", "Tent"]

    @pytest.mark.timeout(30)
    @pytest.mark.parametrize(
        "piece",
        [
            '<script type="application/ld+json">',
            "ld+json",
            "<!-- ld+json",
            "<!--",
            "<script",
            '<script type="application/ld+json',
            "</script",
        ],
    )
    def test_pieces_of_blocks_end_soon(self, piece: str) -> None:
        page = piece * (2_000_000 // len(piece))
        assert items_of(page) == []
        assert items_of(f"schema.org {page.replace('ld+json', 'LD+JSON')}") == []


class TestItems:
    @pytest.mark.parametrize(
        ("named", "types"),
        [
            ("Product", ("Product",)),
            ("http://schema.org/Product", ("Product",)),
            ("https://schema.org/Product/", ("Product",)),
            ("schema:Product", ("Product",)),
            ("http://purl.org/goodrelations/v1#Offering", ("Offering",)),
            (["Product", "https://schema.org/Car"], ("Product", "Car")),
            (["Product", None, 5, {}], ("Product",)),
            (None, ()),
            ([], ()),
            ("", ()),
            (5, ()),
            ({"@id": "Product"}, ()),
        ],
    )
    def test_types_are_told_by_their_bare_names(self, named: Any, types: tuple[str, ...]) -> None:
        assert types_of({"@type": named}) == types

    def test_item_without_a_type_has_none(self) -> None:
        assert types_of({"name": "Lamp"}) == ()

    @pytest.mark.parametrize(
        "name", ["price", " price ", "schema:price", "http://schema.org/price/"]
    )
    def test_name_loses_its_prefix(self, name: str) -> None:
        assert bare_name(name) == "price"

    @pytest.mark.parametrize(
        ("value", "many"), [(None, []), ([], []), ("a", ["a"]), (["a", "b"], ["a", "b"]), (0, [0])]
    )
    def test_one_value_counts_as_a_list_of_one(self, value: Any, many: list[Any]) -> None:
        assert as_list(value) == many

    def test_items_are_found_outermost_first(self) -> None:
        seller = {"@type": "Organization"}
        offer = {"@type": "Offer", "seller": seller}
        lamp = {**LAMP, "offers": [offer, "text", None], "brand": {"@type": "Brand"}}
        assert list(within([lamp, TENT])) == [lamp, TENT, offer, {"@type": "Brand"}, seller]

    def test_properties_to_skip_and_keywords_are_not_followed(self) -> None:
        lamp = {**LAMP, "isRelatedTo": TENT, "@reverse": TENT, "offers": {"price": 5}}
        assert list(within([lamp], frozenset(["isRelatedTo"]))) == [lamp, {"price": 5}]

    def test_items_are_followed_to_a_depth_and_a_number(self) -> None:
        chain: Item = {}
        for _ in range(MAX_DEPTH * 3):
            chain = {"part": chain}
        assert len(list(within([chain]))) == MAX_DEPTH
        assert len(list(within([{}] * (MAX_ITEMS + 5)))) == MAX_ITEMS

    @pytest.mark.parametrize(
        "url",
        ["https://x.test/a", "https://x.test/a/", "https://x.test/a#b", "https://x.test/a/#b"],
    )
    def test_fragment_and_slash_do_not_count_in_a_url(self, url: str) -> None:
        assert without_fragment(url) == "https://x.test/a"

    def test_text_is_folded_to_one_line(self) -> None:
        assert fold("\n Red \t\u00a0 lamp  ") == "Red lamp"


class TestMetaTags:
    @pytest.mark.parametrize(
        "tag",
        [
            '<meta property="og:title" content="Red lamp">',
            '<meta content="Red lamp" property="og:title"/>',
            "<meta property='og:title' content='Red lamp' />",
            '<meta property=og:title content="Red lamp">',
            '<META PROPERTY="OG:Title" CONTENT="Red lamp">',
            '<meta name="og:title" content="Red lamp">',
            '<meta\n  property = "og:title"\n  content = "  Red\n lamp ">',
            '<meta data-x="1" itemprop="name" property="og:title" content="Red lamp">',
            '<meta property="og:title" content="Red lamp" content="Blue lamp">',
            '<meta data-content="Blue" property="og:title" content="Red lamp">',
            '<meta/property="og:title" content="Red lamp">',
        ],
    )
    def test_tag_is_read_in_any_quoting(self, tag: str) -> None:
        assert meta_tags(f"<head>{tag}</head>") == {"og:title": ["Red lamp"]}

    @pytest.mark.parametrize(
        ("content", "value"),
        [
            ('"A &amp; B"', "A & B"),
            ('"5 &euro;"', "5 €"),
            ("'say \"hi\"'", 'say "hi"'),
            ('"it\'s"', "it's"),
            ('"a > b"', "a > b"),
            ('"<b>a</b>"', "<b>a</b>"),
            ("5.00", "5.00"),
        ],
    )
    def test_content_is_unescaped(self, content: str, value: str) -> None:
        assert meta_tags(f"<meta name=x content={content}>") == {"x": [value]}

    def test_same_name_twice_keeps_both(self) -> None:
        tags = '<meta name=x content="1"><meta property=x content="2">'
        assert meta_tags(tags) == {"x": ["1", "2"]}

    def test_property_and_name_of_one_tag_both_count(self) -> None:
        tag = '<meta property="og:title twitter:title" name="title" content="Lamp">'
        assert meta_tags(tag) == {
            "og:title": ["Lamp"],
            "twitter:title": ["Lamp"],
            "title": ["Lamp"],
        }

    def test_name_in_both_attributes_counts_once(self) -> None:
        assert meta_tags('<meta property="x" name="X" content="1">') == {"x": ["1"]}

    @pytest.mark.parametrize(
        "page",
        [
            "",
            '<meta charset="utf-8">',
            '<meta name="x">',
            '<meta name="x" content="">',
            '<meta name="x" content=" ">',
            '<metadata name="x" content="1">',
            '<!-- <meta name="x" content="1"> -->',
            '<head></head><meta name="x" content="1">',
            '<HEAD></HEAD><META NAME="x" CONTENT="1">',
            '<meta name="x" content="1"',
            f'<meta name="x" content="{"y" * MAX_TAG}">',
        ],
    )
    def test_what_is_no_meta_tag_with_content_is_ignored(self, page: str) -> None:
        assert meta_tags(page) == {}

    def test_comment_hides_only_what_is_in_it(self) -> None:
        page = "<meta name=a content=1><!-- <meta name=b content=2> --><meta name=c content=3>"
        assert meta_tags(page) == {"a": ["1"], "c": ["3"]}

    def test_tags_are_counted(self) -> None:
        tags = meta_tags("<meta name=x content=1>" * (MAX_META + 5))
        assert len(tags["x"]) == MAX_META

    @pytest.mark.timeout(30)
    @pytest.mark.parametrize(
        "piece",
        ["<meta ", '<meta name="', "<meta name='", "<!--", "<!-- <meta ", "<meta a=", "'\""],
    )
    def test_pieces_of_tags_end_soon(self, piece: str) -> None:
        assert meta_tags(piece * (2_000_000 // len(piece))) == {}


class TestMicrodata:
    def test_items_nest_as_their_elements_do(self) -> None:
        page = """
        <div itemscope itemtype="http://schema.org/Product">
          <h1 itemprop="name"> Red
             lamp </h1>
          <div itemprop="offers" itemscope itemtype="http://schema.org/Offer">
            <p><span itemprop="price">5.00</span></p>
            <div itemprop="seller" itemscope><b itemprop="name">Shop</b></div>
          </div>
          <span itemprop="sku">A-1</span>
        </div>"""
        assert marked(page) == [
            {
                "@type": ["http://schema.org/Product"],
                "name": "Red lamp",
                "offers": {
                    "@type": ["http://schema.org/Offer"],
                    "price": "5.00",
                    "seller": {"@type": [], "name": "Shop"},
                },
                "sku": "A-1",
            }
        ]

    @pytest.mark.parametrize(
        "element",
        [
            '<meta itemprop="x" content="value">',
            '<span itemprop="x" content="value">shown</span>',
            '<span itemprop="x"> value </span>',
            '<link itemprop="x" href="value">',
            '<a itemprop="x" href="value">shown</a>',
            '<img itemprop="x" src="value" alt="shown">',
            '<time itemprop="x" datetime="value">shown</time>',
            '<data itemprop="x" value="value">shown</data>',
            '<input itemprop="x" value="value">',
            '<object itemprop="x" data="value"></object>',
            '<a itemprop="x" href="">value</a>',
        ],
    )
    def test_value_is_taken_from_where_the_element_holds_it(self, element: str) -> None:
        assert marked(f"<div itemscope>{element}</div>") == [{"@type": [], "x": "value"}]

    def test_same_property_twice_is_a_list(self) -> None:
        page = "<div itemscope><i itemprop=x>1</i><i itemprop=x>2</i><i itemprop=x>3</i></div>"
        assert marked(page) == [{"@type": [], "x": ["1", "2", "3"]}]

    def test_element_with_two_properties_gives_both(self) -> None:
        page = '<div itemscope><i itemprop="name http://schema.org/model">L1</i></div>'
        assert marked(page) == [{"@type": [], "name": "L1", "model": "L1"}]

    def test_several_types_are_all_kept(self) -> None:
        (item,) = marked('<div itemscope itemtype="http://schema.org/Product  schema:Car"></div>')
        assert types_of(item) == ("Product", "Car")

    def test_items_beside_each_other_stay_apart(self) -> None:
        page = (
            "<div itemscope><i itemprop=name>Lamp</i>"
            "<div itemscope><i itemprop=name>Tent</i></div></div>"
            "<div itemscope><i itemprop=name>Rope</i></div>"
        )
        assert [item["name"] for item in marked(page)] == ["Lamp", "Tent", "Rope"]

    def test_each_item_comes_with_its_element(self) -> None:
        tree = LexborHTMLParser("<div id=a itemscope></div><p id=b itemscope></p>")
        assert [node.id for _, node in marked_up(tree, MICRODATA)] == ["a", "b"]

    def test_property_outside_of_any_item_is_ignored(self) -> None:
        assert marked("<i itemprop=name>Lamp</i><div itemscope></div>") == [{"@type": []}]

    def test_item_may_refer_to_properties_elsewhere(self) -> None:
        page = (
            '<div itemscope itemref="a  b"></div><i id=a itemprop=name>Lamp</i>'
            "<div id=b><i itemprop=sku>A-1</i></div><i id=c itemprop=mpn>M</i>"
        )
        assert marked(page) == [{"@type": [], "name": "Lamp", "sku": "A-1"}]

    @pytest.mark.parametrize(
        "page",
        [
            "<div itemscope id=a itemref=a itemprop=x></div>",
            "<div itemscope id=a itemref=b itemprop=x></div>"
            "<div itemscope id=b itemref=a itemprop=x></div>",
        ],
    )
    def test_references_in_a_circle_end(self, page: str) -> None:
        assert len(list(within(marked(page)))) <= 2
        assert json.dumps(marked(page))

    def test_nesting_has_a_depth(self) -> None:
        page = "<div itemscope itemprop=part>" * (MAX_DEPTH * 3)
        assert json.dumps(marked(page)).count("part") <= MAX_DEPTH * 3
        assert max(_depth(item) for item in marked(page)) <= MAX_DEPTH

    def test_text_of_a_property_is_cut(self) -> None:
        (item,) = marked(f"<div itemscope><p itemprop=x>{'y' * (MAX_TEXT * 2)}</p></div>")
        assert item["x"] == "y" * MAX_TEXT

    def test_page_without_items_has_none(self) -> None:
        assert marked("<p>Lamp</p>") == []


def _depth(item: Item) -> int:
    depth = 0
    while isinstance(item.get("part"), dict):
        depth, item = depth + 1, item["part"]
    return depth


class TestRdfa:
    def test_items_nest_as_their_elements_do(self) -> None:
        page = """
        <div vocab="http://schema.org/" typeof="Product">
          <h1 property="name">Lamp</h1>
          <div property="offers" typeof="schema:Offer">
            <meta property="schema:price" content="5.00">
            <link property="availability" href="http://schema.org/InStock">
          </div>
        </div>"""
        assert marked(page, RDFA) == [
            {
                "@type": ["Product"],
                "name": "Lamp",
                "offers": {
                    "@type": ["schema:Offer"],
                    "price": "5.00",
                    "availability": "http://schema.org/InStock",
                },
            }
        ]

    def test_resource_is_the_value_of_an_element(self) -> None:
        page = '<div typeof="Product"><i property="url" resource="/lamp">here</i></div>'
        assert marked(page, RDFA) == [{"@type": ["Product"], "url": "/lamp"}]

    @pytest.mark.parametrize("prefix", ["og", "fb", "product", "dc", "foaf"])
    def test_properties_of_other_vocabularies_are_ignored(self, prefix: str) -> None:
        page = f'<div typeof="Product"><i property="{prefix}:name name">Lamp</i></div>'
        assert marked(page, RDFA) == [{"@type": ["Product"], "name": "Lamp"}]
        assert marked(page.replace(":name name", ":name"), RDFA) == [{"@type": ["Product"]}]

    def test_microdata_is_no_rdfa(self) -> None:
        assert marked("<div itemscope><i itemprop=name>Lamp</i></div>", RDFA) == []
