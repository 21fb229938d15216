"""The outline of source code: imports, classes, signatures, first lines of their documentation.

Light patterns for many languages, each tried on the beginning of a line only. A pattern that misses
something costs an entry of the outline, nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from proxy.compress.model import Task
from proxy.compress.skeleton_model import Outline, asked_lines

_START = 400
"""Characters of a line that are looked at."""
_MODIFIERS = (
    r"(?:(?:export|default|declare|public|private|protected|internal|static|async|abstract|final|unsafe|inline"
    r"|override|virtual|sealed|partial|open|data|readonly|extern(?: \"C\")?|pub(?:\([\w: ]+\))?"
    r"|template ?<[^<>]*>"
    r"|synchronized|native|constexpr|const(?=\s++(?:fn|unsafe|async|extern)\b))\s++)*+"
)
_DEFINITION = re.compile(
    r"\s*+"
    + _MODIFIERS
    + r"(?:(?:def|class|function\*?|func|fn|interface|struct|enum|trait|impl|union|namespace|mod"
    r"|module|record|protocol|object|actor|extension|macro_rules!|type)\b\s*+[\w$<(*\"'{\[]"
    r"|(?:const|let|var)\s++[\w$]++\s*+(?::[^=]++)?=\s*+(?:async\s++)?(?:function\b|\([^()]*+\)\s*+(?::[^=]++)?=>|[\w$]++\s*+=>)"
    r"|(?i:create|alter)\s++(?i:or\s++replace\s++)?(?i:unique\s++|temp(?:orary)?\s++|materialized\s++)?"
    r"(?i:table|view|index|function|procedure|trigger|type|schema|sequence|database|role)\b)"
)
_SIGNATURE = re.compile(
    r"\s*+"
    + _MODIFIERS
    + r"(?!(?:return|throw|new|else|case|if|for|while|switch|catch|await|yield|delete|goto|do)\b)"
    r"(?:[\w$:<>,.*&\[\]?~]++\s++){0,6}[\w$:*&~]++\s*+\([^;{}]*+(?:\)[^;{}()]*+)?\{?\s*$"
)
_IMPORT = re.compile(
    r"(?:import\b|from\s++\S++\s++import\b|#\s*+include\b|use\s++[\w:{]|using\s++[\w:]|package\s++\w|require\b"
    r"|(?:const|let|var)\s++[^=]++=\s*+require\(|extern crate\b|mod\s++\w++;|@?module\b)"
)
_DOCUMENTATION = re.compile(r"\s*+(?:[rRbBuUfF]{0,2}(?:\"\"\"|''')|/\*\*|//[/!]|///|#:|--\s|\* \S)")
_COMMENT = re.compile(r"\s*+(?://|#|/\*|\*|--)")


def code_outline(task: Task, lines: Sequence[str]) -> Outline | None:
    """Definitions by depth; ``None`` when no definition is recognised."""
    definitions: list[tuple[int, int]] = []
    imports: list[int] = []
    for index, line in enumerate(lines):
        head = line[:_START]
        if _DEFINITION.match(head) is not None or (
            "(" in head
            and not head.rstrip().endswith((";", ","))
            and _SIGNATURE.match(head) is not None
        ):
            definitions.append((_indentation(head), index))
        elif (head[:1].isalpha() or head[:1] in "#@") and _IMPORT.match(head) is not None:
            imports.append(index)
    if not definitions:
        return None
    return Outline(_ranked(task, lines, definitions, imports))


def _indentation(line: str) -> int:
    bare = line.lstrip(" \t")
    return len(line[: len(line) - len(bare)].expandtabs(4))


def _ranked(
    task: Task, lines: Sequence[str], definitions: Sequence[tuple[int, int]], imports: Sequence[int]
) -> Iterator[int]:
    yield 0
    asked = asked_lines(task.query, lines)
    yield from asked[:12]
    depths = sorted({depth for depth, _ in definitions})
    # Depths of signatures in a row: the outermost, then what is inside them.
    for rank, depth in enumerate(depths[:3]):
        members = [index for level, index in definitions if level == depth]
        yield from members
        for index in members:
            yield from _documented(lines, index)
        if rank == 0:
            yield from imports[:40]
    yield from asked
    for step in range(1, 60):
        for depth, index in definitions:
            if depth <= depths[min(1, len(depths) - 1)] and index + step < len(lines):
                yield index + step
    yield from range(len(lines))


def _documented(lines: Sequence[str], index: int) -> Iterator[int]:
    """The first line of a definition's documentation: below it, or the beginning of the comment above."""
    for below in range(index + 1, min(len(lines), index + 3)):
        if _DOCUMENTATION.match(lines[below][:_START]) is not None:
            yield below
            if not lines[below].strip(" \t\r\"'/*"):
                yield below + 1  # the sentence begins on the next line
            return
    above = index - 1
    while above >= 0 and index - above < 30 and _COMMENT.match(lines[above][:_START]) is not None:
        above -= 1
    if above + 1 < index:
        yield above + 1
        if not lines[above + 1].strip(" \t\r/*"):
            yield above + 2
