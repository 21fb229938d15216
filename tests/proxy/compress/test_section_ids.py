"""Sections by id: exactly what stands there, or what would be right."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.compress.model import ContentType
from proxy.compress.section_ids import Unknown, resolve
from tests.proxy.compress.gauges import TEXTS
from tests.proxy.compress.json_values import LAYOUTS, VALUES, write

LINES = "".join(f"line {number}\n" for number in range(1, 101))


def exact(text: str, section: str, content: ContentType = ContentType.MIXED) -> str:
    found = resolve(text, content, section)
    assert isinstance(found, list), found
    assert len(found) == 1
    return text[found[0][0] : found[0][1]]


def wrong(text: str, section: str, content: ContentType = ContentType.MIXED) -> str:
    found = resolve(text, content, section)
    assert isinstance(found, Unknown), found
    assert found.reason
    return found.reason


def test_lines_are_counted_from_one_and_both_ends_belong_to_the_range() -> None:
    assert exact(LINES, "lines:40-42") == "line 40\nline 41\nline 42\n"
    assert exact(LINES, "lines:40") == "line 40\n"
    assert exact(LINES, "lines:99-") == "line 99\nline 100\n"
    assert exact(LINES, "lines:99-5000") == "line 99\nline 100\n"
    assert exact(LINES, " lines:1-100 ") == LINES


@pytest.mark.parametrize(
    ("section", "says"),
    [
        ("lines:0", "lines:1-"),
        ("lines:101", "lines:1-100"),
        ("lines:9-3", "lines:3-9"),
        ("lines:abc", "lines:40-80"),
        ("lines:", "lines:40-80"),
        ("chars:5-5", "chars:0-"),
        ("chars:5", "chars:0-4000"),
        ("grep:", "grep:error"),
        ("json:/a", "no JSON"),
        ("xml:1", "no XML"),
        ("nothing", "lines:1-80"),
    ],
)
def test_a_place_that_does_not_exist_is_answered_with_one_that_does(
    section: str, says: str
) -> None:
    assert says in wrong(LINES, section)


@given(TEXTS, st.integers(1, 60), st.integers(0, 60))
def test_lines_of_any_text_are_those_between_its_line_feeds(
    text: str, first: int, more: int
) -> None:
    lines = text.split("\n")
    kept = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    found = resolve(text, ContentType.MIXED, f"lines:{first}-{first + more}")
    if first > len(kept):
        assert isinstance(found, Unknown)
    else:
        assert isinstance(found, list)
        [(start, end)] = found
        assert text[start:end] == "".join(kept[first - 1 : first + more])


def pointers(value: object, at: str = "") -> list[tuple[str, object]]:
    """Every pointer into a value, and what it leads to."""
    found: list[tuple[str, object]] = [(at, value)]
    steps: list[tuple[str, object]] = []
    if isinstance(value, dict):
        steps = [
            (str(key).replace("~", "~0").replace("/", "~1"), item) for key, item in value.items()
        ]
    elif isinstance(value, list):
        steps = [(str(index), item) for index, item in enumerate(value)]
    for step, item in steps:
        found += pointers(item, f"{at}/{step}")
    return found


@settings(deadline=None, max_examples=60)
@given(VALUES, LAYOUTS, st.booleans())
def test_a_pointer_brings_exactly_the_value_that_parsers_find(
    value: object, layout: dict[str, Any], padded: bool
) -> None:
    text = write(value, layout)
    text = f" \n{text}\t" if padded else text
    for pointer, wanted in pointers(json.loads(text))[:60]:
        if pointer == "/":
            continue  # also taken for the whole
        got = exact(text, f"json:{pointer}", ContentType.JSON_OBJECT)
        assert json.dumps(json.loads(got)) == json.dumps(wanted)
        assert got == got.strip()


@given(st.lists(st.integers() | st.text(max_size=5), min_size=1, max_size=60), LAYOUTS, st.data())
def test_a_range_brings_the_items_from_its_first_to_its_last(
    items: list[object], layout: dict[str, Any], data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(items) - 1))
    last = data.draw(st.integers(first, len(items) + 3))
    text = write({"a": items}, layout)
    got = exact(text, f"json:/a/{first}-{last}", ContentType.JSON_OBJECT)
    assert json.loads(f"[{got}]") == items[first : last + 1]


def test_numbers_and_escapes_come_back_as_they_were_written() -> None:
    text = r'{"n": 1.50e+400, "s": "\u00e9\/\ud83d", "big": ' + "9" * 5000 + ', "x": NaN}'
    assert exact(text, "json:/n") == "1.50e+400"
    assert exact(text, "json:/s") == r'"\u00e9\/\ud83d"'
    assert exact(text, "json:/big") == "9" * 5000
    assert exact(text, "json:/x") == "NaN"


def test_names_with_slash_tilde_hash_and_none_at_all_are_found() -> None:
    text = '{"a/b": {"m~n": 1}, "#0-1": 2, "": 3, "3-4": 4}'
    assert exact(text, "json:/a~1b/m~0n") == "1"
    assert exact(text, "json:/#0-1") == "2"
    assert exact(text, "json:/") == "3"
    assert exact(text, "json:/3-4") == "4"
    assert exact(text, "json:") == text
    assert exact('{"a": 1}', "json:/") == '{"a": 1}'


def test_a_pointer_without_its_first_slash_is_understood() -> None:
    assert exact('{"a": [5, 6]}', "json:a/1") == "6"


def test_members_are_found_by_position() -> None:
    text = '{"o": {"a": 1, "b": 2, "c": 3}, "z": 0}'
    assert exact(text, "json:/o#1-2") == '"b": 2, "c": 3'
    assert exact(text, "json:#1-1") == '"z": 0'


@pytest.mark.parametrize(
    ("section", "says"),
    [
        ("json:/itms", "json:/items"),
        ("json:/items/7", "json:/items/0-1"),
        ("json:/items/-", "2 items"),
        ("json:/items/5-9", "only 2 entries"),
        ("json:/items/1-0", "0-1"),
        ("json:/items/0/id/x", "json:/items/0/id"),
        ("json:/empty/0", "no items"),
        ("json:/none/a", "no members"),
        ("json:/missing#0-1", "no member missing"),
    ],
)
def test_a_wrong_pointer_is_answered_with_what_is_there(section: str, says: str) -> None:
    text = '{"items": [{"id": 1}, {"id": 2}], "empty": [], "none": {}}'
    assert says in wrong(text, section)


def test_a_value_under_ten_thousand_levels_is_survived() -> None:
    text = '{"deep": ' + "[" * 10_000 + "]" * 10_000 + ', "after": 1}'
    assert exact(text, "json:/after") == "1"
    assert exact(text, "json:/deep/0") == "[" * 9_999 + "]" * 9_999


def test_broken_json_is_said_to_be_broken() -> None:
    assert "breaks off" in wrong('{"a": [1, 2', "json:/a/5")


def test_a_search_finds_lines_with_their_neighbours_whatever_the_case() -> None:
    found = resolve(LINES, ContentType.LOG, "grep:LINE 50")
    assert isinstance(found, list)
    assert [LINES[start:end] for start, end in found] == [
        "line 48\nline 49\nline 50\nline 51\nline 52\n"
    ]
    assert resolve(LINES, ContentType.LOG, "grep:absent") == []


def test_an_unknown_name_is_answered_with_the_nearest_ones() -> None:
    text = "# Install\n\n# Configure\n\n# Use\n"
    reason = wrong(text, "instal", ContentType.MARKDOWN)
    assert "there are: install, configure, use" in reason
    assert exact(text, "Install", ContentType.MARKDOWN) == "# Install\n\n"


def test_a_name_is_found_although_the_text_is_now_taken_for_something_else() -> None:
    text = "# Install\n\n# Use\n"
    assert exact(text, "use", ContentType.PROSE) == "# Use\n"


def test_xml_children_are_counted_from_one() -> None:
    text = "<r><a/><b>1</b><c/></r>"
    assert exact(text, "xml:2") == "<b>1</b>"
    assert exact(text, "xml:2-9") == "<b>1</b><c/>"
    assert "xml:1-3" in wrong(text, "xml:4")


@given(
    TEXTS,
    st.text(max_size=20),
    st.sampled_from(["", "lines:", "chars:", "grep:", "json:", "json:/", "xml:"]),
)
def test_any_id_on_any_text_is_found_or_explained(text: str, section: str, kind: str) -> None:
    found = resolve(text, ContentType.MARKDOWN, kind + section)
    if isinstance(found, Unknown):
        assert found.reason
        assert "\n" not in found.reason
    else:
        assert all(0 <= start <= end <= len(text) for start, end in found)
