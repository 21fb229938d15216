"""The beginning word for word, then the contents of the rest."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from config.schema import Compression
from proxy.compress.hybrid import hybrid
from proxy.compress.model import CharacterGauge, ContentType, Gauge, Reduction, Task
from proxy.compress.section_ids import resolve
from tests.proxy.compress.gauges import KEY, STRUCTURED, TEXTS, TokenGauge
from tests.proxy.compress.json_values import CONTAINERS, LAYOUTS, is_part, write

GAUGE = CharacterGauge()
TOKENS = TokenGauge()


def reduced(
    text: str, budget: int, content: ContentType, query: str = "", gauge: Gauge = GAUGE
) -> Reduction | None:
    task = Task(text, budget, gauge, query, KEY, content)
    found = hybrid(task)
    assert found == hybrid(task)
    if found is not None:
        assert found.strategy is Compression.HYBRID
        assert gauge.size(found.text) <= budget
        assert len(found.text) < len(text)
        assert 0 <= found.overhead <= gauge.size(found.text)
    return found


def text_of(found: Reduction | None) -> str:
    assert found is not None
    return found.text


@settings(deadline=None)
@given(
    st.one_of(TEXTS, STRUCTURED),
    st.integers(0, 600),
    st.sampled_from(list(ContentType)),
    st.sampled_from(["", "error a"]),
)
def test_any_text_any_budget_fits_or_is_refused(
    text: str, budget: int, content: ContentType, query: str
) -> None:
    reduced(text, budget, content, query)


@settings(deadline=None, max_examples=80)
@given(CONTAINERS, LAYOUTS, st.integers(0, 900))
def test_out_of_any_json_comes_valid_json(value: Any, layout: dict[str, Any], budget: int) -> None:
    found = reduced(write(value, layout), budget, ContentType.JSON_OBJECT)
    if found is not None:
        assert type(json.loads(found.text)) is type(value)


def test_more_than_half_of_the_budget_is_the_beginning_of_the_text() -> None:
    text = "".join(f"Paragraph {n} has some words.\n\n" for n in range(900))
    found = text_of(reduced(text, 2_000, ContentType.PROSE))
    head, _, rest = found.partition("\n[… the rest:")
    assert text.startswith(head)
    assert len(head) > 1_000
    assert head.endswith(".\n")
    assert f'key="{KEY}"' in rest


def test_beginning_and_listed_parts_together_are_the_whole_text() -> None:
    text = "".join(f"10:00:{n % 60:02d} INFO step {n}\n" for n in range(4000))
    for budget in (400, 900, 3_000):
        found = text_of(reduced(text, budget, ContentType.LOG))
        head, _, rest = found.partition("\n[… the rest:")
        covered = len(head) + 1
        for name in re.findall(r"^(lines:\S+) \|", rest, re.MULTILINE):
            spans = resolve(text, ContentType.LOG, name)
            assert isinstance(spans, list)
            assert spans[0][0] == covered
            covered = spans[0][1]
        assert covered == len(text)


def test_the_first_items_stay_and_the_others_are_announced() -> None:
    value = {"name": "x", "items": [{"id": n, "name": f"n{n}"} for n in range(500)], "z": {"k": 1}}
    got = json.loads(text_of(reduced(json.dumps(value), 1_500, ContentType.JSON_OBJECT)))
    whole = [item for item in got["items"] if isinstance(item, dict)]
    assert len(whole) >= 15
    assert whole == value["items"][: len(whole)]
    first = re.search(r"json:/items/(\d+)-", got["items"][len(whole)])
    assert first is not None
    assert int(first[1]) == len(whole)
    assert is_part(got, value)


def test_json_lines_stay_lines() -> None:
    text = "".join(json.dumps({"id": n, "text": "y" * 30}) + "\n" for n in range(300))
    found = [
        json.loads(line)
        for line in text_of(reduced(text, 1_200, ContentType.JSON_LINES)).split("\n")
    ]
    assert found[:9] == [{"id": n, "text": "y" * 30} for n in range(9)]
    assert KEY in found[-1]


def test_a_budget_too_small_for_both_is_refused() -> None:
    assert reduced("word " * 5000, 60, ContentType.PROSE) is None
    assert reduced("word " * 5000, 0, ContentType.PROSE) is None


def test_tokens_are_kept_to_as_well() -> None:
    rows = json.dumps(
        {"items": [{"id": n, "name": f"row {n}"} for n in range(2000)], "a": {"b": "c" * 5000}}
    )
    text = "".join(f"# Part {n}\n\n{'words here ' * 60}\n\n" for n in range(40))
    for budget in (150, 400, 1_000, 4_000):
        assert reduced(rows, budget, ContentType.JSON_OBJECT, gauge=TOKENS) is not None
        assert reduced(text, budget, ContentType.MARKDOWN, gauge=TOKENS) is not None
