"""The adapter for a URL is always the same one, and the registry says why it is."""

from itertools import permutations
from pathlib import Path

import pytest

from penstock.core.errors import SettingsError
from penstock.core.urls import parse
from penstock.extract.adapter import Adapter
from penstock.extract.adapters import ADAPTERS
from penstock.extract.page.document import Document
from penstock.extract.registry import ENTRY_POINTS, KINDS, SETTING, Choice, Registry, open_registry
from penstock.kernel.model import Page
from penstock.kernel.records import Extraction, ExtractReason, Kind

LAMP = "https://shop.example/lamps/1"
ELSEWHERE = "https://other.example/lamps/1"

FILE = """
from penstock.extract.adapter import Adapter
from penstock.kernel.records import Extraction

def extract(document):
    return Extraction("product", {{"name": "from {id}"}})

ADAPTER = Adapter("{id}", "1.0.0", "product", extract, urls=("{id}.example/*",))
"""


def extract(document: Document) -> Extraction:
    return Extraction("product", {"name": document.first_text("h1")})


def adapter(adapter_id: str, *urls: str, gives: Kind = "product") -> Adapter:
    return Adapter(adapter_id, "1.0.0", gives, extract, domain="shop.example", urls=urls)


GENERIC = adapter("product")
COMPANY = adapter("company_website", gives="company_website")
WHOLE = adapter("whole", "shop.example/*")
LAMPS = adapter("lamps", "shop.example/lamps/*")
MORE_LAMPS = adapter("more_lamps", "shop.example/*lamps/*")
ABOUT = adapter("about", "shop.example/*lamp*", gives="company_website")
TENTS = adapter("tents", "shop.example/tents/*", "tents.example/*")
ALL = (GENERIC, COMPANY, WHOLE, LAMPS, MORE_LAMPS, ABOUT, TENTS)


def choose(url: str, wanted: str = "", adapters: tuple[Adapter, ...] = ALL) -> Choice:
    return Registry(adapters).choose(parse(url), wanted)


class TestChoosing:
    def test_longest_pattern_wins_and_says_so(self) -> None:
        choice = choose(LAMP)
        assert choice.adapter is LAMPS
        assert choice.why == "the URL fits 'shop.example/lamps/*'"

    def test_ids_settle_a_tie(self) -> None:
        twins = [adapter(name, "shop.example/lamps/*") for name in ("b", "c", "a")]
        for order in permutations(twins):
            choice = choose(LAMP, adapters=order)
            assert choice.adapter.id == "a"
            assert dict(choice.others) == {
                "b@1.0.0": "'shop.example/lamps/*' fits, but the id comes later",
                "c@1.0.0": "'shop.example/lamps/*' fits, but the id comes later",
            }

    def test_wildcards_do_not_make_a_pattern_longer(self) -> None:
        vague = adapter("a", "shop.example/*l*a*m*p*")
        assert choose(LAMP, adapters=(vague, LAMPS)).adapter is LAMPS

    @pytest.mark.parametrize("wanted", ["", "product", "company_website", "tents"])
    @pytest.mark.parametrize("url", [LAMP, ELSEWHERE, "https://shop.example/"])
    def test_order_of_registration_does_not_matter(self, url: str, wanted: str) -> None:
        expected = choose(url, wanted)
        assert choose(url, wanted, ALL[::-1]) == expected
        for turn in range(len(ALL)):
            assert choose(url, wanted, (*ALL[turn:], *ALL[:turn])) == expected

    def test_named_adapter_reads_any_url(self) -> None:
        choice = choose(ELSEWHERE, "tents")
        assert choice.adapter is TENTS
        assert choice.why == "named 'tents'"

    def test_target_type_chooses_among_the_adapters_that_give_it(self) -> None:
        assert choose(LAMP, "company_website").adapter is ABOUT
        assert choose(LAMP, "product").adapter is LAMPS

    def test_target_type_falls_back_to_the_adapter_for_any_site(self) -> None:
        choice = choose(ELSEWHERE, "company_website")
        assert choice.adapter is COMPANY
        assert choice.why == "no site's adapter fits the URL, and target type 'company_website'"

    def test_default_is_a_product(self) -> None:
        choice = choose(ELSEWHERE)
        assert choice.adapter is GENERIC
        assert choice.why == "no site's adapter fits the URL, and the default is 'product'"

    def test_others_are_all_named_by_id_with_their_reasons(self) -> None:
        any_site = "serves any site, and only where no site's adapter fits or its type is named"
        assert choose(LAMP).others == (
            ("about@1.0.0", "'shop.example/*lamp*' fits, but says less"),
            ("company_website@1.0.0", any_site),
            ("more_lamps@1.0.0", "'shop.example/*lamps/*' fits, but the id comes later"),
            ("product@1.0.0", any_site),
            ("tents@1.0.0", "the URL fits none of shop.example/tents/*, tents.example/*"),
            ("whole@1.0.0", "'shop.example/*' fits, but says less"),
        )

    def test_others_that_give_something_else_say_what(self) -> None:
        others = dict(choose(LAMP, "product").others)
        assert others["about@1.0.0"] == others["company_website@1.0.0"] == "gives company_website"

    def test_long_list_of_patterns_is_cut_short(self) -> None:
        many = adapter("many", *(f"many.example/{letter}/*" for letter in "abcde"))
        reason = dict(choose(LAMP, adapters=(LAMPS, many)).others)["many@1.0.0"]
        assert reason.startswith("the URL fits none of many.example/a/*, ")
        assert reason.endswith(" more")
        assert "many.example/e/*" not in reason

    def test_unknown_name_is_an_error_that_lists_the_known(self) -> None:
        with pytest.raises(SettingsError) as caught:
            choose(LAMP, "lamp")
        message = str(caught.value)
        assert "no adapter or target type 'lamp'" in message
        assert all(name in message for name in [*KINDS, *(one.id for one in ALL)])

    def test_kind_that_nothing_gives_is_an_error(self) -> None:
        with pytest.raises(SettingsError, match=f"no adapter gives 'job_posting'.*{ELSEWHERE}"):
            choose(ELSEWHERE, "job_posting")

    @pytest.mark.parametrize(
        ("url", "adapter_id"),
        [
            ("https://www.sgammo.com/product/9mm/lamp", "sgammo"),
            ("https://www.sgammo.com/catalog", "product"),
            ("https://www.amazon.com/Lamp/dp/B000000001", "amazon"),
            ("https://notamazon.com/Lamp/dp/B000000001", "product"),
            (LAMP, "product"),
        ],
    )
    def test_own_adapters_are_chosen_by_url(self, url: str, adapter_id: str) -> None:
        assert open_registry().choose(parse(url)).adapter.id == adapter_id

    @pytest.mark.parametrize("kind", KINDS)
    def test_every_kind_has_an_adapter_for_any_site(self, kind: str) -> None:
        assert open_registry().choose(parse(ELSEWHERE), kind).adapter.gives == kind


class TestRegistering:
    def test_adapters_are_listed_by_id(self) -> None:
        assert [one.id for one in Registry(ALL).list()] == sorted(one.id for one in ALL)

    def test_adapter_is_found_by_id(self) -> None:
        assert Registry(ALL).get("lamps") is LAMPS
        assert Registry(ALL).get("lamp") is None

    def test_domain_is_known_or_not(self) -> None:
        assert Registry(ALL).has_adapter_for_domain("shop.example")
        assert not Registry(ALL).has_adapter_for_domain("other.example")

    def test_id_can_be_taken_only_once(self) -> None:
        with pytest.raises(SettingsError, match="two adapters have the id 'lamps'"):
            Registry([LAMPS, adapter("lamps", "other.example/*")])

    @pytest.mark.parametrize(
        "one",
        [adapter("product", "shop.example/*"), adapter("job_posting"), adapter("linkedin_profile")],
    )
    def test_target_type_cannot_name_a_sites_adapter(self, one: Adapter) -> None:
        with pytest.raises(SettingsError, match=f"'{one.id}' is a target type"):
            Registry([one])

    def test_kind_has_one_adapter_for_any_site(self) -> None:
        with pytest.raises(SettingsError, match="'mine' gives product on any site, as 'product'"):
            Registry([GENERIC, adapter("mine")])

    def test_page_is_read_by_the_adapter_chosen_for_it(self) -> None:
        page = Page(LAMP, 200, {"Content-Type": "text/html"}, b"<h1>Lamp</h1>", 0.0)
        assert Registry(ALL).extract(page).adapter == "lamps@1.0.0"
        assert Registry(ALL).extract(page).fields == {"name": "Lamp"}
        assert Registry(ALL).extract(page, "whole").adapter == "whole@1.0.0"

    def test_page_without_content_is_a_reason(self) -> None:
        page = Page(LAMP, 200, {}, b"", 0.0)
        assert Registry(ALL).extract(page).reason is ExtractReason.EMPTY_PAGE


class TestFiles:
    def test_adapter_of_a_file_joins_the_own_ones(self, tmp_path: Path) -> None:
        file = tmp_path / "mine.py"
        file.write_text(FILE.format(id="mine"))
        registry = open_registry([str(file)])
        choice = registry.choose(parse("https://mine.example/1"))
        assert choice.adapter.id == "mine"
        assert choice.adapter.read(Document("x", LAMP)).fields == {"name": "from mine"}
        assert len(registry.list()) == len(ADAPTERS) + 1

    def test_files_of_the_same_name_are_told_apart(self, tmp_path: Path) -> None:
        files = [tmp_path / name / "adapter.py" for name in ("one", "two")]
        for file in files:
            file.parent.mkdir()
            file.write_text(FILE.format(id=file.parent.name))
        registry = open_registry([str(file) for file in files])
        read = [registry.choose(parse(LAMP), name).adapter for name in ("one", "two")]
        fields = [one.read(Document("x", LAMP)).fields for one in read]
        assert fields == [{"name": "from one"}, {"name": "from two"}]

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("def (", "SyntaxError"),
            ("1 / 0", "ZeroDivisionError"),
            ("import there_is_no_such_module", "ModuleNotFoundError"),
            (FILE.format(id="mine").replace("1.0.0", "1.0"), "not like 1.2.3"),
            ("", "has no ADAPTER of type Adapter"),
            ("ADAPTER = 'mine'", "has no ADAPTER of type Adapter"),
            ("from penstock.extract.adapter import Adapter as ADAPTER", "has no ADAPTER of type"),
        ],
    )
    def test_broken_file_is_an_error_that_names_setting_and_file(
        self, tmp_path: Path, text: str, problem: str
    ) -> None:
        file = tmp_path / "mine.py"
        file.write_text(text)
        with pytest.raises(SettingsError) as caught:
            open_registry([str(file)])
        assert SETTING in str(caught.value)
        assert str(file) in str(caught.value)
        assert problem in str(caught.value)

    def test_missing_file_is_an_error_that_names_setting_and_file(self, tmp_path: Path) -> None:
        file = tmp_path / "mine.py"
        with pytest.raises(SettingsError, match="there is no file") as caught:
            open_registry([str(file)])
        assert SETTING in str(caught.value)
        assert str(file) in str(caught.value)

    @pytest.mark.parametrize("taken", ["amazon", "product"])
    def test_file_cannot_take_an_id_that_is_taken(self, tmp_path: Path, taken: str) -> None:
        file = tmp_path / "mine.py"
        file.write_text(FILE.format(id=taken))
        with pytest.raises(SettingsError, match=f"'{taken}'"):
            open_registry([str(file)])


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path that packages can be installed in."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def install(folder: Path, package: str, entries: dict[str, str], code: str = "") -> None:
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {value}" for name, value in entries.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{ENTRY_POINTS}]", *lines, ""]))
    (folder / f"{package}.py").write_text(code or FILE.format(id=package))


class TestEntryPoints:
    def test_package_is_not_even_imported_unless_it_is_named(self, packages: Path) -> None:
        install(packages, "pkg_unnamed", {"unnamed": "pkg_unnamed:ADAPTER"}, "1 / 0")
        assert open_registry().list() == tuple(sorted(ADAPTERS, key=lambda one: one.id))

    def test_adapter_of_a_package_joins_when_it_is_named(self, packages: Path) -> None:
        install(packages, "pkg_named", {"theirs": "pkg_named:ADAPTER"})
        registry = open_registry(["theirs"])
        assert registry.choose(parse("https://pkg_named.example/1")).adapter.id == "pkg_named"
        assert open_registry().get("pkg_named") is None

    def test_name_that_no_package_has_is_an_error(self, packages: Path) -> None:
        install(packages, "pkg_other", {"other": "pkg_other:ADAPTER"})
        with pytest.raises(SettingsError, match="no installed package has") as caught:
            open_registry(["theirs"])
        assert SETTING in str(caught.value)
        assert "'theirs'" in str(caught.value)

    def test_name_that_two_packages_have_is_an_error(self, packages: Path) -> None:
        for package in ("pkg_one", "pkg_two"):
            install(packages, package, {"theirs": f"{package}:ADAPTER"})
        with pytest.raises(
            SettingsError, match="several packages have an adapter 'theirs'"
        ) as caught:
            open_registry(["theirs"])
        assert "pkg_one:ADAPTER and pkg_two:ADAPTER" in str(caught.value)

    @pytest.mark.parametrize(
        ("package", "value", "code", "problem"),
        [
            ("pkg_raises", "pkg_raises:ADAPTER", "1 / 0", "ZeroDivisionError"),
            ("pkg_lacks", "pkg_lacks:ADAPTER", "x = 1", "AttributeError"),
            ("pkg_absent", "pkg_nowhere:ADAPTER", "x = 1", "ModuleNotFoundError"),
            ("pkg_wrong", "pkg_wrong:ADAPTER", "ADAPTER = 5", "has no ADAPTER of type Adapter"),
        ],
    )
    def test_broken_package_is_an_error_that_names_the_setting(
        self, packages: Path, package: str, value: str, code: str, problem: str
    ) -> None:
        install(packages, package, {"theirs": value}, code)
        with pytest.raises(SettingsError) as caught:
            open_registry(["theirs"])
        assert SETTING in str(caught.value)
        assert "theirs" in str(caught.value)
        assert problem in str(caught.value)
