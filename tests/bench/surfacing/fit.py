"""Make the constants of `proxy.surface.calibration` again: ``python -m tests.bench.surfacing.fit``.

Three weeks on the tuning projects, with known relevance. With ``--data`` (the folder with LoCoMo that
``docs/memory-quality.md`` names) the questions of LoCoMo and the labelled facts of ``tests/bench/memory``
count, too, with a small weight each. Their labels are incomplete: there, an unlabelled hit counts as positive
in the part in which it would be one if a hit that matters is labelled with the chance `LABELLED` (Elkan and
Noto, 2008).

Loads numpy.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from config.schema import EmbedderKind
from memory.api import AddRecord, Search
from memory.model import Kind, MemoryText
from proxy.surface.calibration import MOST_EVIDENCE, overlaps_of
from tests.bench.memory import corpus, data
from tests.bench.memory.opened import ModelTime, bench_memory, note
from tests.bench.surfacing import replay
from tests.bench.surfacing.subject import TUNING, projects
from tests.bench.surfacing.week import week
from tests.memory.opening import Opened

Numbers = NDArray[np.float64]
LABELLED = 0.6
"""Share of the hits that matter which the sets label: of hits that share four words with the question, all
alike, .6 are labelled."""
OTHER_WEIGHT = 0.03
"""Of each other set, as a share of the weeks' weight."""
SEEDS = (1, 2, 3)
_FACTS = 1_200
_QUESTIONS = 500
_TOP = 10


@dataclass(frozen=True, slots=True)
class Sample:
    """One hit."""

    source: str
    cosine: float
    evidence: float
    positive: bool


def of_weeks() -> Iterator[Sample]:
    """Every different search of the tuning weeks."""
    for seed in SEEDS:
        found = replay.searched(week(projects(TUNING), seed), EmbedderKind.MINILM)
        seen: set[tuple[str, int, frozenset[int]]] = set()
        for one in found.looked:
            key = (one.search.text, one.day, one.matter)
            if one.hits and key not in seen:
                seen.add(key)
                texts = [replay.whole(hit) for hit in one.hits]
                cosines = [hit.parts.raw_similarity for hit in one.hits]
                matter = [found.keys[hit.record.id] in one.matter for hit in one.hits]
                yield from _samples("weeks", one.search.text, texts, cosines, matter)


def of_sets(folder: Path) -> Iterator[Sample]:
    """Questions of LoCoMo, some of them as one to four of their words, and questions about facts."""
    chance = random.Random(7)
    model = ModelTime()
    with model.watched(), bench_memory(EmbedderKind.MINILM) as memory:
        facts = corpus.generated(_FACTS)
        ids = {fact.key: _store(memory, fact.text, "facts") for fact in facts}
        bases = [fact for fact in facts if fact.kind is corpus.FactKind.BASE]
        for _ in range(_QUESTIONS):
            base = chance.choice(bases)
            about = {base.key} | {
                fact.key
                for fact in facts
                if fact.of == base.key and fact.kind is not corpus.FactKind.TWIN
            }
            query = _some_words(base.text, chance.choice((1, 2, 3, 4, 5, 0)), chance)
            yield from _searched("facts", memory, query, "facts", {ids[key] for key in about})
        for conversation in data.locomo(folder):
            note(conversation.name)
            turns = {
                turn.id: _store(memory, turn.text, conversation.name) for turn in conversation.turns
            }
            for question in conversation.questions:
                evidence = {turns[one] for one in question.evidence if one in turns}
                query = _some_words(question.text, chance.choice((1, 2, 3, 4, 0, 0)), chance)
                yield from _searched("locomo", memory, query, conversation.name, evidence)
            for _ in range(20):
                query = _some_words(chance.choice(bases).text, chance.choice((1, 2, 3, 0)), chance)
                yield from _searched("foreign", memory, query, conversation.name, set())


def fit(samples: Sequence[Sample], *, with_cosine: bool) -> tuple[Numbers, Numbers]:
    """Constant and coefficients, and the probability of each sample."""
    columns = [[one.evidence for one in samples]]
    if with_cosine:
        columns.insert(0, [one.cosine for one in samples])
    features = np.column_stack([np.ones(len(samples)), *columns])
    positive = np.array([one.positive for one in samples], float)
    weights = _weights(samples)
    found = _logistic(features, positive, weights)
    chance = _sigmoid(features @ found)
    open_ = np.array([one.source in ("facts", "locomo") and not one.positive for one in samples])
    part = np.clip((1 - LABELLED) / LABELLED * chance / np.maximum(1 - chance, 1e-9), 0, 1)
    every = np.vstack([features, features[open_]])
    labels = np.concatenate([positive, np.ones(int(open_.sum()))])
    shares = np.concatenate([np.where(open_, 1 - part, 1.0) * weights, (part * weights)[open_]])
    found = _logistic(every, labels, shares)
    return found, _sigmoid(features @ found)


def area_under_curve(scores: Numbers, positive: Numbers) -> float:
    """Chance that a positive one has a higher score than another one."""
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    count = positive.sum()
    others = len(positive) - count
    return float((ranks[positive == 1].sum() - count * (count + 1) / 2) / (count * others))


def _samples(
    source: str,
    query: str,
    texts: Sequence[str],
    cosines: Sequence[float],
    matter: Sequence[bool],
) -> Iterator[Sample]:
    for overlap, cosine, positive in zip(overlaps_of(query, texts), cosines, matter, strict=True):
        yield Sample(
            source, min(max(cosine, 0.0), 1.0), min(overlap.evidence, MOST_EVIDENCE), positive
        )


def _searched(
    source: str, memory: Opened, query: str, space: str, positive: set[str]
) -> Iterator[Sample]:
    if not query:
        return
    hits = memory.ask(Search(query, space, top_k=_TOP)).hits
    texts = [hit.record.text.content for hit in hits]
    cosines = [hit.parts.raw_similarity for hit in hits]
    yield from _samples(source, query, texts, cosines, [hit.record.id in positive for hit in hits])


def _store(memory: Opened, text: str, space: str) -> str:
    return memory.ask(AddRecord(Kind.SEMANTIC, MemoryText(text), space)).record.id


def _some_words(text: str, count: int, chance: random.Random) -> str:
    """So many of its words in their order; 0: the text as it is."""
    words = [word for word in text.split() if len(word) > 3]
    if count == 0 or len(words) <= count:
        return text
    return " ".join(words[place] for place in sorted(chance.sample(range(len(words)), count)))


def _weights(samples: Sequence[Sample]) -> Numbers:
    sources = np.array([one.source for one in samples])
    weights = np.ones(len(samples))
    size = (sources == "weeks").sum()
    for source in ("facts", "locomo"):
        if (sources == source).any():
            weights[sources == source] = OTHER_WEIGHT * size / (sources == source).sum()
    weights[sources == "foreign"] = OTHER_WEIGHT
    return weights


def _logistic(features: Numbers, labels: Numbers, weights: Numbers) -> Numbers:
    """By Newton's method, with hardly any ridge."""
    found = np.zeros(features.shape[1])
    for _ in range(60):
        chance = _sigmoid(features @ found)
        slope = features.T @ (weights * (labels - chance)) - 1e-3 * found
        bend = (features * (weights * chance * (1 - chance))[:, None]).T @ features
        step = np.linalg.solve(bend + 1e-3 * np.eye(len(found)), slope)
        found += step
        if np.abs(step).max() < 1e-8:
            break
    return found


def _sigmoid(values: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-np.clip(values, -30, 30)))


def _tell(name: str, constants: Numbers, chance: Numbers, samples: Sequence[Sample]) -> None:
    print(f"{name}: " + ", ".join(f"{one:.2f}" for one in constants))
    sources = np.array([one.source for one in samples])
    positive = np.array([one.positive for one in samples], float)
    for source in dict.fromkeys(one.source for one in samples):
        here = sources == source
        if positive[here].any():
            area = area_under_curve(chance[here], positive[here])
            print(f"  {source}: {int(here.sum()):,} hits, area under the curve {area:.3f}")
    here = sources == "weeks"
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        inside = here & (chance >= low) & (chance < low + 0.2)
        if inside.any():
            print(
                f"  predicted {chance[inside].mean():.2f}, observed {positive[inside].mean():.2f}"
            )


def main(arguments: Iterable[str] | None = None) -> int:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with LoCoMo; without it the weeks alone count")
    options = parser.parse_args(None if arguments is None else list(arguments))
    samples = list(of_weeks())
    if options.data:
        samples += of_sets(Path(options.data))
    for name, with_cosine in (("constant, cosine, evidence", True), ("words alone", False)):
        constants, chance = fit(samples, with_cosine=with_cosine)
        _tell(name, constants, chance, samples)
    return 0


if __name__ == "__main__":
    sys.exit(main())
