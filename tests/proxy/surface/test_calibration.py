"""How probably a memory matters, from cosine, common words and the scales of others."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.surface.calibration import (
    RRF_CEILING,
    Embedding,
    Overlap,
    external_probability,
    overlap_of,
    overlaps_of,
    probability,
)

NUMBERS = st.floats(allow_nan=True, allow_infinity=True)
EVIDENCE = st.floats(0, 12)
SCALES = st.sampled_from(
    (
        "rrf",
        "cosine",
        "dense",
        "rerank",
        "reranker",
        "logit",
        "probability",
        "bm25",
        "none",
        "",
        "x",
    )
)
STAGING = "Staging deploys run from the release branch, never from main."


@given(NUMBERS, EVIDENCE, st.sampled_from(Embedding))
def test_a_probability_lies_between_0_and_1(
    cosine: float, evidence: float, embedding: Embedding
) -> None:
    assert 0 < probability(cosine, Overlap(evidence, 1), embedding) < 1


@given(st.floats(-1, 1), st.floats(-1, 1), EVIDENCE, EVIDENCE, st.sampled_from(Embedding))
def test_a_nearer_memory_with_more_common_words_never_matters_less(
    one: float, other: float, evidence: float, other_evidence: float, embedding: Embedding
) -> None:
    less = Overlap(min(evidence, other_evidence), 1)
    more = Overlap(max(evidence, other_evidence), 1)
    low = probability(min(one, other), less, embedding)
    assert low <= probability(max(one, other), more, embedding)


@given(NUMBERS | st.none(), SCALES | st.text(), EVIDENCE)
def test_every_scale_of_others_gives_a_probability(
    score: float | None, scale: str, evidence: float
) -> None:
    assert 0 < external_probability(score, scale, Overlap(evidence, 1)) < 1


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), SCALES, EVIDENCE, EVIDENCE)
def test_a_better_score_on_one_scale_never_matters_less(
    one: float, other: float, scale: str, evidence: float, other_evidence: float
) -> None:
    less = Overlap(min(evidence, other_evidence), 1)
    more = Overlap(max(evidence, other_evidence), 1)
    low = external_probability(min(one, other), scale, less)
    assert low <= external_probability(max(one, other), scale, more)


def test_the_first_rank_alone_matters_to_nobody() -> None:
    nothing = Overlap(0.0, 0)
    assert external_probability(RRF_CEILING, "rrf", nothing) < 0.05
    assert external_probability(0.99, "bm25", nothing) < 0.05
    assert external_probability(25.0, "", nothing) < 0.05
    assert external_probability(None, "none", nothing) < 0.05
    everything = Overlap(1.6, 2)
    assert external_probability(RRF_CEILING, "rrf", everything) > 0.8
    assert external_probability(RRF_CEILING / 2, "rrf", everything) == pytest.approx(
        external_probability(3.0, "bm25", everything)
    )


def test_scales_that_mean_a_probability_are_taken_at_their_word() -> None:
    some = Overlap(0.5, 2)
    assert external_probability(0.75, "probability", some) == 0.75
    assert external_probability(0.0, "logit", some) == 0.5
    assert external_probability(2.0, " LOGIT ", some) == pytest.approx(1 / (1 + math.exp(-2)))
    # A reranker's 0.9 may be a logit, and its 3 is none of a probability.
    assert external_probability(0.9, "rerank", some) == pytest.approx(1 / (1 + math.exp(-0.9)))
    assert external_probability(0.1, "rerank", some) == pytest.approx(0.1)
    assert external_probability(-2.0, "rerank", some) < 0.001


def test_an_unknown_model_s_cosine_does_not_count() -> None:
    some = Overlap(0.6, 1)
    assert probability(0.99, some, Embedding.OTHER) == probability(0.0, some, Embedding.NONE)
    assert probability(0.9, some, Embedding.MINILM) > probability(0.1, some, Embedding.MINILM)


def test_forms_of_a_word_and_parts_of_names_are_in_common() -> None:
    overlap = overlap_of("src/deployStaging.py the branches?", STAGING)
    assert overlap.common == ("branches", "deploy", "staging")
    assert overlap.found == 3
    whole = overlap_of("deploying releases to staging", STAGING)
    assert whole.evidence == pytest.approx(overlap.evidence)
    assert set(whole.common) == {"deploying", "releases", "staging"}
    assert overlap_of("zebra", STAGING) == Overlap(0.0, 0)
    assert overlap_of("", STAGING) == overlap_of("?! --", STAGING) == Overlap(0.0, 0)


def test_a_word_that_all_hits_have_says_little_and_one_that_few_have_says_much() -> None:
    texts = [f"acme keeps its {noun} in a folder." for noun in ("notes", "plans", "diagrams")] * 7
    *_, other, billing = overlaps_of("acme billing", [*texts, "acme bills in May."])
    assert other.evidence < 0.2
    assert billing.evidence == pytest.approx(1 + other.evidence, abs=0.01)
    assert billing.common == ("billing", "acme")
    assert probability(0.4, other, Embedding.MINILM) < 0.05
    assert probability(0.4, billing, Embedding.MINILM) > 0.3
    assert probability(0.2, Overlap(0.9, 1), Embedding.MINILM) < 0.3


def test_what_the_query_has_and_the_memory_has_not_does_not_count() -> None:
    text = "Invoices are rounded half to even."
    plain = overlap_of("invoice rounded", text)
    assert overlap_of("0042_invoice_rounded.py zebra services", text).evidence == pytest.approx(
        plain.evidence
    )
    assert overlaps_of("a b", []) == []


def test_words_of_paths_that_are_everywhere_count_little() -> None:
    path = overlap_of("src index", "The source of src is an index.")
    assert path.evidence < 0.4
    assert path.evidence < overlap_of("port 5432", "It listens on 5432.").evidence
    assert overlap_of("port 5432", "It listens on 5432.").common == ("5432",)


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=4))
def test_any_texts_can_be_compared(query: str, texts: list[str]) -> None:
    for overlap in overlaps_of(query, texts):
        assert 0 <= overlap.evidence <= overlap.found
        assert len(overlap.common) <= 3
        assert (overlap.evidence > 0) == (overlap.found > 0) == bool(overlap.common)
