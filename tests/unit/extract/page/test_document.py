"""Every view of a page: its URLs, links, title, language, what a reader sees, and its tree."""

import pytest

from penstock.extract.page.document import (
    MAX_CHARACTERS,
    MAX_ELEMENT,
    MAX_LINKS,
    MAX_PLACES,
    MAX_VISIBLE,
    Document,
    Link,
    text_of,
)
from penstock.kernel.model import Page
from tests.site.shops import SHOPS, product_page

URL = "https://shop.example/lamps/1?x=2"


def document(text: str, url: str = URL) -> Document:
    return Document(text, url)


def page(body: bytes, content_type: str = "text/html") -> Page:
    return Page(URL, 200, {"Content-Type": content_type}, body, 0.0)


class TestUrls:
    @pytest.mark.parametrize(
        ("reference", "url"),
        [
            ("/a", "https://shop.example/a"),
            ("a", "https://shop.example/lamps/a"),
            ("../a", "https://shop.example/a"),
            ("?y", "https://shop.example/lamps/1?y"),
            ("", "https://shop.example/lamps/1?x=2"),
            ("#top", "https://shop.example/lamps/1?x=2"),
            ("//other.example/a", "https://other.example/a"),
            ("http://Other.Example/a", "http://other.example/a"),
            (" /a\n", "https://shop.example/a"),
            ("/a b", "https://shop.example/a%20b"),
        ],
    )
    def test_reference_becomes_absolute(self, reference: str, url: str) -> None:
        assert document("").absolute(reference) == url

    @pytest.mark.parametrize(
        "reference",
        [
            "mailto:jo@shop.example",
            "javascript:void(0)",
            "data:image/png;base64,AAAA",
            "tel:+41123456",
            "ftp://shop.example/a",
            "https://",
            "http://[",
            "https://jo:secret@shop.example/",
            "/" + "a" * 100_000,
            "/a\x00b",
        ],
    )
    def test_what_leads_nowhere_on_the_web_is_none(self, reference: str) -> None:
        assert document("").absolute(reference) is None

    def test_page_with_a_bad_url_has_no_absolute_ones(self) -> None:
        assert document("<a href=/a>a</a>", "not a url").absolute("/a") is None
        assert document("<a href=/a>a</a>", "not a url").links == ()

    @pytest.mark.parametrize(
        "base",
        [
            '<base href="https://cdn.example/x/">',
            "<BASE HREF='https://cdn.example/x/'>",
            "<base target=_blank href=https://cdn.example/x/ >",
            '<base href="//cdn.example/x/">',
            '<base href="https&#58;//cdn.example/x/">',
            '<base target="_top"><base href="https://cdn.example/x/">',
            '<base href="https://cdn.example/x/"><base href="https://other.example/">',
            '<!-- <base href="/no/"> --><base href="https://cdn.example/x/">',
        ],
    )
    def test_base_element_is_what_references_start_from(self, base: str) -> None:
        one = document(f"<html><head>{base}</head><body></body></html>")
        assert one.absolute("a") == "https://cdn.example/x/a"

    @pytest.mark.parametrize(
        "text",
        [
            '<head><!-- <base href="https://cdn.example/x/"> --></head>',
            '<head></head><base href="https://cdn.example/x/">',
            '<head><base href="javascript:void(0)"></head>',
            '<head><base href="http://["></head>',
            "<head><base target=_top></head>",
            '<head><basefont href="https://cdn.example/x/"></head>',
        ],
    )
    def test_without_a_sound_base_the_page_itself_is_it(self, text: str) -> None:
        assert document(text).absolute("a") == "https://shop.example/lamps/a"

    def test_base_may_be_relative_itself(self) -> None:
        assert document('<base href="/x/">').absolute("a") == "https://shop.example/x/a"

    def test_location_is_the_url_parsed(self) -> None:
        assert document("").location.host == "shop.example"
        assert document("").location.target == "/lamps/1?x=2"


class TestLinks:
    def test_links_come_in_order_absolute_with_what_they_say(self) -> None:
        text = """<a href="/a"> Red
            <b>lamp</b></a><a name=x>no</a><a href="mailto:a@b.example">mail</a>
            <a href=b><img src=c></a><a href="/a">again</a>"""
        assert document(text).links == (
            Link("https://shop.example/a", "Red lamp"),
            Link("https://shop.example/lamps/b", ""),
            Link("https://shop.example/a", "again"),
        )

    def test_links_are_counted(self) -> None:
        assert len(document("<a href=/a>a</a>" * (MAX_LINKS + 50)).links) == MAX_LINKS

    def test_text_of_a_link_is_cut(self) -> None:
        (link,) = document(f"<a href=/a>{'x' * (MAX_ELEMENT * 2)}</a>").links
        assert len(link.text) == MAX_ELEMENT


class TestHead:
    @pytest.mark.parametrize(
        ("text", "title"),
        [
            ("<title>Red lamp</title>", "Red lamp"),
            ("<TITLE lang=en>\n Red\n lamp </TITLE>", "Red lamp"),
            ("<title>Salt &amp; pepper</title>", "Salt & pepper"),
            ("<title>a < b</title>", "a < b"),
            ("<title>Red lamp<body><p>text", "Red lamp"),
            ("<title></title>", ""),
            ("<title>One</title><title>Two</title>", "One"),
            ("<h1>Lamp</h1>", ""),
            ("<titles>no</titles>", ""),
            ("", ""),
        ],
    )
    def test_title_is_what_its_tag_says(self, text: str, title: str) -> None:
        assert document(text).title == title

    @pytest.mark.parametrize(
        ("tag", "language"),
        [
            ('<html lang="de-CH">', "de-ch"),
            ("<html lang=en>", "en"),
            ("<HTML LANG='pt_BR'>", "pt-br"),
            ('<html class="a" lang = " fr ">', "fr"),
            ('<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="ja">', "ja"),
            ('<html lang="zh-Hans-CN">', "zh-hans-cn"),
            ('<html data-lang="de">', ""),
            ('<html lang="">', ""),
            ('<html lang="german">', ""),
            ('<p lang="de">', ""),
            ("", ""),
        ],
    )
    def test_language_is_what_the_page_declares(self, tag: str, language: str) -> None:
        assert document(f"<!doctype html>{tag}<head></head>").language == language

    def test_first_content_of_the_first_named_meta_tag_is_its_value(self) -> None:
        one = document("<meta name=b content=1><meta name=b content=2><meta name=a content=3>")
        assert one.meta_value("x", "b", "a") == "1"
        assert one.meta_value("a", "b") == "3"
        assert one.meta_value("x") == ""
        assert one.meta == {"b": ["1", "2"], "a": ["3"]}


class TestText:
    def test_visible_text_is_what_a_reader_sees(self) -> None:
        text = """<html><head><title>no</title><style>no</style></head><body>
            <script>no()</script><noscript>no</noscript><template>no</template>
            <svg><text>no</text></svg><style>no</style><!-- no -->
            <p>Red&nbsp;lamp</p><p>5 &euro;</p></body></html>"""
        assert document(text).visible_text == "Red lamp 5 €"

    @pytest.mark.parametrize("text", ["", " ", "<!-- no -->", "<script>no()</script>"])
    def test_page_that_shows_nothing_has_no_visible_text(self, text: str) -> None:
        assert document(text).visible_text == ""

    def test_visible_text_is_cut(self) -> None:
        assert len(document("word " * MAX_VISIBLE).visible_text) <= MAX_VISIBLE

    def test_page_is_cut(self) -> None:
        assert len(document("x" * (MAX_CHARACTERS + 5)).text) == MAX_CHARACTERS

    @pytest.mark.parametrize(
        ("text", "count"),
        [
            ("A-12", 1),
            ("A-12 and A-12", 2),
            ("(A-12), A-12; A-12.", 3),
            ("A-12.", 1),
            ("A-123", 0),
            ("xA-12", 0),
            ("A-12.5", 0),
            ("A-12,5", 0),
            (".A-12", 0),
            ("éA-12", 0),
            ("a-12", 0),
            ("", 0),
        ],
    )
    def test_places_are_those_of_whole_words(self, text: str, count: int) -> None:
        assert len(list(document(text).places_of("A-12"))) == count

    def test_places_are_where_the_words_begin(self) -> None:
        assert list(document("5.00 15.00 5.00").places_of("5.00")) == [0, 11]

    def test_nothing_stands_nowhere(self) -> None:
        assert list(document("a b").places_of("")) == []
        assert not document("a b").shows("")

    def test_places_are_counted(self) -> None:
        assert len(list(document("12 " * (MAX_PLACES * 2)).places_of("12"))) == MAX_PLACES

    @pytest.mark.parametrize(
        "text",
        [
            "<p>A-12</p>",
            "<p>SKU: A-12</p>",
            "<p><b>SKU</b> A-12 </p>",
            '<i data-sku="A-12"></i><p>A-12</p>',
        ],
    )
    def test_words_between_tags_are_shown(self, text: str) -> None:
        assert document(text).shows("A-12")

    @pytest.mark.parametrize(
        "text",
        [
            "<p>Lamp</p>",
            '<p data-sku="A-12">Lamp</p>',
            "<p class=A-12 >Lamp</p>",
            '<script>{"sku": "A-12"}</script>',
            "<script>sku = A-12</script>",
            "<p>A-123</p>",
        ],
    )
    def test_words_in_markup_and_scripts_are_not_shown(self, text: str) -> None:
        assert not document(text).shows("A-12")

    def test_words_in_the_url_are_shown(self) -> None:
        assert document("", "https://shop.example/lamp-A-12").shows("A-12")


class TestTree:
    def test_elements_are_found_by_selectors(self) -> None:
        one = document(
            '<p class=a> </p><p class=a title="">Red <b>lamp</b></p><p title=" T ">x</p>'
        )
        first = one.first("p.a")
        assert [text_of(node) for node in one.css("p")] == ["", "Red lamp", "x"]
        assert first is not None
        assert text_of(first) == ""
        assert one.first_text("p.a") == "Red lamp"
        assert one.attribute("p", "title") == "T"

    def test_what_is_not_there_is_empty(self) -> None:
        one = document("<p>x</p>")
        assert one.css("h1") == []
        assert one.first("h1") is None
        assert one.first_text("h1") == ""
        assert one.attribute("p", "title") == ""

    def test_tree_is_built_once(self) -> None:
        one = document("<p>x</p>")
        assert one.tree is one.tree

    @pytest.mark.parametrize("host", list(SHOPS))
    def test_tree_from_bytes_is_the_tree_from_text(self, host: str) -> None:
        text = product_page(host, 1)
        from_bytes = Document.of(page(text.encode()))
        assert from_bytes.tree.html == Document(text, URL).tree.html
        assert from_bytes.visible_text == Document(text, URL).visible_text

    @pytest.mark.parametrize(
        ("charset", "word"),
        [
            ("utf-8", "grün ¥€"),
            ("iso-8859-1", "grün"),
            ("windows-1251", "лампа"),
            ("shift_jis", "ランプ"),
            ("gb18030", "灯"),
            ("utf-16le", "灯"),
        ],
    )
    def test_fetched_page_is_read_in_its_own_charset(self, charset: str, word: str) -> None:
        body = f"<title>{word}</title><p>{word}</p>".encode(charset)
        one = Document.of(page(body, f"text/html; charset={charset}"))
        assert one.url == URL
        assert one.title == word
        assert one.visible_text == word

    def test_byte_order_mark_is_no_text(self) -> None:
        one = Document.of(page(b"\xef\xbb\xbf<p>Lamp</p>"))
        assert one.text == "<p>Lamp</p>"
        assert one.visible_text == "Lamp"

    def test_charset_of_a_meta_tag_is_believed(self) -> None:
        body = '<meta charset="windows-1252"><p>5 €</p>'.encode("cp1252")
        assert Document.of(page(body)).visible_text == "5 €"

    def test_bomb_is_cut_in_bytes_as_in_text(self) -> None:
        text = "<p>Lamp</p>" + "<div>" * 200_000
        assert Document.of(page(text.encode())).tree.html == Document(text, URL).tree.html
        assert Document.of(page(text.encode())).first_text("p") == "Lamp"


class TestStructuredData:
    def test_every_syntax_has_a_view(self) -> None:
        one = document(
            '<script type="application/ld+json">{"@type": "Product", "name": "A"}</script>'
            '<div itemscope itemtype="Product"><i itemprop=name>B</i></div>'
            '<div typeof="Product"><i property=name>C</i></div>'
        )
        assert one.json_ld == ({"@type": "Product", "name": "A"},)
        assert [item for item, _ in one.microdata] == [{"@type": ["Product"], "name": "B"}]
        assert [item for item, _ in one.rdfa] == [{"@type": ["Product"], "name": "C"}]

    def test_page_without_any_needs_no_tree(self) -> None:
        one = document("<p>Lamp</p>")
        assert (one.json_ld, one.microdata, one.rdfa) == ((), (), ())
        assert "tree" not in vars(one)

    def test_place_is_told_to_be_inside_a_block(self) -> None:
        one = document('<p>A</p><script type="application/ld+json">{"sku": "B"}</script><p>C</p>')
        inside = [one.in_json_ld(one.text.index(f"{letter}")) for letter in ("A", "B", "C")]
        assert inside == [False, True, False]
