"""Find a text in a held text, as ``grep -i -C 2`` does: the matching lines with their neighbours.

The search is for a literal text without regard to case, so that no pattern can take more than linear
time. In a very long line (minified JSON) the surroundings of the match stand for the line.
"""

from __future__ import annotations

from dataclasses import dataclass

from proxy.compress.cuts import safe_end, safe_start
from proxy.compress.lines import lines_id

CONTEXT_LINES = 2
MOST_MATCHES = 40
"""Matching lines in one answer."""
LONGEST_LINE = 600
"""Characters to either side of a match within which its line's end must be, to be shown as a line."""
_AROUND = 200
"""Characters to either side of a match in a line that is longer."""


@dataclass(frozen=True, slots=True)
class Window:
    """Lines around one or more matches."""

    start: int
    end: int
    first: int
    """Number of the first match in it, from 1."""
    last: int
    line: int
    """Number of the line of the first match, from 1."""
    id: str
    """Brings exactly this window back."""


@dataclass(frozen=True, slots=True)
class Matches:
    """What a search found."""

    total: int
    """Matches in the whole text."""
    windows: tuple[Window, ...]
    """The first of them, in the order of the text; they do not overlap."""

    @property
    def shown(self) -> int:
        """How many matches are inside of the windows."""
        return self.windows[-1].last if self.windows else 0


def lowered(text: str) -> str:
    """The text in lower case, of the same length, so that places in both are the same."""
    low = text.lower()
    # Only this one letter grows when lowered.
    return low if len(low) == len(text) else text.replace("\u0130", "i").lower()


def find_matches(text: str, wanted: str, most: int = MOST_MATCHES) -> Matches:
    """The matches of ``wanted``, of which at most ``most`` lines (or long lines' parts) are shown."""
    low, needle = lowered(text), lowered(wanted)
    total = low.count(needle) if needle else 0
    windows: list[Window] = []
    at = low.find(needle) if total else -1
    number, line, counted = 0, 1, 0
    for _ in range(most):
        if at < 0:
            break
        start, end, whole, searched = _surroundings(text, at, at + len(needle))
        if windows and start <= windows[-1].end:
            start = windows[-1].end
            end = max(start, end)
        line += text.count("\n", counted, at)
        counted = at
        here = low.count(needle, at, searched)
        first_line = line - text.count("\n", start, at) + text.count("\n", at, start)
        last_line = line + text.count("\n", at, max(at, end - 1))
        name = lines_id(first_line, last_line) if whole else f"chars:{start}-{end}"
        window = Window(start, end, number + 1, number + here, line, name)
        if windows and start == windows[-1].end:
            windows[-1] = _joined(windows[-1], window, last_line)
        else:
            windows.append(window)
        number += here
        at = low.find(needle, searched)
    return Matches(total, tuple(windows))


def _joined(before: Window, after: Window, last_line: int) -> Window:
    """Two windows that touch, as one."""
    if before.id.startswith("lines:") and after.id.startswith("lines:"):
        first_line = int(before.id[6:].partition("-")[0])
        name = lines_id(first_line, last_line)
    else:
        name = f"chars:{before.start}-{after.end}"
    return Window(before.start, after.end, before.first, after.last, before.line, name)


def _surroundings(text: str, at: int, end: int) -> tuple[int, int, bool, int]:
    """The window of a match, whether it is of whole lines, and from where to search on."""
    first, starts_line = _back(text, at)
    last, ends_line = _forth(text, end)
    if not (starts_line and ends_line):
        first = safe_start(text, max(first, at - _AROUND))
        last = safe_end(text, min(last, end + _AROUND))
        return first, last, False, max(end, last)
    searched = last
    for _ in range(CONTEXT_LINES):
        before, whole = _back(text, first - 1) if first > 0 else (first, False)
        if whole:
            first = before
        after, whole = _forth(text, last) if last < len(text) else (last, False)
        if whole:
            last = after
    return first, last, True, searched


def _back(text: str, at: int) -> tuple[int, bool]:
    """Where the line of ``at`` begins, if that is near."""
    lowest = max(0, at - LONGEST_LINE)
    found = text.rfind("\n", lowest, at) + 1
    if found:
        return found, True
    return lowest, lowest == 0


def _forth(text: str, at: int) -> tuple[int, bool]:
    """One past the line end at or after ``at``, if that is near. ``at`` may be right after one."""
    if at > 0 and text[at - 1] == "\n" and at == len(text):
        return at, True
    highest = min(len(text), at + LONGEST_LINE)
    found = text.find("\n", at, highest) + 1
    if found:
        return found, True
    return highest, highest == len(text)
