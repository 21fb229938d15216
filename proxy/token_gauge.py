"""Measure texts in o200k tokens, in this process: for the worker, whose interpreter nobody waits for.

Loading the vocabulary stops every thread for up to a second, so the engine's own process never does it
(`proxy.tokens` counts there, in a child).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from proxy.tokens import ENCODING

_SURROGATES = re.compile("[\ud800-\udfff]")
_MEMORY_FROM = 512
"""Shorter texts are counted again faster than they are looked up and kept."""
_MEMORY_TEXTS = 64

_BatchCount = Callable[..., list[int]]


class TokenGauge:
    """A `proxy.compress.model.Gauge` of o200k tokens; lone surrogates count as U+FFFD.

    The sizes of long texts are kept until `forget`: an answer is measured by several steps in turn.
    """

    unit = "tokens"

    def __init__(self) -> None:
        """Loads the vocabulary: 0.5 to 1 s."""
        # The package has inline types but no py.typed marker.
        from toktok import batch_count  # pyright: ignore[reportMissingTypeStubs]

        self._count: _BatchCount = batch_count
        self._known: dict[str, int] = {}
        self._count(["a"], ENCODING, threads=1)

    def size(self, text: str, /) -> int:
        """Tokens of one text; never more than its UTF-8 bytes."""
        if not text:
            return 0
        if len(text) < _MEMORY_FROM:
            return self._fresh([text])[0]
        known = self._known.get(text)
        if known is None:
            known = self._fresh([text])[0]
            if len(self._known) >= _MEMORY_TEXTS:
                self._known.clear()
            self._known[text] = known
        return known

    def sizes(self, texts: Sequence[str], /) -> Sequence[int]:
        """Tokens of each text, in order."""
        if not texts:
            return []
        if len(texts) == 1:
            return [self.size(texts[0])]
        return self._fresh(texts)

    def forget(self) -> None:
        """Drop what is known about long texts, and with it the texts."""
        self._known.clear()

    def _fresh(self, texts: Sequence[str]) -> list[int]:
        try:
            return self._count(texts, ENCODING, threads=1)
        except UnicodeEncodeError:
            return self._count(
                [_SURROGATES.sub("\ufffd", text) for text in texts], ENCODING, threads=1
            )
