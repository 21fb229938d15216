"""The lossless form is used when it was rebuilt, fits and saves a tenth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.compress import lossless_json
from proxy.compress.lossless import LARGEST_SHARE, lossless
from proxy.compress.model import CharacterGauge, ContentType, Task
from tests.proxy.compress.gauges import KEY, TokenGauge
from tests.proxy.compress.json_values import CONTAINERS, LAYOUTS, write

GAUGE = CharacterGauge()
DATA = Path(__file__).parents[4] / "shared" / "data" / "compress" / "json"


def _task(text: str, budget: int = 10**6) -> Task:
    content = ContentType.JSON_OBJECT if text.lstrip().startswith("{") else ContentType.JSON_ARRAY
    return Task(text, budget, GAUGE, "", KEY, content)


ROWS = [{"id": i, "name": f"name {i}", "active": True} for i in range(100)]


def test_rows_are_complete_and_announce_their_form() -> None:
    text = json.dumps(ROWS)
    made = lossless(_task(text))
    assert made is not None
    assert made.complete
    assert len(made.text) < len(text) / 2
    assert json.loads(lossless_json.decode(made.text)) == ROWS
    assert 0 < made.overhead < 200


def test_white_space_alone_is_taken_out_when_nothing_repeats() -> None:
    value = {"alpha": [1, 2, 3], "beta": {"gamma": "delta epsilon", "zeta": None}}
    made = lossless(_task(json.dumps(value, indent=8)))
    assert made is not None
    assert made.text == json.dumps(value, separators=(",", ":"))
    assert made.complete
    assert made.overhead == 0


def test_less_than_a_tenth_is_not_worth_it() -> None:
    assert (
        lossless(_task('{"text":"' + "nothing repeats in here, it is prose. " * 3 + '"}')) is None
    )


def test_what_does_not_fit_is_not_made() -> None:
    assert lossless(_task(json.dumps(ROWS), 300)) is None


def test_repeated_keys_and_minus_zero_only_lose_white_space() -> None:
    for member in ('"a": 1, "a": 2', '"a": -0', '"\\u0061": 1, "a": 2'):
        text = "[" + ",   ".join(["{ " + member + ' , "t": "\\u00e9" }'] * 50) + "]"
        made = lossless(_task(text))
        assert made is not None
        assert made.text == msgspec.json.format(text.encode(), indent=-1).decode()


def test_escapes_may_be_spelled_differently() -> None:
    rows = [{"id": i, "name": f"M\u00fcller {i}/x"} for i in range(50)]
    made = lossless(_task(json.dumps(rows).replace("/", "\\/")))
    assert made is not None
    assert json.loads(lossless_json.decode(made.text)) == rows


@pytest.mark.parametrize(
    "text", ["[NaN" + ", 1" * 99 + "]", '["\\ud800"' + " , 1" * 99 + "]", "[" * 5000 + "]" * 5000]
)
def test_odd_json_is_not_rewritten(text: str) -> None:
    assert lossless(_task(text)) is None


def test_digits_of_numbers_are_kept() -> None:
    text = json.dumps(ROWS).replace('"active"', '"share": 1.50, "active"')
    made = lossless(_task(text))
    assert made is not None
    assert lossless_json.decode(made.text) == msgspec.json.format(text.encode(), indent=-1)


def test_json_lines_become_one_table_or_lose_white_space() -> None:
    text = "\n".join(json.dumps(row) for row in ROWS)
    made = lossless(Task(text, 10**6, GAUGE, content=ContentType.JSON_LINES))
    assert made is not None
    assert json.loads(lossless_json.decode(made.text)) == ROWS
    text = '{"a":      1}\n\n[     2,     3]\n'
    made = lossless(Task(text, 10**6, GAUGE, content=ContentType.JSON_LINES))
    assert made is not None
    assert made.text == '{"a":1}\n[2,3]'


def test_other_content_is_left_to_others() -> None:
    assert lossless(Task("some prose", 5, GAUGE, content=ContentType.PROSE)) is None


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("citm_catalog", 0.3),
        ("gh_issues_events", 0.3),
        ("cars", 0.75),
        ("flights2k", 0.75),
        ("github-repos", 0.75),
    ],
)
def test_known_files_become_that_much_shorter(name: str, share: float) -> None:
    file = DATA / f"{name}.json"
    if not file.exists():
        pytest.skip("the evaluation data is not on this machine")
    gauge = TokenGauge()
    text = file.read_text()
    minified = msgspec.json.format(text.encode(), indent=-1).decode()
    content = ContentType.JSON_OBJECT if text.lstrip().startswith("{") else ContentType.JSON_ARRAY
    made = lossless(Task(text, 10**6, gauge, content=content))
    assert made is not None
    assert gauge.size(made.text) <= share * gauge.size(minified)
    assert made.overhead <= 70


@given(CONTAINERS, LAYOUTS, st.integers(0, 3000))
def test_any_json_is_rebuilt_or_left_alone(
    value: object, layout: dict[str, Any], budget: int
) -> None:
    text = write(value, layout)
    made = lossless(_task(text, budget))
    if made is None:
        return
    assert len(made.text) <= min(budget, LARGEST_SHARE * len(text))
    whole = json.loads(made.text)
    if made.overhead:
        whole = json.loads(lossless_json.decode(made.text))
    assert json.dumps(whole) == json.dumps(json.loads(text))
