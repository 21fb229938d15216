"""A repeated call answers what changed."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from config.schema import Compression
from proxy.compress.delta import delta
from proxy.compress.model import CharacterGauge, ContentType, Reduction, Task
from tests.proxy.compress.gauges import KEY, TEXTS
from tests.proxy.compress.json_values import CONTAINERS, LAYOUTS, write

GAUGE = CharacterGauge()


def changed(
    old: str,
    new: str,
    budget: int = 4_000,
    content: ContentType = ContentType.PROSE,
    key: str = KEY,
) -> Reduction | None:
    task = Task(new, budget, GAUGE, "", key, content)
    found = delta(old, new, task)
    assert found == delta(old, new, task)
    if found is not None:
        assert found.strategy is Compression.DELTA
        assert GAUGE.size(found.text) <= budget
        assert GAUGE.size(found.text) < GAUGE.size(new)
        assert 0 < found.overhead <= GAUGE.size(found.text)
    return found


def text_of(found: Reduction | None) -> str:
    assert found is not None
    return found.text


def test_an_unchanged_answer_is_one_line_without_a_clock() -> None:
    text = "many words\n" * 500
    assert text_of(changed(text, text)) == (
        f'[… unchanged since your earlier identical call; full text: stm_proxy_read_more(key="{KEY}")]'
    )


def test_a_changed_text_is_a_unified_diff_that_names_both_texts() -> None:
    lines = [f"line {number}" for number in range(1, 900)]
    old = "\n".join(lines)
    lines[499] = "something else"
    new = "\n".join([*lines, "the end"])
    text = text_of(changed(old, new))
    old_key = hashlib.sha256(old.encode()).hexdigest()[:16]
    assert f"--- {old_key} (earlier)\n+++ {KEY} (now)\n" in text
    assert (
        "@@ -498,5 +498,5 @@\n line 498\n line 499\n-line 500\n+something else\n line 501\n line 502"
        in text
    )
    assert text.endswith("@@ -898,2 +898,3 @@\n line 898\n line 899\n+the end")


def test_changes_of_json_in_one_line_are_named_by_their_place() -> None:
    value = {"items": [{"id": n, "state": "open", "a/b": [n, {"q": n}]} for n in range(400)]}
    old = json.dumps(value)
    value["items"][37]["state"] = "closed"
    value["items"][200]["a/b"] = [200, {"q": "new"}]
    text = text_of(changed(old, json.dumps(value), content=ContentType.JSON_OBJECT))
    assert "@@ json:/items/37\n" in text
    assert '-      "state": "open"\n+      "state": "closed"\n' in text
    assert "@@ json:/items/200/a~1b/1\n" in text
    assert text.count("@@ -") == 2


def test_json_laid_out_differently_is_unchanged_but_for_white_space() -> None:
    value = {"items": list(range(500))}
    found = text_of(
        changed(json.dumps(value), json.dumps(value, indent=2), content=ContentType.JSON_OBJECT)
    )
    assert "unchanged since your earlier identical call but for white space" in found
    assert found.count("stm_proxy_read_more") == 2


def test_a_diff_as_large_as_the_text_is_not_sent() -> None:
    old = "\n".join(f"old {number}" for number in range(900))
    new = "\n".join(f"new {number}" for number in range(900))
    assert changed(old, new, 100_000) is None


def test_a_diff_over_the_budget_is_not_sent() -> None:
    lines = [f"line {number}" for number in range(900)]
    other = [f"other {line}" if number % 9 == 0 else line for number, line in enumerate(lines)]
    assert changed("\n".join(lines), "\n".join(other), 1_000) is None


def test_without_a_handle_nothing_is_said_to_be_unchanged() -> None:
    text = "many words\n" * 500
    assert changed(text, text, key="") is None


def test_a_diff_of_a_log_that_grew_is_what_was_added() -> None:
    old = "".join(f"10:00:{n % 60:02d} step {n}\n" for n in range(5_000))
    new = old + "10:59:59 ERROR disk full\n"
    text = text_of(changed(old, new, content=ContentType.LOG))
    assert text.endswith("\n+10:59:59 ERROR disk full\n ")
    assert len(re.findall(r"^[-+](?![-+])", text, re.MULTILINE)) == 1


@settings(deadline=None)
@given(TEXTS, TEXTS, st.integers(0, 600), st.sampled_from(list(ContentType)))
def test_any_two_texts_fit_or_are_refused(
    old: str, new: str, budget: int, content: ContentType
) -> None:
    changed(old * 5, new * 5, budget, content)


@settings(deadline=None, max_examples=60)
@given(CONTAINERS, CONTAINERS, LAYOUTS, st.integers(100, 3_000))
def test_any_two_values_fit_or_are_refused(
    old: Any, new: Any, layout: dict[str, Any], budget: int
) -> None:
    before = write({"same": list(range(300)), "value": old}, layout)
    after = write({"same": list(range(300)), "value": new}, layout)
    changed(before, after, budget, ContentType.JSON_OBJECT)
