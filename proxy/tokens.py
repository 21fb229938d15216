"""Count tokens with the o200k vocabulary that ships in a package: exact and offline."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

ENCODING = "o200k_base"
"""The vocabulary's name; stored beside the figures."""

SURROGATES = re.compile("[\ud800-\udfff]")


class TokenCounter(Protocol):
    """Counts the tokens of texts."""

    def __call__(self, texts: Sequence[str], /) -> Sequence[int]:
        """Tokens of each text, in order. Any text is taken; lone surrogates count as U+FFFD."""
        ...

    def close(self) -> None:
        """Free what counting needs. Counting again afterwards is allowed and starts anew."""
        ...


class InProcessCounter:
    """Counts in this process. The first count stops every thread for up to a second."""

    def __call__(self, texts: Sequence[str], /) -> Sequence[int]:
        # The package has inline types but no py.typed marker.
        from toktok import batch_count  # pyright: ignore[reportMissingTypeStubs]

        try:
            return batch_count(texts, ENCODING, threads=1)
        except UnicodeEncodeError:
            whole = [SURROGATES.sub("\ufffd", text) for text in texts]
            return batch_count(whole, ENCODING, threads=1)

    def close(self) -> None:
        """Nothing to free: the vocabulary stays loaded."""
