"""Answers given again: whose, for how long, until when; and calls that share one answer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.schema import CachePolicy
from proxy.answer_cache import AnswerCache, Flights, cache_key, is_writing

STRICT, CONSERVATIVE, IGNORE = CachePolicy.STRICT, CachePolicy.CONSERVATIVE, CachePolicy.IGNORE


@pytest.mark.parametrize(
    ("annotations", "strict", "conservative", "writes"),
    [
        (b"", False, True, True),
        (b"{}", False, True, True),
        (b'{"title":"Read"}', False, True, True),
        (b'{"readOnlyHint":true}', True, True, False),
        (b'{"readOnlyHint":true,"openWorldHint":true}', True, True, False),
        (b'{"readOnlyHint":true,"destructiveHint":false}', True, True, False),
        (b'{"readOnlyHint":true,"destructiveHint":true}', False, False, True),
        (b'{"readOnlyHint":false}', False, False, True),
        (b'{"destructiveHint":true}', False, False, True),
        (b'{"destructiveHint":false}', False, False, True),
        (b'{"idempotentHint":true}', False, False, True),
        (b'{"readOnlyHint":null}', False, True, True),
        (b'{"readOnlyHint":"true"}', False, False, True),
        (b"[" * 5_000, False, False, True),
        (b"\xff", False, False, True),
    ],
)
def test_a_tools_own_words_decide_whether_its_answers_are_kept(
    annotations: bytes, strict: bool, conservative: bool, writes: bool
) -> None:
    assert AnswerCache.eligible(STRICT, annotations) is strict
    assert AnswerCache.eligible(CONSERVATIVE, annotations) is conservative
    assert not AnswerCache.eligible(IGNORE, annotations)
    assert is_writing(annotations) is writes


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b'{"a":1,"b":2}', b'{ "b" : 2,\n"a" : 1 }'),
        (b'{"a":{"x":[1,{"c":1,"d":2}],"y":2}}', b'{"a":{"y":2,"x":[1, {"d":2, "c":1}]}}'),
        (b"", b"{}"),
        (b"null", b"{}"),
        (b'{"a":"\\u0041"}'.replace(b'"a"', b'"\\u0061"'), b'{"a":"\\u0041"}'),
    ],
)
def test_arguments_that_mean_the_same_are_one_call(one: bytes, other: bytes) -> None:
    assert cache_key("u", "t", one) == cache_key("u", "t", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b'{"a":1}', b'{"a":1.0}'),
        (b'{"a":9007199254740993}', b'{"a":9007199254740992}'),
        (b'{"a":1e400}', b'{"a":2e400}'),
        (b'{"a":[1,2]}', b'{"a":[2,1]}'),
        (b'{"a":"x y"}', b'{"a":"x  y"}'),
        (b'{"a":NaN}', b'{"a":null}'),
        (b'{"a":"\\ud800"}', b'{"a":"\\ud801"}'),
        (b"[1]", b"[2]"),
    ],
)
def test_arguments_that_differ_are_two_calls(one: bytes, other: bytes) -> None:
    assert cache_key("u", "t", one) != cache_key("u", "t", other)


def test_names_never_run_into_each_other() -> None:
    assert cache_key("ab", "c", b"{}") != cache_key("a", "bc", b"{}")
    assert cache_key("a", "b", b"{}") != cache_key("a", "c", b"{}")


def test_deep_and_long_arguments_are_taken() -> None:
    for arguments in (
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b"[" * 50_000,
        b'{"a":"' + b"x" * 2_000_000 + b'"}',
    ):
        assert cache_key("u", "t", arguments) == cache_key("u", "t", arguments)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(JSON, JSON)
def test_keys_are_equal_exactly_when_the_arguments_are(one: object, other: object) -> None:
    keys = [
        cache_key("u", "t", json.dumps({"a": value}, ensure_ascii=True).encode())
        for value in (one, other)
    ]
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (keys[0] == keys[1]) is same


KEY = cache_key("files", "read", b'{"path":"a"}')


def test_an_answer_is_given_again_until_it_is_too_old() -> None:
    cache = AnswerCache(10_000)
    cache.put(KEY, b"answer", 100.0, 30.0)
    kept = cache.get(KEY, 129.9)
    assert kept is not None
    assert (kept.body, kept.stored_at) == (b"answer", 100.0)
    assert cache.get(KEY, 130.0) is None
    assert len(cache) == 0
    assert cache.held_bytes == 0


def test_an_answer_without_time_to_live_is_not_kept() -> None:
    cache = AnswerCache(10_000)
    cache.put(KEY, b"answer", 100.0, 30.0)
    cache.put(KEY, b"newer", 100.0, 0.0)
    assert cache.get(KEY, 100.0) is None


def test_a_write_forgets_the_answers_of_its_server_and_those_on_their_way() -> None:
    cache = AnswerCache(10_000)
    other = cache_key("web", "get", b"{}")
    cache.put(KEY, b"answer", 0.0, 9.0)
    cache.put(other, b"answer", 0.0, 9.0)
    files, web = cache.generation("files"), cache.generation("web")
    cache.invalidate("files")
    assert cache.get(KEY, 1.0) is None
    assert cache.get(other, 1.0) is not None
    assert cache.generation("files") > files
    assert cache.generation("web") == web
    cache.invalidate("nobody")


@pytest.mark.parametrize(
    ("upstream", "tool", "left"),
    [
        ("", "", []),
        ("files", "", ["web/read", "web/write"]),
        ("files", "read", ["files/write", "web/read", "web/write"]),
        ("", "read", ["files/write", "web/write"]),
        ("nobody", "", ["files/read", "files/write", "web/read", "web/write"]),
    ],
)
def test_a_person_clears_a_tool_a_server_or_everything(
    upstream: str, tool: str, left: list[str]
) -> None:
    cache = AnswerCache(10_000)
    keys = {
        f"{server}/{name}": cache_key(server, name, b"{}")
        for server in ("files", "web")
        for name in ("read", "write")
    }
    for key in keys.values():
        cache.put(key, b"x", 0.0, 9.0)
    before = cache.generation("files")
    assert cache.clear(upstream, tool) == 4 - len(left)
    assert [name for name, key in keys.items() if cache.get(key, 1.0)] == left
    assert cache.generation("files") > before


def test_what_was_used_longest_ago_goes_first_and_too_large_answers_are_not_kept() -> None:
    cache = AnswerCache(3_000)
    keys = [cache_key("u", "t", b"%d" % number) for number in range(4)]
    for key in keys[:3]:
        cache.put(key, b"x" * 400, 0.0, 9.0)
    assert cache.get(keys[0], 1.0) is not None
    cache.put(keys[3], b"x" * 400, 1.0, 9.0)
    assert [bool(cache.get(key, 2.0)) for key in keys] == [True, False, True, True]
    cache.put(keys[0], b"x" * 5_000, 2.0, 9.0)
    assert [bool(cache.get(key, 2.0)) for key in keys] == [False, False, True, True]
    cache.resize(0)
    assert len(cache) == cache.held_bytes == 0


@given(
    st.lists(
        st.tuples(st.sampled_from("pgic"), st.integers(0, 7), st.integers(0, 900)), max_size=60
    )
)
def test_the_bound_holds_and_the_bytes_add_up(steps: list[tuple[str, int, int]]) -> None:
    cache = AnswerCache(4_000)
    expected: dict[bytes, bytes] = {}
    for now, (step, number, size) in enumerate(steps):
        upstream = f"u{number % 2}"
        key = cache_key(upstream, "t", b"%d" % number)
        if step == "p":
            body = b"x" * size
            cache.put(key, body, float(now), 10.0)
            expected[key] = body
        elif step == "g":
            kept = cache.get(key, float(now))
            assert kept is None or kept.body == expected[key]
        elif step == "i":
            cache.invalidate(upstream)
            assert cache.get(key, float(now)) is None
        else:
            assert cache.clear(upstream, "") >= 0
        assert 0 <= cache.held_bytes <= 4_000
    cache.clear("", "")
    assert cache.held_bytes == 0
    assert not cache._by_upstream


class Call:
    """Calls that look alike and are not the same."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Call)

    __hash__ = None  # type: ignore[assignment]  # as the router's calls, which change


def test_identical_calls_wait_for_the_first_one() -> None:
    flights: Flights[Call] = Flights()
    first, second, third, other = Call(), Call(), Call(), Call()
    assert flights.join(b"k", first)
    assert not flights.join(b"k", second)
    assert not flights.join(b"k", third)
    assert flights.join(b"other", other)
    followers = flights.landed(b"k", first)
    assert [id(call) for call in followers] == [id(second), id(third)]
    assert len(flights) == 1
    assert flights.join(b"k", second), "after the answer everything begins anew"


def test_when_the_one_that_asks_is_cancelled_the_next_one_asks() -> None:
    flights: Flights[Call] = Flights()
    first, second, third = Call(), Call(), Call()
    for call in (first, second, third):
        flights.join(b"k", call)
    assert flights.leave(b"k", first) is second
    assert flights.landed(b"k", first) == ()
    assert flights.leave(b"k", third) is None
    assert flights.landed(b"k", second) == ()
    assert len(flights) == 0


def test_the_last_one_to_leave_leaves_nothing_behind() -> None:
    flights: Flights[Call] = Flights()
    only = Call()
    flights.join(b"k", only)
    assert flights.leave(b"k", only) is None
    assert flights.leave(b"k", only) is None
    assert len(flights) == 0
    assert flights.join(b"k", Call())


@given(st.lists(st.tuples(st.sampled_from("jlc"), st.integers(0, 5)), max_size=60))
def test_there_is_always_exactly_one_that_asks(steps: list[tuple[str, int]]) -> None:
    flights: Flights[Call] = Flights()
    calls = [Call() for _ in range(6)]
    under_way: list[int] = []
    asking: int | None = None
    for step, number in steps:
        if step == "j" and number not in under_way:
            asks = flights.join(b"k", calls[number])
            assert asks is (asking is None)
            under_way.append(number)
            asking = number if asks else asking
        elif step == "l" and asking == number:
            followers = flights.landed(b"k", calls[number])
            assert [id(call) for call in followers] == [
                id(calls[one]) for one in under_way if one != number
            ]
            under_way, asking = [], None
        elif step == "c" and number in under_way:
            successor = flights.leave(b"k", calls[number])
            under_way.remove(number)
            if asking == number:
                asking = under_way[0] if under_way else None
                assert successor is (None if asking is None else calls[asking])
            else:
                assert successor is None
        assert len(flights) == bool(under_way)
