"""What a text must be before it is stored: within its limits, without secrets; and what to warn of.

Limits and secrets refuse a text (by `MemoryFault`); a warning never does. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from config.schema import SecretPolicy
from config.secret_fields import field_spans
from config.secret_formats import format_hits
from config.secret_text import MARK, Span, lowered
from memory.errors import FaultCode, MemoryFault
from memory.model import MemoryText
from memory.words.instructions import has_hidden, speaks_to_reader

MOST_CONTENT = 16_384
"""Bytes of UTF-8, as all sizes here."""
MOST_SUMMARY = 4_096
MOST_NOTE = 4_096
MOST_STEP = 4_096
"""Of one step or one precondition."""
MOST_STEPS = 100
"""Steps, and preconditions."""
MOST_TOTAL = 65_536

INSTRUCTION_LIKE = "instruction_like"
"""The text speaks to whoever reads it, as an injected instruction would."""
HIDDEN_CHARACTERS = "hidden_characters"
"""The text has characters that nobody sees."""

_MOST_PASSES = 4
_KINDS = {
    "-----BEGIN ": "a private key",
    "eyJ": "a JSON web token",
    "://": "a password in a URL",
    "sig=": "a signature in a URL",
    "hooks.slack.com/": "a webhook's address",
    "/api/webhooks/": "a webhook's address",
    ":AA": "a bot token",
}
_FIELD_KIND = "the value of a field such as a password or token"


@dataclass(frozen=True, slots=True)
class Screened:
    """A text that may be stored."""

    text: MemoryText
    flags: tuple[str, ...]
    """`INSTRUCTION_LIKE` and `HIDDEN_CHARACTERS`, as they apply, in this order."""
    redacted: int
    """Secrets that were replaced by `config.secret_text.MARK`."""


def check_text(text: MemoryText, steps_needed: bool = False) -> None:
    """Raise ``INVALID``, naming field, size and limit, unless every field is within its limits.

    Nothing may hold NUL or a lone surrogate; the content, each step, each precondition must not be blank.
    ``steps_needed``: there must be a step, as in a procedure.
    """
    total = 0
    for name, value, limit, blank in _limits(text):
        total += _check_field(name, value, limit, blank)
    for name, count in (("steps", len(text.steps)), ("preconditions", len(text.preconditions))):
        if count > MOST_STEPS:
            raise _invalid(f"{name} has {count} entries; at most {MOST_STEPS} are allowed.")
    if steps_needed and not text.steps:
        raise _invalid(f"steps is empty; 1 to {MOST_STEPS} are needed.")
    if total > MOST_TOTAL:
        raise _invalid(f"The text has {total} bytes in all; at most {MOST_TOTAL} are allowed.")


def screen(text: MemoryText, policy: SecretPolicy) -> Screened:
    """``text`` as it may be stored, and its warnings.

    With `SecretPolicy.REFUSE` a secret raises ``REFUSED``, which tells its kind, field and place but never
    the secret. `REDACT` replaces each by a mark, `ALLOW` looks for none.
    """
    redacted = 0
    if policy is not SecretPolicy.ALLOW:
        for name, value, _, _ in _limits(text):
            if not value:
                continue
            cleaned, count, first = _without_secrets(value)
            if not count:
                continue
            if policy is SecretPolicy.REFUSE:
                kind, start = first
                raise MemoryFault(
                    FaultCode.REFUSED,
                    f"{name} holds {kind} at character {start + 1}.",
                    "Store it without the secret.",
                )
            redacted += count
            text = _with_field(text, name, cleaned)
    return Screened(text, flags_of(text), redacted)


def flags_of(text: MemoryText) -> tuple[str, ...]:
    """The warnings that apply to any field but the person's note."""
    whole = "\n".join((text.content, text.summary, *text.steps, *text.preconditions))
    found = ((INSTRUCTION_LIKE, speaks_to_reader(whole)), (HIDDEN_CHARACTERS, has_hidden(whole)))
    return tuple(name for name, applies in found if applies)


# Limits


def _limits(text: MemoryText) -> Iterator[tuple[str, str, int, bool]]:
    """Each field: name, value, most bytes, whether it may be blank."""
    yield "content", text.content, MOST_CONTENT, False
    yield "summary", text.summary, MOST_SUMMARY, True
    for place, value in enumerate(text.steps):
        yield f"steps[{place}]", value, MOST_STEP, False
    for place, value in enumerate(text.preconditions):
        yield f"preconditions[{place}]", value, MOST_STEP, False
    yield "note", text.note, MOST_NOTE, True


def _check_field(name: str, value: str, limit: int, blank: bool) -> int:
    if "\x00" in value:
        raise _invalid(f"{name} has a NUL character at {value.index(chr(0)) + 1}.")
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise _invalid(
            f"{name} has half a surrogate pair at character {error.start + 1}."
        ) from None
    if size > limit:
        raise _invalid(f"{name} has {size} bytes; at most {limit} are allowed.")
    if not blank and not value.strip():
        raise _invalid(f"{name} is blank; 1 to {limit} bytes are needed.")
    return size


def _invalid(message: str) -> MemoryFault:
    return MemoryFault(FaultCode.INVALID, message)


def _with_field(text: MemoryText, name: str, value: str) -> MemoryText:
    field, _, place = name.partition("[")
    match field:
        case "content":
            return replace(text, content=value)
        case "summary":
            return replace(text, summary=value)
        case "note":
            return replace(text, note=value)
        case "steps":
            return replace(text, steps=_with_entry(text.steps, int(place[:-1]), value))
        case _:
            return replace(
                text, preconditions=_with_entry(text.preconditions, int(place[:-1]), value)
            )


def _with_entry(entries: tuple[str, ...], place: int, value: str) -> tuple[str, ...]:
    return (*entries[:place], value, *entries[place + 1 :])


# Secrets


def _without_secrets(value: str) -> tuple[str, int, tuple[str, int]]:
    """The value redacted, how many secrets it had, and kind and place of the first one."""
    first = ("", 0)
    count = 0
    for _ in range(_MOST_PASSES):  # hiding one secret can bare the edge of the next
        hits = _merged(_hits(value))
        if not hits:
            break
        if not count:
            first = (hits[0][0], hits[0][1][0])
        count += len(hits)
        parts: list[str] = []
        position = 0
        for _kind, (start, end) in hits:
            parts += (value[position:start], MARK)
            position = end
        value = "".join((*parts, value[position:]))
    return value, count, first


def _hits(value: str) -> Iterator[tuple[str, Span]]:
    for literal, span in format_hits(value):
        yield _KINDS.get(literal) or _prefixed(literal), span
    for span in field_spans(value, lowered(value)):
        yield _FIELD_KIND, span


def _prefixed(literal: str) -> str:
    shown = literal.strip().removesuffix("%20")
    return (
        "a bearer token"
        if shown.lower() == "bearer"
        else f"a key or token that begins with {shown}"
    )


def _merged(hits: Iterator[tuple[str, Span]]) -> list[tuple[str, Span]]:
    """In order, overlapping ones as one of the first one's kind."""
    merged: list[tuple[str, Span]] = []
    for kind, (start, end) in sorted(hits, key=lambda hit: hit[1]):
        if merged and start < merged[-1][1][1]:
            known, (first, last) = merged[-1]
            merged[-1] = (known, (first, max(last, end)))
        else:
            merged.append((kind, (start, end)))
    return merged
