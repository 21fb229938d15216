"""What vectors cost: of one question, of many texts, and of finding the nearest among many."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from memory.embedding.hashing import HashingEmbedder
from memory.embedding.minilm import MiniLmEmbedder
from memory.vectors.brute import BruteIndex
from memory.vectors.chroma import ChromaIndex
from memory.vectors.port import Floats, Mask, VectorIndex
from tests.bench.report import Row, Table

DIMS = 384
_NEAREST = 100
_SHORT = "The service {} listens on port {} and restarts every night."
_LONG = (
    "Meeting {}, service {}. "
    + "We decided to move the deployment of this service to Friday. " * 14
)


async def run(rounds: int) -> list[Table]:
    """Embedders, exact search by size and filter, and Chroma beside it."""
    return [_embedders(rounds), _searches(rounds)]


def _embedders(rounds: int) -> Table:
    rows: list[Row] = []
    for name, make in (("minilm", MiniLmEmbedder), ("words", HashingEmbedder)):
        embedder = make()
        loading = _seconds(lambda embedder=embedder: embedder.embed_query("first"))
        rows.append(
            {
                "embedder": name,
                "load ms": loading * 1000,
                "question ms": _median_ms(
                    lambda at, embedder=embedder: embedder.embed_query(_SHORT.format(at, at)),
                    20 * rounds,
                ),
                "short texts/s": _per_second(embedder.embed_documents, _SHORT, 40 * rounds),
                "texts of 170 tokens/s": _per_second(embedder.embed_documents, _LONG, 8 * rounds),
            }
        )
        embedder.close()
    return Table("Vectors of texts", rows)


def _searches(rounds: int) -> Table:
    rows: list[Row] = []
    for count in (10_000, 100_000):
        vectors = np.random.default_rng(1).normal(size=(count, DIMS)).astype(np.float32)
        brute = BruteIndex()
        brute.ensure("bench", DIMS)
        brute.upsert(np.arange(count), vectors)
        rows.append(_search(f"in memory, {count:,}", brute, vectors, rounds))
        brute.close()
    with tempfile.TemporaryDirectory(prefix="mms-bench-") as folder:
        count = 5_000
        vectors = np.random.default_rng(1).normal(size=(count, DIMS)).astype(np.float32)
        chroma = ChromaIndex(Path(folder, "chroma"))
        chroma.ensure("bench", DIMS)
        chroma.upsert(np.arange(count), vectors)
        rows.append(_search(f"Chroma, {count:,}", chroma, vectors, rounds))
        chroma.close()
    return Table(f"The {_NEAREST} nearest of many vectors, {DIMS} dimensions, milliseconds", rows)


def _search(name: str, index: VectorIndex, vectors: Floats, rounds: int) -> Row:
    count = len(vectors)
    random = np.random.default_rng(2)
    questions = random.normal(size=(20 * rounds, DIMS)).astype(np.float32)

    def median(share: float | None) -> float:
        mask: Mask | None = None if share is None else random.random(count) < share
        return _median_ms(lambda at: index.query(questions[at], _NEAREST, mask), 20 * rounds)

    return {
        "index": name,
        "all": median(None),
        "90 %": median(0.9),
        "30 %": median(0.3),
        "1 %": median(0.01),
        "put one in": _median_ms(
            lambda at: index.upsert(np.array([at]), vectors[at : at + 1]), 4 * rounds
        ),
    }


def _per_second(embed: Callable[[list[str]], object], pattern: str, count: int) -> float:
    texts = [pattern.format(at, at) for at in range(count)]
    return count / _seconds(lambda: embed(texts))


def _median_ms(act: Callable[[int], object], times: int) -> float:
    return 1000 * statistics.median(_seconds(lambda at=at: act(at)) for at in range(times))


def _seconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started
