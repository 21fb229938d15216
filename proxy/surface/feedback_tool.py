"""``stm_surfacing_feedback``: its definition, its arguments, and its answer. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from proxy.surface.model import RateResult, Rating

SURFACING_FEEDBACK = "stm_surfacing_feedback"
MOST_RATINGS = 50
"""Ratings in one call."""
LONGEST_ID = 128
"""Characters of a surfacing or memory id."""

_RATINGS = [rating.value for rating in Rating]
_NAMES = ", ".join(_RATINGS)
_KNOWN = ("surfacing_id", "rating", "memory_id", "ratings")

SURFACING_FEEDBACK_TOOL = msgspec.json.encode(
    {
        "name": SURFACING_FEEDBACK,
        "title": "Rate memories shown with an answer",
        "description": "Rates memories that an answer brought along: one by memory_id, all of them, or "
        "several by ratings. not_relevant and already_known ones are not shown again.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "surfacing_id": {"type": "string"},
                "rating": {"type": "string", "enum": _RATINGS},
                "memory_id": {"type": "string"},
                "ratings": {
                    "type": "array",
                    "description": "Instead of rating and memory_id",
                    "items": {
                        "type": "object",
                        "properties": {
                            "memory_id": {"type": "string"},
                            "rating": {"type": "string", "enum": _RATINGS},
                        },
                        "required": ["memory_id", "rating"],
                    },
                },
            },
            "required": ["surfacing_id"],
        },
        "annotations": {
            "readOnlyHint": False,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
    }
)


@dataclass(frozen=True, slots=True)
class OneRating:
    """A rating as it was given. ``memory_id`` empty: of every memory of the event."""

    memory_id: str
    rating: Rating


@dataclass(frozen=True, slots=True)
class FeedbackCall:
    """Checked arguments."""

    surfacing_id: str
    ratings: tuple[OneRating, ...]
    """At least one."""


def parse(arguments: bytes) -> FeedbackCall | str:
    """The call's arguments; a text says what is wrong with them and what would be right."""
    try:
        decoded: object = msgspec.json.decode(arguments or b"{}")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return "The arguments are no valid JSON; an object is expected."
    if not isinstance(decoded, dict):
        return f"The arguments must be an object with: {', '.join(_KNOWN)}."
    given = {
        name: value
        for name, value in cast("dict[str, Any]", decoded).items()
        if value is not None and not name.startswith("_")
    }
    unknown = next((name for name in given if name not in _KNOWN), None)
    if unknown is not None:
        return f"There is no argument {unknown[:80]!r}; there are: {', '.join(_KNOWN)}."
    surfacing_id = given.get("surfacing_id")
    if not isinstance(surfacing_id, str) or not surfacing_id.strip():
        return "surfacing_id is missing; it stands in the answer that brought the memories."
    if len(surfacing_id) > LONGEST_ID:
        return f"surfacing_id has {len(surfacing_id):,} characters; it is 12 hexadecimal digits."
    ratings = _batched(given) if "ratings" in given else _single(given)
    return ratings if isinstance(ratings, str) else FeedbackCall(surfacing_id.strip(), ratings)


def answer(call: FeedbackCall, results: Sequence[RateResult]) -> tuple[bytes, bool]:
    """The ``result`` member of the answer, and whether nothing at all was recorded."""
    recorded = sum(result.ok for result in results)
    failed = not recorded
    if len(results) == 1:
        text = results[0].message
    else:
        text = f"Recorded {recorded} of {len(results)} ratings."
        for number, result in enumerate(results):
            if not result.ok:
                text += f" ratings[{number}]: {result.message}"
    entries = [
        {
            "memory_id": one.memory_id,
            "rating": one.rating.value,
            "recorded": result.ok,
            "repeated": result.repeated,
            "message": result.message,
        }
        for one, result in zip(call.ratings, results, strict=True)
    ]
    structured = {"surfacing_id": call.surfacing_id, "recorded": recorded, "ratings": entries}
    return result_of(text, structured, is_error=failed), failed


def result_of(text: str, structured: object = None, *, is_error: bool = False) -> bytes:
    """The ``result`` member of an answer that is one text and, if given, the same as a value."""
    result: dict[str, object] = {"content": [{"type": "text", "text": _whole(text)}]}
    if structured is not None:
        result["structuredContent"] = structured
    if is_error:
        result["isError"] = True
    try:
        return msgspec.json.encode(result)
    except UnicodeEncodeError:  # half a surrogate pair in an id that is quoted back
        result.pop("structuredContent")
        return msgspec.json.encode(result)


def _single(given: dict[str, Any]) -> tuple[OneRating, ...] | str:
    if "rating" not in given:
        return f"Give rating (one of {_NAMES}), or ratings with one per memory."
    memory_id = given.get("memory_id", "")
    if not isinstance(memory_id, str) or len(memory_id) > LONGEST_ID:
        return (
            f"memory_id must be a text of at most {LONGEST_ID} characters, as the answer gave it."
        )
    rating = _rating(given["rating"])
    if rating is None:
        return f"rating is {_shown(given['rating'])}, but must be one of: {_NAMES}."
    return (OneRating(memory_id.strip(), rating),)


def _batched(given: dict[str, Any]) -> tuple[OneRating, ...] | str:
    if "rating" in given or "memory_id" in given:
        return "Give either rating (with memory_id), or ratings; not both."
    entries: object = given["ratings"]
    if isinstance(entries, str):  # some hosts hand arrays over as text
        try:
            entries = msgspec.json.decode(entries.encode("utf-8", "replace"))
        except msgspec.MsgspecError:
            entries = None
    if not isinstance(entries, list) or not entries:
        return "ratings must be an array of objects, each with memory_id and rating."
    items = cast("list[object]", entries)
    if len(items) > MOST_RATINGS:
        return f"ratings has {len(items):,} entries; at most {MOST_RATINGS} are taken at once."
    ratings: list[OneRating] = []
    for number, item in enumerate(items):
        found = _entry(item)
        if found is None:
            return (
                f"ratings[{number}] is {_shown(item)}, but must be an object with memory_id (a text) "
                f"and rating (one of {_NAMES})."
            )
        ratings.append(found)
    twice = [one.memory_id for one in ratings]
    again = next((id for id in twice if twice.count(id) > 1), None)
    if again is not None:
        return f"ratings rates {again!r} twice; give one rating per memory."
    return tuple(ratings)


def _entry(item: object) -> OneRating | None:
    if not isinstance(item, dict):
        return None
    fields = cast("dict[str, object]", item)
    memory_id, rating = fields.get("memory_id"), _rating(fields.get("rating"))
    if not isinstance(memory_id, str) or not memory_id.strip() or rating is None:
        return None
    if len(memory_id) > LONGEST_ID or set(fields) - {"memory_id", "rating"}:
        return None
    return OneRating(memory_id.strip(), rating)


def _rating(value: object) -> Rating | None:
    return Rating(value) if isinstance(value, str) and value in _RATINGS else None


def _shown(value: object) -> str:
    text = msgspec.json.encode(value).decode("utf-8", "replace") if _plain(value) else "?"
    return text if len(text) <= 80 else text[:79] + "\u2026"


def _plain(value: object) -> bool:
    try:
        msgspec.json.encode(value)
    except (TypeError, UnicodeEncodeError):
        return False
    return True


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
