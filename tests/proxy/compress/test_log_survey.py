"""Leaving out what is harmless changes nothing of what a log's columns tell."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.compress.log_survey import Survey, Template
from proxy.compress.log_words import alike, vocabulary

_ALARMS = (b"err", b"fail", b"oom", "\u5931".encode())
_KINDS = ("word", "name", "number", "measure", "id", "level", "minute", "fixed", "digits", "clock")
_RARE = ("failed", "ERROR", "zebra", "5oom", "98765432", "\u5931\u8d25", "nan", "1e999")


def cell(kind: str, row: int, dice: random.Random, words: list[str]) -> str:
    match kind:
        case "word":
            return dice.choice(words)
        case "name":
            return "".join(dice.choices("ghijklmnopqrstuvwxyz", k=6))
        case "number":
            return str(dice.randrange(10 ** dice.randint(1, 4)))
        case "measure":
            return f"{dice.gauss(50, 5):.1f}ms"
        case "id":
            return f"{dice.getrandbits(32):08x}"
        case "level":
            return dice.choice(("INFO", "INFO", "INFO", "DEBUG", "WARN"))
        case "minute":
            return f"{row % 60:02d}"
        case "digits":
            return str(dice.randrange(9))
        case "clock":
            return f"{row % 28:02d}T{row % 24:02d}"
        case _:
            return "fixed"


def log(seed: int, kinds: list[list[str]], vocabulary: int, count: int) -> list[bytes]:
    """Lines of these columns, now and then with a word that is rare."""
    dice = random.Random(seed)
    words = ["".join(dice.choices("ghijklmnop", k=dice.randint(2, 7))) for _ in range(vocabulary)]
    lines: list[bytes] = []
    for row in range(count):
        cells = [cell(kind, row, dice, words) for kind in dice.choice(kinds)]
        if dice.random() < 0.01:
            cells[dice.randrange(len(cells))] = dice.choice(_RARE)
        lines.append(" ".join(cells).encode())
    return lines


def surveyed(lines: list[bytes], *, nothing_harmless: bool = False) -> Survey:
    words = vocabulary(lines)
    survey = Survey(words.known, _ALARMS)
    if nothing_harmless:
        survey.harmless = frozenset()
    found: dict[tuple[object, ...], Template] = {}
    for some in alike(lines, words):
        width = len(some.words[0])
        counted = range(width) if nothing_harmless else words.counted.get(width, ())
        template = found.setdefault(some.template, Template(width, lines, frozenset(counted)))
        template.add(some.rows, some.words, survey.harmless)
    for template in sorted(found.values(), key=lambda template: template.rows[0]):
        survey.add(template)
    return survey


_COLUMNS = st.lists(st.sampled_from(_KINDS), min_size=1, max_size=9)


@settings(max_examples=40)
@given(
    st.integers(0, 2**32),
    st.lists(_COLUMNS, min_size=1, max_size=3),
    st.sampled_from([3, 20, 46, 300]),
    st.sampled_from([5, 130, 700, 1500]),
)
def test_harmless_columns_tell_nothing(
    seed: int, kinds: list[list[str]], words: int, count: int
) -> None:
    lines = log(seed, kinds, words, count)
    some, whole = surveyed(lines), surveyed(lines, nothing_harmless=True)
    assert some.suspects() == whole.suspects()
    assert some.strange(40) == whole.strange(40)
    assert some.unusual == whole.unusual


@settings(max_examples=40)
@given(
    st.integers(0, 2**32),
    st.lists(_COLUMNS, min_size=1, max_size=3),
    st.sampled_from([3, 46]),
    st.sampled_from([1, 300, 700]),
)
def test_lines_are_alike_by_their_number_of_words_and_the_common_ones(
    seed: int, kinds: list[list[str]], words: int, count: int
) -> None:
    lines = log(seed, kinds, words, count)
    read = vocabulary(lines)
    expected: dict[tuple[object, ...], list[int]] = {}
    for row, line in enumerate(lines):
        cells = line.split()
        places = read.places.get(len(cells), [])
        # Of few places the first one is read twice; with many, every word is looked at.
        places = [*places, *places[:1]] if len(places) <= 8 else range(len(cells))
        common = [cells[place] for place in places if cells[place] in read.common]
        expected.setdefault((len(cells), *common), []).append(row)
    found: dict[tuple[object, ...], list[int]] = {}
    for some in alike(lines, read):
        assert some.words == [lines[row].split() for row in some.rows]
        found.setdefault(some.template, []).extend(some.rows)
    assert sorted(found.values()) == sorted(expected.values())


def test_words_that_were_let_go_are_read_again_when_a_column_turns_out_to_have_few() -> None:
    # The first lines have a vocabulary that the rest of the log lacks, so a sample sees few words.
    many = [f"k{chr(103 + i % 20)}{chr(103 + i // 20 % 20)}" for i in range(128)]
    lines = [f"{word} x".encode() for word in many] + [b"same x", b"other x"] * 30_000
    template = Template(2, lines)
    harmless = frozenset(word.encode() for word in (*many, "same", "other", "x"))
    for start in range(0, len(lines), 128):
        block = [line.split() for line in lines[start : start + 128]]
        template.add(list(range(start, start + len(block))), block, harmless)
    template.turn(harmless)
    assert template.telling(0) == ([], [])
    assert template.column(0) == [line.split()[0] for line in lines]
    assert not template.constant(0)


def test_a_column_that_is_kept_has_all_of_its_words() -> None:
    lines = [f"{row % 3} same {'last' if row == 999 else 'first'}".encode() for row in range(1000)]
    template = Template(3, lines, frozenset((0, 1, 2)))
    template.add(range(1000), [line.split() for line in lines], frozenset((b"same", b"first")))
    template.turn(frozenset())
    assert [template.constant(number) for number in range(3)] == [b"", b"same", b""]
    for number, column in enumerate(zip(*map(bytes.split, lines), strict=True)):
        assert template.column(number) == list(column)


@pytest.mark.parametrize("place", [0, 127, 128, 700, 1999])
def test_a_strange_word_is_found_in_any_block(place: int) -> None:
    lines = log(3, [["level", *["word"] * 8, "id"]], 46, 2_000)
    cells = lines[place].split()
    cells[4] = b"pelican"
    lines[place] = b" ".join(cells)
    assert place in surveyed(lines).strange(40)
