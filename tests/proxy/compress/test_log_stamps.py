"""The time at the beginning of lines is no part of what is compared."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.compress import log_templates
from proxy.compress.log_stamps import without_stamps


def stamped(count: int) -> list[bytes]:
    return [b"2026 11 30T12 %02d %02dZ INFO tick %d" % (i // 60, i % 60, i) for i in range(count)]


@pytest.mark.parametrize(
    "stamp",
    ["2026 11 30T12 00 01.123Z", "2026 11 30 12 00 01", "12 00 01", " 2026 11 30 12 00 01"],
)
def test_a_time_is_cut_off(stamp: str) -> None:
    lines = [f"{stamp} INFO tick {number}".encode() for number in range(300)]
    assert list(without_stamps(lines)) == [b" INFO tick %d" % number for number in range(300)]


def test_a_line_that_begins_in_another_way_keeps_its_words_and_gets_one_more() -> None:
    lines = stamped(600)
    lines[7] = b"  at org.example.Pool"
    lines[300] = b""
    lines[599] = b"2026 11 30T12"
    cut = without_stamps(lines)
    assert [cut[at] for at in (7, 300, 599)] == [b"- " + lines[at] for at in (7, 300, 599)]
    assert cut[8] == b" INFO tick 8"


@pytest.mark.parametrize("line", ["tick %d", "200 503 12 tick %d", "12 00 tick %d"])
def test_lines_that_begin_with_no_time_are_left_whole(line: str) -> None:
    lines = [(line % number).encode() for number in range(300)]
    assert without_stamps(lines) == lines


@given(
    st.lists(st.sampled_from([b"12 00 01 x", b"12 00 01", b"09 59 59.5 y", b"", b"z"]), min_size=1)
)
def test_nothing_but_beginnings_is_cut_off(lines: list[bytes]) -> None:
    lines = [*[b"12 00 01 x"] * (20 * len(lines)), *lines]
    cut = without_stamps(lines)
    assert len(cut) == len(lines)
    whole = zip(lines, cut, strict=True)
    assert all(line.endswith(rest) or rest == b"- " + line for line, rest in whole)


def test_a_line_without_a_time_is_unlike_all_others() -> None:
    dice = random.Random(5)
    words = [f"g{chr(103 + i)}n" for i in range(20)]
    lines = [
        f"12:00:{i % 60:02d} INFO {' '.join(dice.choices(words, k=8))} {dice.getrandbits(32):08x}"
        for i in range(2000)
    ]
    lines[900] = lines[900][9:]
    assert 900 in log_templates.group("\n".join(lines), lines).lone
