"""Vectors of words without a model: every word, pair of neighbours and part of a word has a place and a sign.

Feature hashing with signs (Weinberger and others, 2009), term frequency damped by a square root. The same
text gives the same vector in every process and on every machine. It only sees equal words and, by their
parts, related forms of them ("deploy", "deployment"): the profile says so (`lexical`).
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from memory.embedding.port import EmbedderUnavailable, Floats, ModelProfile
from memory.embedding.unit import unit_rows

DIMS = 1024
_PAIR_WEIGHT = 0.3
"""A pair of neighbours counts less than its words, so that their order refines and does not dominate."""
_PARTS_WEIGHT = 0.8
"""All parts of a word together."""
_PART_LENGTH = 4
_LITTLE_WEIGHT = 0.3
_LITTLE = "a an and are as at be been by for from in is it its of on or that the there this to was were with"
_LITTLE_WORDS = frozenset(_LITTLE.split())
"""English words that say little. Negations are not among them."""
_RECIPE = (
    f"words + {_PAIR_WEIGHT} pairs + {_PARTS_WEIGHT} parts of {_PART_LENGTH}, square root, blake2b, nfkc, "
    f"{DIMS}, {_LITTLE_WEIGHT} {_LITTLE}"
)
_DIGEST = hashlib.sha256(_RECIPE.encode()).hexdigest()
_WORD = re.compile(r"\w+")

PROFILE = ModelProfile(
    id=f"hashing-{DIMS}-{_DIGEST[:8]}",
    provider="hashing",
    name="words",
    dims=DIMS,
    max_tokens=0,
    digest=_DIGEST,
    duplicate_cosine=0.92,
    neighbour_cosine=0.35,
    fusion_alpha=0.3,
    lexical=True,
)


class HashingEmbedder:
    """The embedder that always works."""

    def __init__(self) -> None:
        self._closed = False

    @property
    def profile(self) -> ModelProfile:
        """What it makes."""
        return PROFILE

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """One unit vector per text. Raises `EmbedderUnavailable` after `close`."""
        if self._closed:
            raise EmbedderUnavailable("The embedder of words was closed.")
        rows = np.zeros((len(texts), DIMS), dtype=np.float64)
        for row, text in zip(rows, texts, strict=True):
            _fill(row, text)
        return unit_rows(rows)

    def embed_query(self, text: str) -> Floats:
        """A query is treated as a document."""
        return self.embed_documents([text])[0]

    def rest(self) -> None:
        """There is nothing to free."""

    def close(self) -> None:
        """There is nothing to free."""
        self._closed = True


def _fill(row: NDArray[np.float64], text: str) -> None:
    for feature, weight in _features(text):
        place, sign = _place(feature)
        row[place] += sign * weight
    if not row.any():
        # No words at all, or words that cancel each other out exactly: the text as a whole.
        place, sign = _place(f"={text}")
        row[place] = sign


def _features(text: str) -> Iterator[tuple[str, float]]:
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    for word, times in Counter(words).items():
        often = math.sqrt(times)
        if word in _LITTLE_WORDS:
            yield word, _LITTLE_WEIGHT * often
            continue
        yield word, often
        framed = f"<{word}>"
        parts = [framed[at : at + _PART_LENGTH] for at in range(len(framed) - _PART_LENGTH + 1)]
        for part in parts:
            yield f"#{part}", _PARTS_WEIGHT * often / math.sqrt(len(parts))
    for pair, times in Counter(pairwise(words)).items():
        yield " ".join(pair), _PAIR_WEIGHT * math.sqrt(times)


@lru_cache(maxsize=32_768)
def _place(feature: str) -> tuple[int, float]:
    """Where a feature counts, and whether for or against."""
    digest = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(digest, "little")
    return number % DIMS, 1.0 if number >> 63 else -1.0
