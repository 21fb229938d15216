"""The strategy ``skeleton``: an outline of a text that has a structure.

Headings with their first sentences, the definitions of source code, the files and hunks of a diff, the
columns of a table, the tree of markup. Where the budget allows more, what the query asks for comes next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from config.schema import Compression
from proxy.compress import cuts, notices
from proxy.compress.line_view import section_id, show_lines
from proxy.compress.model import ContentType, Reduction, Task
from proxy.compress.ranking import scores
from proxy.compress.skeleton_code import code_outline
from proxy.compress.skeleton_diff import diff_outline
from proxy.compress.skeleton_markup import markup_outline
from proxy.compress.skeleton_model import Outline
from proxy.compress.skeleton_table import table_outline

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+\S")
_FENCE = re.compile(r" {0,3}(?:`{3,}|~{3,})")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t\r]*$")
_LONG_LINE = 320
"""A line of prose beyond so many characters is shown up to the end of a sentence."""
_SENTENCE = 240
_LEAST_HEADINGS = 2


def skeleton(task: Task) -> Reduction | None:
    """An outline within the budget; ``None`` for a text without a structure that it knows."""
    lines = task.text.split("\n")
    match task.content:
        case ContentType.CODE:
            outline = code_outline(task, lines)
        case ContentType.DIFF:
            outline = diff_outline(task, lines)
        case ContentType.TABLE:
            outline = table_outline(task, lines)
        case ContentType.HTML | ContentType.XML:
            return markup_outline(task)
        case ContentType.MARKDOWN | ContentType.MIXED | ContentType.PROSE:
            outline = _headed_outline(task, lines)
        case _:
            outline = None
    if outline is None:
        return None
    return show_lines(
        task, lines, outline.ranked, Compression.SKELETON, outline.notes, shorter=outline.shorter
    )


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading and the lines up to the next one."""

    heading: int
    level: int
    body: range


def _headed_outline(task: Task, lines: Sequence[str]) -> Outline | None:
    """Headings, then first sentences, then more of what is asked for; ``None`` without headings."""
    sections = _sections(lines)
    if sum(section.level > 0 for section in sections) < _LEAST_HEADINGS:
        return None
    shorter = {
        index: _first_sentences(line, section_id(task, index, index))
        for index, line in enumerate(lines)
        if len(line) > _LONG_LINE
    }
    return Outline(_ranked(task, lines, sections), shorter=shorter)


def _sections(lines: Sequence[str]) -> list[_Section]:
    found: list[tuple[int, int]] = []
    fence = False
    for index, line in enumerate(lines):
        mark = line.lstrip(" ")[:1]
        if mark in "`~" and _FENCE.match(line) is not None:
            fence = not fence
        elif fence:
            continue
        elif mark == "#":
            heading = _HEADING.match(line)
            if heading is not None:
                found.append((index, len(heading[1])))
        elif mark in "=-" and index and len(line) < 200 and _UNDERLINE.match(line) is not None:
            above = lines[index - 1]
            if above.strip() and len(above) < 200 and (not found or found[-1][0] != index - 1):
                found.append((index - 1, 1 if mark == "=" else 2))
    starts = [(-1, 0), *found] if not found or found[0][0] > 0 else found
    ends = [start for start, _ in starts[1:]] + [len(lines)]
    return [
        _Section(start, level, range(start + 1, end))
        for (start, level), end in zip(starts, ends, strict=True)
    ]


def _ranked(task: Task, lines: Sequence[str], sections: Sequence[_Section]) -> Iterator[int]:
    headings = [section for section in sections if section.level]
    levels = sorted({section.level for section in headings})
    for level in levels[:2]:
        yield from (section.heading for section in headings if section.level == level)
    bodies = [[index for index in section.body if lines[index].strip()] for section in sections]
    order = list(range(len(sections)))
    if task.query:
        texts = ["\n".join(lines[max(0, one.heading) : one.body.stop]) for one in sections]
        values = scores(task.query, texts)
        order.sort(key=lambda at: (-values[at], at))
        best = [at for at in order[:4] if values[at] > 0]
        for at in best:
            yield max(0, sections[at].heading)
            yield from bodies[at][:6]
    for level in levels[2:]:
        yield from (section.heading for section in headings if section.level == level)
    longest = max(map(len, bodies), default=0)
    step = 0
    while step < longest:
        for at in order:
            yield from bodies[at][step : step + 1]
        step += 1


def _first_sentences(line: str, section: str) -> str:
    """A long line up to the end of a sentence, with the rest announced."""
    end = cuts.natural_end(line, _SENTENCE)
    bare = line[:end].rstrip()
    return f"{bare} {notices.gap(len(line) - len(bare), 'character', section)}"
