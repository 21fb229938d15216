"""The outline of a table: its header, how many rows, what each column holds, and a sample of the rows."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from proxy.compress import notices
from proxy.compress.line_view import section_id
from proxy.compress.model import Task
from proxy.compress.skeleton_model import Outline, asked_lines

_DELIMITERS = ",\t;|"
_MOST_ROWS = 200_000
"""Rows that are read for the ranges."""
_MOST_COLUMNS = 40
_NAME = 24
"""Characters of a value in the description of a column."""
_LONGEST_FIELD = 1_000_000


def table_outline(task: Task, lines: Sequence[str]) -> Outline | None:
    """Header, ranges and a sample; ``None`` for what is not a table of several rows and columns."""
    count = len(lines) - (not lines[-1])
    delimiter = max(_DELIMITERS, key=lines[0].count)
    if count < 4 or lines[0].count(delimiter) == 0 or max(map(len, lines)) > _LONGEST_FIELD:
        return None
    rows = _rows(lines, delimiter)
    if len(rows) < 3:
        return None
    note = _description(rows, section_id(task, 1, count - 1))
    return Outline(_ranked(task, lines, count), {0: note})


def _rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    try:
        return [row for row in islice(csv.reader(lines, delimiter=delimiter), _MOST_ROWS) if row]
    except csv.Error:
        return [line.rstrip("\r").split(delimiter) for line in lines[:_MOST_ROWS] if line]


def _description(rows: Sequence[Sequence[str]], section: str) -> str:
    header, body = rows[0], rows[1:]
    width = len(header)
    even = [row for row in body if len(row) == width]
    where = f": {section}" if section else ""
    columns = [
        f"{header[at][:_NAME]} {_holds([row[at] for row in even])}"
        for at in range(min(width, _MOST_COLUMNS))
        if even
    ]
    return f"[{notices.MARK} {notices.plural(len(body), 'row')}{where}; {'; '.join(columns)}]"


def _holds(values: list[str]) -> str:
    """What the values of a column are, in a few words."""
    filled = [value for value in values if value.strip()]
    empty = f", {len(values) - len(filled):,} empty" if len(filled) < len(values) else ""
    if not filled:
        return "empty"
    numbers: list[float] | None
    try:
        numbers = [float(value) for value in filled]
    except ValueError:
        numbers = None
    if numbers is not None and all(abs(number) < 1e300 for number in numbers):
        # The texts as they were written, not as numbers are printed here.
        low = filled[min(range(len(numbers)), key=numbers.__getitem__)].strip()
        high = filled[max(range(len(numbers)), key=numbers.__getitem__)].strip()
        return f"{low[:_NAME]} to {high[:_NAME]}{empty}"
    counts = Counter(filled)
    if len(counts) <= 4:
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return ", ".join(f"{_one_line(value)} {times:,}x" for value, times in ordered) + empty
    return f"{len(counts):,} values, {_one_line(min(filled))} to {_one_line(max(filled))}{empty}"


def _one_line(value: str) -> str:
    return " ".join(value.split())[:_NAME]


def _ranked(task: Task, lines: Sequence[str], count: int) -> Iterator[int]:
    yield 0
    yield from asked_lines(task.query, lines[:count], 60)
    yield 1
    yield count - 1
    yield 2
    parts = 2
    while parts < count:
        # Evenly spread, then ever finer.
        yield from (1 + (count - 2) * at // parts for at in range(1, parts, 2))
        parts *= 2
    yield from range(1, count)
