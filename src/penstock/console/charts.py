"""Charts as SVG, made here: lines with marks, and sparklines. Colours come from the style sheet."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

WIDTH, HEIGHT, MARGIN = 640, 200, 36
SPARK = Markup(
    '<svg class="spark" role="img" viewBox="0 0 {width} 24" width="{width}" height="24">'
    "<title>{label}</title>{lines}</svg>"
)
CHART = Markup(
    '<svg class="chart" role="img" viewBox="0 0 {width} {height}"><title>{label}</title>'
    '<path class="axis" d="M{left} {top}V{bottom}H{right}"/>{line}{dots}{texts}</svg>'
)
LINE = Markup('<polyline points="{}"/>')
DOT = Markup('<circle class="{}" cx="{}" cy="{}" r="3"><title>{}</title></circle>')
TEXT = Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>')
NOTHING = Markup("")


class Point(NamedTuple):
    """A value at a time; `mark` is a class of the style sheet, `says` is shown for it.

    The line goes on without what is `aside`.
    """

    x: float
    y: float
    mark: str = ""
    says: str = ""
    aside: bool = False


def sparkline(values: Sequence[float | None], label: str, width: int = 120) -> Markup:
    """A small line without axes; gaps stay gaps."""
    known = [value for value in values if value is not None]
    if not known:
        return NOTHING
    low, high = min(known), max(known)
    step = width / max(1, len(values) - 1)
    pieces: list[list[str]] = [[]]
    for place, value in enumerate(values):
        if value is None:
            pieces.append([])
        else:
            y = 22 - 20 * (value - low) / (high - low) if high > low else 12
            pieces[-1].append(f"{place * step:.1f},{y:.1f}")
    lines = NOTHING.join(LINE.format(" ".join(piece)) for piece in pieces if piece)
    return SPARK.format(width=width, label=label, lines=lines)


def line_chart(
    points: Sequence[Point],
    label: str,
    x_labels: tuple[str, str] = ("", ""),
    y_labels: tuple[str, str] | None = None,
) -> Markup:
    """A line over time with marked points; labels stand at the ends of both axes."""
    if not points:
        return NOTHING
    left, right, top, bottom = MARGIN * 2, WIDTH - MARGIN, MARGIN // 2, HEIGHT - MARGIN
    xs = _scaled([point.x for point in points], left, right)
    ys = _scaled([point.y for point in points], bottom, top)
    lowest, highest = min(point.y for point in points), max(point.y for point in points)
    least, most = y_labels or (f"{lowest:g}", f"{highest:g}")
    texts = (
        (left - 6, bottom, "end", least),
        (left - 6, top + 8, "end", most),
        (left, HEIGHT - 8, "start", x_labels[0]),
        (right, HEIGHT - 8, "end", x_labels[1]),
    )
    return CHART.format(
        width=WIDTH,
        height=HEIGHT,
        label=label,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        line=LINE.format(
            " ".join(
                f"{x},{y}" for point, x, y in zip(points, xs, ys, strict=True) if not point.aside
            )
        ),
        dots=NOTHING.join(
            DOT.format(point.mark or "dot", x, y, point.says)
            for point, x, y in zip(points, xs, ys, strict=True)
        ),
        texts=NOTHING.join(TEXT.format(*text) for text in texts),
    )


def _scaled(values: Sequence[float], start: float, end: float) -> list[float]:
    """Values spread between two places; all in the middle if they are the same."""
    low, high = min(values), max(values)
    if high == low:
        return [(start + end) / 2] * len(values)
    return [round(start + (end - start) * (value - low) / (high - low), 1) for value in values]
