"""Parts of a text that can be fetched by id."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.compress.model import ContentType, Section
from proxy.compress.section_ids import resolve
from proxy.compress.sections import sections
from tests.proxy.compress.gauges import STRUCTURED, TEXTS
from tests.proxy.compress.json_values import LAYOUTS, VALUES, write

CONTENTS = st.sampled_from(list(ContentType))


def named(text: str, content: ContentType) -> dict[str, str]:
    return {part.id: text[part.start : part.end] for part in sections(text, content)}


def check(text: str, content: ContentType) -> tuple[Section, ...]:
    """What must hold for any text."""
    parts = sections(text, content)
    assert parts == sections(text, content)
    assert len({part.id for part in parts}) == len(parts)
    outermost = [part for part in parts if part.level == 1]
    covered = 0
    for part in outermost:
        assert part.start == covered
        assert part.end > part.start
        covered = part.end
    assert covered == len(text)
    for part in parts:
        assert "\n" not in part.title
        assert len(part.id) <= 1000
        assert resolve(text, content, part.id) == [(part.start, part.end)], part.id
    return parts


@settings(deadline=None)
@given(st.one_of(TEXTS, STRUCTURED), CONTENTS)
def test_every_character_is_in_a_section_and_every_id_finds_its_section(
    text: str, content: ContentType
) -> None:
    check(text, content)


@settings(deadline=None, max_examples=50)
@given(VALUES, LAYOUTS)
def test_sections_of_any_json_are_found_by_their_ids(value: object, layout: dict[str, Any]) -> None:
    text = write(value, layout)
    for part in check(text, ContentType.JSON_OBJECT):
        if part.id.startswith("json:") and "#" not in part.id and "-" not in part.id:
            json.loads(text[part.start : part.end])


def test_headings_become_sections_that_hold_the_ones_below_them() -> None:
    text = (
        "front\n\n# Install\n\nintro\n\n## On Linux\n\napt\n\n## On Mac\n\nbrew\n\n# Use\n\nrun\n"
    )
    parts = check(text, ContentType.MARKDOWN)
    assert [(part.id, part.level) for part in parts] == [
        ("preamble", 1),
        ("install", 1),
        ("on-linux", 2),
        ("on-mac", 2),
        ("use", 1),
    ]
    assert named(text, ContentType.MARKDOWN)["install"].endswith("brew\n\n")
    assert named(text, ContentType.MARKDOWN)["on-linux"] == "## On Linux\n\napt\n\n"


def test_repeated_headings_get_numbers_and_never_the_same_id() -> None:
    text = "# Notes\na\n# Notes\nb\n# Notes 2\nc\n# Notes\nd\n"
    assert list(named(text, ContentType.MARKDOWN)) == ["notes", "notes-2", "notes-2-2", "notes-3"]


def test_what_looks_like_a_heading_inside_a_fence_is_code() -> None:
    text = "# Real\n```sh\n# not one\n```\n~~~~\n# nor this\n~~~\n# nor this\n~~~~\n# Last\n"
    assert list(named(text, ContentType.MARKDOWN)) == ["real", "last"]


def test_underlined_headings_count_and_rules_between_paragraphs_do_not() -> None:
    text = "Title\n=====\n\ntext\n\nPart\n----\n\nmore\n\n---\n\n| a |\n|---|\nlong\ntext\n---\n"
    parts = check(text, ContentType.MARKDOWN)
    assert [(part.id, part.level) for part in parts] == [("title", 1), ("part", 2)]


def test_a_heading_in_any_script_has_a_name() -> None:
    text = "# Über uns\na\n# 概要\nb\n# ***\nc\n"
    assert list(named(text, ContentType.MARKDOWN)) == ["über-uns", "概要", "section"]


def test_more_than_sixty_headings_are_grouped_by_lines() -> None:
    text = "".join(f"# Part {number}\n\n{'words ' * 40}\n\n" for number in range(500))
    parts = check(text, ContentType.MARKDOWN)
    assert 10 <= len(parts) <= 60
    assert all(part.id.startswith("lines:") for part in parts)


def test_many_small_headings_under_few_large_ones_stay_bounded() -> None:
    text = "".join(
        f"# Big {n}\n" + "".join(f"## Small {n} {m}\nx\n" for m in range(100)) for n in range(9)
    )
    parts = check(text, ContentType.MARKDOWN)
    assert [part.id for part in parts] == [f"big-{n}" for n in range(9)]


def test_json_is_divided_by_members_and_ranges_of_items() -> None:
    rows = [{"id": n, "name": f"row {n}"} for n in range(300)]
    text = json.dumps({"total": 300, "items": rows, "a/b~c": {"x": 1}})
    parts = {part.id: part for part in check(text, ContentType.JSON_OBJECT)}
    assert parts["json:"].level == 1
    assert text[parts["json:/total"].start : parts["json:/total"].end] == "300"
    assert "json:/a~1b~0c" in parts
    ranges = [part for part in parts.values() if part.id.startswith("json:/items/")]
    assert 10 <= len(ranges) <= 60
    assert ranges[0].level == 3
    got = [row for part in ranges for row in json.loads(f"[{text[part.start : part.end]}]")]
    assert got == rows


def test_a_dictionary_with_many_members_is_divided_by_their_positions() -> None:
    values = {f"key {n}": n for n in range(1000)}
    text = json.dumps(values, indent=1)
    parts = [part for part in check(text, ContentType.JSON_OBJECT) if part.level == 2]
    assert parts[0].id.startswith("json:#0-")
    got: dict[str, int] = {}
    for part in parts:
        got |= json.loads(f"{{{text[part.start : part.end]}}}")
    assert got == values


def test_odd_names_are_given_by_position() -> None:
    text = json.dumps({"a\nb": 1, "x" * 2000: 2, "ok": 3})
    ids = [part.id for part in check(text, ContentType.JSON_OBJECT)]
    assert ids == ["json:", "json:#0-0", "json:#1-1", "json:/ok"]


def test_what_is_no_json_after_all_is_divided_by_lines() -> None:
    text = '{"a": 1,\n' * 400
    assert all(part.id.startswith("lines:") for part in check(text, ContentType.JSON_OBJECT))


@pytest.mark.parametrize(
    "text", ["[" * 10_000 + "]" * 10_000, '{"a":' * 10_000 + "1" + "}" * 10_000]
)
def test_nesting_of_ten_thousand_is_survived(text: str) -> None:
    check(text, ContentType.JSON_OBJECT)


def test_a_log_is_divided_by_lines_with_what_each_part_begins_with() -> None:
    text = "".join(f"10:00:{n % 60:02d} INFO step {n} done\n" for n in range(2000))
    parts = check(text, ContentType.LOG)
    assert 10 <= len(parts) <= 60
    assert parts[0].title == "10:00:00 INFO step 0 done"
    assert all(part.id.startswith("lines:") for part in parts)


def test_one_line_of_five_megabytes_is_divided_by_characters() -> None:
    text = "word " * 1_000_000
    parts = check(text, ContentType.PROSE)
    assert 10 <= len(parts) <= 60
    assert parts[1].id.startswith("chars:")


def test_code_is_divided_at_definitions() -> None:
    body = "    x = compute(x)\n" * 30
    text = "import os\n" * 20 + "".join(f"def task_{n}(x):\n{body}\n\n" for n in range(60))
    parts = check(text, ContentType.CODE)
    assert all(part.title.startswith("def task_") for part in parts[1:])


def test_a_diff_is_divided_by_files() -> None:
    text = "".join(
        f"diff --git a/src/f{n}.py b/src/f{n}.py\n--- a/src/f{n}.py\n+++ b/src/f{n}.py\n"
        "@@ -1 +1 @@\n--- not a file\n+++ nor this\n@@ -9 +9 @@\n-a\n+b\n"
        for n in range(5)
    )
    assert [part.id for part in check(text, ContentType.DIFF)] == [f"src/f{n}.py" for n in range(5)]
    plain = "".join(f"--- old/f{n}\n+++ new/f{n}\n@@ -1 +1 @@\n-a\n+b\n" for n in range(3))
    assert [part.id for part in check(plain, ContentType.DIFF)] == ["new/f0", "new/f1", "new/f2"]


def test_html_is_divided_by_headings() -> None:
    text = (
        "<body><h1>Top <b>one</b></h1><p>a</p>\n<h2 class='x'>Sub</h2><p>b</p><H1>Next</H1></body>"
    )
    parts = check(text, ContentType.HTML)
    assert [(part.id, part.level) for part in parts] == [
        ("preamble", 1),
        ("top-one", 1),
        ("sub", 2),
        ("next", 1),
    ]


def test_xml_is_divided_by_the_children_of_its_outermost_element() -> None:
    text = "<?xml version='1.0'?>\n<r>\n<!-- <no/> --><a id='1'><b/></a><c x='>'/>\n<a id='2'>t</a></r>\n"
    found = named(text, ContentType.XML)
    assert found["xml:1"] == "<a id='1'><b/></a>"
    assert found["xml:2"] == "<c x='>'/>"
    assert found["xml:3"] == "<a id='2'>t</a>"
    many = "<r>" + "<i>x</i>" * 500 + "</r>"
    assert len(check(many, ContentType.XML)) <= 61


@pytest.mark.parametrize(
    ("piece", "content"),
    [
        ("<!--", ContentType.XML),
        ('<a b="', ContentType.XML),
        ("<![CDATA[", ContentType.XML),
        ("<h1>", ContentType.HTML),
        ("<h1 ", ContentType.HTML),
        ('"\\"', ContentType.JSON_ARRAY),
        ("[nul,", ContentType.JSON_ARRAY),
        ("```\n", ContentType.MARKDOWN),
        ("=\n", ContentType.MARKDOWN),
        ("--- a\n", ContentType.DIFF),
        ("\n\n", ContentType.PROSE),
    ],
)
def test_repeated_fragments_take_linear_time(piece: str, content: ContentType) -> None:
    def seconds(count: int) -> float:
        text = "[" + piece * count
        begun = time.thread_time()
        sections(text, content)
        return time.thread_time() - begun

    # Four times as much may take up to about ten times as long here; quadratic would be sixteen.
    # The best of three: a machine that has to find memory first is no fault of ours.
    small = max(min(seconds(20_000) for _ in range(3)), 0.01)
    assert min(seconds(80_000) for _ in range(3)) < 10 * small
