"""``lossless`` for logs: templates once, then one short row of values per line. Exactly invertible.

The folded text begins with a line that explains the form, then come the templates, then the lines in their
order::

    [folded log, complete: ...]
    A=2026-11-30T{} INFO GET /items/{} status=200
    A|12:00:01|17
    A|12:00:02|=
    *3
    |a line without a template

Only line feeds separate lines, so other line ends survive as ordinary characters.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, islice
from operator import eq

from config.schema import Compression
from proxy.compress import log_templates
from proxy.compress.model import Reduction, Task

_SEPARATORS = "|\u00a6\u2502~^"
_SLOTS = ("{}", "<>", "[]", "\u00a4", "\u25a1")
_LEAST_SAVING = 0.1
_LEAST_MEMBERS = 3
_LEAST_PER_RUN = 2
"""Every line that differs from the one before costs at least a label and a line feed."""
_BYTES_PER_UNIT = 1.4
"""Bytes, as packed by zlib, that one token of a folded log stands for at most; 0.3 to 1.2 were measured."""
_MUCH = 8
"""When no part of a long text packs nearly as well as the whole would have to, the rest is not looked at."""
_ALWAYS = 128
"""Bytes of a few lines, which a part of any log has, however often they repeat."""
_SAMPLE = 64 * 1024
"""Characters that are packed."""
_SIGNS = re.compile(r"(\W+)")
_LEGEND = re.compile(r'\[folded log, complete: "A(.)x\1y" is template A with x, y in its (\S+); ')


@dataclass(frozen=True, slots=True)
class _Template:
    literals: tuple[str, ...]
    """The parts between the slots; one more than there are slots."""
    slots: tuple[tuple[int, int], ...]
    """Which word parts of a line, first and last, each slot takes with what is between them."""


def fold_log(task: Task) -> Reduction | None:
    """The whole log, folded; ``None`` when it does not fit, or saves less than a tenth."""
    if not _can_fit(task.text, task.budget):
        return None
    folded = fold(task.text)
    if folded is None:
        return None
    size = task.gauge.size(folded)
    if size > task.budget or size > task.gauge.size(task.text) * (1 - _LEAST_SAVING):
        return None
    if unfold_log(folded) != task.text:
        return None
    own = task.gauge.size(folded.split("\n", 1)[0] + "\n")
    return Reduction(folded, Compression.LOSSLESS, own, complete=True)


def _can_fit(text: str, budget: int) -> bool:
    """Whether folded lines could fit, from how many runs of equal lines there are, and how far they pack."""
    most = budget * _BYTES_PER_UNIT
    if len(text) > 2 * _SAMPLE:
        size = _SAMPLE // 16
        parts = [text[at : at + size] for at in (0, len(text) // 2, len(text) - size)]
        packed = min(_packed(_runs(part.split("\n"))) for part in parts) - _ALWAYS
        if packed * len(text) / size > most * _MUCH:
            return False
    lines = text.split("\n")
    runs = _runs(lines)
    if len(lines) < 2 * _LEAST_MEMBERS or len(runs) * _LEAST_PER_RUN > budget:
        return False
    return _packed(runs) <= most


def _runs(lines: list[str]) -> list[str]:
    """The first line of each run of equal ones."""
    changes = map(str.__ne__, lines, islice(lines, 1, None))
    return [lines[0], *compress(islice(lines, 1, None), changes)]


def _packed(lines: list[str]) -> float:
    """About how many bytes zlib would make of the lines."""
    text = "\n".join(lines)
    sample = text[:_SAMPLE].encode("utf-8", "surrogatepass")
    return len(zlib.compress(sample, 1)) * max(1.0, len(text) / _SAMPLE)


def fold(text: str) -> str | None:
    """The folded form of any text; ``None`` when every mark that it could use stands in the text."""
    separator = next((mark for mark in _SEPARATORS if mark not in text), None)
    slot = next((mark for mark in _SLOTS if mark not in text), None)
    if separator is None or slot is None:
        return None
    lines = text.split("\n")
    rows: list[str | None] = [None] * len(lines)
    out = [_legend(separator, slot)]
    labels = _labels()
    for members, parts in _aligned(lines, log_templates.templates(text, lines)):
        columns = list(zip(*parts, strict=True))
        template = _template(columns)
        saved = sum(map(len, template.literals)) - len(template.literals) - 1
        if saved * (len(members) - 1) < 2 * len(slot) * len(template.slots) + 4:
            continue
        label = next(labels)
        out.append(f"{label}={slot.join(template.literals)}")
        shown = [_shown(columns[first : last + 1]) for first, last in template.slots]
        folded = [label] * len(members)
        if shown:
            folded = map(separator.join, zip(folded, *shown, strict=True))
        for index, row in zip(members, folded, strict=True):
            rows[index] = row
    out.extend(_rows(lines, rows, separator))
    return "\n".join(out)


def unfold_log(text: str) -> str:
    """The exact inverse of `fold`. Raises `ValueError` for anything that `fold` did not write."""
    legend, *rest = text.split("\n")
    found = _LEGEND.match(legend)
    if found is None:
        raise ValueError("not a folded log: the first line explains no form")
    separator, slot = found[1], found[2]
    templates: dict[str, list[str]] = {}
    at = 0
    while at < len(rest) and (named := _NAMED.match(rest[at])) is not None:
        templates[named[1]] = rest[at][named.end() :].split(slot)
        at += 1
    lines: list[str] = []
    previous: dict[str, list[str]] = {}
    for row in rest[at:]:
        if row.startswith(separator):
            lines.append(row[len(separator) :])
        elif row.startswith("*"):
            lines.extend(lines[-1:] * int(row[1:]))
        else:
            label, *shown = row.split(separator)
            literals = templates.get(label)
            if literals is None or len(shown) != len(literals) - 1:
                raise ValueError(f"not a folded log: no template for the row {row[:40]!r}")
            before = previous.get(label, [])
            values = [before[at] if value == "=" else value for at, value in enumerate(shown)]
            previous[label] = values
            lines.append(
                "".join(
                    [piece for pair in zip(literals, [*values, ""], strict=True) for piece in pair]
                )
            )
    return "\n".join(lines)


_NAMED = re.compile(r"([A-Z]+)=")


def _legend(separator: str, slot: str) -> str:
    return (
        f'[folded log, complete: "A{separator}x{separator}y" is template A with x, y in its {slot}; '
        f"= is the value above; *3 the line above 3 more times; {separator}text a line as it was]"
    )


def _labels() -> Iterator[str]:
    """A to Z, AA to ZZ, and so on."""
    number = 0
    while True:
        number += 1
        label = ""
        rest = number
        while rest:
            rest, letter = divmod(rest - 1, 26)
            label = chr(65 + letter) + label
        yield label


def _aligned(
    lines: Sequence[str], groups: Sequence[Sequence[int]]
) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Members of templates whose lines have the same signs between their words, with their parts.

    Words, which may be empty at the ends, have the even places.
    """
    for members in groups:
        if len(members) < _LEAST_MEMBERS:
            continue
        by_signs: dict[tuple[str, ...], tuple[list[int], list[list[str]]]] = {}
        for index in members:
            parts = _SIGNS.split(lines[index])
            same = by_signs.setdefault(tuple(parts[1::2]), ([], []))
            same[0].append(index)
            same[1].append(parts)
        yield from (same for same in by_signs.values() if len(same[0]) >= _LEAST_MEMBERS)


def _shown(columns: Sequence[Sequence[str]]) -> list[str]:
    """The values of a slot, line by line, or that it is the one of the line above."""
    values = columns[0] if len(columns) == 1 else list(map("".join, zip(*columns, strict=True)))
    repeated = map(eq, islice(values, 1, None), values)
    return [
        values[0],
        *[
            "=" if same else value
            for same, value in zip(repeated, islice(values, 1, None), strict=True)
        ],
    ]


def _template(columns: Sequence[Sequence[str]]) -> _Template:
    """What all lines have in common. Words that vary next to each other share a slot."""
    first = [column[0] for column in columns]
    varying = [
        at
        for at, column in enumerate(columns)
        if column[0] != column[-1] or column.count(column[0]) < len(column)
    ]
    slots: list[tuple[int, int]] = []
    for at in varying:
        if slots and (slots[-1][1] == at - 1 or (slots[-1][1] == at - 2 and _joins(first[at - 1]))):
            slots[-1] = (slots[-1][0], at)
        else:
            slots.append((at, at))
    starts = [0, *[last + 1 for _, last in slots]]
    ends = [*[start for start, _ in slots], len(first)]
    literals = tuple("".join(first[start:end]) for start, end in zip(starts, ends, strict=True))
    return _Template(literals, tuple(slots))


def _joins(sign: str) -> bool:
    """The sign inside a time, an address, a number or an id."""
    return len(sign) == 1 and sign in ".:-/@+"


def _rows(lines: Sequence[str], rows: Sequence[str | None], separator: str) -> Iterator[str]:
    repeats = 0
    previous: str | None = None
    for line, row in zip(lines, rows, strict=True):
        if line == previous:
            repeats += 1
            continue
        if repeats:
            yield f"*{repeats}"
            repeats = 0
        yield separator + line if row is None else row
        previous = line
    if repeats:
        yield f"*{repeats}"
