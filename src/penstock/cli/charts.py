"""Charts of a few lines for a terminal."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal

Points = Sequence[tuple[int, Decimal]]
MARKS = "●■▲◆○□△◇"
MARGIN = 12
NARROWEST = 20


def draw(series: Mapping[str, Points], width: int, height: int = 12) -> list[str]:
    """Amounts over time (ms), one mark for each series, with a legend; a value lasts."""
    points = [point for each in series.values() for point in each]
    if not points:
        return ["no prices"]
    plot = max(width - MARGIN, NARROWEST)
    first, last = min(at for at, _ in points), max(at for at, _ in points)
    low, high = min(value for _, value in points), max(value for _, value in points)
    grid = [[" "] * plot for _ in range(height)]
    for mark, each in zip(_marks(len(series)), series.values(), strict=True):
        _plot(grid, mark, [(_place(at, first, last, plot), value) for at, value in each], low, high)
    amounts = [_amount(row, height, low, high) for row in range(height)]
    lines = [
        f"{amount:>{MARGIN - 2}} ┤{''.join(cells).rstrip()}"
        for amount, cells in zip(amounts, grid, strict=True)
    ]
    lines.append(f"{'':>{MARGIN - 2}} └{'─' * plot}")
    lines.append(f"{'':>{MARGIN}}{_day(first)}{_day(last):>{plot - len(_day(first))}}")
    legend = (f"{mark} {name}" for mark, name in zip(_marks(len(series)), series, strict=True))
    return [*lines, "   ".join(legend)]


def _marks(number: int) -> list[str]:
    return [MARKS[place % len(MARKS)] for place in range(number)]


def _plot(
    grid: list[list[str]],
    mark: str,
    points: Sequence[tuple[int, Decimal]],
    low: Decimal,
    high: Decimal,
) -> None:
    """Mark points; between them the value stays what it was."""
    rows = [(place, _row(value, len(grid), low, high)) for place, value in points]
    for (place, row), (following, _) in zip(rows, [*rows[1:], rows[-1]], strict=True):
        for between in range(place + 1, following):
            if grid[row][between] == " ":
                grid[row][between] = "·"
        grid[row][place] = mark


def _place(at: int, first: int, last: int, plot: int) -> int:
    return 0 if last == first else (at - first) * (plot - 1) // (last - first)


def _row(value: Decimal, height: int, low: Decimal, high: Decimal) -> int:
    if high == low:
        return height // 2
    return round((high - value) * (height - 1) / (high - low))


def _amount(row: int, height: int, low: Decimal, high: Decimal) -> str:
    """What stands at a row of the axis; some rows say nothing."""
    if high == low:
        return f"{low:.2f}" if row == height // 2 else ""
    if row % 3 and row != height - 1:
        return ""
    return f"{high - (high - low) * row / (height - 1):.2f}"


def _day(milliseconds: int) -> str:
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M}"
