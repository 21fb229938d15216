"""How much of a result a model may be shown, text by text."""

from __future__ import annotations

from dataclasses import dataclass

from proxy.answer import ParsedAnswer
from proxy.compress.model import Gauge

FEW_TEXTS = 8
"""Texts that are measured one by one; more are measured faster together."""


@dataclass(frozen=True, slots=True)
class AnswerSizes:
    """The measure of each text, and of the structured content."""

    blocks: tuple[int, ...]
    structured: int
    exact: bool = True
    """Otherwise a text far above the budget was estimated."""

    @property
    def all(self) -> tuple[int, ...]:
        """Both together."""
        return (*self.blocks, self.structured)


def sizes_of(answer: ParsedAnswer, gauge: Gauge, budget: int | None = None) -> AnswerSizes:
    """Measure all that a model may be shown. With a ``budget``, a lone text far above it is estimated."""
    texts = [block.text for block in answer.blocks]
    structured = gauge.size(answer.structured or "")
    if budget is not None and len(texts) == 1:
        about = gauge.estimate(texts[0], budget)
        if about is not None:
            return AnswerSizes((about,), structured, exact=False)
    # A gauge remembers what it was asked one by one, and these are asked for again.
    sizes = map(gauge.size, texts) if len(texts) <= FEW_TEXTS else gauge.sizes(texts)
    return AnswerSizes(tuple(sizes), structured)
