"""Lines are grouped by what they say, and unusual values are found."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from proxy.compress import log_columns, log_templates
from tests.proxy.compress.gauges import STRUCTURED, TEXTS


def grouped(lines: list[str]) -> list[list[int]]:
    return log_templates.templates("\n".join(lines), lines)


def group(lines: list[str], *wanted: bytes) -> log_templates.Groups:
    return log_templates.group("\n".join(lines), lines, wanted)


def unusual(lines: list[str]) -> list[int]:
    raw = [line.encode() for line in lines]
    return [one.line for one in log_columns.unusual(raw, range(len(lines)))]


def requests(count: int) -> list[str]:
    return [
        f"12:{i // 60:02d}:{i % 60:02d} GET /x/{i * 7919 % 997} status=200 took={40 + i * 31 % 17}ms"
        for i in range(count)
    ]


@given(st.one_of(TEXTS, STRUCTURED))
def test_every_line_is_in_one_group(text: str) -> None:
    lines = text.split("\n")
    groups = group(lines)
    assert groups.templates == grouped(lines)
    assert sorted(i for members in groups.templates for i in members) == list(range(len(lines)))
    assert all(members == sorted(members) for members in groups.templates)
    assert groups.templates == sorted(groups.templates)


@given(
    st.lists(
        st.lists(
            st.sampled_from(
                [
                    "ab",
                    "12",
                    "c3",
                    "error",
                    "7ms",
                    "z",
                    "-4",
                    "ze",
                    "zw",
                    "nan",
                    "inf",
                    "1e999",
                    "中",
                ]
            )
        ),
        min_size=1,
        max_size=30,
    )
)
def test_lines_of_any_words_can_be_surveyed(lines: list[list[str]]) -> None:
    texts = [" ".join(line) for line in lines]
    found = [
        texts[i % len(texts)].replace("z", f"z{chr(103 + i % 19)}{chr(103 + i // 19 % 19)}")
        for i in range(1100)
    ]
    groups = group(found, b"error")
    assert groups == group(found, b"error")
    assert [line for line in groups.suspects if "error" not in found[line[0]]] == []


@given(st.one_of(TEXTS, STRUCTURED))
def test_any_lines_can_be_searched_for_unusual_values(text: str) -> None:
    lines = text.encode("utf-8", "surrogatepass").split(b"\n")
    found = log_columns.unusual(lines, range(len(lines)))
    assert found == log_columns.unusual(lines, range(len(lines)))
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
    groups = group(mixed(2000))
    assert len(groups.templates) < 50
    assert groups.strange == []


def test_words_that_no_other_line_has_are_strange() -> None:
    lines = mixed(2000)
    lines[1500] = "17 INFO quorum lost gilno hory kitno pelican mipsto lusry 00112233"
    lines[700] = "17 INFO gilno horry zebra kitno lusry mipsto gilno kitry 00112233"
    assert group(lines).strange[:1] == [1500]


def test_a_line_of_another_length_is_alone() -> None:
    lines = mixed(2000)
    lines[900] = "17 INFO gilno horry"
    assert 900 in group(lines).lone


def test_an_unusual_level_is_found_where_hardly_two_lines_are_alike() -> None:
    lines = mixed(2000)
    lines[1100] = lines[1100].replace("INFO", "EMERG")
    groups = group(lines)
    assert 1100 in {*(one.line for one in groups.unusual), *groups.lone}


def test_a_far_number_is_found_where_hardly_two_lines_are_alike() -> None:
    lines = [f"{line} took={30 + i * 31 % 97}ms" for i, line in enumerate(mixed(3000))]
    lines[1700] = lines[1700].rpartition(" ")[0] + " took=9120ms"
    found = group(lines).unusual
    assert [one.line for one in found if one.surprise >= 1] == [1700]


def test_suspects_are_found_in_any_column_where_hardly_two_lines_are_alike() -> None:
    dice = random.Random(8)
    names = ["".join(dice.choices("ghijklmnopqrstuvwxyz", k=7)) for _ in range(6000)]
    lines = [
        f"{line} {names[2 * i]} {dice.getrandbits(64):016x} {names[2 * i + 1]}"
        for i, line in enumerate(mixed(3000))
    ]
    planted = {700: "xTIMEOUTx", 1300: "refused", 2100: "io.SomeException"}
    for column, (line, word) in zip((11, 2, 10), planted.items(), strict=True):
        cells = lines[line].split()
        lines[line] = " ".join([*cells[:column], word, *cells[column + 1 :]])
    wanted = (b"timeout", b"refused", b"exception")
    assert group(lines, *wanted).suspects == [[line] for line in planted]
    assert group(lines).suspects == []


def test_a_name_of_its_own_is_not_strange_in_a_column_of_names() -> None:
    dice = random.Random(9)
    names = ["".join(dice.choices("ghijklmnopqrstuvwxyz", k=7)) for _ in range(3000)]
    lines = [f"{line} {name}" for line, name in zip(mixed(3000), names, strict=True)]
    lines[2222] = lines[2222].replace("INFO", "pelican")
    assert set(group(lines).strange) <= {2222}
