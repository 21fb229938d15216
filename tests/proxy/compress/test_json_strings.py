"""Strings are cut between characters."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from proxy.compress import json_strings

CONTENTS = st.text(alphabet=st.sampled_from(list('a "\\\n\u00e9\U0001f469.')), max_size=60).flatmap(
    lambda text: st.sampled_from(
        [json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]]
    )
)


@given(CONTENTS, st.integers(0, 80))
def test_a_prefix_is_the_content_of_a_string(content: str, length: int) -> None:
    part = json_strings.prefix(content, length)
    assert len(part) <= max(length, 0)
    assert content.startswith(part)
    whole, value = json.loads(f'"{content}"'), json.loads(f'"{part}"')
    assert whole.startswith(value)
    value.encode()


@given(CONTENTS)
def test_length_counts_what_the_string_stands_for(content: str) -> None:
    assert json_strings.length(content) == len(json.loads(f'"{content}"'))


def test_a_long_run_of_backslashes_is_cut_in_pairs() -> None:
    content = "\\\\" * 30 + "n"
    for length in range(61):
        json.loads(f'"{json_strings.prefix(content, length)}"')


def test_the_head_ends_at_a_word_and_measures_at_most_the_room() -> None:
    part = json_strings.head(b"alpha beta gamma delta epsilon", len, 18)
    assert part == "alpha beta gamma"


def test_an_excerpt_has_the_sentences_that_score_and_the_beginning() -> None:
    sentences = [f"Sentence number {i} is here. " for i in range(200)]
    content = "".join(sentences).encode()
    wanted = content.index(b"number 150")

    def score(start: int, end: int) -> float:
        return float(start <= wanted < end)

    found = json_strings.sentences(content, 0, score)
    text = json_strings.excerpt(content, found, _lengths, len, 300)
    assert "Sentence number 150 is here." in text
    assert text.startswith("Sentence number 0")
    assert len(text) <= 330


def test_nothing_that_scores_is_no_excerpt() -> None:
    found = json_strings.sentences(b"One. Two.", 0, lambda start, end: 0.0)
    assert json_strings.excerpt(b"One. Two.", found, _lengths, len, 50) == ""


def _lengths(spans: Sequence[tuple[int, int]]) -> list[int]:
    return [end - start for start, end in spans]
