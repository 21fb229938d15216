"""Vectors of recent queries, so that a repeated question costs nothing. Loads numpy."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from memory.embedding.port import Embedder, Floats, ModelProfile

MOST_QUERIES = 512
"""A vector of 1,024 dimensions takes 4 KB."""
LONGEST_QUERY = 4_096
"""Characters; longer queries are not remembered, so that the memory that they take is bounded."""


class CachedEmbedder:
    """An embedder that remembers the queries it was asked last. Documents pass through."""

    def __init__(self, embedder: Embedder, most: int = MOST_QUERIES) -> None:
        """``most``: queries that are remembered; what was asked longest ago goes first."""
        self._embedder = embedder
        self._most = most
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, Floats] = OrderedDict()

    @property
    def profile(self) -> ModelProfile:
        """What the embedder makes. Raises `EmbedderUnavailable` as that does."""
        return self._embedder.profile

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """As the embedder does."""
        return self._embedder.embed_documents(texts)

    def embed_query(self, text: str) -> Floats:
        """The remembered vector or a new one; it cannot be written to. Raises `EmbedderUnavailable`."""
        with self._lock:
            known = self._vectors.get(text)
            if known is not None:
                self._vectors.move_to_end(text)
                return known
        vector = self._embedder.embed_query(text).copy()
        vector.flags.writeable = False
        if len(text) <= LONGEST_QUERY:
            with self._lock:
                self._vectors[text] = vector
                self._vectors.move_to_end(text)
                while len(self._vectors) > self._most:
                    self._vectors.popitem(last=False)
        return vector

    def forget(self) -> None:
        """Remember nothing any more; part of erasing texts for good."""
        with self._lock:
            self._vectors.clear()

    def rest(self) -> None:
        """As the embedder does; what is remembered stays."""
        self._embedder.rest()

    def close(self) -> None:
        """Forget and close the embedder."""
        self.forget()
        self._embedder.close()
