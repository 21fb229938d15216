from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from proxy.compress.outliers import ERROR, failures_in
from proxy.compress.text_failures import reported

_PIECES = st.sampled_from(
    [
        *(
            "ERROR",
            "Error",
            "error",
            "errors",
            "KeyError",
            "an Exception",
            "exceptions",
            "EXCEPTION",
        ),
        *(
            "FATAL",
            "fatal",
            "Fail",
            "fails",
            "FAILED",
            "failure",
            "FAILURES",
            "CRITICAL",
            "critical",
        ),
        *("PANIC", "panicked at", "panic", "Traceback (most", "traceback", "TRACEBACK", "Fehler"),
        *(
            ":",
            "]",
            "[",
            ": ",
            "s:",
            "ss]",
            " ",
            "\n",
            ".",
            "0 ",
            "no ",
            "=0",
            ": none",
            "x",
            "E",
            "é",
        ),
    ]
)


@given(st.lists(st.lists(_PIECES, max_size=8).map("".join), min_size=1, max_size=12), st.booleans())
def test_the_same_is_reported_as_by_searching_for_each_word(
    segments: list[str], long: bool
) -> None:
    if long:  # so long that signs are looked for in it, however many there are
        segments = [*segments, " and so on" * 800]
    text = "\n".join(segments)
    starts = [0, *accumulate(len(segment) + 1 for segment in segments)][:-1]

    found = reported(text, text.lower(), starts)

    assert found == failures_in(text, text.lower(), starts, strict=True)


def test_a_text_in_capitals_is_searched_for_the_words() -> None:
    text = "EVERY FACT OF THE PAPER CAN BE CHECKED. " * 200 + "ERROR: IT CANNOT."

    assert reported(text, text.lower(), [0, len(text) - 17]) == {1: ERROR}
