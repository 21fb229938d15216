"""What any method has to beat: cuts, chance, and a plain ranking of sentences."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

from proxy.compress.model import Gauge

Method = Callable[[str, str, int], str | None]
"""Text, query and budget in tokens to a shorter text; ``None`` when it could not."""

SEEDS = (1, 2, 3)
_NEIGHBOUR = 0.4
_K1, _B = 1.5, 0.75


class Baselines:
    """The usual ways to shorten, all of them without announcements, which is to their advantage."""

    def __init__(self, gauge: Gauge) -> None:
        self._gauge = gauge
        self._sizes = lru_cache(maxsize=8)(self._sizes_of)

    def methods(self) -> dict[str, Method]:
        """By the name of their column."""
        return {
            "head": self.head,
            "head+tail": self.head_and_tail,
            "random": self.chance(SEEDS[0]),
            "BM25": self.bm25,
        }

    def head(self, text: str, query: str, budget: int) -> str:
        """The longest beginning."""
        return self._beginning(text, budget)

    def head_and_tail(self, text: str, query: str, budget: int) -> str:
        """60 % of the budget from the beginning, 40 % from the end."""
        head = self._beginning(text, budget * 6 // 10)
        tail = self._beginning(text[::-1], budget - budget * 6 // 10, backwards=True)
        both = f"{head}\n{tail}"
        while tail and self._gauge.size(both) > budget:
            tail = tail[8:]
            both = f"{head}\n{tail}"
        return both

    def chance(self, seed: int) -> Method:
        """Sentences by lot."""

        def pick(text: str, query: str, budget: int) -> str:
            count = len(_sentences(text))
            rng = random.Random(seed)
            return self._picked(text, [rng.random() for _ in range(count)], budget)

        return pick

    def bm25(self, text: str, query: str, budget: int) -> str:
        """Sentences by BM25, each helped by its neighbours."""
        own = _bm25(text, query)
        helped = [
            score
            + _NEIGHBOUR
            * max(own[at - 1] if at else 0.0, own[at + 1] if at + 1 < len(own) else 0.0)
            for at, score in enumerate(own)
        ]
        return self._picked(text, helped, budget)

    def _picked(self, text: str, scores: list[float], budget: int) -> str:
        sentences = _sentences(text)
        sizes = self._sizes(text)
        left = budget
        chosen: list[int] = []
        for at in sorted(range(len(sentences)), key=lambda at: (-scores[at], at)):
            if sizes[at] + 1 <= left:
                left -= sizes[at] + 1
                chosen.append(at)
            if left < 4:
                break
        chosen.sort()
        picked = "\n".join(sentences[at] for at in chosen)
        while chosen and self._gauge.size(picked) > budget:
            chosen.pop()
            picked = "\n".join(sentences[at] for at in chosen)
        return picked

    def _sizes_of(self, text: str) -> list[int]:
        return list(self._gauge.sizes(_sentences(text)))

    def _beginning(self, text: str, budget: int, *, backwards: bool = False) -> str:
        low, high = 0, min(len(text), budget * 12)
        while low < high:
            middle = (low + high + 1) // 2
            part = text[:middle]
            if self._gauge.size(part[::-1] if backwards else part) <= budget:
                low = middle
            else:
                high = middle - 1
        return text[:low][::-1] if backwards else text[:low]


_END = re.compile(r"(?<=[.!?。!?])\s+|\n+|(?<=[。!?])")
_WORD = re.compile(r"\w+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


@lru_cache(maxsize=8)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(part for part in _END.split(text) if part and not part.isspace())


def _terms(text: str) -> list[str]:
    text = text.lower()
    found = _WORD.findall(text)
    for run in _CJK.findall(text):
        found += [run[at : at + 2] for at in range(len(run) - 1)]
    return found


@lru_cache(maxsize=8)
def _counted(text: str) -> tuple[list[Counter[str]], Counter[str], float]:
    documents = [Counter(_terms(sentence)) for sentence in _sentences(text)]
    spread: Counter[str] = Counter()
    for document in documents:
        spread.update(document.keys())
    length = sum(document.total() for document in documents) / max(1, len(documents))
    return documents, spread, length or 1.0


def _bm25(text: str, query: str) -> list[float]:
    documents, spread, average = _counted(text)
    count = len(documents)
    weights = {
        term: math.log(1 + (count - spread[term] + 0.5) / (spread[term] + 0.5))
        for term in set(_terms(query))
        if spread[term]
    }
    ordered = sorted(weights)
    scores: list[float] = []
    for document in documents:
        length = _K1 * (1 - _B + _B * document.total() / average)
        scores.append(
            sum(
                weights[term] * document[term] * (_K1 + 1) / (document[term] + length)
                for term in ordered
                if document[term]
            )
        )
    return scores
