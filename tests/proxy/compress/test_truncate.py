"""The last resort: any text, any budget, always within it."""

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.compress.model import CharacterGauge, ContentType, Task
from proxy.compress.truncate import truncate
from tests.proxy.compress.gauges import KEY, TEXTS, TokenGauge

TOKENS = TokenGauge()


def task(text: str, budget: int, key: str = KEY) -> Task:
    return Task(text, budget, CharacterGauge(), key=key)


@given(TEXTS, st.integers(0, 400), st.sampled_from(["", KEY]))
def test_any_text_fits_any_budget_and_the_same_again(text: str, budget: int, key: str) -> None:
    found = truncate(task(text, budget, key))
    assert CharacterGauge().size(found.text) <= budget
    assert found.text == truncate(task(text, budget, key)).text
    assert len(found.text) <= len(text)
    assert found.complete == (found.text == text)


@settings(deadline=None)
@given(TEXTS, st.integers(0, 120))
def test_any_text_fits_any_budget_of_tokens(text: str, budget: int) -> None:
    found = truncate(Task(text, budget, TOKENS, key=KEY))
    assert TOKENS.size(found.text) <= budget


def test_a_text_within_the_budget_comes_back_as_it_is() -> None:
    found = truncate(task("short\r\n", 7))
    assert found.text == "short\r\n"
    assert found.complete


def test_the_cut_is_at_a_lines_end_and_names_the_lines_that_follow() -> None:
    text = "\n".join(f"line {number} of many" for number in range(1, 201))
    found = truncate(task(text, 600))
    body, note = found.text.rsplit("\n", 1)
    shown = body.count("\n") + 1
    assert text.startswith(body + "\n")
    assert f'sections=["lines:{shown + 1}-200"]' in note
    assert f'stm_proxy_read_more(key="{KEY}")' in note
    assert found.overhead == len(note)


def test_a_small_budget_keeps_a_short_announcement_and_a_tiny_one_nothing() -> None:
    text = "word " * 500
    assert "not shown" not in truncate(task(text, 150)).text
    assert "of 2,500 characters shown]" in truncate(task(text, 150)).text
    assert KEY not in truncate(task(text, 150)).text
    assert truncate(task(text, 6)).text.endswith("…")
    assert truncate(task(text, 0)).text == ""


def test_without_a_handle_no_tool_is_named() -> None:
    found = truncate(task("word " * 500, 400, key=""))
    assert "stm_proxy" not in found.text
    assert found.text.endswith("characters shown]")


def test_json_is_cut_as_text_when_it_cannot_stay_json() -> None:
    text = '{"a": ' + "[" * 20_000
    found = truncate(Task(text, 300, CharacterGauge(), key=KEY, content=ContentType.JSON_OBJECT))
    assert len(found.text) <= 300


def test_a_line_of_many_megabytes_takes_linear_time() -> None:
    text = "x1y" * 2_000_000
    started = time.process_time()
    found = truncate(Task(text, 4000, TOKENS, key=KEY))
    assert TOKENS.size(found.text) <= 4000
    assert time.process_time() - started < 10


def test_a_document_of_many_lines_takes_less_than_a_few_milliseconds_per_hundred_kilobytes() -> (
    None
):
    text = "A line with some words and a number 17.\n" * 5_000
    TOKENS.size("load")
    fewest = min(_seconds(text) for _ in range(5))
    assert fewest < 0.1


def _seconds(text: str) -> float:
    started = time.process_time()
    truncate(Task(text, 4000, TOKENS, key=KEY))
    return time.process_time() - started
