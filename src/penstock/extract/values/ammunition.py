"""Ammunition: what a shop's title says of a box of cartridges.

A title that can be read in two ways gives nothing for that attribute: two calibres, two grain
weights, or a box and a case without a word on which of them is sold.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import prod
from typing import TypeVar

T = TypeVar("T")

MAX_LENGTH = 500
MAX_ROUNDS = 100_000

#: Calibres as the trade writes them, and their spellings as expressions over a folded title;
#: `_` stands for an optional space or hyphen. Of two that fit at one place, the first counts.
CALIBERS: Mapping[str, str] = {
    ".17 HMR": r"17_hmr|17_hornady_magnum_rimfire",
    ".17 HM2": r"17_hm2|17_mach_2",
    ".17 WSM": r"17_wsm|17_winchester_super_mag(?:num)?",
    ".17 Hornet": r"17_hornet",
    ".22 LR": r"22_lr|22_l\.r\.|22_long_rifle|22lfb",
    ".22 Long": r"22_long",
    ".22 Short": r"22_short",
    ".22 WMR": r"22_wmr|22_win(?:chester)?_mag(?:num)?(?:_rimfire)?|22_mag(?:num)?",
    ".22 Hornet": r"22_hornet",
    ".22-250 Remington": r"22[ -]250(?:_rem(?:ington)?)?",
    ".204 Ruger": r"204_ruger",
    ".220 Swift": r"220_swift",
    ".221 Fireball": r"221_(?:rem(?:ington)?_)?fireball",
    ".222 Remington": r"222_rem(?:ington)?",
    ".223 Remington": r"223_rem(?:ington)?|223_wylde|(?<=\.)223|223(?= ?/)|(?<=/)223",
    ".224 Valkyrie": r"224_valkyrie",
    ".243 Winchester": r"243_win(?:chester)?|(?<=\.)243",
    ".25 ACP": r"25_acp|25_auto(?:matic)?|6\.35_(?:x_15|mm_browning)",
    ".25-06 Remington": r"25[ -]06(?:_rem(?:ington)?)?",
    ".257 Roberts": r"257_roberts",
    ".257 Weatherby Magnum": r"257_(?:weatherby|wby)(?:_mag(?:num)?)?",
    ".260 Remington": r"260_rem(?:ington)?",
    ".264 Winchester Magnum": r"264_win(?:chester)?_mag(?:num)?",
    ".270 WSM": r"270_wsm|270_winchester_short_mag(?:num)?",
    ".270 Winchester": r"270_win(?:chester)?|(?<=\.)270",
    ".280 Ackley Improved": r"280_(?:ackley(?:_improved)?|ai)",
    ".280 Remington": r"280_rem(?:ington)?",
    ".30 Carbine": r"30_(?:m1_)?carbine",
    ".30 Super Carry": r"30_super_carry|30_sc",
    ".30-30 Winchester": r"30[ -]30(?:_win(?:chester)?)?",
    ".30-06 Springfield": r"30[ -]06(?:_(?:spring(?:field)?|sprg|spr))?",
    ".30-40 Krag": r"30[ -]40_krag",
    ".300 AAC Blackout": r"300_(?:aac_)?(?:blackout|blk)|300_aac|300blkout",
    ".300 Winchester Magnum": r"300_win(?:chester)?_mag(?:num)?|300_wm",
    ".300 WSM": r"300_wsm|300_winchester_short_mag(?:num)?",
    ".300 Weatherby Magnum": r"300_weatherby(?:_mag(?:num)?)?|300_wby(?:_mag(?:num)?)?",
    ".300 PRC": r"300_prc",
    ".300 Savage": r"300_savage",
    ".300 RUM": r"300_rum|300_rem(?:ington)?_ultra_mag(?:num)?",
    ".303 British": r"303_brit(?:ish)?",
    ".308 Winchester": r"308_win(?:chester)?|(?<=\.)308|308(?= ?/)|(?<=/)308",
    ".32 ACP": r"32_acp|32_auto(?:matic)?|7\.65_(?:x_17|mm_browning)",
    ".32 S&W Long": r"32_s_&_w_long",
    ".32 H&R Magnum": r"32_h_&_r(?:_mag(?:num)?)?",
    ".327 Federal Magnum": r"327_fed(?:eral)?(?:_mag(?:num)?)?",
    ".338 Lapua Magnum": r"338_lapua(?:_mag(?:num)?)?",
    ".338 Winchester Magnum": r"338_win(?:chester)?_mag(?:num)?",
    ".338 Federal": r"338_fed(?:eral)?",
    ".350 Legend": r"350_legend",
    ".35 Remington": r"35_rem(?:ington)?",
    ".357 Magnum": r"357_mag(?:num)?",
    ".357 SIG": r"357_sig",
    ".360 Buckhammer": r"360_buckhammer",
    ".375 H&H Magnum": r"375_h_&_h(?:_mag(?:num)?)?",
    ".38 Special": r"38_(?:s_&_w_)?(?:special|spl|spc|spec)",
    ".38 Super": r"38_super(?:_auto(?:matic)?)?",
    ".38 S&W": r"38_s_&_w(?!_sp)",
    ".380 ACP": r"380_acp|380_auto(?:matic)?|9_mm_(?:kurz|short|corto|browning_(?:short|court))"
    r"|9_x_17(?:_mm)?|(?<=\.)380",
    ".40 S&W": r"40_s_&_w|40_sw|40_smith_(?:&|and)_wesson",
    ".400 Legend": r"400_legend",
    ".41 Magnum": r"41_(?:rem(?:ington)?_)?mag(?:num)?",
    ".44 Magnum": r"44_(?:rem(?:ington)?_)?mag(?:num)?",
    ".44 Special": r"44_(?:s_&_w_)?(?:special|spl|spc)",
    ".44-40 Winchester": r"44[ -]40(?:_win(?:chester)?)?",
    ".444 Marlin": r"444_marlin",
    ".45 ACP": r"45_acp|45_auto(?:matic)?(?!_rim)",
    ".45 GAP": r"45_gap|45_g\.a\.p\.",
    ".45 Colt": r"45_(?:long_)?colt|45_lc",
    ".45-70 Government": r"45[ -]70(?:_gov(?:ernmen)?'?t)?",
    ".450 Bushmaster": r"450_bushmaster",
    ".454 Casull": r"454_casull",
    ".458 SOCOM": r"458_socom",
    ".458 Winchester Magnum": r"458_win(?:chester)?_mag(?:num)?",
    ".460 S&W Magnum": r"460_s_&_w(?:_mag(?:num)?)?",
    ".50 AE": r"50_ae|50_action_express",
    ".50 Beowulf": r"50_beowulf",
    ".50 BMG": r"50_bmg|50_browning_machine_gun|12\.7_x_99(?:_mm)?",
    ".500 S&W Magnum": r"500_s_&_w(?:_mag(?:num)?)?",
    "4.6x30mm": r"4\.6_x_30(?:_mm)?",
    "5.45x39mm": r"5\.45_(?:mm_)?x_39(?:_mm)?",
    "5.56x45mm NATO": r"5\.56_(?:mm_)?x_45(?:_mm)?(?:_nato)?|5\.56(?:_mm)?(?:_nato)?",
    "5.7x28mm": r"5\.7_(?:mm_)?x_28(?:_mm)?(?:_fn)?|fn_5\.7|5\.7_fn",
    "6mm ARC": r"6_mm_arc",
    "6mm Creedmoor": r"6_mm_(?:creedmoor|cm)",
    "6mm GT": r"6_mm_gt",
    "6.5 Creedmoor": r"6\.5_(?:mm_)?(?:creedmoor|creed|cm)",
    "6.5 Grendel": r"6\.5_(?:mm_)?grendel",
    "6.5 PRC": r"6\.5_(?:mm_)?prc",
    "6.5x55mm Swedish": r"6\.5_x_55(?:_mm)?(?:_(?:swedish|swede|se|mauser))?|6\.5_swedish",
    "6.5-284 Norma": r"6\.5[ x-]284(?:_norma)?",
    "6.8 SPC": r"6\.8_(?:mm_)?(?:rem(?:ington)?_)?spc(?:_ii)?",
    "6.8 Western": r"6\.8_western",
    "7mm Remington Magnum": r"7_mm_rem(?:ington)?_mag(?:num)?|7_mm_mag(?:num)?",
    "7mm-08 Remington": r"7_mm[ -]08(?:_rem(?:ington)?)?",
    "7mm PRC": r"7_mm_prc",
    "7mm Mauser": r"7_x_57(?:_mm)?(?:_mauser)?(?!_r)|7_mm_mauser",
    "7.5x55mm Swiss": r"7\.5_x_55(?:_mm)?(?:_swiss)?",
    "7.62x25mm Tokarev": r"7\.62_(?:mm_)?x_25(?:_mm)?(?:_tok(?:arev)?)?",
    "7.62x39mm": r"7\.62_(?:mm_)?x_39(?:_mm)?(?:_(?:soviet|russian))?",
    "7.62x51mm NATO": r"7\.62_(?:mm_)?x_51(?:_mm)?(?:_nato)?|7\.62(?:_mm)?_nato",
    "7.62x54mmR": r"7\.62_(?:mm_)?x_54(?:_mm)?_r(?:immed|ussian)?",
    "8mm Mauser": r"8_mm_mauser|8_x_57(?:_mm)?(?:_(?:js|is))?(?:_mauser)?|7\.92_x_57(?:_mm)?",
    "9mm Makarov": r"9_(?:mm_)?x_18(?:_mm)?(?:_mak(?:arov)?)?|9_mm_mak(?:arov)?",
    "9x21mm": r"9_(?:mm_)?x_21(?:_mm)?(?:_imi)?",
    "9mm Luger": r"9_(?:mm_)?x_19(?:_mm)?(?:_(?:luger|para(?:bellum)?|nato))?"
    r"|9_mm(?:_(?:luger|para(?:bellum)?|nato))?(?!_(?:x_\d|largo|steyr|flobert|p\.?a\.?k|blank))",
    "10mm Auto": r"10_mm(?:_auto(?:matic)?)?",
    "10 Gauge": r"10_(?:ga(?:uge)?|gage)",
    "12 Gauge": r"12_(?:ga(?:uge)?|gage)",
    "16 Gauge": r"16_(?:ga(?:uge)?|gage)",
    "20 Gauge": r"20_(?:ga(?:uge)?|gage)",
    "28 Gauge": r"28_(?:ga(?:uge)?|gage)",
    ".410 Bore": r"410_(?:bore|ga(?:uge)?|gage|cal(?:iber)?)|(?<=\.)410",
}

#: Bullets by the trade's letters; of two that fit at one place, the first counts.
BULLETS: Mapping[str, str] = {
    "FMJBT": r"fmj_bt|fmj_boat_tail|full_metal_jacket(?:ed)?_boat_tail|bt_fmj",
    "TMJ": r"tmj|total_metal_jacket",
    "FMJ": r"fmj|full_metal_jacket(?:ed)?|fmc",
    "SJHP": r"sjhp|semi_jacketed_hollow_points?",
    "SCHP": r"schp|solid_copper_hollow_points?",
    "BTHP": r"bthp|hpbt|bt_hp|hp_bt|boat_tail_hollow_points?|hollow_points?_boat_tail",
    "JHP": r"jhp|jacketed_hollow_points?",
    "OTM": r"otm|open_tip_match",
    "LHP": r"lhp|lead_hollow_points?",
    "HP": r"hp|hollow_points?",
    "JSP": r"jsp|jacketed_soft_points?",
    "PSP": r"psp|pointed_soft_points?",
    "SP": r"sp|soft_points?",
    "LSWC": r"lswc|lead_semi_wad_cutter",
    "SWC": r"swc|semi_wad_cutter",
    "Wadcutter": r"wad_cutter|hbwc",
    "LRN": r"lrn|lead_round_nose",
    "CPRN": r"cprn|copper_plated_round_nose",
    "LFP": r"lfp|lead_flat_(?:point|nose)",
    "Polymer Tip": r"(?:polymer|poly|ballistic)_tip(?:ped)?",
    "Frangible": r"frangible",
}
# "JHP Hollow Point" says the same thing twice.
_KINDS_OF = {
    "FMJ": {"FMJBT"},
    "HP": {"SJHP", "SCHP", "BTHP", "JHP", "LHP", "OTM"},
    "SP": {"JSP", "PSP"},
    "SWC": {"LSWC"},
}

_CASED = r"(?:[ -]?cas(?:ed?|ing|es)\b)"
CASES: Mapping[str, str] = {
    "nickel-plated brass": rf"nickel[ -]?plated(?: brass)?{_CASED}?|nickel brass{_CASED}?"
    rf"|nickel{_CASED}",
    "polymer": rf"polymer{_CASED}",
    "steel": r"(?:(?:brass|copper|zinc|polymer)[ -](?:plated|washed|coated) |lacquered )?"
    rf"steel(?:{_CASED}|(?![ -](?:shot|core|targets?|jacket|penetrator|bb|load|plates?)))",
    "aluminum": rf"alumin(?:i)?um(?:{_CASED}|(?![ -](?:tip|jacket)))",
    "brass": rf"brass(?:{_CASED}|(?![ -](?:plated|washed|coated|jacket|bullet|catcher|solid)))",
}

_SHOTGUN = frozenset(["10 Gauge", "12 Gauge", "16 Gauge", "20 Gauge", "28 Gauge", ".410 Bore"])

_FRACTIONS = str.maketrans({"¼": " 1/4", "½": " 1/2", "¾": " 3/4", "⅛": " 1/8", "⅞": " 7/8"})
_QUOTES = str.maketrans("\u201c\u201d\u2033\u2018\u2019\u2032\u00d7", "\"\"\"'''x")

_GRAINS = re.compile(
    r"(?<![\d.,$])(?<!\d[-/])(\d{1,3}(?:\.\d{1,2})?)[ -]?(?:gr(?:ains?|n|s)?)(?![a-z0-9])"
)

_COUNT = r"(?<![\d.,x/$#-])(\d{1,3}(?:,\d{3})+|\d{1,6})"
_ROUNDS = r"(?:rounds?|rds?|rnds?|shells?|shot ?shells?|cartridges?|ct|count)\b\.?"
_BOXES = r"(?:boxes|bricks|packs|sleeves|cartons|tins|bags|trays|cans)"
_WHOLE = r"(?:case|crate|bucket|ammo can|can|tin|brick)"
_MULTIPLIED = re.compile(
    rf"{_COUNT} ?{_BOXES} ?(?:of|x) ?{_COUNT}(?![\w.])(?:[ -]?{_ROUNDS})?"
    rf"|{_COUNT} ?{_BOXES} ?(?:of|x) ?{_COUNT}[ -]?{_ROUNDS}"
    rf"|{_COUNT} ?x (?:box of )?{_COUNT}[ -]?{_ROUNDS}"
)
_TIMES_BOXES = re.compile(rf"{_COUNT}[ -]?{_ROUNDS} ?x ?{_COUNT} ?{_BOXES}")
_PER_BOX = re.compile(
    rf"{_COUNT}[ -]?(?:{_ROUNDS})? ?(?:/ ?|per )(?:box|bx|brick|pack|tin)\b"
    rf"|{_COUNT}[ -]?{_ROUNDS} each\b|\b{_BOXES} of {_COUNT}(?![\w.])"
)
_BOX = re.compile(rf"{_COUNT}[ -]?{_ROUNDS}[ -]?box\b|\bbox of {_COUNT}(?![\w.])")
_CASE = re.compile(
    rf"{_COUNT}[ -]?{_ROUNDS}[ -]?(?:bulk |full )?{_WHOLE}\b|\b{_WHOLE} of {_COUNT}(?![\w.])"
)
_PLAIN = re.compile(rf"{_COUNT}[ -]?{_ROUNDS}(?![ -]?(?:mag|clip|drum|stripper|per min))")
_BOX_COUNT = re.compile(rf"{_COUNT} ?{_BOXES}\b")
_WHOLES = re.compile(rf"\b(?:cases?|crates?|bulk|{_BOXES})\b")
_MIN_PER_BOX = 10

_BUCK = re.compile(r"(?<![\w./-])(?:#|no\.? ?)?(000|00|0|[1-4])[ -]?buck(?:shot)?\b")
_SHOT = re.compile(
    r"(?<![\w./-])(?:#|no\.? ?)?(\d{1,2}(?:\.5|[ -]1/2)?|bbb?)[ -]"
    r"(?:(?:steel|lead|bismuth|tungsten)[ -])?(?:bird ?)?shot\b"
)
_NUMBERED = re.compile(r"(?<![\w./-])(?:#|no\.? ?)(\d{1,2}(?:\.5|[ -]1/2)?)(?![\w./])(?! ?buck)")
_OUNCES = re.compile(
    r"(?<![\w./-])(\d(?:[ -]\d/\d{1,2})?|\d/\d{1,2}|\d\.\d{1,3})[ -]?(?:oz|ounces?)\b"
)
_SLUG = re.compile(r"\bslugs?\b")

_LENGTHS = {
    Fraction(7, 4): '1-3/4"',
    Fraction(2): '2"',
    Fraction(9, 4): '2-1/4"',
    Fraction(5, 2): '2-1/2"',
    Fraction(11, 4): '2-3/4"',
    Fraction(3): '3"',
    Fraction(7, 2): '3-1/2"',
}
_INCHES = re.compile(
    r"(?<![\w./#-])([1-3](?:[ -][13]/[24]|\.\d{1,2})?)[ -]?(?:\"|''|inch(?:es)?\b|in\.|(?<=\d)in\b)"
    r"|(?<![\w./#-])([1-3][ -][13]/[24])(?![\w/.\"])(?!'')(?![ -]?(?:oz|ounce|dr))"
)


@dataclass(frozen=True, slots=True)
class Ammunition:
    """What a title says; an attribute that it does not say clearly is None."""

    caliber: str | None = None
    grain_weight: Decimal | None = None
    round_count: int | None = None
    case_material: str | None = None
    bullet_type: str | None = None
    load_type: str | None = None
    shell_length: str | None = None


def read_ammunition(title: str) -> Ammunition:
    """The attributes of the ammunition that a title describes."""
    folded = _fold(title[:MAX_LENGTH])
    calibers, rest = _caliber_names().take(folded)
    caliber = _only(calibers)
    materials, rest = _case_names().take(rest)
    is_for_rifles = bool(calibers) and caliber not in _SHOTGUN
    load = None if is_for_rifles else _read_load(rest, caliber in _SHOTGUN)
    return Ammunition(
        caliber=caliber,
        grain_weight=_read_grains(rest),
        round_count=_read_rounds(rest),
        # Of a shot shell "brass" is the height of its base, and "steel" is the shot.
        case_material=None if caliber in _SHOTGUN else _only(materials),
        bullet_type=_read_bullet(rest),
        load_type=load,
        shell_length=_read_length(rest) if load or caliber in _SHOTGUN else None,
    )


def cost_per_round(price_minor: int, rounds: int) -> Decimal:
    """What one of at least one round costs, in minor units to four decimals, half to even."""
    # A fraction, because a decimal would be rounded twice.
    return Decimal(round(Fraction(price_minor * 10_000, rounds))).scaleb(-4)


@dataclass(frozen=True, slots=True)
class _Names:
    """An expression whose groups are the spellings of names, in order."""

    names: tuple[str, ...]
    pattern: re.Pattern[str]

    def take(self, text: str) -> tuple[set[str], str]:
        """The names in a text, and the text without them."""
        found = {self.names[(match.lastindex or 1) - 1] for match in self.pattern.finditer(text)}
        return found, self.pattern.sub(" ~ ", text)


def _names(table: Mapping[str, str], start: str) -> _Names:
    spellings = "|".join(f"({spelling})" for spelling in table.values())
    pattern = re.compile(f"{start}(?:{spellings})(?![a-z0-9])".replace("_", "[ -]?"))
    return _Names(tuple(table), pattern)


@cache
def _caliber_names() -> _Names:
    # Neither a price nor the second half of another measure.
    return _names(CALIBERS, r"(?<![a-z0-9.$€£])(?<!\d-)\.?")


@cache
def _case_names() -> _Names:
    return _names(CASES, r"(?<![a-z0-9])")


@cache
def _bullet_names() -> _Names:
    return _names(BULLETS, r"(?<![a-z0-9.+])")


def _fold(title: str) -> str:
    plain = unicodedata.normalize("NFKC", title.translate(_FRACTIONS)).translate(_QUOTES)
    return " ".join(plain.casefold().split())


def _only(found: Iterable[T]) -> T | None:
    """The one thing that was found, or None if there are more."""
    different = set(found)
    return different.pop() if len(different) == 1 else None


def _read_grains(text: str) -> Decimal | None:
    weight = _only(Decimal(match[1]) for match in _GRAINS.finditer(text))
    return weight or None


def _read_bullet(text: str) -> str | None:
    found, _ = _bullet_names().take(text)
    return _only(name for name in found if found.isdisjoint(_KINDS_OF.get(name, ())))


def _read_rounds(text: str) -> int | None:
    """How many rounds are sold, where the title leaves no doubt about it."""
    times_boxes, text = _take_counts(_TIMES_BOXES, text)
    multiplied, text = _take_counts(_MULTIPLIED, text)
    multiplied += [counts[::-1] for counts in times_boxes]
    per_box, text = _take_counts(_PER_BOX, text)
    boxes, text = _take_counts(_BOX, text)
    cases, text = _take_counts(_CASE, text)
    plain, text = _take_counts(_PLAIN, text)
    totals = {prod(counts) for counts in multiplied + cases + plain}
    parts = {counts[-1] for counts in multiplied + per_box}
    singles = {count for counts in boxes for count in counts}
    if not multiplied:
        totals |= singles
    elif not singles <= parts:
        return None
    if not totals and not _WHOLES.search(text):
        totals = parts
    return _plausible(_only(totals), parts, text)


def _take_counts(pattern: re.Pattern[str], text: str) -> tuple[list[tuple[int, ...]], str]:
    """The numbers of each match, and the text without the matches."""
    found = [
        tuple(int(count.replace(",", "")) for count in match.groups() if count)
        for match in pattern.finditer(text)
    ]
    return found, pattern.sub(" ~ ", text)


def _plausible(total: int | None, parts: set[int], text: str) -> int | None:
    """The total, if it can be made up of the parts and boxes that the title tells of."""
    if total is None or not 0 < total <= MAX_ROUNDS:
        return None
    if any(part == 0 or total % part for part in parts):
        return None
    boxes, _ = _take_counts(_BOX_COUNT, text)
    is_split = all(count and total >= count * _MIN_PER_BOX for (count,) in boxes)
    return total if is_split else None


def _read_load(text: str, is_shotgun: bool) -> str | None:
    """The shot or slug of a shell; its weight alone if the title says no more."""
    loads = {_buck_name(match[1]) for match in _BUCK.finditer(text)}
    loads |= {_shot_name(match[1]) for match in _SHOT.finditer(text)}
    ounces = {match[1].replace(" ", "-") for match in _OUNCES.finditer(text)}
    if _SLUG.search(text):
        weight = _only(ounces)
        loads.add(f"{weight} oz Slug" if weight else "Slug")
    if is_shotgun:
        loads |= {_shot_name(match[1]) for match in _NUMBERED.finditer(text)}
    if is_shotgun and not loads:
        loads = {f"{weight} oz" for weight in ounces}
    return _only(loads)


def _buck_name(size: str) -> str:
    return f"{size} Buck" if size.startswith("0") else f"#{size} Buck"


def _shot_name(size: str) -> str:
    return f"#{re.sub('[ -]1/2', '.5', size).upper()} Shot"


def _read_length(text: str) -> str | None:
    lengths = (_inches(match[1] or match[2]) for match in _INCHES.finditer(text))
    return _LENGTHS.get(_only(lengths) or Fraction(0))


def _inches(text: str) -> Fraction:
    """The length of "2-3/4", "2 3/4" or "2.75"."""
    return sum((Fraction(part) for part in re.split("[ -]", text)), Fraction(0))
