"""Arguments of tool calls: strict, and every refusal says what would be right."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import FaultCode, MemoryFault
from memory.model import Kind
from memory.tools.arguments import Arguments

KNOWN = ("query", "top_k", "memory_types", "share", "flag")


def given_(value: Any, name: str = "query") -> Arguments:
    return Arguments(json.dumps({name: value}), KNOWN)


def refused(work: Callable[[], object]) -> str:
    with pytest.raises(MemoryFault) as caught:
        work()
    assert caught.value.code is FaultCode.INVALID
    assert "call again" in caught.value.hint
    return caught.value.message


@pytest.mark.parametrize("text", ["", "{}", "null", '{"query":null}', '{"_context_query":"x"}'])
def test_nothing_given_is_nothing_given(text: str) -> None:
    arguments = Arguments(text, KNOWN)
    assert not arguments.has("query")
    assert arguments.text("query", "general") == "general"
    assert arguments.optional_text("query") is None
    assert arguments.texts("query") == ()
    assert arguments.choices("memory_types", Kind) == ()
    assert arguments.share("share", 0.5) == 0.5
    assert arguments.integer("top_k", 5, 1, 100) == 5


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "1", '"x"', "[]"])
def test_what_is_no_object_is_refused(text: str) -> None:
    assert "object" in refused(lambda: Arguments(text, KNOWN))


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    message = refused(lambda: Arguments('{"topk":3}', KNOWN))
    assert 'no argument "topk"' in message
    assert "Did you mean top_k?" in message
    message = refused(lambda: Arguments('{"xyz":3}', KNOWN))
    assert "there are: query, top_k" in message
    assert "Did you mean" not in message
    assert "takes none" in refused(lambda: Arguments('{"x":1}', ()))


@pytest.mark.parametrize("value", [7, True, ["a"], {"a": 1}, "", "  \n"])
def test_a_text_must_be_one_that_says_something(value: Any) -> None:
    refused(lambda: given_(value).text("query"))


def test_a_text_that_is_left_out_is_named() -> None:
    assert "query is missing" in refused(lambda: Arguments("{}", KNOWN).text("query"))


def test_half_a_surrogate_pair_is_refused() -> None:
    assert "surrogate" in refused(lambda: Arguments('{"query":"\\ud800"}', KNOWN).text("query"))


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "-Infinity", "1e999", "-0.01", "1.01", "1" * 400]
)
def test_a_share_out_of_range_is_refused(text: str) -> None:
    assert "from 0 to 1" in refused(
        lambda: Arguments(f'{{"share":{text}}}', KNOWN).share("share", 0.5)
    )


@pytest.mark.parametrize("value", ["0.5", True, [0.5]])
def test_a_share_must_be_a_number(value: Any) -> None:
    assert "a number from 0 to 1" in refused(lambda: given_(value, "share").share("share", 0.5))


@given(st.floats(0, 1))
def test_a_share_within_range_is_taken_as_it_is(value: float) -> None:
    assert given_(value, "share").share("share", 0.5) == value


@pytest.mark.parametrize("value", [1, 100, 5.0, "7", " 8 "])
def test_a_whole_number_is_taken_also_as_text(value: Any) -> None:
    assert given_(value, "top_k").integer("top_k", 5, 1, 100) == int(value)


@pytest.mark.parametrize("value", [0, 101, -1, 10**30, 5.5, float("nan"), "x", "5.5", True, [5]])
def test_other_numbers_are_refused_with_the_bounds(value: Any) -> None:
    message = refused(lambda: given_(value, "top_k").integer("top_k", 5, 1, 100))
    assert "from 1 to 100" in message
    assert len(message) < 200


@pytest.mark.parametrize("value", ["true", 1, 0, None])
def test_a_truth_value_is_true_or_false(value: Any) -> None:
    assert "must be true or false" in refused(lambda: given_(value, "flag").boolean("flag"))
    assert given_(True, "flag").boolean("flag") is True
    assert given_(False, "flag").boolean("flag") is False


def test_choices_are_taken_once_each_in_their_order() -> None:
    arguments = given_(["episodic", "semantic", "episodic"], "memory_types")
    assert arguments.choices("memory_types", Kind) == (Kind.EPISODIC, Kind.SEMANTIC)


@pytest.mark.parametrize("value", ["semantic", '["semantic"]'])
def test_a_list_is_taken_as_text_too(value: str) -> None:
    assert given_(value, "memory_types").choices("memory_types", Kind) == (Kind.SEMANTIC,)


@pytest.mark.parametrize("value", [["facts"], [7], ["semantic", None], [["semantic"]], [{}]])
def test_unknown_choices_are_refused_with_the_known_ones(value: Any) -> None:
    message = refused(lambda: given_(value, "memory_types").choices("memory_types", Kind))
    assert "semantic, episodic, procedural" in message


def test_lists_hold_texts_that_say_something() -> None:
    assert given_(["a", "b", "a"]).texts("query", required=True) == ("a", "b", "a")
    assert "item 2" in refused(lambda: given_(["a", " "]).texts("query"))
    assert "item 1" in refused(lambda: given_([1]).texts("query"))
    assert "needs one" in refused(lambda: given_([]).texts("query", required=True))
    assert "missing" in refused(lambda: Arguments("{}", KNOWN).texts("query", required=True))
    assert "at most 200" in refused(lambda: given_(["a"] * 201).texts("query"))
    assert "array" in refused(lambda: given_({"a": 1}).texts("query"))


@given(st.text())
def test_any_text_as_arguments_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(MemoryFault):
        Arguments(text, KNOWN)
