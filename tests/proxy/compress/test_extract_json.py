"""JSON cut inside of its own shape, by query and from the start."""

from __future__ import annotations

import json
import random
import time
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.compress import notices
from proxy.compress.extract_json import extract_json, truncate_json
from proxy.compress.model import CharacterGauge, ContentType, Gauge, Task
from tests.proxy.compress.gauges import KEY, TokenGauge
from tests.proxy.compress.json_values import (
    CONTAINERS,
    LAYOUTS,
    is_part,
    says_what_is_missing,
    write,
)

CHARACTERS = CharacterGauge()
BOTH = pytest.mark.parametrize("reducer", [extract_json, truncate_json])


@pytest.fixture(scope="module")
def tokens() -> Gauge:
    return TokenGauge()


def _task(
    text: str, budget: int, query: str = "", gauge: Gauge = CHARACTERS, key: str = KEY
) -> Task:
    start = text.lstrip()[:1]
    content = ContentType.JSON_OBJECT if start == "{" else ContentType.JSON_ARRAY
    return Task(text, budget, gauge, query, key, content)


def _extracted(value: object, budget: int, query: str = "") -> Any:
    made = extract_json(_task(json.dumps(value), budget, query))
    assert made is not None
    assert len(made.text) <= budget
    return json.loads(made.text)


def test_the_key_that_is_asked_for_is_found_at_a_tenth_of_the_tokens(tokens: Gauge) -> None:
    chance = random.Random(3)
    for _ in range(20):
        pairs = {_uuid(chance): _uuid(chance) for _ in range(75)}
        text = json.dumps(pairs)
        key = chance.choice(list(pairs))
        budget = tokens.size(text) // 10
        made = extract_json(_task(text, budget, f"What is the value of {key}?", tokens))
        assert made is not None
        assert tokens.size(made.text) <= budget
        assert json.loads(made.text)[key] == pairs[key]


def test_the_row_that_is_asked_for_is_found_at_a_tenth_of_the_tokens(tokens: Gauge) -> None:
    chance = random.Random(4)
    for seed in range(20):
        rows = [
            {
                "id": chance.randint(1000, 99999),
                "name": f"person {i}",
                "city": chance.choice(["Rome", "Oslo"]),
                "amount": round(chance.uniform(1, 999), 2),
                "sku": f"SKU-{chance.randint(1000, 9999)}",
            }
            for i in range(200)
        ]
        row = chance.choice(rows)
        name = ("id", "amount", "sku")[seed % 3]
        text = json.dumps({"rows": rows} if seed % 2 else rows)
        budget = tokens.size(text) // 10
        made = extract_json(
            _task(text, budget, f"Which city has the one with {name} {row[name]}?", tokens)
        )
        assert made is not None
        assert tokens.size(made.text) <= budget
        found = json.loads(made.text)
        assert row in (found["rows"] if seed % 2 else found)


def _uuid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128)))


def test_kept_rows_stay_objects_and_gaps_say_where_the_others_are() -> None:
    rows = [{"id": i, "name": f"user {i}"} for i in range(100)]
    found = _extracted({"items": rows, "total": 100}, 700, "user 42")
    assert found["total"] == 100
    assert rows[42] in found["items"]
    gaps = [item for item in found["items"] if isinstance(item, str)]
    first = found["items"].index(gaps[0])
    after = found["items"][first + 1]["id"]
    assert gaps[0] == notices.json_gap(after - first, "item", f"json:/items/{first}-{after - 1}")
    shown = len(found["items"]) - len(gaps)
    lost = sum(int(gap.split()[1].replace(",", "")) for gap in gaps)
    assert shown + lost == 100


def test_the_outermost_object_says_how_much_is_shown_and_where_the_rest_is() -> None:
    text = json.dumps({"items": [{"id": i} for i in range(500)]})
    made = extract_json(_task(text, 600))
    assert made is not None
    footer = json.loads(made.text)["_mms"]
    assert f"{len(text):,} characters shown" in footer
    assert f'{notices.SELECT_CHUNKS}(key="{KEY}", sections=["json:/items/' in footer


def test_without_a_handle_no_way_back_is_promised() -> None:
    text = json.dumps({"items": [{"id": i} for i in range(500)]})
    made = extract_json(_task(text, 600, key=""))
    assert made is not None
    assert "json:/" not in made.text
    assert notices.READ_MORE not in made.text
    assert "items not shown" in made.text


def test_a_taken_member_name_is_not_overwritten() -> None:
    value = {"_mms": "theirs", "items": list(range(1000))}
    found = _extracted(value, 500)
    assert found["_mms"] == "theirs"
    assert "shown" in found["_mms_"]


def test_numbers_and_escapes_are_kept_to_the_character() -> None:
    text = (
        '{"a": 1.50, "b": 1e400, "c": -0, "d": "\\u00e9\\/x", "e": 100000000000000000000000000001, "z": ['
        + ",".join(["12.340"] * 500)
        + "]}"
    )
    made = extract_json(_task(text, 500))
    assert made is not None
    for part in (
        '"a":1.50',
        '"b":1e400',
        '"c":-0',
        '"d":"\\u00e9\\/x"',
        '"e":100000000000000000000000000001',
        "12.340,",
    ):
        assert part in made.text


def test_a_long_string_is_cut_with_the_announcement_inside() -> None:
    found = _extracted({"a": {"body": "word " * 1000}}, 400)
    assert found["a"]["body"].startswith("word word")
    assert found["a"]["body"].endswith(" characters not shown: json:/a/body")


def test_the_sentence_that_is_asked_for_is_found_inside_a_long_string() -> None:
    body = " ".join(f"Paragraph {i} says nothing of interest." for i in range(400))
    body = body.replace("Paragraph 300 says nothing", "The warranty lasts 27 months")
    found = _extracted({"title": "x", "body": body}, 900, "How long is the warranty?")
    assert "The warranty lasts 27 months" in found["body"]


def test_errors_and_far_numbers_are_kept_whatever_is_asked() -> None:
    rows: list[dict[str, object]] = [
        {"id": i, "status": "ok", "ms": 20 + i % 5} for i in range(400)
    ]
    rows[222] = {"id": 222, "status": "failed", "ms": 21}
    rows[333] = {"id": 333, "status": "ok", "ms": 90000}
    for query in ("", "id 7"):
        found = _extracted(rows, 900, query)
        assert rows[222] in found
        assert rows[333] in found


def test_without_a_query_all_fields_at_the_top_and_both_ends_are_shown() -> None:
    value = {f"field {i}": [{"n": j, "text": "abc"} for j in range(80)] for i in range(8)}
    found = _extracted(value, 2000)
    assert set(value) <= set(found)
    rows = _extracted([{"n": i} for i in range(300)], 500)
    assert rows[0] == {"n": 0}
    assert {"n": 299} in rows


def test_large_items_are_cut_inside() -> None:
    rows = [{"id": i, "text": "abc " * 500, "status": "ok"} for i in range(10)]
    found = _extracted(rows, 700)
    assert found[0]["id"] == 0
    assert "characters not shown: json:/0/text" in found[0]["text"]


def test_many_gaps_are_short_and_one_says_where_they_are() -> None:
    rows = [{"id": i, "tag": "wanted" if i % 9 == 4 else "x"} for i in range(300)]
    found = _extracted(rows, 1500, "wanted")
    marks = [item for item in found if isinstance(item, str)]
    assert f"{notices.MARK} 8" in marks
    assert any("items not shown: json:/0-299" in mark for mark in marks)
    assert sum(isinstance(item, dict) and item["tag"] == "wanted" for item in found) > 15


def test_json_lines_stay_json_lines_with_the_numbers_of_the_lines() -> None:
    lines = [json.dumps({"id": i, "name": f"user {i}"}) for i in range(200)]
    text = "\n\n".join(lines) + "\n"
    task = Task(text, 700, CHARACTERS, "user 120", KEY, ContentType.JSON_LINES)
    for reducer in (extract_json, truncate_json):
        made = reducer(task)
        assert made is not None
        assert len(made.text) <= 700
        values = [json.loads(line) for line in made.text.split("\n")]
        assert all(isinstance(value, dict) for value in values)
        assert "shown" in values[-1]["_mms"]
    made = extract_json(task)
    assert made is not None
    values = [json.loads(line) for line in made.text.split("\n")]
    place = values.index({"id": 120, "name": "user 120"})
    before = next(i for i in range(place, -1, -1) if "_mms" in values[i])
    # Line numbers count the empty lines in between.
    line = 2 * values[before + 1]["id"] + 1
    assert values[before]["_mms"].endswith(f"-{line - 2}")


def test_the_start_of_everything_is_in_order() -> None:
    text = json.dumps({"a": 1, "items": list(range(1000)), "z": 2})
    made = truncate_json(_task(text, 400))
    assert made is not None
    found = json.loads(made.text)
    kept = [item for item in found["items"] if isinstance(item, int)]
    assert kept == list(range(len(kept)))
    assert len(kept) > 20
    assert "z" not in found


def test_truncated_json_is_valid_for_tiny_budgets() -> None:
    text = json.dumps({"items": list(range(1000))})
    for budget in range(2, 60):
        made = truncate_json(_task(text, budget))
        assert made is not None
        assert len(made.text) <= budget
        json.loads(made.text)


@BOTH
def test_what_is_no_json_is_left_to_others(reducer: Any) -> None:
    for text in ("plain text " * 50, '"a string"', "{broken", "[1, 2"):
        assert reducer(_task(text, 40)) is None


ODD = {
    "not a number": '{"a": NaN, "b": [' + "NaN, " * 400 + "1]}",
    "lone surrogate": '{"a": "\\ud800", "b": "' + "x\ud800 " * 400 + '"}',
    "deep": '{"a": 1, "b": ' + "[" * 10_000 + "]" * 10_000 + "}",
    "deep objects": '{"a":' * 10_000 + "1" + "}" * 10_000,
    "keys that stand twice": "{" + ",".join(['"a": 1'] * 400) + "}",
    "huge number": "[" + "9" * 5000 + ", 1]",
    "one long string": '["' + "abc " * 100_000 + '"]',
    "one word": '["' + "a" * 400_000 + '"]',
    "escapes": '["' + "\\u00e9" * 5000 + '"]',
    "backslashes": '["' + "\\\\" * 5000 + '"]',
    "many keys": "{" + ",".join(f'"k{i}": {i}' for i in range(20_000)) + "}",
    "long keys": "{" + ",".join(f'"{"k" * 3000}{i}": {i}' for i in range(10)) + "}",
    "empty ones": "[" + ",".join(["{}", "[]", '""', "null"] * 500) + "]",
}


@BOTH
@pytest.mark.parametrize("name", ODD)
def test_odd_json_is_cut_within_the_budget(reducer: Any, name: str) -> None:
    for query in ("", "a 1"):
        for budget in (30, 300):
            made = reducer(_task(ODD[name], budget, query))
            if made is not None:
                assert len(made.text) <= budget
                json.loads(made.text)
            else:
                assert reducer is extract_json


@BOTH
@pytest.mark.parametrize(
    "text",
    [
        "[" + ",".join(['{"id": 1, "name": "abc"}'] * 60_000) + "]",
        '["' + "ab cd. " * 1_000_000 + '"]',
        "[" * 200_000 + "]" * 200_000,
        '{"a": "' + "\\\\" * 1_000_000 + '"}',
        "[" + "1," * 500_000 + "NaN]",
    ],
    ids=["rows", "string", "deep", "backslashes", "numbers"],
)
def test_large_json_takes_linear_time(reducer: Any, text: str) -> None:
    begin = time.process_time()
    reducer(_task(text, 4000, "abc 1"))
    # Generous: what is not linear takes minutes for these.
    assert time.process_time() - begin < 20


@given(
    CONTAINERS,
    LAYOUTS,
    st.integers(0, 600),
    st.sampled_from(["", "id 5", "name ok", "https://example.com/a", "one"]),
    st.sampled_from([KEY, ""]),
    st.sampled_from([extract_json, truncate_json]),
)
def test_any_json_and_budget_give_a_part_of_it_that_fits(
    value: object, layout: dict[str, Any], budget: int, query: str, key: str, reducer: Any
) -> None:
    text = write(value, layout)
    made = reducer(_task(text, budget, query, key=key))
    if made is None:
        assert reducer is extract_json or budget < 10 or len(text) < 16
        return
    assert len(made.text) <= budget
    assert len(made.text) < len(text)
    part, whole = json.loads(made.text), json.loads(text)
    assert is_part(part, whole)
    assert made.text in ("{}", "[]") or says_what_is_missing(part, whole)
    assert reducer(_task(text, budget, query, key=key)) == made
