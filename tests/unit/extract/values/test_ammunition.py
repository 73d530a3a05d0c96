"""Ammunition: what a title says clearly is read, and nothing is where it could be two things."""

from decimal import Decimal

import pytest

from penstock.extract.values.ammunition import CALIBERS, Ammunition, cost_per_round, read_ammunition


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (
            "Federal American Eagle 9mm Luger 115 Grain FMJ 50 Rounds, Brass Case",
            Ammunition("9mm Luger", Decimal(115), 50, "brass", "FMJ"),
        ),
        (
            "PMC X-TAC 5.56 NATO 62gr FMJBT Green Tip - 1000rd case",
            Ammunition("5.56x45mm NATO", Decimal(62), 1000, None, "FMJBT"),
        ),
        (
            "Wolf 7.62x39mm 123gr HP Steel Case 20rd box",
            Ammunition("7.62x39mm", Decimal(123), 20, "steel", "HP"),
        ),
        (
            "CCI Blazer .45 Auto 230 Grain FMJ Aluminum Cased 50/box",
            Ammunition(".45 ACP", Decimal(230), 50, "aluminum", "FMJ"),
        ),
        (
            'Federal 12 Gauge 2-3/4" 00 Buck 9 Pellet - 25 shells',
            Ammunition("12 Gauge", None, 25, load_type="00 Buck", shell_length='2-3/4"'),
        ),
        (
            "Winchester 20ga 3 inch 7/8 oz Rifled Slug box of 5",
            Ammunition("20 Gauge", None, 5, load_type="7/8 oz Slug", shell_length='3"'),
        ),
        (
            "Fiocchi 12ga 2¾” High Brass 1-1/8 oz #7 1/2 Shot 250 Round Case (10 boxes of 25)",
            Ammunition("12 Gauge", None, 250, load_type="#7.5 Shot", shell_length='2-3/4"'),
        ),
        (
            "Speer Gold Dot .38 Special +P 135gr JHP Nickel Plated Brass 20 Rounds",
            Ammunition(".38 Special", Decimal(135), 20, "nickel-plated brass", "JHP"),
        ),
        ("Cleaning kit", Ammunition()),
        ("", Ammunition()),
    ],
)
def test_title_is_read_as_a_whole(title: str, expected: Ammunition) -> None:
    assert read_ammunition(title) == expected


@pytest.mark.parametrize(
    ("spelling", "caliber"),
    [
        ("9mm", "9mm Luger"),
        ("9 mm Parabellum", "9mm Luger"),
        ("9x19", "9mm Luger"),
        ("9mm NATO", "9mm Luger"),
        ("9mm XTP", "9mm Luger"),
        ("9mm Makarov", "9mm Makarov"),
        ("9x18mm", "9mm Makarov"),
        ("9mm Kurz", ".380 ACP"),
        ("380 Auto", ".380 ACP"),
        ("5.56", "5.56x45mm NATO"),
        ("5.56x45", "5.56x45mm NATO"),
        ("223 Rem", ".223 Remington"),
        (".223", ".223 Remington"),
        (".308 Winchester", ".308 Winchester"),
        ("7.62x51", "7.62x51mm NATO"),
        ("7.62x54R", "7.62x54mmR"),
        ("7.62x54mm R", "7.62x54mmR"),
        ("300 BLK", ".300 AAC Blackout"),
        ("300 AAC Blackout", ".300 AAC Blackout"),
        ("300 Win Mag", ".300 Winchester Magnum"),
        ("6.5 Creedmoor", "6.5 Creedmoor"),
        ("6.5mm Grendel", "6.5 Grendel"),
        ("22LR", ".22 LR"),
        (".22 Long Rifle", ".22 LR"),
        ("22 WMR", ".22 WMR"),
        ("22-250 Rem", ".22-250 Remington"),
        ("30-06 Springfield", ".30-06 Springfield"),
        ("30-30 Win", ".30-30 Winchester"),
        ("45-70 Govt", ".45-70 Government"),
        ("45 Long Colt", ".45 Colt"),
        ("40 S&W", ".40 S&W"),
        ("38 S&W Special", ".38 Special"),
        ("38 S&W", ".38 S&W"),
        ("357 Magnum", ".357 Magnum"),
        ("10mm", "10mm Auto"),
        ("50 BMG", ".50 BMG"),
        ("12ga", "12 Gauge"),
        ("12-gauge", "12 Gauge"),
        ("410 bore", ".410 Bore"),
    ],
)
def test_spellings_of_a_caliber_are_one(spelling: str, caliber: str) -> None:
    assert read_ammunition(f"Brand {spelling} Ammo").caliber == caliber


@pytest.mark.parametrize("caliber", CALIBERS)
def test_caliber_as_displayed_is_read_as_itself(caliber: str) -> None:
    assert read_ammunition(f"Brand {caliber} ammo").caliber == caliber


@pytest.mark.parametrize(
    "title",
    [
        ".223 Rem / 5.56 NATO",
        "223/5.56 ammo",
        ".308 Winchester (7.62x51mm NATO)",
        ".45 Colt/.410 Bore",
        "9mm Largo",
        "9mm x 25",
        "9mm P.A.K. blanks",
        ".22 pellets",
        ".45 holster",
        "Only $5.56 shipping",
        "Part no. 0.223",
        "109mm tube",
    ],
)
def test_ambiguous_or_foreign_caliber_is_none(title: str) -> None:
    assert read_ammunition(title).caliber is None


@pytest.mark.parametrize(
    ("text", "grains"),
    [
        ("115gr", Decimal(115)),
        ("115 grain", Decimal(115)),
        ("55-Grain", Decimal(55)),
        ("124grn", Decimal(124)),
        ("437.5 gr.", Decimal("437.5")),
        ("115gr (115 grain)", Decimal(115)),
        ("115gr or 124gr", None),
        ("115-124gr", None),
        ("115/124 gr", None),
        ("whole grain", None),
        ("0 gr", None),
        ("5 green tips", None),
        ("50 grams", None),
    ],
)
def test_grain_weight_needs_one_number(text: str, grains: Decimal | None) -> None:
    assert read_ammunition(f"9mm {text} ammo").grain_weight == grains


@pytest.mark.parametrize(
    ("text", "rounds"),
    [
        ("50 rounds", 50),
        ("50rds", 50),
        ("1000rd case", 1000),
        ("500 Round Case", 500),
        ("box of 20", 20),
        ("20rd box", 20),
        ("25 shells", 25),
        ("1,000 Rounds", 1000),
        ("420rds Ammo Can", 420),
        ("20 rounds per box", 20),
        ("500 rounds, 50 per box", 500),
        ("case of 1000 (20/box)", 1000),
        ("10 boxes of 50", 500),
        ("10 x 50 rounds", 500),
        ("50 rounds x 20 boxes", 1000),
        ("50 round box, 50 rounds x 20 boxes", 1000),
        ("1000 rounds - 20 boxes", 1000),
        ("20 round box, 1000 round case - 50 boxes of 20", 1000),
        ("1000 Round Case Steel Case", 1000),
        ("20 rounds steel case", 20),
        ("20 round box or 1000 round case", None),
        ("1000 round case - 40 boxes of 20", None),
        ("50 round box, 1000 round case - 50 boxes of 20", None),
        ("20 round box, 50 rounds x 20 boxes", None),
        ("20 rounds or 50 rounds", None),
        ("500 rounds, 30 per box", None),
        ("case, 20 rounds per box", None),
        ("10 boxes 50 rounds", None),
        ("30 round magazine", None),
        ("0 rounds", None),
        ("999999 rounds", None),
        ("rounds", None),
        ("2 pack", None),
    ],
)
def test_round_count_is_the_total_that_is_sold(text: str, rounds: int | None) -> None:
    assert read_ammunition(f"9mm 115gr {text}").round_count == rounds


def test_caliber_is_not_taken_for_a_count() -> None:
    assert read_ammunition("7.62x39 rounds").round_count is None
    assert read_ammunition("9.3x62 rounds").round_count is None


@pytest.mark.parametrize(
    ("text", "bullet"),
    [
        ("Full Metal Jacket", "FMJ"),
        ("FMJ-BT", "FMJBT"),
        ("JHP Hollow Point", "JHP"),
        ("Boat Tail Hollow Point", "BTHP"),
        ("Open Tip Match", "OTM"),
        ("TMJ", "TMJ"),
        ("soft point", "SP"),
        ("Polymer Tipped", "Polymer Tip"),
        ("FMJ and JHP sampler", None),
        ("spare parts", None),
    ],
)
def test_bullet_type_is_named_as_in_the_trade(text: str, bullet: str | None) -> None:
    assert read_ammunition(f"9mm {text}").bullet_type == bullet


@pytest.mark.parametrize(
    ("text", "material"),
    [
        ("brass", "brass"),
        ("brass plated steel case", "steel"),
        ("nickel-plated brass", "nickel-plated brass"),
        ("polymer case", "polymer"),
        ("polymer tip", None),
        ("steel core", None),
        ("steel or brass", None),
        ("brass catcher", None),
    ],
)
def test_case_material_is_of_the_case(text: str, material: str | None) -> None:
    assert read_ammunition(f"9mm {text}").case_material == material


def test_brass_and_steel_of_a_shot_shell_are_not_its_case() -> None:
    assert read_ammunition("12 gauge high brass").case_material is None
    assert read_ammunition("12 gauge steel #2").case_material is None


@pytest.mark.parametrize(
    ("text", "load"),
    [
        ("00 buckshot", "00 Buck"),
        ("000 Buck", "000 Buck"),
        ("No. 4 Buck", "#4 Buck"),
        ("#8 shot", "#8 Shot"),
        ("#8", "#8 Shot"),
        ("7-1/2 shot 1-1/8 oz", "#7.5 Shot"),
        ("#2 steel shot", "#2 Shot"),
        ("BB shot", "#BB Shot"),
        ("1 oz slug", "1 oz Slug"),
        ("rifled slugs", "Slug"),
        ("7/8 oz", "7/8 oz"),
        ("1 1/8 ounce", "1-1/8 oz"),
        ("#6 or #8", None),
        ("00 buck and slug combo", None),
    ],
)
def test_load_of_a_shell_is_its_shot_or_slug(text: str, load: str | None) -> None:
    assert read_ammunition(f"12 gauge {text}").load_type == load


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ('2-3/4"', '2-3/4"'),
        ("2 3/4 inch", '2-3/4"'),
        ("2.75 in.", '2-3/4"'),
        ("2¾″", '2-3/4"'),
        ("2-3/4 #8", '2-3/4"'),
        ('3"', '3"'),
        ("3.5 inch", '3-1/2"'),
        ("3 1/2''", '3-1/2"'),
        ("2-3/4 dram", None),
        ('2-3/4" or 3"', None),
        ('18" barrel', None),
        ("3 in stock", None),
    ],
)
def test_shell_length_has_one_form(text: str, length: str | None) -> None:
    assert read_ammunition(f"12 gauge {text}").shell_length == length


def test_rifle_cartridge_has_neither_load_nor_shell_length() -> None:
    found = read_ammunition('.308 Win 3" group #8 shot')

    assert (found.load_type, found.shell_length) == (None, None)


@pytest.mark.parametrize(
    ("price", "rounds", "cost"),
    [
        (1999, 50, "39.9800"),
        (100, 3, "33.3333"),
        (200, 3, "66.6667"),
        (1, 32, "0.0312"),
        (3, 32, "0.0938"),
        (99_999_999, 1, "99999999.0000"),
    ],
)
def test_cost_per_round_is_rounded_half_to_even(price: int, rounds: int, cost: str) -> None:
    assert str(cost_per_round(price, rounds)) == cost
