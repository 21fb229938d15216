"""The bench itself: its corpus means what its labels say, its measures count, and its bars can be missed."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.schema import EmbedderKind
from tests.bench.memory import data, labelled, large
from tests.bench.memory.bars import BARS, missed, unmeasured
from tests.bench.memory.corpus import Fact, FactKind, generated, outside


def test_the_generated_facts_are_the_same_in_every_run_and_hold_every_kind() -> None:
    facts = generated(300)
    assert facts == generated(300)
    assert {fact.kind for fact in facts} == set(FactKind)
    assert [fact.key for fact in facts] == list(range(300))


def test_a_fact_that_belongs_to_another_differs_from_it_as_its_label_says() -> None:
    facts = generated(2_000)
    for fact in facts:
        if fact.of is None:
            continue
        base = facts[fact.of]
        assert base.kind is FactKind.BASE
        assert (fact.text == base.text) == (fact.kind is FactKind.EXACT)


def test_an_outside_corpus_is_read_by_its_labels(tmp_path: Path) -> None:
    program = "def facts(n):\n    return [dict(key=0, text='A is 1.', kind='base', of=None)]\n"
    (tmp_path / "corpus.py").write_text(program, "utf-8")
    assert outside(tmp_path, 1) == [Fact(0, "A is 1.", FactKind.BASE)]
    with pytest.raises(FileNotFoundError):
        outside(tmp_path / "elsewhere", 1)


def test_a_set_that_is_not_there_says_where_it_can_be_had(tmp_path: Path) -> None:
    with pytest.raises(data.Missing, match="dataset-sts"):
        data.sick(tmp_path)
    with pytest.raises(data.Missing, match="LoCoMo"):
        data.locomo(tmp_path)


def test_facts_are_stored_asked_for_and_planned_and_no_value_is_lost() -> None:
    facts = [
        Fact(0, "The harbour pump weighs exactly 300 kg.", FactKind.BASE),
        Fact(1, "The harbour pump weighs exactly 300 kg.", FactKind.EXACT, 0),
        Fact(2, "The harbour pump weighs exactly 450 kg.", FactKind.CONTRADICTION, 0),
        Fact(3, "The castle archive opens every morning at 7:30.", FactKind.BASE),
    ]
    found = labelled.measure(facts, EmbedderKind.HASHING)
    assert found.contradictions_found == found.duplicates_found == found.groups_reduced == 1.0
    assert found.false_bases == found.values_lost == found.merged == 0
    assert found.hit_at_5 == 1.0
    assert found.store_ms > 0


def test_many_facts_are_stored_without_vectors_and_planned() -> None:
    text = "The harbour pump weighs exactly 300 kg."
    found = large.measure(
        [Fact(0, text, FactKind.BASE), Fact(1, text.replace("The", "Our"), FactKind.NEAR, 0)]
    )
    assert (found.facts, found.planned) == (2, 1)
    assert found.preview_s > 0


def test_a_measure_beyond_its_bar_is_missed_and_one_that_is_absent_is_only_told() -> None:
    measures = {"SICK recall": 0.5, "idle MB": 40.0}
    assert [line.partition(":")[0] for line in missed(measures)] == ["SICK recall"]
    assert len(unmeasured(measures)) == len(BARS) - 2
