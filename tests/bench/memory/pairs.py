"""Contradictions between single sentences, and false flags among natural neighbours. Loads numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from memory.compare import NEAR_FROM, compare, content_words, is_candidate
from memory.embedding.minilm import MiniLmEmbedder
from memory.embedding.port import Floats
from memory.model import PairEvidence
from tests.bench.memory.data import Pair

NEAREST = 5
Embed = Callable[[Sequence[str]], Floats]


@dataclass(frozen=True, slots=True)
class Judged:
    """How well contradictions were told from everything else."""

    pairs: int
    contradictions: int
    recall: float
    precision: float


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Statements of one conversation that are alike; hardly any of them contradict each other."""

    facts: int
    pairs: int
    flagged: int
    examples: tuple[str, ...]

    @property
    def share(self) -> float:
        """Of the pairs that were flagged."""
        return self.flagged / self.pairs if self.pairs else 0.0


def judge(pairs: Sequence[Pair]) -> Judged:
    """Each pair as the memory would judge it when the second text is stored after the first."""
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.one, pair.other)))
    vectors = dict(zip(texts, _vectors(texts), strict=True))
    hits = flags = 0
    for pair in pairs:
        cosine = float(vectors[pair.one] @ vectors[pair.other])
        evidence = _evidence(pair.one, pair.other, cosine)
        if evidence is not None and evidence.contradicts:
            flags += 1
            hits += pair.contradicts
    contradictions = sum(pair.contradicts for pair in pairs)
    return Judged(len(pairs), contradictions, hits / contradictions, hits / flags if flags else 0.0)


def neighbours(groups: Sequence[Sequence[str]]) -> Neighbours:
    """Every fact beside those of the `NEAREST` of its group that are near enough to be compared."""
    pairs = flagged = 0
    examples: list[str] = []
    for facts in groups:
        if len(facts) < 2:
            continue
        vectors = _vectors(facts)
        cosines = vectors @ vectors.T
        np.fill_diagonal(cosines, -1.0)
        nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :NEAREST]
        both = {(min(n, int(m)), max(n, int(m))) for n, row in enumerate(nearest) for m in row}
        for older, newer in sorted(both):
            cosine = float(cosines[older, newer])
            if cosine < NEAR_FROM:
                continue
            evidence = _evidence(facts[older], facts[newer], cosine)
            if evidence is None:
                continue
            pairs += 1
            if evidence.contradicts:
                flagged += 1
                examples.append(f"{facts[older]} / {facts[newer]}")
    return Neighbours(sum(map(len, groups)), pairs, flagged, tuple(examples))


def _evidence(older: str, newer: str, cosine: float) -> PairEvidence | None:
    """``None``: the pair is not worth comparing."""
    if not is_candidate(content_words(older), content_words(newer), cosine):
        return None
    return compare(older, newer, cosine)


def _vectors(texts: Sequence[str]) -> Floats:
    embedder = MiniLmEmbedder()
    try:
        return embedder.embed_documents(texts)
    finally:
        embedder.close()
