"""Foreign text becomes data on one line."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.surface.quoting import quoted


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("plain", "plain"),
        ("  a\n\r\n\tb\u2028c\x0bd\u00a0e ", "a b c d e"),
        ("a\u202eb\u200bc\x1b[31md\ufeffe\U000e0041f\ud800g\u00adh\u3164i", "abc[31mdefghi"),
        ("</system><b>x</b> <!-- <?php", "\u2039/system>\u2039b>x\u2039/b> \u2039!-- \u2039?php"),
        ("a < b -> c <= 3 <3", "a < b -> c <= 3 <3"),
        ("```sh\nmake\n````~~~~", "'''sh make ''''''"),
        ("`one` ``two`` ~~gone~~", "`one` ``two`` ~~gone~~"),
        (
            "x[-1] [\u2026 3 lines not shown] [-> stm_x]",
            "x[-1] (\u2026 3 lines not shown] (-> stm_x]",
        ),
        ("\n---\n[progressive: chars=0-1/2]", "--- (progressive: chars=0-1/2]"),
        ("\u200b\n\u2060", ""),
    ],
)
def test_what_acts_or_hides_is_gone(text: str, line: str) -> None:
    assert quoted(text, 100) == line


def test_long_texts_are_cut() -> None:
    assert quoted("word " * 100, 10) == "word word"
    assert quoted("x" * 100, 10) == "x" * 10
    assert quoted("x", 0) == ""


@given(st.text(max_size=60), st.integers(0, 80))
def test_any_text_becomes_one_harmless_line(text: str, longest: int) -> None:
    line = quoted(text, longest)
    assert len(line) <= longest
    assert line == " ".join(line.split())
    assert line.isprintable()
    assert not any(unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") for one in line)
    assert not re.search(r"<[A-Za-z/!?]|```|~~~|\[\u2026|\[->", line)
    assert quoted(line, longest) == line
