"""Cut a paragraph of any script into sentences, and what is too long at white space."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_SPAN = 1200
"""Characters. Longer parts are cut at white space if there is any."""

_NEXT = r"""["'\u201d\u2019)\]]*+\s++(?=["'(\[\u201c\u2018]*[^\sa-z,;)])"""
"""Closing quotes, white space, and then not a small letter."""
_DOT = re.compile(r"\." + _NEXT)
_MARK = re.compile(r"(?<![!?\u2026])[!?\u2026]++" + _NEXT)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:[A-Z]|Mrs?|Ms|Dr|Prof|St|Sr|Jr|No|Nr|Nos|vs|etc|al|cf|ca|Fig|Figs|Eq|"
    r"Vol|vol|pp?|Gen|Col|Lt|"
    r"Sgt|Capt|Rev|Hon|Inc|Ltd|Co|Corp|Mt|Ft|approx|bzw|usw|Abb|Hr|Fr|Sra?|Dra?|Ud|e\.g|i\.e|"
    r"z\.B|[A-Z](?:\.[A-Z])+)$"
)
_SHORT_FORMS_TEXT = """
    Mr Mrs Ms Dr Prof St Sr Jr No Nr Nos vs etc al cf ca Fig Figs Eq Vol vol p pp Gen Col Lt Sgt Capt
    Rev Hon Inc Ltd Co Corp Mt Ft approx bzw usw Abb Hr Fr Sra Dra Ud
    """
_SHORT_FORMS = frozenset(_SHORT_FORMS_TEXT.split())
"""Those of them that are letters only, which needs no pattern."""
_WIDE_MARKS = "\u3002\uff01\uff1f\uff61\u0964\u0965\u061f\u06d4\u1362"
_WIDE_END = re.compile(f"[{_WIDE_MARKS}]++[\u300d\u300f\u201d\u2019\uff09]*+")
_SPACES = re.compile(" +")
_THAI = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u1000-\u109f]")


def is_wide(text: str) -> bool:
    """Whether sentences may end otherwise than with a full stop and a space."""
    return not text.isascii() and (
        any(mark in text for mark in _WIDE_MARKS) or _THAI.search(text) is not None
    )


def has_marks(text: str) -> bool:
    """Whether sentences may end with another mark of Latin script than a full stop."""
    return "?" in text or "!" in text


def sentences(
    text: str,
    start: int,
    end: int,
    *,
    wide: bool = True,
    marks: bool = True,
    longest: int = MAX_SPAN,
) -> list[tuple[int, int]]:
    """The sentences of ``text[start:end]`` (one paragraph), without the white space between them.

    ``wide``: what `is_wide` says about the text; ``marks``: what `has_marks` says. ``longest``: characters
    at most.
    """
    if marks or wide:
        return _by_all_marks(text, start, end, wide=wide, longest=longest)
    found: list[tuple[int, int]] = []
    for stop, cut in _full_stops(text, start, end):
        if stop - start > longest:
            found += bounded(text, start, stop, longest)
        else:
            found.append((start, stop))
        start = cut
    if end - start > longest:
        found += bounded(text, start, end, longest)
    elif end > start:
        found.append((start, end))
    return found


def _by_all_marks(
    text: str, start: int, end: int, *, wide: bool, longest: int
) -> list[tuple[int, int]]:
    cuts = [cut for _, cut in _full_stops(text, start, end)]
    if text.find("?", start, end) >= 0 or text.find("!", start, end) >= 0:
        cuts += [found.end() for found in _MARK.finditer(text, start, end)]
    if wide:
        ends = [found.end() for found in _WIDE_END.finditer(text, start, end)]
        cuts += ends or _phrases(text, start, end)
    found: list[tuple[int, int]] = []
    for cut in (*sorted(set(cuts)), end):
        stop = start + len(text[start:cut].rstrip())
        if stop - start > longest:
            found += bounded(text, start, stop, longest)
        elif stop > start:
            found.append((start, stop))
        start = cut
    return found


def first_sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the first sentence ends and the next one begins; the end twice when there is one only."""
    dot = text.find(".", start, end)
    if start + 7 <= dot < end - 2 and text[dot + 1] == " " and "A" <= text[dot + 2] <= "Z":
        word = text[dot - 5 : dot]
        if word.isalpha() and word != "pprox":
            return dot + 1, dot + 2  # as most do
    return next(_full_stops(text, start, end), (end, end))


def _full_stops(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where sentences end with a full stop, and where the next ones begin."""
    dot = text.find(".", start, end)
    while dot >= 0:
        if dot + 2 < end and text[dot + 1] == " " and "A" <= text[dot + 2] <= "Z":
            stop, cut = dot + 1, dot + 2  # nearly all
        elif found := _DOT.match(text, dot, end):
            stop, cut = dot + len(found.group().rstrip()), found.end()
        else:
            dot = text.find(".", dot + 1, end)
            continue
        word = text[dot - 5 : dot]
        # What is longer than all short forms needs no closer look.
        if (word.isalpha() and word != "pprox" and dot - start >= 7) or not _is_abbreviation(
            text, start, dot
        ):
            yield stop, cut
        dot = text.find(".", cut, end)


def _is_abbreviation(text: str, start: int, dot: int) -> bool:
    """Whether the full stop at ``dot`` ends a short form and not a sentence."""
    before = text[max(start, dot - 7) : dot]
    space = before.rfind(" ")
    if space < 0 and dot - start >= 7:
        return False
    word = before[space + 1 :]
    if word.isalpha():
        return word in _SHORT_FORMS or (len(word) == 1 and "A" <= word <= "Z")
    return _ABBREVIATION.search(before) is not None


def _phrases(text: str, start: int, end: int) -> Iterator[int]:
    """Thai and its neighbours end no sentence with a mark: cut at spaces, not more often than needed."""
    if not _THAI.search(text, start, min(end, start + 200)):
        return
    last = start
    for found in _SPACES.finditer(text, start, end):
        if found.end() - last >= 120:
            last = found.end()
            yield last


def bounded(text: str, start: int, end: int, longest: int = MAX_SPAN) -> Iterator[tuple[int, int]]:
    """``start`` to ``end`` in parts of at most ``longest`` characters (one more for a pair).

    Cut at a line's end if possible, else at a space, else anywhere.
    """
    while end - start > longest:
        cut = text.rfind("\n", start + longest // 4, start + longest) + 1
        skipped = "\r\n"  # the next line keeps its indentation
        if cut <= 0:
            cut = text.rfind(" ", start + longest // 2, start + longest) + 1
            skipped = None
        if cut <= 0:
            cut = start + longest
            if "\ud800" <= text[cut - 1] <= "\udbff" or text[cut] in "\u200d\ufe0f":
                cut += 1
        stop = cut
        while stop > start and text[stop - 1].isspace():
            stop -= 1
        if stop > start:
            yield start, stop
        start = cut
        while start < end and (text[start] in skipped if skipped else text[start].isspace()):
            start += 1
    if start < end:
        yield start, end
