"""The bars that need no data set, on few cases; the whole measurement is ``make bench-quality``."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from proxy.compress.model import CharacterGauge
from proxy.jobs import ReduceJob
from proxy.pipeline import reduce_answer
from proxy.token_gauge import TokenGauge
from tests.bench.quality import generated
from tests.bench.quality.__main__ import digest_with_seed
from tests.bench.quality.bars import missed, unmeasured
from tests.bench.quality.baselines import Baselines
from tests.bench.quality.cases import Case, Check, is_json, kept
from tests.bench.quality.measure import DEFAULT, Bench, Budget, Tally, readable
from tests.bench.quality.product import Output, Product

ADVERSARIAL = generated.adversarial()
LOGS = generated.logs(200_000, query=True, shape="F") + generated.logs(
    200_000, query=False, shape="F, no query"
)
TINY = (0, 1, 7, 30, 100)


@cache
def _gauge() -> TokenGauge:
    return TokenGauge()


def _tally(cases: list[Case], budget: Budget) -> Tally:
    bench = Bench(_gauge(), {}, Product(_gauge()), baselines=False)
    return bench.retained(cases, budget)[1]


def _promises(tally: Tally) -> None:
    """What holds for every text at every budget."""
    assert tally.faults == []
    assert tally.over == []
    assert tally.grown == []
    assert tally.unstable == []
    assert tally.unrecovered == []
    assert tally.broken_json == []


@pytest.mark.parametrize(
    "cases", [generated.key_values(6), generated.tables(6)], ids=["keys", "rows"]
)
def test_a_key_and_a_row_are_found_at_a_tenth_of_the_tokens_as_valid_json(
    cases: list[Case],
) -> None:
    tally = _tally(cases, Budget(0.1))
    _promises(tally)
    assert tally.lost == []


@pytest.mark.parametrize("case", LOGS, ids=lambda case: f"{case.shape}, {case.name}")
def test_a_planted_log_line_is_found_at_the_default_budget(case: Case) -> None:
    tally = _tally([case], DEFAULT)
    _promises(tally)
    assert tally.lost == []


@pytest.mark.parametrize("query", [True, False], ids=["query", "no query"])
def test_a_planted_line_is_found_in_a_megabyte(query: bool) -> None:
    tally = _tally(generated.logs(1_000_000, query=query, shape="F")[:3], DEFAULT)
    _promises(tally)
    assert tally.lost == []


@pytest.mark.parametrize("case", ADVERSARIAL, ids=lambda case: case.name)
def test_an_answer_in_a_hard_place_survives(case: Case) -> None:
    tally = _tally([case], DEFAULT)
    _promises(tally)
    assert tally.lost == []


@pytest.mark.parametrize("budget", TINY)
def test_even_a_tiny_budget_holds(budget: int) -> None:
    product = Product(CharacterGauge())
    for case in [*ADVERSARIAL, *generated.key_values(1), *LOGS[:1]]:
        output = product.reduce(case.text, case.question, budget)
        assert output.tokens <= budget, case.name
        assert output.fault == ""


def test_the_same_answer_becomes_the_same_bytes_in_every_process() -> None:
    assert digest_with_seed("1") == digest_with_seed("2") != ""


# The measurement itself must be able to fail.


def test_an_answer_that_is_gone_does_not_count_as_kept() -> None:
    case = Case("A", "The bridge was built in 1931 by Ines.", "when?", ("1931",))
    assert kept(case, "built in 1931.")
    assert not kept(case, "built in 19311 by 21931, 1931.5")
    assert not kept(case, "")
    both = replace(case, answers=("1931", "Ines"), check=Check.ALL)
    assert not kept(both, "built in 1931")
    row = Case("E", "[]", "", (), Check.ROW, (("id", 7), ("team", "search")))
    assert kept(row, '{"rows": [{"id": 7, "team": "search", "x": 1}]}')
    assert kept(row, '{"a": 1}\n{"id": 7, "team": "search"}\n')
    assert not kept(row, '[{"id": 7}, {"team": "search"}]')
    assert not kept(row, 'id 7, team "search"')


def test_half_a_json_text_is_no_json() -> None:
    assert is_json("null")
    assert is_json("[]")
    assert is_json('{"a": 1}\n{"a": 2}')
    assert not is_json('{"a": 1')
    assert not is_json('{"a": 1}\n{"a"')


def test_baselines_keep_to_the_budget() -> None:
    gauge = CharacterGauge()
    text = "\n\n".join(generated.paragraphs(generated.random.Random(5), 30))
    for name, method in Baselines(gauge).methods().items():
        for budget in (1, 50, 700):
            sent = method(text, "harbour authority lighthouse", budget)
            assert sent is not None
            assert gauge.size(sent) <= budget, name


def test_an_answer_that_cannot_be_read_back_is_noticed() -> None:
    product = Product(CharacterGauge())
    case = ADVERSARIAL[0]
    output = product.reduce(case.text, case.question, 2_000)
    assert product.recovers(output) == ""
    assert product.recovers(replace(output, parts=())) != ""
    without = replace(output, text="nothing", body=b'{"content":[]}')
    assert "no handle" in product.recovers(without)
    other = product.reduce(ADVERSARIAL[1].text, "", 2_000)
    assert product.recovers(replace(output, original=other.original)) != ""


def test_a_lossless_answer_is_judged_by_what_it_decodes_to() -> None:
    case = generated.tables(1)[0]
    product = Product(_gauge())
    output = product.reduce(case.text, case.question, int(output_size(case) * 0.9), "lossless")
    assert output.strategy == "lossless"
    assert kept(case, readable(output))


def output_size(case: Case) -> int:
    return _gauge().size(case.text)


def test_what_was_not_measured_is_not_judged_and_a_missed_bar_is_named() -> None:
    assert missed({}) == []
    assert "over budget" in unmeasured({})
    assert missed({"over budget": 1, "A kept at 20 %": 0.98}) == [
        "over budget: 1.000, must be at most 0"
    ]


def test_handles_are_left_out_for_a_host_that_cannot_use_them() -> None:
    case = ADVERSARIAL[0]
    original = Product(CharacterGauge()).reduce(case.text, case.question, 2_000).original
    job = ReduceJob(original, "auto", 2_000, query=case.question, handles=False)
    reduced = reduce_answer(job, CharacterGauge())
    assert b"stm_proxy" not in reduced.body
    output = Output("x", 1, 2, "extract", 0.0, reduced.body, original, (), "")
    assert Product(CharacterGauge()).recovers(output) != ""
