"""Which words of two texts differ."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from console.word_diff import MOST_WORDS, compare, marked

_TEXT = st.text(alphabet="ab1.- \n検é\u202e", max_size=60) | st.text(max_size=60)


def both(old: str, new: str) -> tuple[str, str]:
    before, after = compare(old, new)
    return marked(before, "[-", "-]"), marked(after, "{+", "+}")


def test_values_and_names_are_whole_words_and_neighbours_share_a_mark() -> None:
    assert both(
        "Deploys to eu-west-1 by Jenkins, port 10.0.0.7:8080.",
        "Deploys to eu-central-1 by Argo CD, port 10.0.0.7:9090.",
    ) == (
        "Deploys to [-eu-west-1-] by [-Jenkins-], port [-10.0.0.7:8080-].",
        "Deploys to {+eu-central-1+} by {+Argo CD+}, port {+10.0.0.7:9090+}.",
    )


def test_a_word_more_is_marked_in_one_text_only() -> None:
    assert both("The cache is safe", "The cache is not safe") == (
        "The cache is safe",
        "The cache is {+not+} safe",
    )


def test_white_space_alone_is_no_difference() -> None:
    before, after = compare("a  b\nc", " a b c ")
    assert [piece.changed for piece in (*before, *after)] == [False, False]


def test_scripts_without_spaces_differ_by_character() -> None:
    assert both("港は八千", "港は九千") == ("港は[-八-]千", "港は{+九+}千")


def test_a_huge_middle_is_marked_as_a_whole() -> None:
    words = " ".join(f"w{number}" for number in range(MOST_WORDS + 1))
    before, after = compare(f"same {words} end", "same other end")
    assert [piece.changed for piece in before] == [False, True, False]
    assert marked(after, "{+", "+}") == "same {+other+} end"


@given(_TEXT, _TEXT)
def test_nothing_is_lost_and_what_is_unmarked_is_in_both(old: str, new: str) -> None:
    before, after = compare(old, new)
    assert "".join(piece.text for piece in before) == old
    assert "".join(piece.text for piece in after) == new
    common = ["".join(p.text for p in side if not p.changed).split() for side in (before, after)]
    assert "".join(common[0]) == "".join(common[1])
    assert all(piece.text for piece in (*before, *after))


@given(_TEXT)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    before, after = compare(text, text)
    assert before == after
    assert not any(piece.changed for piece in before)
