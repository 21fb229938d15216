"""Answer the tools that read held text: exactly what stands there, within the budget.

What does not fit is announced where it breaks off, with the call that brings the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proxy.compress.cuts import fit_prefix
from proxy.compress.lines import count_lines, lines_id
from proxy.compress.matches import find_matches
from proxy.compress.model import ContentType, Gauge
from proxy.compress.notices import MARK, READ_MORE, gap
from proxy.compress.progressive import chunk_at, natural_end
from proxy.compress.section_ids import Unknown, resolve
from proxy.jobs import Fetched

NO_MORE = "(no more content)"
_ATTEMPTS = 12
_WORDS = 5
"""Words of a search without matches that are counted one by one."""


def read_more(
    text: str, key: str, offset: int, limit: int | None, budget: int, gauge: Gauge
) -> Fetched:
    """The chunk that begins at character ``offset``, at most ``limit`` characters, with its footer."""
    total = len(text)
    wrong = _wrong_place(offset, limit, total)
    if wrong:
        return _mistake(wrong, total, budget, gauge)
    if offset == total:
        return Fetched(_fitting(NO_MORE, budget, gauge), start=offset, end=offset, total=total)
    stop = total if limit is None else min(total, offset + limit)
    if stop < total and text[stop - 1] == "\r" and text[stop] == "\n":
        stop += -1 if stop - 1 > offset else 1
    chunk = chunk_at(text, offset, stop, key, budget, gauge)
    if chunk is None:
        return _mistake(
            f"A budget of {budget:,} {gauge.unit} is too small to read anything.",
            total,
            budget,
            gauge,
        )
    return Fetched(chunk.whole, start=offset, end=chunk.end, total=total)


def _wrong_place(offset: int, limit: int | None, total: int) -> str:
    """What is wrong with the arguments and what would be right; empty when nothing is."""
    if offset < 0:
        return f"offset is {offset:,}, but characters are counted from 0 upwards, to {total:,}."
    if offset > total:
        return (
            f"offset is {offset:,}, but the text has only {total:,} characters: use 0 to {total:,}."
        )
    if limit is not None and limit < 1:
        return f"limit is {limit:,}, but must be 1 or more characters; or leave it out."
    return ""


def select_chunks(
    text: str,
    content: ContentType,
    key: str,
    sections: Sequence[str],
    budget: int,
    gauge: Gauge,
) -> Fetched:
    """The sections with these ids, in this order.

    One alone comes back exactly as it stands in the text. Several, and the places that a search finds,
    are each headed by a line with their id.
    """
    pieces: list[_Piece] = []
    unknown = False
    for section in sections:
        located = _locate(text, content, section, headed=len(sections) > 1)
        unknown = unknown or isinstance(located, str)
        pieces += [_Piece(located, 0, 0, "")] if isinstance(located, str) else located
    total = len(text)
    if not pieces:
        return _mistake("sections is empty; name at least one id.", total, budget, gauge)
    if unknown and all(not piece.id for piece in pieces):
        return _mistake("\n".join(piece.head for piece in pieces), total, budget, gauge)
    return Fetched(_assembled(text, key, pieces, budget, gauge), total=total)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of the answer: a span of the text, or only words of ours."""

    head: str
    """Our line above it; may be empty."""
    start: int
    end: int
    id: str
    """Empty for words of ours."""


def _locate(text: str, content: ContentType, section: str, *, headed: bool) -> list[_Piece] | str:
    """The pieces of one section; a text says why there are none."""
    if section.strip().startswith("grep:") and section.strip()[5:].strip():
        return _searched(text, section.strip()[5:])
    found = resolve(text, content, section)
    if isinstance(found, Unknown):
        return found.reason
    name = section.strip()
    head = f"[{MARK} {name}]" if headed else ""
    return [_Piece(head, start, end, name) for start, end in found]


def _searched(text: str, wanted: str) -> list[_Piece]:
    found = find_matches(text, wanted)
    if not found.total:
        return [_Piece(_no_match(text, wanted), 0, 0, "")]
    pieces: list[_Piece] = []
    for window in found.windows:
        number = (
            str(window.first) if window.first == window.last else f"{window.first}-{window.last}"
        )
        head = f"[{MARK} match {number} of {found.total:,}, line {window.line:,}: {window.id}]"
        pieces.append(_Piece(head, window.start, window.end, window.id))
    if found.shown < found.total:
        rest = found.total - found.shown
        following = count_lines(text[: found.windows[-1].end]) + 1
        note = (
            f"[{MARK} {rest:,} more matches not shown; narrow the text after grep:, "
            f"or read on at lines:{following}-]"
        )
        pieces.append(_Piece(note, 0, 0, ""))
    return pieces


def _no_match(text: str, wanted: str) -> str:
    words = list(dict.fromkeys(wanted.split()))[:_WORDS]
    reason = f"[{MARK} nothing matches grep:{wanted} (plain text, upper or lower case alike)"
    if len(words) < 2:
        return reason + "; try a shorter word]"
    counts = ", ".join(f"{word}: {find_matches(text, word, 0).total:,}" for word in words)
    return f"{reason}; matches of its words: {counts}]"


def _assembled(text: str, key: str, pieces: list[_Piece], budget: int, gauge: Gauge) -> str:
    """All pieces within the budget; large ones are cut, each with an announcement of its rest."""
    whole = "\n\n".join(_written(text, piece) for piece in pieces)
    if len(whole) <= budget or gauge.size(whole) <= budget:
        return whole
    heads = gauge.sizes([piece.head + "\n\n" for piece in pieces])
    sizes = gauge.sizes([text[piece.start : piece.end] for piece in pieces])
    notice = gauge.size(_rest(text, key, pieces[-1], pieces[-1].start)) + 4
    room = budget - sum(heads) - 2
    for _ in range(_ATTEMPTS):
        share = _level(sizes, room, notice)
        if share < 1:
            break
        parts: list[str] = []
        for piece, size in zip(pieces, sizes, strict=True):
            if size <= share:
                parts.append(_written(text, piece))
            else:
                parts.append(_cut(text, key, piece, share - notice, gauge))
        answer = "\n\n".join(parts)
        size = gauge.size(answer)
        if size <= budget:
            return answer
        room = min(room - (size - budget) - 1, room * 15 // 16)
    return _announced_only(pieces, budget, gauge)


def _level(sizes: Sequence[int], room: int, notice: int) -> int:
    """The most that every piece may take, so that small ones are whole and large ones share the rest."""
    waiting = sorted(sizes)
    for place, size in enumerate(waiting):
        share = room // (len(waiting) - place)
        if size > share:
            return share if share > notice else 0
        room -= size
    return waiting[-1] if waiting else 0


def _written(text: str, piece: _Piece) -> str:
    part = text[piece.start : piece.end]
    if not piece.head:
        return part
    return f"{piece.head}\n{part}" if part else piece.head


def _cut(text: str, key: str, piece: _Piece, room: int, gauge: Gauge) -> str:
    window = text[piece.start : min(piece.end, piece.start + room * 16)]
    fitting = fit_prefix(window, room, gauge)
    end = natural_end(text, piece.start, piece.start + fitting) if fitting else piece.start
    part = text[piece.start : min(end, piece.end)]
    rest = _rest(text, key, piece, min(end, piece.end))
    body = part + ("" if not part or part.endswith("\n") else "\n") + rest
    return f"{piece.head}\n{body}" if piece.head else body


def _rest(text: str, key: str, piece: _Piece, end: int) -> str:
    """What is missing of a piece that is cut at ``end``, and the call that brings it."""
    missing = piece.end - end
    if piece.id.startswith("lines:") and (end == 0 or text[end - 1 : end] == "\n"):
        first = text.count("\n", 0, end) + 1
        last = first + text.count("\n", end, max(end, piece.end - 1))
        return gap(missing, "character", lines_id(first, last))
    return gap(missing, "character", f'{READ_MORE}(key="{key}", offset={end}, limit={missing})')


def _announced_only(pieces: Sequence[_Piece], budget: int, gauge: Gauge) -> str:
    names = ", ".join(dict.fromkeys(piece.id for piece in pieces if piece.id))
    text = f"[{MARK} too much for one answer; ask for fewer at a time: {names}]"
    return _fitting(text, budget, gauge)


def _mistake(text: str, total: int, budget: int, gauge: Gauge) -> Fetched:
    return Fetched(_fitting(text, budget, gauge), is_error=True, total=total)


def _fitting(text: str, budget: int, gauge: Gauge) -> str:
    """Our own words, cut when even they are too long."""
    if len(text) <= budget or gauge.size(text) <= budget:
        return text
    return text[: fit_prefix(text, budget, gauge)]
