"""Remembered vectors of queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from memory.embedding.cache import LONGEST_QUERY, CachedEmbedder
from memory.embedding.hashing import PROFILE, HashingEmbedder
from memory.embedding.port import EmbedderUnavailable, Floats, ModelProfile


class _Counting:
    """Keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.closed = False
        self.fails = False

    @property
    def profile(self) -> ModelProfile:
        return PROFILE

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        self.asked += texts
        return HashingEmbedder().embed_documents(texts)

    def embed_query(self, text: str) -> Floats:
        if self.fails:
            raise EmbedderUnavailable("away")
        return self.embed_documents([text])[0]

    def close(self) -> None:
        self.closed = True


def test_a_repeated_query_is_not_computed_again() -> None:
    inner = _Counting()
    cached = CachedEmbedder(inner)
    first = cached.embed_query("where?")
    assert cached.embed_query("where?") is first
    assert inner.asked == ["where?"]
    assert np.array_equal(first, HashingEmbedder().embed_query("where?"))


def test_nobody_can_change_a_remembered_vector() -> None:
    vector = CachedEmbedder(_Counting()).embed_query("where?")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1.0


def test_what_was_asked_longest_ago_is_forgotten_first() -> None:
    inner = _Counting()
    cached = CachedEmbedder(inner, most=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.embed_query(text)
    assert inner.asked == ["a", "b", "c", "b"]


def test_failures_and_very_long_queries_are_not_remembered() -> None:
    inner = _Counting()
    cached = CachedEmbedder(inner)
    inner.fails = True
    with pytest.raises(EmbedderUnavailable):
        cached.embed_query("where?")
    inner.fails = False
    cached.embed_query("where?")
    for _ in range(2):
        cached.embed_query("x" * (LONGEST_QUERY + 1))
    assert len(inner.asked) == 3


def test_it_can_be_told_to_forget() -> None:
    inner = _Counting()
    cached = CachedEmbedder(inner)
    cached.embed_query("where?")
    cached.forget()
    cached.embed_query("where?")
    assert inner.asked == ["where?", "where?"]


def test_documents_pass_through_and_closing_closes() -> None:
    inner = _Counting()
    cached = CachedEmbedder(inner)
    for _ in range(2):
        cached.embed_documents(["a", "b"])
    assert inner.asked == ["a", "b", "a", "b"]
    assert cached.profile is PROFILE
    cached.close()
    assert inner.closed
