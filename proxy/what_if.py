"""The same answer under several strategies side by side: size, facts, time. Pure.

Every variant is made by the function that makes real answers, so what is shown is what would be sent.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from config.schema import Compression
from proxy import wire
from proxy.answer import ParsedAnswer, parse_answer
from proxy.answer_model import FactCounts, Variant
from proxy.compress.detect import detect
from proxy.compress.lossless_json import NotEncodable, decode
from proxy.compress.lossless_log import unfold_log
from proxy.compress.model import JSON_TYPES, ContentType, Gauge
from proxy.facts import Fact, all_retained, facts_of, judge
from proxy.jobs import Compared, Reduced, ReduceJob, WhatIfJob
from proxy.loose_json import compact

Reduce = Callable[[ReduceJob, Gauge], Reduced]

SHOWN_LIMIT = 512 * 1024
"""Characters of a variant's text that are handed on; a screen shows less."""

_ALWAYS = (
    Compression.AUTO,
    Compression.EXTRACT,
    Compression.HYBRID,
    Compression.SELECTIVE,
    Compression.PROGRESSIVE,
    Compression.TRUNCATE,
)
_FOR_JSON = (Compression.LOSSLESS, Compression.EXTRACT_FIELDS, Compression.SCHEMA_PRUNING)
_OUTLINED = frozenset(
    {
        ContentType.MARKDOWN,
        ContentType.HTML,
        ContentType.XML,
        ContentType.CODE,
        ContentType.DIFF,
        ContentType.TABLE,
    }
)


def strategies_for(content: ContentType) -> tuple[Compression, ...]:
    """The strategies worth comparing for this type of content, in the order to show them."""
    if content in JSON_TYPES:
        return (*_ALWAYS, *_FOR_JSON)
    if content is ContentType.LOG:
        return (*_ALWAYS, Compression.LOSSLESS)
    if content in _OUTLINED:
        return (*_ALWAYS, Compression.SKELETON)
    return _ALWAYS


def compare(job: WhatIfJob, gauge: Gauge, reduce: Reduce) -> Compared:
    """Make each variant. ``gauge`` counts tokens; ``reduce`` is `proxy.pipeline.reduce_answer`.

    Raises `proxy.wire.MalformedMessage` when the original is no result, and `ValueError` for the name
    of an unknown strategy.
    """
    answer = parse_answer(job.body)
    texts = _texts(answer)
    before = _joined(texts)
    facts = facts_of(before)
    content = detect(max(texts, key=len, default=""))
    asked = tuple(map(Compression, job.strategies)) or strategies_for(content)
    before_tokens = _tokens(answer, gauge)
    variants = tuple(
        _variant(job, strategy, before_tokens, before, facts, gauge, reduce) for strategy in asked
    )
    return Compared(
        content.value,
        before_tokens,
        before[:SHOWN_LIMIT],
        _sent(job, facts, gauge),
        variants,
    )


def _variant(
    job: WhatIfJob,
    strategy: Compression,
    before_tokens: int,
    before: str,
    facts: tuple[Fact, ...],
    gauge: Gauge,
    reduce: Reduce,
) -> Variant:
    reduced = Reduced()
    started = time.perf_counter()
    if strategy is not Compression.NONE:
        reduced = reduce(
            ReduceJob(
                job.body,
                strategy.value,
                job.budget,
                query=job.query,
                told=job.told,
                output_schema=job.output_schema,
            ),
            gauge,
        )
    milliseconds = (time.perf_counter() - started) * 1000
    if not reduced.body:  # within the budget, or it cannot be made smaller: relayed as it is
        return Variant(
            Compression.NONE.value,
            strategy.value,
            job.budget,
            before_tokens,
            before[:SHOWN_LIMIT],
            all_retained(facts),
            milliseconds,
        )
    answer = parse_answer(reduced.body)
    texts = _texts(answer)
    return Variant(
        reduced.strategy,
        strategy.value,
        job.budget,
        _tokens(answer, gauge),
        _joined(texts)[:SHOWN_LIMIT],
        _judged(facts, texts, reduced.strategy, held=bool(reduced.key)),
        milliseconds,
    )


def _sent(job: WhatIfJob, facts: tuple[Fact, ...], gauge: Gauge) -> Variant | None:
    """What the host was really sent. The original is held, or there would be no job."""
    if not job.sent:
        return None
    try:
        answer = parse_answer(job.sent)
    except wire.MalformedMessage:
        return None
    texts = _texts(answer)
    strategy = job.sent_strategy or Compression.NONE.value
    return Variant(
        strategy,
        strategy,
        job.budget,
        _tokens(answer, gauge),
        _joined(texts)[:SHOWN_LIMIT],
        _judged(facts, texts, strategy, held=True),
        0.0,
    )


def _judged(facts: tuple[Fact, ...], texts: list[str], strategy: str, *, held: bool) -> FactCounts:
    if strategy == Compression.LOSSLESS.value:
        if len(texts) == 1:
            return all_retained(facts)  # it is only used after it was decoded and compared
        texts = [_rebuilt(text) for text in texts]  # the strategy is that of the largest text
    return judge(facts, _joined(texts), None, held_whole=held)


def _rebuilt(text: str) -> str:
    """What a lossless form stands for; any other text as it is."""
    try:
        if text[:1] == "{":
            return decode(text).decode("utf-8", "surrogatepass")
        return unfold_log(text)
    except (NotEncodable, wire.MalformedMessage, ValueError):
        return text


def _texts(answer: ParsedAnswer) -> list[str]:
    """The texts of a result; structured content only when it is not the text once more."""
    texts = [block.text for block in answer.blocks]
    if answer.structured is not None and not (
        len(texts) == 1 and _compact(texts[0]) == _compact(answer.structured)
    ):
        texts.append(answer.structured)
    return texts


def _compact(text: str) -> bytes:
    return compact(text.encode("utf-8", "surrogatepass"))


def _joined(texts: list[str]) -> str:
    return "\n\n".join(texts)


def _tokens(answer: ParsedAnswer, gauge: Gauge) -> int:
    return sum(gauge.sizes([*(block.text for block in answer.blocks), answer.structured or ""]))
