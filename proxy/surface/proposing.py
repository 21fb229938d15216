"""``stm_memory_propose``: its definition, its arguments, and what it answers.

What cannot be done for a reason of the matter is an ordinary result, ``{"ok": false, "reason": ...}``, so
that an agent reads it; only wrong arguments are errors. Every proposal waits for a person.
"""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass
from typing import Any

import msgspec

from config.schema_surfacing import FormationSettings
from proxy.control_tools import text_result
from proxy.host_tools import Caller
from proxy.surface.source import (
    MemorySource,
    NewMemory,
    ProposalsUnsupported,
    SourceFailed,
    SourceUnavailable,
)
from proxy.tool_arguments import Mistake, definition, object_of, string

MEMORY_PROPOSE = "stm_memory_propose"
MOST_CONTENT = 2_000
"""Characters of a proposal, surrounding spaces not counted."""
LONGEST_SOURCE_REF = 512
LONGEST_KEY = 256
_ANY_LENGTH = 2**31
_KNOWN = ("content", "source_ref", "idempotency_key")
_log = logging.getLogger("mms.surface")

_TEXT = {"type": "string"}
MEMORY_PROPOSE_TOOL = definition(
    MEMORY_PROPOSE,
    "Propose a memory",
    "Proposes one lasting fact to remember across sessions. A person decides about it; "
    "until then nothing is remembered.",
    {
        "content": {
            "type": "string",
            "description": f"The fact, at most {MOST_CONTENT} characters",
        },
        "source_ref": {"type": "string", "description": "Where it comes from: file, URL"},
        "idempotency_key": _TEXT,
    },
    ("content",),
    reads=False,
)


@dataclass(frozen=True, slots=True)
class ProposalArguments:
    """Arguments of the right types; their sizes are for `propose` to judge."""

    content: str
    source_ref: str = ""
    idempotency_key: str = ""


@dataclass(frozen=True, slots=True)
class ProposalAnswer:
    """What the tool answers."""

    body: bytes
    """The ``result`` member, JSON. Unless it is an error, ``structuredContent`` is its text as an object."""
    is_error: bool
    accepted: bool
    """A proposal was filed that was not there before: it counts for `FormationSettings.max_per_session`."""


def parse(arguments: bytes) -> ProposalArguments | str:
    """The call's arguments; a text says what is wrong with them and what would be right."""
    try:
        given = object_of(arguments, _KNOWN)
        if "content" not in given:
            raise Mistake("content is missing; it must be a text.")
        return ProposalArguments(*(string(given, name, _ANY_LENGTH, "") for name in _KNOWN))
    except Mistake as mistake:
        return str(mistake)


def default_key(source_ref: str, content: str) -> str:
    """The idempotency key of a proposal that came without: the same text from the same place is the same."""
    parts = ("mms", source_ref, content)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


async def propose(
    arguments: bytes,
    caller: Caller,
    source: MemorySource,
    settings: FormationSettings,
    filed: int,
) -> ProposalAnswer:
    """Answer one call. ``filed``: how many proposals the session has filed before. Never raises."""
    asked = parse(arguments)
    if isinstance(asked, str):
        return ProposalAnswer(text_result(asked, is_error=True), is_error=True, accepted=False)
    content, source_ref = asked.content.strip(), asked.source_ref.strip()
    key = asked.idempotency_key.strip() or default_key(source_ref, content)
    refused = _refused(content, source_ref, key, settings, filed)
    if refused is not None:
        return _answer(refused)
    try:
        done = await source.propose(NewMemory(content, source_ref, key, caller))
    except ProposalsUnsupported as error:
        return _refusal(
            "formation_unsupported",
            str(error) or "The memory takes no proposals for review; nothing was written.",
        )
    except SourceUnavailable as error:
        return _refusal("ltm_unavailable", f"{_sentence(error)} Propose it again later.")
    except SourceFailed as error:
        return _refusal("candidate_submit_failed", _sentence(error))
    except Exception as error:  # a fault of ours; the agent waits and is told
        _log.exception("a proposal failed inside mms")
        kind = type(error).__name__
        return _refusal("candidate_submit_failed", f"mms itself failed ({kind}); its log has more.")
    return _answer(
        {
            "ok": True,
            "candidate_id": done.candidate_id,
            "status": done.status,
            "created_at": done.created_at,
            "duplicate": done.duplicate,
            "review_hint": done.review_hint,
        },
        accepted=not done.duplicate,
    )


def _refused(
    content: str, source_ref: str, key: str, settings: FormationSettings, filed: int
) -> dict[str, Any] | None:
    """The answer to what is not even submitted."""
    if not settings.enabled:
        return _no(
            "formation_disabled",
            "Proposals are switched off; a person can set formation.enabled.",
        )
    if not content:
        return _no("content_empty", "content says nothing; propose one fact in a sentence.")
    if len(content) > MOST_CONTENT:
        return _no(
            "content_too_large",
            f"content has {len(content):,} characters, but at most {MOST_CONTENT:,} are taken; "
            "propose its facts one by one.",
        ) | {"max_content_chars": MOST_CONTENT}
    if len(source_ref) > LONGEST_SOURCE_REF:
        return _no(
            "source_ref_too_large",
            f"source_ref has {len(source_ref):,} characters, but at most {LONGEST_SOURCE_REF} are "
            "taken.",
        )
    if len(key) > LONGEST_KEY:
        return _no(
            "idempotency_key_too_large",
            f"idempotency_key has {len(key):,} characters, but at most {LONGEST_KEY} are taken.",
        )
    if filed >= settings.max_per_session:
        return _no(
            "session_limit",
            f"This session has proposed {filed:,} memories, which is all it may "
            "(formation.max_per_session).",
        )
    return None


def _no(reason: str, message: str) -> dict[str, Any]:
    return {"ok": False, "reason": reason, "message": message}


def _refusal(reason: str, message: str) -> ProposalAnswer:
    return _answer(_no(reason, message))


def _sentence(error: Exception) -> str:
    text = str(error) or "it said nothing"
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"


def _answer(said: dict[str, Any], *, accepted: bool = False) -> ProposalAnswer:
    try:
        text = msgspec.json.encode(said).decode()
    except UnicodeEncodeError:
        text = json.dumps(said, separators=(",", ":"))
    return ProposalAnswer(text_result(text, said), is_error=False, accepted=accepted)
