"""Plots as SVG, in a few lines: what was measured over time, and the limit that it has."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, log10

WIDTH, HEIGHT = 820, 150
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 28, 26
COLOURS = ("#1f6feb", "#d1570c", "#1a7f37", "#8250df", "#6e7781")
LIMIT = "#cf222e"
TICKS = 4
STYLE = "font-family:sans-serif;font-size:11px;fill:#57606a"


@dataclass(frozen=True, slots=True)
class Series:
    """Something that was measured at each of the times."""

    name: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Panel:
    """Some series on one scale that begins with 0, and the most that they may be."""

    title: str
    series: Sequence[Series]
    limit: float | None = None


def render_plot(title: str, minutes: Sequence[float], panels: Sequence[Panel]) -> str:
    """The panels below each other, all over the same minutes."""
    height = len(panels) * HEIGHT + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for place, panel in enumerate(panels):
        parts += _panel(panel, minutes, place * HEIGHT)
    parts += _times(minutes, len(panels) * HEIGHT)
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel, minutes: Sequence[float], top: float) -> list[str]:
    most = max([panel.limit or 0.0, *(value for one in panel.series for value in one.values)])
    step = _step(most / TICKS)
    most = step * ceil(most / step) or 1.0
    floor = top + HEIGHT
    scale = (HEIGHT - TOP) / most
    parts = [_text(LEFT, top + TOP - 8, panel.title, "font-weight:bold")]
    for number in range(round(most / step) + 1):
        y = floor - number * step * scale
        parts.append(_line(LEFT, y, WIDTH - RIGHT, "#d0d7de"))
        parts.append(_text(LEFT - 6, y + 4, f"{number * step:g}", "text-anchor:end"))
    for place, one in enumerate(panel.series):
        colour = COLOURS[place % len(COLOURS)]
        dots = [(_x(at, minutes), floor - v * scale) for at, v in _pairs(minutes, one.values)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        )
        parts += _label(one.name, colour, top + TOP + 14 * place)
    if panel.limit is not None:
        y = floor - panel.limit * scale
        parts.append(_line(LEFT, y, WIDTH - RIGHT, LIMIT, 'stroke-dasharray="5 4"'))
        parts += _label("limit", LIMIT, top + TOP + 14 * len(panel.series))
    return parts


def _times(minutes: Sequence[float], top: float) -> list[str]:
    step = max(1.0, _step((minutes[-1] - minutes[0]) / 10))
    marks = [step * number for number in range(int(minutes[-1] / step) + 1)]
    shown = [_text(_x(at, minutes), top + 16, f"{at:g}", "text-anchor:middle") for at in marks]
    return [*shown, _text(WIDTH - RIGHT + 10, top + 16, "minutes")]


def _pairs(minutes: Sequence[float], values: Sequence[float]) -> list[tuple[float, float]]:
    return list(zip(minutes, values, strict=True))


def _x(at: float, minutes: Sequence[float]) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * at / (minutes[-1] or 1.0)


def _step(rough: float) -> float:
    """The next larger of 1, 2 or 5 times a power of ten."""
    if rough <= 0:
        return 1.0
    power = 10.0 ** int(log10(rough) // 1)
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)


def _label(name: str, colour: str, y: float) -> list[str]:
    x = WIDTH - RIGHT + 10
    return [
        _line(x, y - 4, x + 16, colour, 'stroke-width="3"'),
        _text(x + 22, y, name),
    ]


def _line(x: float, y: float, to: float, colour: str, more: str = "") -> str:
    ends = f'x1="{x:.1f}" y1="{y:.1f}" x2="{to:.1f}" y2="{y:.1f}"'
    return f'<line {ends} stroke="{colour}" {more}/>'


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" style="{STYLE};{more}">{escape(text)}</text>'
