"""An adapter knows its URLs, has a sound id and version, and signs what it reads."""

import pytest

from penstock.core.urls import parse
from penstock.extract.adapter import Adapter, Findings
from penstock.extract.adapters import ADAPTERS
from penstock.extract.page.document import Document
from penstock.kernel.records import Evidence, Extraction, ExtractReason

URL = "https://shop.example/lamps/1"


def extract(document: Document) -> Extraction:
    return Extraction("product", {"name": document.first_text("h1")})


def adapter(*urls: str, adapter_id: str = "shop", version: str = "1.2.3") -> Adapter:
    return Adapter(adapter_id, version, "product", extract, urls=urls)


class TestPatterns:
    @pytest.mark.parametrize(
        ("pattern", "url"),
        [
            ("shop.example", "https://shop.example/"),
            ("shop.example", "https://shop.example/anything?at=all"),
            ("shop.example/*", "http://shop.example:8080/lamps"),
            ("shop.example/lamps/*", "https://shop.example/lamps/1"),
            ("shop.example/lamps/*", "https://shop.example/lamps/"),
            ("shop.example/lamps/*", "https://www.shop.example/lamps/1"),
            ("shop.example/lamps/*", "https://de.m.shop.example/lamps/1"),
            ("shop.example/*/dp/*", "https://shop.example/Red-Lamp/dp/B01?x=/y"),
            ("shop.example/*dp/*", "https://shop.example/dp/B01"),
            ("shop.example/lamps", "https://shop.example/lamps"),
            ("shop.example/item?id=*", "https://shop.example/item?id=5"),
            ("Shop.Example/lamps", "https://shop.example/lamps"),
            ("shop.example/*.html", "https://shop.example/a/b.html"),
        ],
    )
    def test_pattern_fits_its_domain_with_all_hosts_and_its_paths(
        self, pattern: str, url: str
    ) -> None:
        assert adapter(pattern).matching(parse(url)) == pattern

    @pytest.mark.parametrize(
        ("pattern", "url"),
        [
            ("shop.example/*", "https://other.example/lamps"),
            ("shop.example/*", "https://myshop.example/lamps"),
            ("shop.example/*", "https://shop.example.other.test/lamps"),
            ("shop.example/*", "https://other.test/shop.example/lamps"),
            ("shop.example/*", "https://other.test/.shop.example/lamps"),
            ("shop.example/*", "https://other.test/?.shop.example/lamps"),
            ("shop.example/*", "https://shopXexample.test/lamps"),
            ("www.shop.example/*", "https://shop.example/lamps"),
            ("shop.example/lamps/*", "https://shop.example/lamps"),
            ("shop.example/lamps", "https://shop.example/lamps/1"),
            ("shop.example/lamps", "https://shop.example/Lamps"),
            ("shop.example/*.html", "https://shop.example/axhtml"),
            ("shop.example/a+", "https://shop.example/aa"),
        ],
    )
    def test_pattern_does_not_fit_anything_else(self, pattern: str, url: str) -> None:
        assert adapter(pattern).matching(parse(url)) is None

    @pytest.mark.parametrize("turn", [1, -1])
    def test_pattern_that_says_most_is_the_one(self, turn: int) -> None:
        patterns = ("shop.example/*", "shop.example/lamps/*", "shop.example/lamps/large/*")
        one = adapter(*patterns[::turn])
        assert one.matching(parse(URL)) == "shop.example/lamps/*"

    def test_adapter_without_patterns_matches_nothing(self) -> None:
        assert adapter().matching(parse(URL)) is None

    @pytest.mark.timeout(20)
    def test_many_wildcards_do_not_stall(self) -> None:
        one = adapter("shop.example/*a*a*b")
        assert one.matching(parse(f"https://shop.example/{'a' * 1_000}")) is None

    @pytest.mark.parametrize(
        "pattern",
        ["", "/lamps/*", "*", "*.example/*", "https://shop.example/*", "shop.example:80/"],
    )
    def test_pattern_must_begin_with_a_domain(self, pattern: str) -> None:
        with pytest.raises(ValueError, match="does not begin with a domain"):
            adapter(pattern)


class TestNames:
    def test_name_is_id_and_version(self) -> None:
        assert adapter().name == "shop@1.2.3"

    @pytest.mark.parametrize("version", ["0.0.0", "1.2.3", "10.20.300"])
    def test_version_is_semver(self, version: str) -> None:
        assert adapter(version=version).version == version

    @pytest.mark.parametrize("version", ["", "1", "1.2", "v1.2.3", "1.2.3.4", "1.2.x", "1.2.3\n"])
    def test_other_versions_are_refused(self, version: str) -> None:
        with pytest.raises(ValueError, match=r"not like 1\.2\.3"):
            adapter(version=version)

    @pytest.mark.parametrize("adapter_id", ["a", "shop", "shop_2", "my-shop", "2shops"])
    def test_id_is_a_word(self, adapter_id: str) -> None:
        assert adapter(adapter_id=adapter_id).id == adapter_id

    @pytest.mark.parametrize("adapter_id", ["", "Shop", "my shop", "../shop", "-a", "é", "a" * 101])
    def test_other_ids_are_refused(self, adapter_id: str) -> None:
        with pytest.raises(ValueError, match="an id has lower case letters"):
            adapter(adapter_id=adapter_id)


class TestReading:
    def test_extraction_is_signed(self) -> None:
        extraction = adapter().read(Document("<h1>Lamp</h1>", URL))
        assert extraction.ok
        assert extraction.fields == {"name": "Lamp"}
        assert extraction.adapter == "shop@1.2.3"

    @pytest.mark.parametrize("text", ["", " ", "\n\t\u00a0\n"])
    @pytest.mark.parametrize("one", [adapter(), *ADAPTERS], ids=lambda one: one.id)
    def test_empty_page_is_a_reason(self, one: Adapter, text: str) -> None:
        extraction = one.read(Document(text, URL))
        assert not extraction.ok
        assert extraction.reason is ExtractReason.EMPTY_PAGE
        assert extraction.detail
        assert extraction.kind == one.gives
        assert extraction.adapter == one.name
        assert extraction.fields == {}


class TestFindings:
    def test_first_find_for_a_field_stays(self) -> None:
        found = Findings()
        assert found.add("name", "Lamp", "css h1")
        assert not found.add("name", "Tent", "meta")
        assert found.get("name") == "Lamp"
        assert found.evidence == {"name": Evidence("css h1", "Lamp")}

    @pytest.mark.parametrize("nothing", [None, "", (), [], {}])
    def test_empty_values_are_not_kept(self, nothing: object) -> None:
        found = Findings()
        assert not found.add("name", nothing, "css h1")
        assert found.get("name") is None
        assert found.add("name", "Lamp", "meta")

    @pytest.mark.parametrize("value", [0, False])
    def test_zero_and_false_are_values(self, value: object) -> None:
        found = Findings()
        assert found.add("price_minor", value, "css .price")
        assert found.fields == {"price_minor": value}

    def test_evidence_is_the_text_that_stood_there_cut_short(self) -> None:
        found = Findings()
        found.add("price_minor", 500, "css .price", "5.00 €")
        found.add("description", "x" * 1_000, "meta")
        assert found.evidence["price_minor"] == Evidence("css .price", "5.00 €")
        assert found.evidence["description"].text == "x" * 200
        assert found.get("description") == "x" * 1_000

    def test_findings_become_an_extraction_or_a_reason_with_what_was_found(self) -> None:
        found = Findings()
        found.add("name", "Lamp", "css h1")
        failed = found.failed("product", ExtractReason.PRICE_NOT_FOUND, "no price")
        assert found.found("product").ok
        assert not failed.ok
        assert (failed.reason, failed.detail) == (ExtractReason.PRICE_NOT_FOUND, "no price")
        assert failed.fields == found.found("product").fields == {"name": "Lamp"}
