"""The most important lines within the budget, with every gap announced."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from config.schema import Compression
from proxy.compress.line_view import clip, section_id, show_lines
from proxy.compress.model import CharacterGauge, Reduction, Task
from tests.proxy.compress.gauges import KEY, STRUCTURED, TEXTS


def shown(
    text: str, budget: int, ranked: list[int], key: str = KEY, notes: dict[int, str] | None = None
) -> Reduction | None:
    task = Task(text, budget, CharacterGauge(), key=key)
    return show_lines(task, text.split("\n"), ranked, Compression.SKELETON, notes)


NUMBERED = "\n".join(f"this is line number {number}" for number in range(1, 101))


def test_lines_are_shown_in_order_with_gaps_between() -> None:
    found = shown(NUMBERED, 420, [49, 0, 50, 99])
    assert found is not None
    assert found.text.split("\n")[:-1] == [
        "this is line number 1",
        "[… 48 lines not shown: lines:2-49]",
        "this is line number 50",
        "this is line number 51",
        "[… 48 lines not shown: lines:52-99]",
        "this is line number 100",
    ]
    assert 'sections=["lines:2-49"]' in found.text


def test_the_most_important_lines_win_when_the_budget_is_small() -> None:
    found = shown(NUMBERED, 270, [49, 0, 99])
    assert found is not None
    assert "number 50" in found.text
    assert "number 100" not in found.text


def test_a_short_gap_is_shown_instead_of_announced() -> None:
    text = NUMBERED.replace("this is line number 30\n", "\n")
    found = shown(text, 400, [28, 30])
    assert found is not None
    assert "number 29\n\nthis is line number 31" in found.text


def test_a_long_line_is_cut_inside_and_says_so() -> None:
    text = "a\n" + "x" * 5_000 + "\r\nb"
    found = shown(text, 700, [1])
    assert found is not None
    assert "characters not shown: lines:2]" in found.text
    assert "x\r\n" in found.text


def test_notes_stand_after_their_line_and_count_as_our_words() -> None:
    found = shown(NUMBERED, 400, [0], notes={0: "[a note]", 7: "[not this one]"})
    assert found is not None
    assert found.text.startswith("this is line number 1\n[a note]\n[…")
    assert "not this one" not in found.text
    assert len(found.text) - len("this is line number 1\n") - 2 <= found.overhead <= len(found.text)


def test_without_a_handle_gaps_have_no_section() -> None:
    found = shown(NUMBERED, 300, [0, 99], key="")
    assert found is not None
    assert "[… 98 lines not shown]" in found.text
    assert "lines:" not in found.text


def test_the_last_line_feed_begins_no_line() -> None:
    found = shown(NUMBERED + "\n", 300, [0])
    assert found is not None
    assert "[… 99 lines not shown: lines:2-100]" in found.text


def test_nothing_is_shown_when_nothing_fits_or_would_be_saved() -> None:
    assert shown(NUMBERED, 150, [0]) is None
    assert shown(NUMBERED, 2_000, []) is None
    assert shown("a\nb", 2_000, [0, 1]) is None


@given(
    st.one_of(TEXTS, STRUCTURED),
    st.integers(0, 800),
    st.lists(st.integers(-5, 200), max_size=60),
    st.sampled_from(["", KEY]),
)
def test_any_ranking_fits_any_budget(text: str, budget: int, ranked: list[int], key: str) -> None:
    found = shown(text, budget, ranked, key)
    if found is not None:
        assert len(found.text) <= budget
        assert len(found.text) < len(text)
        assert found == shown(text, budget, ranked, key)


@given(st.text(max_size=500), st.integers(10, 100))
def test_a_clipped_line_keeps_its_beginning_and_end(line: str, limit: int) -> None:
    found = clip(line, limit, "lines:3")
    if found != line:
        before, _, after = found.rpartition("[…")
        assert line.startswith(before)
        assert line.endswith(after.partition("lines:3]")[2])


def test_section_ids_count_from_one() -> None:
    task = Task("", 0, CharacterGauge(), key=KEY)
    assert section_id(task, 0, 0) == "lines:1"
    assert section_id(task, 3, 9) == "lines:4-10"
