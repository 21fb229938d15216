"""The records of selection telemetry: which tool was called, out of which, and how that ended. Pure.

A log is a JSONL file; every line is one of three objects, told apart by ``event``:

- ``candidates``: the names of all tools that were offered (``candidate_tools``) and why others were not
  (``reject_reasons``: code to count), under a digest (``candidates_sha256``). It is written once per
  file and whenever what is offered changes, so that the lines of calls stay short.
- ``selection``: ``server`` and ``selected_tool`` of one call, ``candidates_sha256`` and
  ``candidate_count``, ``reject_reasons``, digest and length of the arguments, never their text.
- ``execution``: how the call of the same ``selection_id`` ended.

Times (``ts``) are seconds since the epoch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from proxy.json_canon import canonical

SCHEMA_VERSION = 1
RANKER_VERSION = "v0-passthrough"
"""mms offers every eligible tool in the upstreams' order; nothing ranks them."""
LONGEST_CANONICAL = 64 * 1024
"""Bytes of arguments that are brought into one form before their digest; longer ones count as sent."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What was offered when a tool was called."""

    digest: str
    names: tuple[str, ...]
    reject_reasons: Mapping[str, int]
    """Withheld tools by reason code."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A call that begins."""

    id: str
    at: float
    server: str
    tool: str
    """The upstream's own name."""
    arguments: bytes


@dataclass(frozen=True, slots=True)
class Execution:
    """A call that has ended."""

    selection_id: str
    at: float
    ok: bool
    latency_ms: float
    error_type: str
    """One word, for example ``timeout``; empty if all went well."""
    cache_hit: bool


def candidates_of(names: tuple[str, ...], reject_reasons: Mapping[str, int]) -> Candidates:
    """With their digest, which is the same for the same names and reasons."""
    rejects = dict(sorted(reject_reasons.items()))
    return Candidates(_digest(msgspec.json.encode([names, rejects])), names, rejects)


def candidates_line(candidates: Candidates, at: float) -> bytes:
    """With its end of line, as all of them."""
    return _line(
        {
            "candidate_tools": candidates.names,
            "candidates_sha256": candidates.digest,
            "event": "candidates",
            "reject_reasons": candidates.reject_reasons,
            "schema_version": SCHEMA_VERSION,
            "ts": round(at, 3),
        }
    )


def selection_line(selection: Selection, candidates: Candidates) -> bytes:
    """A call that begins. Equal arguments have one digest, however they were laid out."""
    data = selection.arguments
    if len(data) <= LONGEST_CANONICAL:
        data = canonical(data).encode("utf-8", "replace")
    return _line(
        {
            "args_chars": len(selection.arguments.decode("utf-8", "replace")),
            "args_sha256": hashlib.sha256(data).hexdigest(),
            "candidate_count": len(candidates.names),
            "candidates_sha256": candidates.digest,
            "event": "selection",
            "ranker_version": RANKER_VERSION,
            "reject_reasons": candidates.reject_reasons,
            "schema_version": SCHEMA_VERSION,
            "selected_tool": selection.tool,
            "selection_id": selection.id,
            "server": selection.server,
            "ts": round(selection.at, 3),
        }
    )


def execution_line(execution: Execution) -> bytes:
    """How it ended."""
    return _line(
        {
            "cache_hit": execution.cache_hit,
            "error_type": execution.error_type,
            "event": "execution",
            "latency_ms": round(execution.latency_ms, 3),
            "ok": execution.ok,
            "schema_version": SCHEMA_VERSION,
            "selection_id": execution.selection_id,
            "ts": round(execution.at, 3),
        }
    )


def _line(record: Mapping[str, object]) -> bytes:
    try:
        return msgspec.json.encode(record) + b"\n"
    except UnicodeEncodeError:  # a lone surrogate in a name
        import json

        return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
