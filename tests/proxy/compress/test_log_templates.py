"""Lines are grouped by what they say, and unusual values are found."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from proxy.compress import log_templates
from tests.proxy.compress.gauges import STRUCTURED, TEXTS


def grouped(lines: list[str]) -> list[list[int]]:
    return log_templates.group("\n".join(lines).encode()).templates


def unusual(lines: list[str]) -> list[int]:
    raw = [line.encode() for line in lines]
    return [one.line for one in log_templates.unusual(raw, range(len(lines)))]


def requests(count: int) -> list[str]:
    return [
        f"12:{i // 60:02d}:{i % 60:02d} GET /x/{i * 7919 % 997} status=200 took={40 + i * 31 % 17}ms"
        for i in range(count)
    ]


@given(st.one_of(TEXTS, STRUCTURED))
def test_every_line_is_in_one_group(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    groups = log_templates.group(data)
    for partition in (groups.forms, groups.templates):
        assert sorted(i for members in partition for i in members) == list(
            range(data.count(b"\n") + 1)
        )
        assert all(members == sorted(members) for members in partition)


@given(st.one_of(TEXTS, STRUCTURED))
def test_any_lines_can_be_searched_for_unusual_values(text: str) -> None:
    lines = text.encode("utf-8", "surrogatepass").split(b"\n")
    found = log_templates.unusual(lines, range(len(lines)))
    assert found == log_templates.unusual(lines, range(len(lines)))
    assert all(0 < one.line < len(lines) - 1 for one in found)


def test_numbers_ids_and_padding_do_not_matter() -> None:
    lines = [
        "took   5 ms id=0fa3",
        "took 123 ms id=9bc0",
        "took 7 ms id=77",
        "something else",
    ]
    assert grouped(lines) == [[0, 1, 2], [3]]


def test_names_do_not_matter_where_there_are_many() -> None:
    lines = [
        f"login of {chr(97 + i % 26)}{chr(103 + i % 17)}n{'xyz'[i % 3]}{chr(104 + i % 11)} accepted"
        for i in range(600)
    ]
    assert len(set(lines)) > 300
    assert len(grouped(lines)) == 1


def test_a_rare_word_in_a_column_is_found() -> None:
    lines = requests(3000)
    lines[1234] = lines[1234].replace("status=200", "status=500")
    assert unusual(lines) == [1234]


def test_a_far_number_is_found() -> None:
    lines = requests(3000)
    lines[2000] = "12:33:20 GET /x/5 status=200 took=912ms"
    assert unusual(lines) == [2000]


def test_a_far_number_is_found_among_a_few_lines() -> None:
    lines = requests(20)
    lines[11] = "12:00:11 GET /x/5 status=200 took=912ms"
    assert 11 in unusual(lines)


def test_nothing_is_unusual_in_usual_lines() -> None:
    assert unusual(requests(3000)) == []
    assert unusual(requests(5)) == []


def test_numbers_that_are_none_do_not_matter() -> None:
    lines = [f"a value={['nan', 'inf', '1e999', '3'][i % 4]} of {i}" for i in range(100)]
    assert unusual(lines) == []


def mixed(count: int) -> list[str]:
    """Lines of words mixed at will: hardly two are alike, and no word is rare."""
    dice = random.Random(5)
    words = [
        f"{first}{second}"
        for first in ("gil", "hor", "kit", "lus", "mip")
        for second in ("no", "ry", "sto", "vum")
    ]
    return [
        f"{i % 60:02d} INFO {' '.join(dice.choices(words, k=8))} {dice.getrandbits(32):08x}"
        for i in range(count)
    ]


def test_lines_mixed_at_will_are_one_template() -> None:
    groups = log_templates.group("\n".join(mixed(2000)).encode())
    assert len(groups.forms) > 1900
    assert len(groups.templates) < 50
    assert groups.strange == []


def test_words_that_no_other_line_has_are_strange() -> None:
    lines = mixed(2000)
    lines[1500] = "17 INFO quorum lost gilno hory kitno pelican mipsto lusry 00112233"
    lines[700] = "17 INFO gilno horry zebra kitno lusry mipsto gilno kitry 00112233"
    assert log_templates.group("\n".join(lines).encode()).strange[:1] == [1500]


def test_a_line_of_another_length_is_alone() -> None:
    lines = mixed(2000)
    lines[900] = "17 INFO gilno horry"
    assert 900 in log_templates.group("\n".join(lines).encode()).lone


def test_an_unusual_level_is_found_where_hardly_two_lines_are_alike() -> None:
    lines = mixed(2000)
    lines[1100] = lines[1100].replace("INFO", "EMERG")
    data = "\n".join(lines).encode()
    groups = log_templates.group(data)
    raw = data.split(b"\n")
    found = [
        one.line
        for members in groups.templates
        for one in log_templates.unusual(raw, members, groups.words)
    ]
    assert 1100 in {*found, *groups.lone}
