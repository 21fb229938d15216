"""What an external memory answers, read with suspicion. Pure.

The contract is that of memtomem's core, seen in its releases up to 0.6.12: every answer is one text. It
begins with ``Error:`` when something went wrong, also where the protocol says that nothing did.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from proxy import wire
from proxy.answer import parse_answer
from proxy.surface.source import Proposed, SourceFailed

LONGEST_COMPLAINT = 300
"""Characters of an error of the external memory that a person reads."""
LONGEST_ID = 64
_MOST_SCORE = 1e9
_FIRST_LINE = re.compile(r"Found \d+ results?:\s*\n")
_HEADER = re.compile(
    r"^\[(\d{1,4})\] (-?\d{1,6}\.\d{1,6}) \|(?: \[([^\]\n]{0,200})\])? ?([^\n]*)$", re.MULTILINE
)
_HINTS = re.compile(r"(?:\n\s*\([^\n]*\)\s*)+\Z")
_STAMP = re.compile(r"\s*> created: (\S{10,40})[ \t]*(?:\n|\Z)")
_REVIEW_HINT = "It waits for review in the external memory; nothing is remembered before."


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an external memory says it can do, by ``mem_do(action="version")``."""

    version: str = ""
    structured: bool = False
    """Searches can answer with JSON."""
    proposals: bool = False
    """It takes candidates for review."""
    credits: bool = False
    """It says that helpful memories can be reported."""


@dataclass(frozen=True, slots=True)
class Result:
    """One memory as the external memory answered it."""

    id: str
    text: str
    score: float | None
    """On the scale that the answer names."""
    namespace: str
    own_id: bool
    """The id is the external memory's, not a digest of ours."""


@dataclass(frozen=True, slots=True)
class Results:
    """One answer to a search, in its order."""

    results: tuple[Result, ...]
    scale: str = ""
    """Name of the scale of the scores; empty: not told."""
    hints: int = 0


def parameters_of(tools: Sequence[bytes], name: str) -> frozenset[str] | None:
    """The arguments that a listed tool declares; ``None`` when it is not listed."""
    for tool in tools:
        try:
            members = wire.members_of(tool)
        except wire.MalformedMessage:
            continue
        if wire.string(members, "name") != name:
            continue
        try:
            schema = wire.members_of(members["inputSchema"])
            return frozenset(wire.members_of(schema["properties"]))
        except (wire.MalformedMessage, KeyError):
            return frozenset()
    return None


def text_of(result: bytes) -> str:
    """The text of a tool's result. Raises `SourceFailed` for an error or something without text."""
    try:
        answer = parse_answer(result)
    except wire.MalformedMessage as error:
        raise SourceFailed(
            f"the external memory sent what cannot be read: {error.reason}"
        ) from None
    text = "\n".join(block.text for block in answer.blocks) or (answer.structured or "")
    if answer.is_error or text.startswith("Error:"):
        complaint = text.removeprefix("Error:").strip() or "an error without a text"
        raise SourceFailed(f"the external memory answered: {complaint[:LONGEST_COMPLAINT]}")
    return text


def parse_version(text: str) -> Capabilities:
    """What it can do; nothing of what cannot be read."""
    found = _object(text)
    if found is None:
        return Capabilities()
    version = found.get("version")
    named = _dict(found.get("capabilities"))
    formats = named.get("search_formats")
    structured = isinstance(formats, list) and "structured" in cast("list[object]", formats)
    return Capabilities(
        version[:40] if isinstance(version, str) else "",
        structured,
        _at_least_one(named.get("candidate_propose")),
        _at_least_one(named.get("increment_access")),
    )


def parse_results(text: str) -> Results:
    """The memories of a search in either format. Raises `SourceFailed` when it is neither."""
    stripped = text.strip()
    if stripped.startswith("{"):
        return _structured(stripped)
    return _compact(stripped)


def parse_candidate(text: str) -> Proposed:
    """What became of a proposal. Raises `SourceFailed` when it was refused or cannot be read."""
    found = _object(text)
    if found is None:
        raise SourceFailed("the external memory's answer to a proposal cannot be read")
    if found.get("ok") is False:
        why = found.get("message") or found.get("error") or found.get("reason") or "no reason given"
        raise SourceFailed(f"the external memory refused it: {str(why)[:LONGEST_COMPLAINT]}")
    candidate = found.get("candidate_id")
    if not isinstance(candidate, str) or not candidate:
        raise SourceFailed("the external memory's answer to a proposal names no candidate")
    hint = found.get("review_hint")
    return Proposed(
        candidate,
        _text(found.get("status")) or "pending",
        _text(found.get("created_at")),
        found.get("duplicate") is True,
        hint if isinstance(hint, str) and hint else _REVIEW_HINT,
    )


def without_stamp(text: str) -> tuple[str, float | None]:
    """The text without memtomem's line ``> created: TIME`` before it, and that time (seconds, UTC)."""
    stamp = _STAMP.match(text)
    if stamp is None:
        return text.strip(), None
    try:
        created = datetime.fromisoformat(stamp.group(1))
    except ValueError:
        return text.strip(), None
    if created.tzinfo is None:
        created = created.replace(tzinfo=UTC)
    rest = text[stamp.end() :].strip()
    return (rest, created.timestamp()) if rest else (text.strip(), None)


def digest_id(text: str) -> str:
    """The id of a memory that came without one: 16 hexadecimal digits of its text's SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _structured(text: str) -> Results:
    found = _object(text)
    listed = found.get("results") if found is not None else None
    if found is None or not isinstance(listed, list):
        raise SourceFailed("the external memory's answer to a search has no list of results")
    results: list[Result] = []
    seen: set[str] = set()
    for item in cast("list[object]", listed):
        result = _result(_dict(item))
        if result is not None and result.id not in seen:
            seen.add(result.id)
            results.append(result)
    hints = found.get("hints")
    count = len(cast("list[object]", hints)) if isinstance(hints, list) else 0
    return Results(tuple(results), _text(found.get("score_scale")), count)


def _result(item: dict[str, object]) -> Result | None:
    content = item.get("content")
    if not isinstance(content, str) or not content.strip():
        return None
    id = item.get("chunk_id", item.get("id"))
    own = isinstance(id, str) and 0 < len(id) <= LONGEST_ID and id.isprintable()
    return Result(
        cast("str", id) if own else digest_id(content),
        content,
        _number(item.get("score")),
        _text(item.get("namespace")),
        own,
    )


def _compact(text: str) -> Results:
    hints = _HINTS.search("\n" + text)
    count = hints.group().count("\n(") if hints is not None else 0
    start = _FIRST_LINE.match(text)
    if start is None:
        if text.startswith(("No results", "Found 0 ")):
            return Results((), hints=count)
        raise SourceFailed("the external memory's answer to a search is in no known format")
    body = text[start.end() :]
    if hints is not None:
        body = _HINTS.sub("", "\n" + body)[1:]
    headers: list[re.Match[str]] = []
    for match in _HEADER.finditer(body):
        if int(match.group(1)) == len(headers) + 1:  # others are text of a memory
            headers.append(match)
    results: dict[str, Result] = {}
    for place, header in enumerate(headers):
        end = headers[place + 1].start() if place + 1 < len(headers) else len(body)
        content = body[header.end() : end].strip()
        if content:
            id = digest_id(content)
            score = float(header.group(2))
            results.setdefault(id, Result(id, content, score, header.group(3) or "", own_id=False))
    return Results(tuple(results.values()), hints=count)


def _object(text: str) -> dict[str, object] | None:
    try:
        value: Any = wire.value_of(text.encode("utf-8", "surrogatepass"))
    except wire.MalformedMessage:
        return None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def _dict(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value[:200] if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    number = float(value) if abs(value) < _MOST_SCORE else math.nan
    return number if math.isfinite(number) else None


def _at_least_one(value: object) -> bool:
    """A version of a capability: a number, or an object with ``schema_version``."""
    if isinstance(value, dict):
        value = cast("dict[str, object]", value).get("schema_version")
    return isinstance(value, int) and value >= 1
