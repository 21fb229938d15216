"""The tools that mms itself offers to agents: read held text, report what a shortened answer lacked.

Their definitions are constant bytes, so that a tool list stays the same byte for byte; they are short,
since every host pays for them in every session. Argument mistakes come back as a sentence that says
what would be right: the reader is a model, which then repeats the call correctly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import cast

import msgspec

from proxy.compress.notices import READ_MORE, SELECT_CHUNKS
from proxy.tool_arguments import Mistake, definition, integer, object_of, shown, string

COMPRESSION_FEEDBACK = "stm_compression_feedback"

MOST_SECTIONS = 50
"""Section ids in one call."""
LONGEST_SECTION = 1_000
"""Characters of one section id."""
LONGEST_MISSING = 2_000
"""Characters of ``missing`` in a report."""
LONGEST_NAME = 200
"""Characters of a server's or tool's name and of a trace id in a report."""

_KEY = re.compile(r"[0-9a-f]{16}")


class FeedbackKind(Enum):
    """What was wrong with a shortened answer."""

    TRUNCATED = "truncated"
    """It broke off before what mattered."""
    MISSING_EXAMPLE = "missing_example"
    MISSING_METADATA = "missing_metadata"
    WRONG_TOPIC = "wrong_topic"
    """The parts that were kept are not the ones that were asked for."""
    OTHER = "other"


_KINDS = ", ".join(kind.value for kind in FeedbackKind)


@dataclass(frozen=True, slots=True)
class ReadMoreArguments:
    """Checked arguments of ``stm_proxy_read_more``. Offsets are only checked against the held text later."""

    key: str
    offset: int = 0
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class SelectChunksArguments:
    """Checked arguments of ``stm_proxy_select_chunks``."""

    key: str
    sections: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FeedbackArguments:
    """Checked arguments of ``stm_compression_feedback``."""

    server: str
    tool: str
    missing: str
    kind: FeedbackKind = FeedbackKind.OTHER
    trace_id: str = ""


_TEXT = {"type": "string"}
_HANDLE = {"type": "string", "description": "Key from the shortened answer"}

SELECT_CHUNKS_TOOL = definition(
    SELECT_CHUNKS,
    "Get parts of a shortened answer",
    "Returns the exact text of sections of an answer that was shortened.",
    {
        "key": _HANDLE,
        "sections": {
            "type": "array",
            "items": _TEXT,
            "description": "Ids from the answer, or lines:40-80, grep:TEXT, json:/a/b/0, json:/items/3-94",
        },
    },
    ("key", "sections"),
    reads=True,
)
READ_MORE_TOOL = definition(
    READ_MORE,
    "Read on in a shortened answer",
    "Returns the next chunk of the full text of an answer that was shortened. "
    "The chunk's last lines tell the next offset.",
    {
        "key": _HANDLE,
        "offset": {"type": "integer", "description": "Character to start at, default 0"},
        "limit": {"type": "integer", "description": "Most characters to return"},
    },
    ("key",),
    reads=True,
)
COMPRESSION_FEEDBACK_TOOL = definition(
    COMPRESSION_FEEDBACK,
    "Report what a shortened answer lacked",
    "Tells the operator what a shortened answer left out, so that later ones get better. "
    "It does not bring the text back.",
    {
        "server": _TEXT,
        "tool": _TEXT,
        "missing": {"type": "string", "description": "What you needed and did not get"},
        "kind": {"type": "string", "enum": [kind.value for kind in FeedbackKind]},
        "trace_id": _TEXT,
    },
    ("server", "tool", "missing"),
    reads=False,
)

TOOLS = (SELECT_CHUNKS_TOOL, READ_MORE_TOOL, COMPRESSION_FEEDBACK_TOOL)
"""In the order in which a tool list shows them."""
NAMES = (SELECT_CHUNKS, READ_MORE, COMPRESSION_FEEDBACK)
"""The names of `TOOLS`, in the same order."""


def parse_read_more(arguments: bytes) -> ReadMoreArguments | str:
    """The call's arguments; a text says what is wrong with them and what would be right."""
    try:
        given = object_of(arguments, ("key", "offset", "limit"))
        limit = integer(given, "limit")
        if limit is not None and limit < 1:
            raise Mistake(f"limit is {limit:,}, but must be 1 or more characters; or leave it out.")
        offset = integer(given, "offset") or 0
        if offset < 0:
            raise Mistake(f"offset is {offset:,}, but characters are counted from 0 upwards.")
        return ReadMoreArguments(_key(given), offset, limit)
    except Mistake as mistake:
        return str(mistake)


def parse_select_chunks(arguments: bytes) -> SelectChunksArguments | str:
    """The call's arguments; a text says what is wrong with them and what would be right."""
    try:
        given = object_of(arguments, ("key", "sections"))
        return SelectChunksArguments(_key(given), _sections(given))
    except Mistake as mistake:
        return str(mistake)


def parse_compression_feedback(arguments: bytes) -> FeedbackArguments | str:
    """The call's arguments; a text says what is wrong with them and what would be right."""
    try:
        given = object_of(arguments, ("server", "tool", "missing", "kind", "trace_id"))
        kind = string(given, "kind", LONGEST_NAME, "")
        if kind and kind not in {known.value for known in FeedbackKind}:
            raise Mistake(f"kind is {shown(kind)}, but must be one of: {_KINDS}.")
        return FeedbackArguments(
            server=string(given, "server", LONGEST_NAME),
            tool=string(given, "tool", LONGEST_NAME),
            missing=string(given, "missing", LONGEST_MISSING),
            kind=FeedbackKind(kind) if kind else FeedbackKind.OTHER,
            trace_id=string(given, "trace_id", LONGEST_NAME, ""),
        )
    except Mistake as mistake:
        return str(mistake)


def text_result(text: str, structured: object = None, *, is_error: bool = False) -> bytes:
    """The ``result`` member of an answer that is one text and, if given, the same as a value.

    Lone surrogates are escaped.
    """
    result: dict[str, object] = {"content": [{"type": "text", "text": text}]}
    if structured is not None:
        result["structuredContent"] = structured
    if is_error:
        result["isError"] = True
    try:
        return msgspec.json.encode(result)
    except UnicodeEncodeError:
        return json.dumps(result, separators=(",", ":")).encode()


def _key(given: Mapping[str, object]) -> str:
    key = given.get("key", "")
    if not isinstance(key, str) or not _KEY.fullmatch(key.strip().lower()):
        what = f"key is {shown(key)}, but" if key else "key is missing; it"
        raise Mistake(
            f'{what} must be the 16 hexadecimal digits after key=" in the shortened answer.'
        )
    return key.strip().lower()


def _sections(given: Mapping[str, object]) -> tuple[str, ...]:
    sections = given.get("sections")
    example = 'for example sections=["lines:1-80"] or ["grep:TEXT"]'
    if isinstance(sections, str):
        # Some hosts hand arrays over as text, some models a single id.
        sections = _array_in(sections)
    if not isinstance(sections, list) or not sections:
        raise Mistake(f"sections must be an array of section ids, {example}.")
    items = cast("list[object]", sections)
    if len(items) > MOST_SECTIONS:
        raise Mistake(
            f"sections has {len(items):,} ids; at most {MOST_SECTIONS} are answered at once."
        )
    ids: list[str] = []
    for item in items:
        if not isinstance(item, str) or not item.strip():
            raise Mistake(f"sections holds {shown(item)}, but every id is a text, {example}.")
        if len(item) > LONGEST_SECTION:
            raise Mistake(
                f"A section id has {len(item):,} characters; at most {LONGEST_SECTION:,} are possible."
            )
        if item not in ids:
            ids.append(item)
    return tuple(ids)


def _array_in(text: str) -> list[object]:
    if text.lstrip().startswith("["):
        try:
            return msgspec.json.decode(text.encode("utf-8", "replace"), type=list[object])
        except (msgspec.MsgspecError, RecursionError):
            return [text]
    return [text]
