"""CLEAN → COMPRESS on one tool result: the only place where the stages meet. Pure.

A result within its budget is left alone. Over it, every text and the structured content get shares of
the budget, are made smaller on their own, and are put back in their places; then the whole is measured
once more, so that the budget holds for any payload. Runs in the worker process.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext

import msgspec

from proxy import wire
from proxy.answer import (
    CLEANED,
    ParsedAnswer,
    held_text,
    key_of,
    key_of_bytes,
    parse_answer,
    rebuild,
)
from proxy.answer_draft import AnswerDraft
from proxy.answer_sizes import sizes_of
from proxy.compress.clean import clean
from proxy.compress.detect import detect
from proxy.compress.model import (
    CharacterGauge,
    Gauge,
)
from proxy.compress.retrieve import read_more, select_chunks
from proxy.jobs import (
    HeldPart,
    Job,
    Outcome,
    ReadJob,
    Reduced,
    ReduceJob,
    SelectJob,
    WhatIfJob,
)
from proxy.measure import Measured, utf8_length
from proxy.model import Sizes
from proxy.stage_clock import StageClock
from proxy.what_if import compare


def run(job: Job, gauge: Gauge) -> Outcome:
    """Do one job. ``gauge`` counts tokens."""
    match job:
        case ReduceJob():
            clock = StageClock()
            reduced = _measured(*_reduce(job, gauge, clock), gauge)
            return msgspec.structs.replace(
                reduced, clean_ms=clock.clean_ms, compress_ms=clock.compress_ms
            )
        case ReadJob():
            text = _text_at(job.body, job.pointer)
            unit = _gauge(job.unit, gauge)
            return read_more(text, job.key, job.offset, job.limit, job.budget, unit)
        case SelectJob():
            text = _text_at(job.body, job.pointer)
            unit = _gauge(job.unit, gauge)
            return select_chunks(text, detect(text), job.key, job.sections, job.budget, unit)
        case WhatIfJob():
            return compare(job, gauge, reduce_answer)


def reduce_answer(job: ReduceJob, gauge: Gauge) -> Reduced:
    """The result within its budget, or word that it may stay as it is."""
    return _reduce(job, gauge, StageClock())[0]


def _reduce(
    job: ReduceJob, gauge: Gauge, clock: StageClock
) -> tuple[Reduced, ParsedAnswer | None, ParsedAnswer | None]:
    """What becomes of a result; the result as it was read, unless it was only estimated; and as it goes out
    when it is another."""
    try:
        answer = parse_answer(job.body)
    except wire.MalformedMessage as error:
        return Reduced(fault=f"the result could not be read: {error.reason}"), None, None
    unit = _gauge(job.unit, gauge)
    before = sizes_of(answer, unit, job.budget)
    tokens = sum(before.all) if job.unit == "tokens" else sum(sizes_of(answer, gauge).all)
    if sum(before.all) <= job.budget:
        with clock.cleaning() if job.clean else nullcontext():
            cleaned_only = _cleaned_only(job, answer, tokens, gauge)
        after = parse_answer(cleaned_only.body) if cleaned_only.body else answer
        return cleaned_only, answer, after
    draft = AnswerDraft(job, answer, before, unit, clock)
    with clock.compressing():
        if not draft.difference():
            draft.shares()
        body = draft.body()
        after = parse_answer(body)
        sent = sum(sizes_of(after, unit).all)
        if sent > job.budget:
            draft.last_resort()
            body = draft.body()
            after = parse_answer(body)
            sent = sum(sizes_of(after, unit).all)
    reduced = Reduced(
        body,
        draft.strategy.value,
        draft.key,
        tuple(draft.parts),
        tokens,
        sent if job.unit == "tokens" else sum(sizes_of(after, gauge).all),
        draft.overhead,
    )
    # What was estimated is counted for the record by another process, when the answer has left.
    return reduced, answer if before.exact else None, after


def _measured(
    reduced: Reduced, answer: ParsedAnswer | None, after: ParsedAnswer | None, gauge: Gauge
) -> Reduced:
    """Measure both results as the record wants it: nobody has to read and count them again.

    What is not only texts is left to the recorder.
    """
    before = None if answer is None else _measure_texts(answer, gauge)
    sent = before if after is answer or after is None else _measure_texts(after, gauge)
    return msgspec.structs.replace(reduced, before=before, after=sent)


def _measure_texts(answer: ParsedAnswer, gauge: Gauge) -> Measured | None:
    """`proxy.measure.measure` of a result that consists of texts."""
    plain = all(block.pointer == f"/content/{block.index}/text" for block in answer.blocks)
    if answer.structured is not None or not plain or len(answer.blocks) != len(answer.items):
        return None
    texts = [block.text for block in answer.blocks]
    sizes = Sizes(
        sum(map(utf8_length, texts)),
        sum(map(len, texts)),
        sum(gauge.sizes(texts)),
    )
    return Measured(Sizes(), sizes, Sizes(), 0)


def _cleaned_only(job: ReduceJob, answer: ParsedAnswer, tokens: int, gauge: Gauge) -> Reduced:
    """Within the budget: as it is, unless the operator wants noise removed all the same."""
    if not job.clean or answer.is_error:
        return Reduced(before_tokens=tokens, sent_tokens=tokens)
    texts: dict[int, str] = {}
    parts: list[HeldPart] = []
    for block in answer.blocks:
        text = clean(block.text, detect(block.text))
        if text != block.text and text:
            texts[block.index] = text
            parts.append(HeldPart(key_of(block.text), block.pointer))
    if not texts:
        return Reduced(before_tokens=tokens, sent_tokens=tokens)
    key = key_of_bytes(job.body)
    about: Mapping[str, object] = (
        {"cleaned": True, "key": key} if job.handles else {"cleaned": True}
    )
    body = rebuild(answer, texts, structured=answer.structured, about=about)
    sent = sum(sizes_of(parse_answer(body), gauge).all)
    return Reduced(body, "clean", key, tuple(parts), tokens, sent)


def _gauge(unit: str, tokens: Gauge) -> Gauge:
    return CharacterGauge() if unit == "characters" else tokens


def _text_at(body: bytes, pointer: str) -> str:
    text = held_text(body, pointer)
    return clean(text, detect(text)) if pointer.startswith(CLEANED) else text
