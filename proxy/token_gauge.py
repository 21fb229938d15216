"""Measure texts in o200k tokens, in this process: for the worker, whose interpreter nobody waits for.

Loading the vocabulary stops every thread for up to a second, so the engine's own process never does it
(`proxy.tokens` counts there, in a child).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from proxy.tokens import ENCODING, SURROGATES

_MEMORY_FROM = 512
"""Shorter texts are counted again faster than they are looked up and kept."""
_MEMORY_TEXTS = 64
_ESTIMATED_FROM = 256 * 1024
"""Characters of a text from which on counting takes longer than 1 ms."""
_PARTS, _PART = 16, 4096
"""Parts of a text, and the characters of each, that tell about how many tokens it has."""
_FAR = 2
"""An estimate is good enough for a text of more than so many times the limit."""
_LONG = 8192
"""Characters of a text among others that is worth remembering."""
_BATCH_FROM = 300
"""A batch starts a thread: 50 to 100 us, which fewer texts do not make up for."""

_Count = Callable[[str], int]
_BatchCount = Callable[[Sequence[str]], list[int]]


class TokenGauge:
    """A `proxy.compress.model.Gauge` of o200k tokens; lone surrogates count as U+FFFD.

    The sizes of long texts are kept until `forget`: an answer is measured by several steps in turn.
    """

    unit = "tokens"

    def __init__(self) -> None:
        """Loads the vocabulary: 0.5 to 1 s."""
        self._one, self._many = _counters()
        self._known: dict[str, int] = {}
        self._one("a")

    def size(self, text: str, /) -> int:
        """Tokens of one text; never more than its UTF-8 bytes."""
        if len(text) < _MEMORY_FROM:
            return self._fresh(text)
        known = self._known.get(text)
        if known is None:
            known = self._fresh(text)
            if len(self._known) >= _MEMORY_TEXTS:
                self._known.clear()
            self._known[text] = known
        return known

    def sizes(self, texts: Sequence[str], /) -> Sequence[int]:
        """Tokens of each text, in order."""
        if len(texts) == 1:
            return [self.size(texts[0])]
        try:
            if len(texts) < _BATCH_FROM:
                if max(map(len, texts), default=0) >= _LONG:
                    return [self.size(text) for text in texts]
                return list(map(self._one, texts))
            return self._many(texts)
        except UnicodeEncodeError:
            return self._many([SURROGATES.sub("\ufffd", text) for text in texts])

    def estimate(self, text: str, limit: int, /) -> int | None:
        """About the tokens of a long text that has far more than ``limit``, in three digits.

        ``None``: it must be counted. `size` says the same until `forget`: one answer tells one number.
        """
        length = len(text)
        if length < _ESTIMATED_FROM or text in self._known:
            return None
        last = length - _PART
        parts = [text[start : start + _PART] for start in range(0, last + 1, last // (_PARTS - 1))]
        about = sum(self.sizes(parts)) * length / sum(map(len, parts))
        if about <= _FAR * limit:
            return None
        rounded = int(float(f"{about:.2e}"))
        self._known[text] = rounded
        return rounded

    def forget(self) -> None:
        """Drop what is known about long texts, and with it the texts."""
        self._known.clear()

    def _fresh(self, text: str) -> int:
        try:
            return self._one(text)
        except UnicodeEncodeError:
            return self._one(SURROGATES.sub("\ufffd", text))


def _counters() -> tuple[_Count, _BatchCount]:
    """Count one text, and many."""
    # The package has inline types but no py.typed marker.
    import toktok  # pyright: ignore[reportMissingTypeStubs]

    def many(texts: Sequence[str]) -> list[int]:
        return toktok.batch_count(texts, ENCODING, threads=1)

    def one(text: str) -> int:
        return many([text])[0]

    # Its tokenizer counts one text in 2 us, but is reached by a name that may change.
    find: Callable[[str], object] | None = getattr(toktok, "_encoding", None)
    direct: _Count | None = None if find is None else getattr(find(ENCODING), "count", None)
    return direct or one, many
