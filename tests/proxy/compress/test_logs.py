"""The lines of a log that matter are shown, whatever the log's size."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.schema import Compression
from proxy.compress.logs import extract_log
from proxy.compress.model import CharacterGauge, ContentType, Reduction, Task
from tests.proxy.compress.gauges import KEY, STRUCTURED, TEXTS, TokenGauge

TOKENS = TokenGauge()
NEEDLE = "2026-11-30T12:06:40.000Z INFO [raft] leadership moved to node pelican after quorum loss"


def service_log(lines: int, seed: int = 7) -> list[str]:
    dice = random.Random(seed)
    users = ("alice", "bob", "carol", "dave")
    return [
        f"2026-11-30T12:{i // 3600 % 60:02d}:{i // 60 % 60:02d}.{i % 1000:03d}Z "
        + (
            f"INFO [worker-{dice.randrange(8)}] api GET /v1/items/{dice.randrange(10**6)} status=200 "
            f"took={dice.gauss(50, 5):.1f}ms id={dice.getrandbits(64):016x}"
            if dice.random() < 0.7
            else f"DEBUG [pool] user={dice.choice(users)} got connection {dice.randrange(100)} of 99"
        )
        for i in range(lines)
    ]


def varied_log(lines: int, seed: int = 3) -> list[str]:
    """Hardly two lines with the same words."""
    dice = random.Random(seed)
    letters = "ghijklmnopqrstuvwxyz"
    return [
        f"12:00:{i % 60:02d} INFO session {''.join(dice.choices(letters, k=6))} opened by "
        f"{''.join(dice.choices(letters, k=5))} for {dice.randrange(1000)} s"
        for i in range(lines)
    ]


def shown(lines: list[str], query: str = "", budget: int = 4_000) -> str:
    found = extract_log(
        Task("\n".join(lines), budget, TOKENS, query=query, key=KEY, content=ContentType.LOG)
    )
    assert found is not None
    assert found.strategy is Compression.EXTRACT
    assert TOKENS.size(found.text) <= budget
    return found.text


@pytest.mark.parametrize("query", ["", "pelican quorum", "why did the leadership move?"])
def test_a_planted_line_is_found_in_a_megabyte(query: str) -> None:
    lines = service_log(10_500)
    lines[4_000] = NEEDLE
    assert len("\n".join(lines)) > 1_000_000
    assert NEEDLE in shown(lines, query)


@pytest.mark.parametrize("query", ["", "what happened to pelican?"])
def test_a_planted_line_is_found_where_every_line_is_different(query: str) -> None:
    lines = varied_log(8_000)
    lines[5_432] = NEEDLE
    assert NEEDLE in shown(lines, query)


def test_an_error_is_found_among_thousands_of_warnings() -> None:
    lines = ["2026-11-30 12:00:01 WARN cache is slow, retrying"] * 5_000
    lines[3_210] = "2026-11-30 12:00:01 ERROR cannot write: no space left"
    assert lines[3_210] in shown(lines, budget=400)


def test_an_unusual_value_is_found() -> None:
    lines = service_log(9_000)
    failed = next(i for i in range(5_000, 9_000) if "status=200" in lines[i])
    lines[failed] = lines[failed].replace("status=200", "status=500")
    slow = next(i for i in range(6_000, 9_000) if "took=" in lines[i] and i != failed)
    lines[slow] = lines[slow].split("took=")[0] + "took=108.5ms id=0011223344556677"
    text = shown(lines)
    assert lines[failed] in text
    assert lines[slow] in text


def test_a_line_that_answers_the_query_is_found_though_its_words_are_usual() -> None:
    lines = service_log(5_000)
    lines[2_222] = "2026-11-30T12:00:37.222Z DEBUG [pool] user=mallory got connection 7 of 9"
    lines[2_223:2_223] = [
        lines[2_222].replace("mallory", name) for name in ("peggy", "trent", "victor")
    ]
    assert "user=mallory" in shown(lines, "connections of user mallory")


def test_an_error_comes_with_its_stack_frames() -> None:
    lines = service_log(2_000)
    trace = [
        "2026-11-30T12:00:20.000Z ERROR [api] request failed",
        "java.lang.IllegalStateException: pool is closed",
        *(f"    at org.example.Pool.step{i}(Pool.java:{i})" for i in range(12)),
        "Caused by: java.io.IOException: broken pipe",
    ]
    lines[1_200:1_200] = trace
    assert "\n".join(trace) in shown(lines)


def test_a_count_of_no_errors_is_no_error() -> None:
    lines = service_log(1_000)
    for at in range(100, 900, 100):
        lines[at] = f"2026-11-30T12:00:01.000Z INFO [health] checked {at} parts, 0 errors, failed=0"
    lines[777] = "2026-11-30T12:00:12.000Z ERROR [disk] write failed"
    text = shown(lines, budget=300)
    assert lines[777] in text


def test_a_word_that_only_contains_an_alarming_one_is_no_alarm() -> None:
    lines = service_log(1_000)
    for at in range(1, 1_000, 9):
        lines[at] = (
            f"2026-11-30T12:00:01.000Z INFO [web] room {at} of the referrer was untimed {'abcdefg'[at % 7]}"
        )
    lines[500] = "2026-11-30T12:00:08.000Z WARN [net] peer refused the handshake"
    assert lines[500] in shown(lines, budget=500)


def test_a_frequent_line_is_shown_first_and_last_with_its_number() -> None:
    lines = ["start", *(f"tick {i}" for i in range(1_000)), "end"]
    text = shown(lines, budget=200)
    assert text.startswith("start\ntick 0\n[… 1,000 lines like this: lines:2-1001]\n")
    assert "tick 999\nend\n" in text


def test_lines_stay_in_order_and_every_gap_names_its_lines() -> None:
    lines = service_log(3_000)
    text = shown(lines)
    last = -1
    where = {line: at for at, line in enumerate(lines)}
    for line in text.split("\n")[:-1]:
        if line.startswith("[…") and "not shown" in line:
            first, _, end = line[:-1].rsplit("lines:", 1)[1].partition("-")
            assert int(first) == last + 2
            last = int(end or first) - 1
        elif not line.startswith("[…"):
            assert where[line] == last + 1
            last += 1
    assert last == len(lines) - 1


def reduced(text: str, budget: int, query: str = "", key: str = KEY) -> Reduction | None:
    return extract_log(
        Task(text, budget, CharacterGauge(), query=query, key=key, content=ContentType.LOG)
    )


@given(
    st.one_of(TEXTS, STRUCTURED, STRUCTURED.map(lambda text: text * 9)),
    st.integers(0, 900),
    st.sampled_from(["", "error 17", "x"]),
    st.sampled_from(["", KEY]),
)
def test_any_text_fits_any_budget_and_the_same_again(
    text: str, budget: int, query: str, key: str
) -> None:
    found = reduced(text, budget, query, key)
    if found is not None:
        assert len(found.text) <= budget
        assert len(found.text) < len(text)
        assert 0 < found.overhead <= len(found.text)
        assert found == reduced(text, budget, query, key)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 3_000_000,
        "\n" * 1_000_000,
        " \n" * 500_000,
        "a=1 " * 700_000 + "\n" + "a=2 " * 700_000,
        "\n".join("error " * 40 for _ in range(8_000)),
        "\n".join(f"{'x' * (i % 50)} y" for i in range(50_000)),
    ],
    ids=["one line", "blank", "white", "two lines", "errors", "widths"],
)
def test_odd_texts_take_linear_time(text: str) -> None:
    started = time.process_time()
    reduced(text, 4_000, "x y error")
    assert time.process_time() - started < 10
