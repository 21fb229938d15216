"""The language model, loaded once for all tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memory.embedding.minilm import MiniLmEmbedder


@pytest.fixture(scope="session")
def minilm() -> Iterator[MiniLmEmbedder]:
    """Loaded with the first text."""
    embedder = MiniLmEmbedder()
    yield embedder
    embedder.close()
