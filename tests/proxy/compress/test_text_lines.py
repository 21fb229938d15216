from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from proxy.compress.text_lines import is_tidy, lines_and_texts

TEXTS = st.text(alphabet="a \t\r\n\u2028", max_size=30)


@given(TEXTS)
def test_lines_are_what_stands_between_line_feeds(text: str) -> None:
    starts, texts = lines_and_texts(text)

    assert texts == [*(line.rstrip() for line in text.split("\n")), ""]
    assert all(text.startswith(line, start) for start, line in zip(starts, texts, strict=False))
    assert starts[1:] == [found.end() for found in re.finditer("\n", text)]


@given(TEXTS)
def test_a_text_is_tidy_without_white_line_ends_and_three_blank_lines(text: str) -> None:
    assert is_tidy(text) == (re.search(r"[^\S\n](?:\n|\Z)|\n{4}", text) is None)
