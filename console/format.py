"""How numbers, times and texts are written on a screen. Pure; widths are in terminal cells.

Numbers keep their digits as long as they fit a narrow column and then take a unit, so that columns of
the same kind line up.
"""

from __future__ import annotations

from datetime import datetime, tzinfo

from rich.cells import cell_len, set_cell_size

from console.safe import safe_line

NONE = "\u2013"
"""A dash: there is no such value. It never stands for zero."""

ELLIPSIS = "…"


def count(value: int) -> str:
    """A number of things: ``9,931``, from a hundred thousand on ``208k``, ``1.2M``, ``31G``."""
    if value < 0:
        return "-" + count(-value)
    if value < 100_000:
        return f"{value:,}"
    for limit, divisor, unit in ((1e6, 1e3, "k"), (1e9, 1e6, "M"), (1e12, 1e9, "G")):
        scaled = value / divisor
        if value < limit and round(scaled) < 1000:
            return _scaled(scaled) + unit
    return f"{value / 1e12:.1f}T"


def tokens(value: int) -> str:
    """A number in a table whose columns are to add up: all digits below a million, then ``1.23M``."""
    if value < 0:
        return "-" + tokens(-value)
    if value < 1_000_000:
        return f"{value:,}"
    return f"{value / 1e6:,.2f}M" if value < 999_995_000 else f"{value / 1e9:,.2f}G"


def brief(value: int) -> str:
    """A number in at most five cells, for the edge of a chart: ``980``, ``9.8k``, ``48k``.

    A negative one takes one more.
    """
    if value < 0:
        return "-" + brief(-value)
    return count(value) if value < 1000 or value >= 100_000 else _scaled(value / 1000) + "k"


def _scaled(value: float) -> str:
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def size(value: int) -> str:
    """A number of bytes in decimal units: ``512 B``, ``9.1 kB``, ``1.0 MB``."""
    if value < 1000:
        return f"{value} B"
    scaled = float(value)
    for unit in ("kB", "MB", "GB", "TB"):
        scaled /= 1000
        if round(scaled, 1) < 1000 or unit == "TB":
            break
    return f"{scaled:.1f} {unit}" if round(scaled, 1) < 100 else f"{scaled:.0f} {unit}"


def milliseconds(value: float | None) -> str:
    """A duration for a column headed "ms": ``0.4``, ``12``, ``2,210``; a dash for none."""
    if value is None:
        return NONE
    if value < 9.95:
        return f"{max(value, 0.0):.1f}"
    return f"{value:,.0f}"


def duration(value_ms: float) -> str:
    """A duration in a sentence: ``4 ms``, ``1.2 s``, ``2 min 3 s``."""
    if value_ms < 1:
        return f"{max(value_ms, 0.0):.1f} ms"
    if value_ms < 999.5:
        return f"{value_ms:.0f} ms"
    seconds = value_ms / 1000
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def age(seconds: float) -> str:
    """How long something has lasted: ``0s``, ``42s``, ``5m``, ``3h 12m``, ``3d 4h``."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m"
    if whole < 86_400:
        return f"{whole // 3600}h {whole % 3600 // 60}m"
    return f"{whole // 86_400}d {whole % 86_400 // 3600}h"


def percent(part: int, whole: int) -> str:
    """A share: ``0%``, ``1.3%``, ``42%``, ``-7.0%``; a dash when there is no whole."""
    if whole <= 0:
        return NONE
    if part < 0:
        small = -1000 * part < whole / 2
        return ">-0.1%" if small else "-" + percent(-part, whole)
    share = 100 * part / whole
    if part == 0:
        return "0%"
    if share < 0.05:
        return "<0.1%"
    return f"{share:.1f}%" if share < 9.95 else f"{share:,.0f}%"


def clock(at: float, tz: tzinfo) -> str:
    """Time of day, ``14:03:07``."""
    return datetime.fromtimestamp(at, tz).strftime("%H:%M:%S")


def short_clock(at: float, tz: tzinfo) -> str:
    """Time of day without seconds, ``14:03``."""
    return datetime.fromtimestamp(at, tz).strftime("%H:%M")


def moment(at: float, now: float, tz: tzinfo) -> str:
    """Time of day if it is today, else with the date: ``14:03:07`` or ``11-28 09:12``."""
    then = datetime.fromtimestamp(at, tz)
    if then.date() == datetime.fromtimestamp(now, tz).date():
        return then.strftime("%H:%M:%S")
    return then.strftime("%m-%d %H:%M")


def plural(number: int, singular: str, many: str = "") -> str:
    """``1 call``, ``2 calls``; ``many`` for words that do not just take an s."""
    return f"{count(number)} {singular if number == 1 else many or singular + 's'}"


def fit(text: str, width: int, *, right: bool = False) -> str:
    """Exactly ``width`` cells of one neutralised line: padded, or cut with an ellipsis.

    Wide characters (CJK) are never split: a cell left over becomes a space.
    """
    if width <= 0:
        return ""
    line = safe_line(text, width * 2 + 8)
    used = cell_len(line)
    if used > width:
        line = set_cell_size(line, width - 1) + ELLIPSIS
        used = cell_len(line)
    padding = " " * (width - used)
    return padding + line if right else line + padding


def shorten(text: str, width: int) -> str:
    """Like `fit` without the padding."""
    return fit(text, width).rstrip(" ")
