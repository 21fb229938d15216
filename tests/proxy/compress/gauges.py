"""Gauges and texts for the tests of what makes texts smaller."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from proxy.tokens import InProcessCounter

KEY = "0123456789abcdef"

TEXTS = st.one_of(
    st.text(max_size=300),
    st.text(
        alphabet=st.sampled_from(
            list("ab \n\r\t.\u0301\u200d\U0001f469\ud800\udc00中\u0e01\u0627")
        ),
        max_size=400,
    ),
    st.lists(st.text(max_size=40), max_size=40).map("\n".join),
)
"""Any text: lone surrogates, marks without a letter, every kind of line end."""

PIECES = (
    "# Title\n", "## Part\n", "text. More text follows here!\n", "\n", "```\n", "def f(a, b):\n",
    "    return 1\n", "class X:\n", "import os\n", "@@ -1,2 +1,3 @@\n", "diff --git a/x b/x\n", "--- a/x\n",
    "+++ b/x\n", "+new\n", "-old\n", "a,b,c\n", "1,2,3\n", "\"q,\n", "<p>", "</p>", "<a href='x'>", "<!--",
    "-->", "<script>", "<", ">", "&amp;", "ERROR bad 17\n", "INFO ok 12 ms\n", "  at x.y(Z.java:7)\n",
    "Caused by: Foo\n", "\u001b[31m", "\u001b]", "\r", "\r\n", "10%\r", "2026-01-01 12:00:00 WARN x=1\n",
    "{}", "|", "=", "*3\n", "\ud800", "e\u0301",
)  # fmt: skip
STRUCTURED = st.lists(st.sampled_from(PIECES), max_size=80).map("".join)
"""Texts that look like something, never quite right."""


class TokenGauge:
    """Real o200k tokens. The first count loads the vocabulary, which takes about a second."""

    unit = "tokens"

    def __init__(self) -> None:
        self._counter = InProcessCounter()

    def size(self, text: str, /) -> int:
        return self._counter([text])[0]

    def sizes(self, texts: Sequence[str], /) -> Sequence[int]:
        return self._counter(texts)

    def estimate(self, text: str, limit: int, /) -> int | None:
        return None
