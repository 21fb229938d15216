"""``stm_surfacing_feedback``: its definition, its arguments, and its answer. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import msgspec

from proxy.control_tools import text_result
from proxy.surface.model import RateResult, Rating
from proxy.tool_arguments import Mistake, definition, object_of, shown, string

SURFACING_FEEDBACK = "stm_surfacing_feedback"
MOST_RATINGS = 50
"""Ratings in one call."""
LONGEST_ID = 128
"""Characters of a surfacing or memory id."""

_RATINGS = [rating.value for rating in Rating]
_NAMES = ", ".join(_RATINGS)
_KNOWN = ("surfacing_id", "rating", "memory_id", "ratings")

SURFACING_FEEDBACK_TOOL = definition(
    SURFACING_FEEDBACK,
    "Rate memories shown with an answer",
    "Rates memories that an answer brought along: one by memory_id, all of them, or several by "
    "ratings. not_relevant and already_known ones are not shown again.",
    {
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
    ("surfacing_id",),
    reads=False,
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
        given = object_of(arguments, _KNOWN)
        surfacing_id = string(given, "surfacing_id", LONGEST_ID).strip()
        ratings = _batched(given) if "ratings" in given else _single(given)
    except Mistake as mistake:
        return str(mistake)
    return FeedbackCall(surfacing_id, ratings)


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
    return text_result(text, structured, is_error=failed), failed


def _single(given: Mapping[str, object]) -> tuple[OneRating, ...]:
    if "rating" not in given:
        raise Mistake(f"Give rating (one of {_NAMES}), or ratings with one per memory.")
    memory_id = string(given, "memory_id", LONGEST_ID, "")
    rating = _rating(given["rating"])
    if rating is None:
        raise Mistake(f"rating is {shown(given['rating'])}, but must be one of: {_NAMES}.")
    return (OneRating(memory_id.strip(), rating),)


def _batched(given: Mapping[str, object]) -> tuple[OneRating, ...]:
    if "rating" in given or "memory_id" in given:
        raise Mistake("Give either rating (with memory_id), or ratings; not both.")
    entries = given["ratings"]
    if isinstance(entries, str):  # some hosts hand arrays over as text
        try:
            entries = msgspec.json.decode(entries.encode("utf-8", "replace"))
        except msgspec.MsgspecError:
            entries = None
    if not isinstance(entries, list) or not entries:
        raise Mistake("ratings must be an array of objects, each with memory_id and rating.")
    items = cast("list[object]", entries)
    if len(items) > MOST_RATINGS:
        raise Mistake(
            f"ratings has {len(items):,} entries; at most {MOST_RATINGS} are taken at once."
        )
    ratings = tuple(_entry(number, item) for number, item in enumerate(items))
    ids = [one.memory_id for one in ratings]
    again = next((id for id in ids if ids.count(id) > 1), None)
    if again is not None:
        raise Mistake(f"ratings rates {shown(again)} twice; give one rating per memory.")
    return ratings


def _entry(number: int, item: object) -> OneRating:
    fields = _fields(item)
    if fields is not None:
        memory_id, rating = fields.get("memory_id"), _rating(fields.get("rating"))
        if (
            isinstance(memory_id, str)
            and 0 < len(memory_id.strip()) <= LONGEST_ID
            and rating is not None
            and set(fields) == {"memory_id", "rating"}
        ):
            return OneRating(memory_id.strip(), rating)
    raise Mistake(
        f"ratings[{number}] is {shown(item)}, but must be an object with memory_id (a text) and "
        f"rating (one of {_NAMES})."
    )


def _fields(item: object) -> dict[str, object] | None:
    return cast("dict[str, object]", item) if isinstance(item, dict) else None


def _rating(value: object) -> Rating | None:
    return Rating(value) if isinstance(value, str) and value in _RATINGS else None
