"""``stm_surfacing_feedback``: arguments, mistakes and answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.surface.feedback_tool import (
    SURFACING_FEEDBACK_TOOL,
    FeedbackCall,
    OneRating,
    answer,
    parse,
)
from proxy.surface.model import RateResult, Rating

ID = "5f3c9a01b2d4"


def _parse(**arguments: Any) -> FeedbackCall | str:
    return parse(json.dumps(arguments).encode())


def test_the_definition_names_the_specified_parameters_and_is_small() -> None:
    tool = json.loads(SURFACING_FEEDBACK_TOOL)
    schema = tool["inputSchema"]
    assert tool["name"] == "stm_surfacing_feedback"
    assert list(schema["properties"]) == ["surfacing_id", "rating", "memory_id", "ratings"]
    assert schema["required"] == ["surfacing_id"]
    names = ["helpful", "partially_helpful", "not_relevant", "already_known"]
    assert schema["properties"]["rating"]["enum"] == names
    assert len(SURFACING_FEEDBACK_TOOL) <= 900


def test_one_rating_is_for_one_memory_or_for_all() -> None:
    assert _parse(surfacing_id=ID, rating="helpful") == FeedbackCall(
        ID, (OneRating("", Rating.HELPFUL),)
    )
    assert _parse(surfacing_id=f" {ID} ", rating="not_relevant", memory_id="m1") == FeedbackCall(
        ID, (OneRating("m1", Rating.NOT_RELEVANT),)
    )


def test_several_ratings_are_taken_in_order_also_as_text() -> None:
    ratings = [
        {"memory_id": "m1", "rating": "helpful"},
        {"memory_id": "m2", "rating": "already_known"},
    ]
    expected = FeedbackCall(
        ID, (OneRating("m1", Rating.HELPFUL), OneRating("m2", Rating.ALREADY_KNOWN))
    )
    assert _parse(surfacing_id=ID, ratings=ratings) == expected
    assert _parse(surfacing_id=ID, ratings=json.dumps(ratings)) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "surfacing_id is missing"),
        ({"surfacing_id": "  "}, "surfacing_id is empty"),
        ({"surfacing_id": ID}, "Give rating (one of helpful,"),
        ({"surfacing_id": ID, "memory_id": "m1"}, "Give rating"),
        (
            {"surfacing_id": ID, "rating": "great"},
            'rating is "great", but must be one of: helpful,',
        ),
        ({"surfacing_id": ID, "rating": "helpful", "ratings": []}, "not both"),
        ({"surfacing_id": ID, "memory_id": "m", "ratings": []}, "not both"),
        ({"surfacing_id": ID, "ratings": []}, "must be an array"),
        ({"surfacing_id": ID, "ratings": [{"memory_id": "m1"}]}, "ratings[0] is"),
        (
            {
                "surfacing_id": ID,
                "ratings": [{"memory_id": "m", "rating": "helpful"}] * 2,
            },
            'rates "m" twice',
        ),
        ({"surfacing_id": ID, "rating": "helpful", "note": 1}, "There is no argument"),
    ],
)
def test_a_mistake_is_told_with_what_would_be_right(
    arguments: dict[str, Any], expected: str
) -> None:
    found = parse(json.dumps(arguments).encode())
    assert isinstance(found, str)
    assert expected in found


def test_a_partly_refused_batch_says_which_entry_and_why() -> None:
    call = FeedbackCall(ID, (OneRating("m1", Rating.HELPFUL), OneRating("m9", Rating.HELPFUL)))
    body, failed = answer(
        call, [RateResult(True, "helpful recorded."), RateResult(False, "m9 was not among them.")]
    )
    result = json.loads(body)
    assert not failed
    assert result["content"][0]["text"] == (
        "Recorded 1 of 2 ratings. ratings[1]: m9 was not among them."
    )
    assert result["structuredContent"]["recorded"] == 1
    assert [one["recorded"] for one in result["structuredContent"]["ratings"]] == [True, False]


def test_an_answer_in_which_nothing_was_recorded_is_an_error() -> None:
    call = FeedbackCall("\ud800", (OneRating("", Rating.HELPFUL),))
    body, failed = answer(call, [RateResult(False, "There is no surfacing '\ud800'.")])
    assert failed
    assert json.loads(body)["isError"] is True


_NAMES = st.sampled_from(["surfacing_id", "rating", "memory_id", "ratings", "x"])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=8,
)


@given(st.binary(max_size=200) | _JSON.map(lambda value: json.dumps(value).encode()))
def test_any_arguments_are_read_or_refused_with_a_sentence(arguments: bytes) -> None:
    found = parse(arguments)
    assert found if isinstance(found, str) else found.ratings
