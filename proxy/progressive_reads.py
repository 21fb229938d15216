"""What of progressive answers was read: chunks recognised by their footers. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proxy.answer import parse_answer
from proxy.compress.notices import PROGRESSIVE_FOOTER_TOKEN, READ_MORE
from proxy.telemetry.model import ProgressiveLine, ProgressiveView
from proxy.wire import MalformedMessage

_FOOTER = re.compile(
    re.escape(PROGRESSIVE_FOOTER_TOKEN) + r"(\d{1,12})-(\d{1,12})/(\d{1,12}) \| remaining="
)
_KEY = re.compile(re.escape(READ_MORE) + r'\(key="([0-9a-f]{16})", offset=')


@dataclass(frozen=True, slots=True)
class ProgressiveRead:
    """One chunk that an agent was given. Offsets and totals are characters of the held text."""

    at: float
    key: str
    """Of the held text; empty when no handle could be given."""
    upstream: str
    tool: str
    offset: int
    end: int
    total: int
    initial: bool | None
    """The answer itself, not a read afterwards; ``None``: an older version did not note it."""


def initial_reads(body: bytes, at: float, upstream: str, tool: str) -> list[ProgressiveRead]:
    """The first chunks in an answer; a result may hold several texts."""
    try:
        texts = [block.text for block in parse_answer(body).blocks]
    except MalformedMessage:
        return []
    found = (chunk_read(text, "", at, upstream, tool, initial=True) for text in texts)
    return [read for read in found if read is not None]


def chunk_read(
    text: str, key: str, at: float, upstream: str, tool: str, *, initial: bool
) -> ProgressiveRead | None:
    """The chunk that a text is, by its last footer; ``None`` when it has none.

    ``key`` empty: the one that the footer names.
    """
    start = text.rfind(PROGRESSIVE_FOOTER_TOKEN)
    match = _FOOTER.match(text, start) if start >= 0 else None
    if match is None:
        return None
    named = _KEY.search(text, match.end())
    offset, end, total = (int(group) for group in match.groups())
    return ProgressiveRead(
        at, key or (named[1] if named else ""), upstream, tool, offset, end, total, initial
    )


def progressive_view(
    reads: Iterable[ProgressiveRead], *, tool: str = "", store_failures: int = 0, problem: str = ""
) -> ProgressiveView:
    """Add up: per response, that is per key, so that a much-read answer weighs as one.

    ``tool``: a tool's name or ``UPSTREAM/TOOL``; empty: all. Reads without a key are responses of
    their own.
    """
    kept = [one for one in reads if tool in ("", one.tool, f"{one.upstream}/{one.tool}")]
    responses: dict[object, list[ProgressiveRead]] = {}
    for number, read in enumerate(kept):
        responses.setdefault(read.key or number, []).append(read)
    # Answers shortened in another way are read on by the same tool; they are no progressive ones.
    groups = [
        group for group in responses.values() if any(one.initial is not False for one in group)
    ]
    kept = [read for group in groups for read in group]
    coverages = [_served(group) / max(1, _total(group)) for group in groups]
    by_tool: dict[tuple[str, str], list[list[ProgressiveRead]]] = {}
    for group in groups:
        by_tool.setdefault((group[0].upstream, group[0].tool), []).append(group)
    return ProgressiveView(
        reads=len(kept),
        responses=len(groups),
        followed_up=sum(map(_followed_up, groups)),
        average_served=_mean([_served(group) for group in groups]),
        average_total=_mean([_total(group) for group in groups]),
        average_coverage=_mean(coverages),
        initial_characters=sum(one.end - one.offset for one in kept if one.initial),
        follow_up_characters=sum(one.end - one.offset for one in kept if one.initial is False),
        legacy_reads=sum(one.initial is None for one in kept),
        store_failures=store_failures,
        tools=tuple(
            ProgressiveLine(
                upstream,
                name,
                len(of_tool),
                sum(map(len, of_tool)),
                sum(map(_followed_up, of_tool)),
                _mean([_served(group) / max(1, _total(group)) for group in of_tool]),
            )
            for (upstream, name), of_tool in sorted(by_tool.items())
        ),
        problem=problem,
    )


def _followed_up(group: Sequence[ProgressiveRead]) -> bool:
    return any(one.initial is False for one in group)


def _total(group: Sequence[ProgressiveRead]) -> int:
    return max(one.total for one in group)


def _served(group: Sequence[ProgressiveRead]) -> int:
    """Characters that were given out, each once."""
    served = reached = 0
    for start, end in sorted((one.offset, one.end) for one in group):
        served += max(0, end - max(start, reached))
        reached = max(reached, end)
    return served


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
