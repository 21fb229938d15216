"""An answer under other settings: made by the real stages or, where only the bookkeeping matters, fakes."""

from __future__ import annotations

import json

import pytest

from config.schema import Compression
from proxy.answer import key_of_bytes
from proxy.compress.lossless_json import encode, parse
from proxy.compress.model import CharacterGauge, ContentType, Gauge
from proxy.jobs import Reduced, ReduceJob, WhatIfJob
from proxy.pipeline import reduce_answer
from proxy.what_if import compare, strategies_for

TEXT = "".join(f"name{n}: {n * 7}\n" for n in range(200)) + "fatal: no space left\n"


def _result(text: str, **members: object) -> bytes:
    return json.dumps({"content": [{"type": "text", "text": text}], **members}).encode()


def _halved(job: ReduceJob, gauge: Gauge) -> Reduced:
    """A strategy that sends the first half."""
    text = json.loads(job.body)["content"][0]["text"]
    assert job.handles
    body = _result(text[: len(text) // 2])
    return Reduced(body, job.strategy, key_of_bytes(job.body))


def _untouched(job: ReduceJob, gauge: Gauge) -> Reduced:
    return Reduced()


def _job(
    text: str = TEXT, strategies: tuple[str, ...] = ("truncate",), **more: object
) -> WhatIfJob:
    return WhatIfJob(_result(text), strategies, 1_000, **more)  # pyright: ignore[reportArgumentType]


def test_each_strategy_becomes_a_variant_in_the_order_asked_for() -> None:
    found = compare(_job(strategies=("hybrid", "extract")), CharacterGauge(), _halved)
    assert [(variant.asked, variant.strategy) for variant in found.variants] == [
        ("hybrid", "hybrid"),
        ("extract", "extract"),
    ]
    assert found.before_tokens == len(TEXT)
    assert found.before_text == TEXT
    for variant in found.variants:
        assert variant.text == TEXT[: len(TEXT) // 2]
        assert variant.tokens == len(variant.text)
        assert variant.budget_tokens == 1_000
        assert variant.milliseconds >= 0


def test_what_was_cut_counts_as_recoverable_with_a_handle_and_as_lost_without() -> None:
    with_handle = compare(_job(), CharacterGauge(), _halved).variants[0].facts
    assert with_handle.lost == 0
    assert with_handle.retained + with_handle.recoverable == with_handle.total == 201
    assert with_handle.missing_examples[0] == "fatal: no space left"

    def without(job: ReduceJob, gauge: Gauge) -> Reduced:
        return Reduced(_halved(job, gauge).body, job.strategy)

    facts = compare(_job(), CharacterGauge(), without).variants[0].facts
    assert facts.lost == with_handle.recoverable
    assert facts.lost_examples[0] == "fatal: no space left"


def test_a_variant_that_stays_as_it_is_says_none_and_retains_everything() -> None:
    variant = compare(_job(strategies=("auto",)), CharacterGauge(), _untouched).variants[0]
    assert (variant.strategy, variant.asked) == ("none", "auto")
    assert variant.tokens == len(TEXT)
    assert variant.facts.retained == variant.facts.total > 0


def test_none_is_the_whole_answer_whatever_the_budget() -> None:
    variant = compare(_job(strategies=("none",)), CharacterGauge(), _halved).variants[0]
    assert variant.text == TEXT


def test_what_was_sent_stands_beside_the_variants_when_it_is_known() -> None:
    sent = _result("name1: 7")
    found = compare(_job(sent=sent, sent_strategy="extract"), CharacterGauge(), _halved)
    assert found.sent is not None
    assert (found.sent.strategy, found.sent.tokens, found.sent.facts.retained) == ("extract", 8, 1)
    assert compare(_job(), CharacterGauge(), _halved).sent is None
    assert compare(_job(sent=b"not json"), CharacterGauge(), _halved).sent is None


def test_structured_content_that_repeats_the_text_is_shown_once_and_counted_twice() -> None:
    body = _result('{"a": 1}', structuredContent={"a": 1})
    found = compare(WhatIfJob(body, ("auto",), 5), CharacterGauge(), _untouched)
    assert found.before_text == '{"a": 1}'
    assert found.before_tokens == 16
    other = _result("see there", structuredContent={"port": 8080})
    found = compare(WhatIfJob(other, ("auto",), 5), CharacterGauge(), _untouched)
    assert found.before_text == 'see there\n\n{"port": 8080}'


def test_without_names_the_strategies_that_suit_the_content_are_compared() -> None:
    rows = json.dumps([{"id": n, "name": f"row {n}"} for n in range(100)])
    found = compare(_job(rows, ()), CharacterGauge(), _halved)
    assert found.content == "json array"
    assert [variant.asked for variant in found.variants] == [
        strategy.value for strategy in strategies_for(ContentType.JSON_ARRAY)
    ]
    assert "lossless" in [variant.asked for variant in found.variants]


@pytest.mark.parametrize("content", list(ContentType))
def test_every_type_has_strategies_and_none_twice(content: ContentType) -> None:
    chosen = strategies_for(content)
    assert chosen[0] is Compression.AUTO
    assert len(set(chosen)) == len(chosen)
    assert not {Compression.NONE, Compression.DELTA, Compression.LLM_SUMMARY} & set(chosen)


def test_a_lossless_form_beside_another_text_is_judged_by_what_it_stands_for() -> None:
    rows = json.dumps([{"id": n * 7, "name": f"row {n}", "team": "search"} for n in range(80)])
    result = {"content": [{"type": "text", "text": text} for text in (rows, "port: 8080")]}

    def folded(job: ReduceJob, gauge: Gauge) -> Reduced:
        small = encode(parse(rows.encode())).decode()
        sent = {"content": [{"type": "text", "text": text} for text in (small, "por")]}
        return Reduced(json.dumps(sent).encode(), "lossless", key_of_bytes(job.body))

    job = WhatIfJob(json.dumps(result).encode(), ("lossless",), 1_000)
    facts = compare(job, CharacterGauge(), folded).variants[0].facts
    assert facts.total == 81
    assert facts.missing_examples == ("port: 8080",)


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        compare(_job(strategies=("zip",)), CharacterGauge(), _halved)


@pytest.mark.parametrize(
    "text",
    [
        TEXT * 3,
        json.dumps([{"id": n * 7, "path": f"/srv/data/{n}.json"} for n in range(300)]),
        "".join(f"2026-01-01 10:00:{n % 60:02} INFO request {n} took {n} ms\n" for n in range(300)),
        "# Title\n\n" + "".join(f"## Part {n}\n\nIt took {n} seconds.\n\n" for n in range(150)),
    ],
    ids=["lines", "json", "log", "markdown"],
)
def test_with_the_real_stages_every_variant_fits_and_nothing_is_lost(text: str) -> None:
    found = compare(_job(text, ()), CharacterGauge(), reduce_answer)
    assert found.variants
    for variant in found.variants:
        assert variant.tokens <= 1_000, variant.asked
        assert variant.facts.lost == 0, variant.asked
        assert variant.facts.retained + variant.facts.recoverable == variant.facts.total > 0
