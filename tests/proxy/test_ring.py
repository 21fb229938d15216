"""Texts of recent calls: bounded in bytes, shown laid out, redacted before they are cut."""

from __future__ import annotations

import gc
import json

from hypothesis import given
from hypothesis import strategies as st

from proxy.redact import Redactor
from proxy.ring import DetailRing, RecentCall, detail_of
from proxy.shown import SHOWN_CHARACTERS, shown, shown_answer
from tests.proxy.store.conftest import make_record


def recent(call_id: int, size: int = 0) -> RecentCall:
    return RecentCall(make_record(call_id), b"{}", b"x" * size)


def same(text: str) -> str:
    return text


def test_the_oldest_calls_go_first() -> None:
    ring = DetailRing(10_000)
    for number in range(5):
        ring.put(recent(number, 2_000))
    assert [number for number in range(5) if ring.get(number)] == [2, 3, 4]
    assert ring.held_bytes <= 10_000


def test_a_call_larger_than_the_ring_pushes_nothing_out() -> None:
    ring = DetailRing(10_000)
    ring.put(recent(1, 100))
    ring.put(recent(2, 20_000))
    assert ring.get(1) is not None
    assert ring.get(2) is None


def test_a_smaller_bound_takes_effect_at_once() -> None:
    ring = DetailRing(10_000)
    ring.put(recent(1, 100))
    ring.resize(0)
    assert ring.get(1) is None
    assert ring.held_bytes == 0
    ring.put(recent(2))
    assert ring.get(2) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6_000)), max_size=40))
def test_the_bound_always_holds(puts: list[tuple[int, int]]) -> None:
    ring = DetailRing(8_000)
    for call_id, size in puts:
        ring.put(recent(call_id, size))
        kept = [call for number in range(6) if (call := ring.get(number))]
        assert ring.held_bytes == sum(len(c.arguments) + len(c.result) + 1024 for c in kept)
        assert ring.held_bytes <= 8_000


def test_kept_calls_cost_the_garbage_collector_nothing() -> None:
    ring = DetailRing(100_000)
    call = recent(1, 100)
    ring.put(call)
    gc.collect()
    assert not any(gc.is_tracked(entry) for entry in ring._calls.values())
    assert ring.get(1) == call


def test_texts_are_laid_out_and_redacted() -> None:
    call = RecentCall(make_record(1), b'{"password":"abc","n":1.50}', b'{"text":"\\u65e5"}')
    detail = detail_of(call, Redactor().redact)
    assert detail.record == call.record
    assert detail.arguments is not None
    assert "abc" not in detail.arguments
    assert '"n": 1.50' in detail.arguments
    assert detail.result == '{\n  "text": "日"\n}'
    assert not detail.truncated


def test_the_original_and_the_query_come_with_the_call_redacted() -> None:
    ring = DetailRing(100_000)
    ring.put(RecentCall(make_record(1), b"{}", b"[1]", b'{"key":"hunter-two"}', "hunter-two", "x"))
    call = ring.get(1)
    assert call is not None
    detail = detail_of(call, Redactor(frozenset({"hunter-two"})).redact)
    assert detail.original is not None
    assert '"key"' in detail.original
    assert "hunter" not in f"{detail.original}{detail.query}"
    assert detail.query_source == "x"
    untouched = detail_of(recent(2), same)
    assert (untouched.original, untouched.query) == (None, "")


def test_the_original_counts_for_the_bound() -> None:
    ring = DetailRing(10_000)
    ring.put(RecentCall(make_record(1), b"", b"", b"x" * 9_000))
    ring.put(RecentCall(make_record(2), b"", b"", b"", "q" * 2_500))
    assert ring.get(1) is None
    assert ring.get(2) is None


def test_an_answers_texts_are_shown_as_texts() -> None:
    answer = {
        "content": [{"type": "text", "text": "a \\u00e9\nb"}, {"type": "text", "text": '{"n":1}'}],
        "structuredContent": {"e": "é"},
    }
    text, cut = shown_answer(json.dumps(answer).encode(), same)
    assert text == 'a \\u00e9\nb\n\n{\n  "n": 1\n}\n\n{\n  "e": "é"\n}'
    assert not cut
    image = b'{"content":[{"type":"image","data":"AAAA"}]}'
    assert "AAAA" in shown_answer(image, same)[0]
    long = json.dumps({"content": [{"type": "text", "text": "x" * 900_000}]}).encode()
    assert shown_answer(long, same) == ("x" * SHOWN_CHARACTERS, True)


def test_no_json_is_shown_as_it_is() -> None:
    assert shown(b"plain \xff", same) == ("plain \ufffd", False)
    assert shown(b"", same) == ("", False)


def test_a_long_text_is_cut() -> None:
    text, cut = shown(json.dumps({"a": "x" * 2_000_000}).encode(), same)
    assert len(text) == SHOWN_CHARACTERS
    assert cut
    text, cut = shown(b"y" * (SHOWN_CHARACTERS + 1), same)
    assert (len(text), cut) == (SHOWN_CHARACTERS, True)
    assert shown(b"y" * SHOWN_CHARACTERS, same) == ("y" * SHOWN_CHARACTERS, False)


def test_a_secret_that_the_cut_would_split_is_hidden() -> None:
    secret = "known-secret-" + "q" * 40
    redact = Redactor(frozenset({secret})).redact
    for before in range(SHOWN_CHARACTERS - 60, SHOWN_CHARACTERS + 10, 7):
        text, _ = shown(b" " * before + secret.encode() + b" " * 40_000, redact)
        assert "known" not in text
    many = (secret + " ").encode() * 20_000
    text, cut = shown(many, redact)
    assert "known" not in text
    assert cut
