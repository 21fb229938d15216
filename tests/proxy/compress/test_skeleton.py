"""Outlines: headings, definitions, hunks, columns, elements."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.schema import Compression
from proxy.compress.model import CharacterGauge, ContentType, Reduction, Task
from proxy.compress.skeleton import skeleton
from tests.proxy.compress.gauges import KEY, STRUCTURED, TEXTS


def reduced(
    text: str, budget: int, content: ContentType, query: str = "", key: str = KEY
) -> Reduction | None:
    return skeleton(Task(text, budget, CharacterGauge(), query=query, key=key, content=content))


def outline(text: str, budget: int, content: ContentType, query: str = "") -> str:
    found = reduced(text, budget, content, query)
    assert found is not None
    assert found.strategy is Compression.SKELETON
    assert len(found.text) <= budget
    return found.text


def manual(parts: int) -> str:
    return "# Manual\n\nAbout all of it.\n\n" + "".join(
        f"## Part {i}\n\nPart {i} is about thing{i}. {'It goes on and on. ' * 30}\n\nMore of it.\n\n"
        for i in range(parts)
    )


def test_markdown_keeps_every_heading_and_first_sentences() -> None:
    text = outline(manual(12), 3_500, ContentType.MARKDOWN)
    for part in range(12):
        assert f"## Part {part}\n" in text
    assert "Part 0 is about thing0." in text
    assert "characters not shown: lines:7]" in text


def test_markdown_shows_more_of_the_part_that_is_asked_for() -> None:
    text = outline(manual(40), 2_500, ContentType.MARKDOWN, "thing33")
    assert "Part 33 is about thing33." in text
    assert "Part 20 is about" not in text


def test_headings_inside_fences_are_code() -> None:
    source = (
        "# One\n\n```sh\n# not a heading\n```\n\n"
        + "words here\n" * 100
        + "\nTwo\n---\n\n"
        + "more\n" * 100
    )
    text = outline(source, 300, ContentType.MARKDOWN)
    assert "# One\n" in text
    assert "Two\n" in text


def test_prose_without_headings_has_no_outline() -> None:
    assert reduced("Just words. " * 500, 500, ContentType.PROSE) is None
    assert reduced("INFO x\n" * 500, 500, ContentType.LOG) is None
    assert reduced('{"a": 1}' * 500, 500, ContentType.JSON_OBJECT) is None


SOURCES = {
    "python": '''import os
=class Shop:
=    """Sells things."""

=    def sell(self, what: str) -> int:
        """Sell one thing."""
BODY
        return 1

=async def main(argv):
    """
=    Run it.
    """
BODY
''',
    "typescript": """=import { a } from './a'
=/** A shop. */
=export class Shop {
=  private sell(what: string): number {
BODY
  }
}
=export const open = async (door: Door): Promise<void> => {
BODY
}
""",
    "go": """=package main

=// Shop sells.
=type Shop struct {
	name string
}

=// Sell sells.
=func (s *Shop) Sell(w string) (int, error) {
BODY
}
""",
    "rust": """=use std::fmt;
=/// Sells.
=pub struct Shop { a: u8 }
=impl Shop {
=    pub(crate) async fn sell(&self) -> u8 {
BODY
    }
=    pub const fn size() -> usize { 1 }
}
""",
    "java": """=package org.x;
=public final class Shop extends Base {
  @Override
=  protected int sell(String what, int many) throws IOException {
BODY
  }
}
""",
    "c": """=#include <stdio.h>
=static const char *sell(const char *what, size_t n)
{
BODY
}
=template <typename T> class Shop {
};
""",
    "sql": """=CREATE TABLE shop (
BODY
);
=create or replace view sold as
BODY
""",
}
"""Lines that must stay begin with ``=``."""


@pytest.mark.parametrize("language", SOURCES)
def test_source_code_keeps_its_definitions(language: str) -> None:
    marked = SOURCES[language].replace(
        "BODY", "\n".join(f"        value_{i} + {i};" for i in range(80))
    )
    wanted = [line[1:] for line in marked.split("\n") if line.startswith("=")]
    source = "\n".join(line.removeprefix("=") for line in marked.split("\n"))
    text = outline(source, 640, ContentType.CODE)
    for line in wanted:
        assert line + "\n" in text


def test_calls_are_no_definitions() -> None:
    source = "def f():\n" + "    call(a, b)\n    if (x):\n    return go(1)\n" * 60
    text = outline(source, 330, ContentType.CODE)
    assert text.startswith("def f():\n")


def change(files: int) -> str:
    context = " context\n" * 20
    return "".join(
        f"diff --git a/f{i}.py b/f{i}.py\nindex 1..2 100644\n--- a/f{i}.py\n+++ b/f{i}.py\n"
        f"@@ -1,9 +1,9 @@ def g{i}\n{context}-old{i}\n+new{i}\n+--- not a file\n{context}"
        for i in range(files)
    )


def test_a_diff_keeps_files_hunks_and_the_numbers_of_changes() -> None:
    text = outline(change(6), 1_900, ContentType.DIFF)
    for number in range(6):
        assert (
            f"+++ b/f{number}.py\n[… 2 lines added, 1 removed: lines:{number * 48 + 1}-{number * 48 + 48}]"
            in text
        )
        assert f"def g{number}\n" in text


def test_a_diff_shows_what_is_asked_for() -> None:
    assert "+new7\n" in outline(change(20), 2_600, ContentType.DIFF, "new7")


def table(rows: int, separator: str = ",") -> str:
    head = separator.join(["id", "name", "price", "kind", "note"])
    body = [
        separator.join([str(i), f"name{i}", f"{i / 2:.1f}", "ab"[i % 2], "" if i % 10 else "x"])
        for i in range(rows)
    ]
    return "\n".join([head, *body]) + "\n"


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_a_table_keeps_its_header_ranges_and_a_sample(separator: str) -> None:
    text = outline(table(500, separator), 900, ContentType.TABLE)
    lines = text.split("\n")
    assert lines[0] == separator.join(["id", "name", "price", "kind", "note"])
    assert lines[1].startswith(
        "[… 500 rows: lines:2-501; id 0 to 499; name 500 values, name0 to name99; "
    )
    assert "price 0.0 to 249.5; kind a 250x, b 250x; note x 50x, 450 empty]" in lines[1]
    assert separator.join(["499", "name499", "249.5", "b", ""]) in text


def test_a_table_shows_the_rows_that_are_asked_for() -> None:
    assert "\n371,name371," in outline(table(500), 700, ContentType.TABLE, "name371")


def test_markup_becomes_a_tree_with_counts() -> None:
    rows = "\n".join(
        f'<item id="{i}" kind="x"><name>Thing {i}</name><price>{i}</price></item>'
        for i in range(50)
    )
    text = outline(
        f"<?xml version='1.0'?>\n<shop>\n<!-- <no/> -->\n{rows}\n</shop>", 600, ContentType.XML
    )
    assert text.split("\n")[:4] == [
        "shop [lines:2-54]",
        "  item (id kind) \u00d750 [lines:4-53]",
        "    name \u00d750 : Thing 0 [lines:4-53]",
        "    price \u00d750 : 0 [lines:4-53]",
    ]


def test_html_closes_what_its_authors_leave_open() -> None:
    page = "<html><body><ul>" + "<li>one <br><b>two</b>\n" * 60 + "</ul><p>a<p>b</body></html>"
    text = outline(page, 600, ContentType.HTML)
    assert "      li \u00d760 : one" in text
    assert "    p \u00d72 : a" in text


@given(
    st.one_of(TEXTS, STRUCTURED, STRUCTURED.map(lambda text: text * 5)),
    st.integers(0, 900),
    st.sampled_from(ContentType),
    st.sampled_from(["", "x more 17"]),
    st.sampled_from(["", KEY]),
)
def test_any_text_fits_any_budget_and_the_same_again(
    text: str, budget: int, content: ContentType, query: str, key: str
) -> None:
    found = reduced(text, budget, content, query, key)
    if found is not None:
        assert len(found.text) <= budget
        assert len(found.text) < len(text)
        assert found == reduced(text, budget, content, query, key)


BOMBS = {
    "open": "<a>" * 200_000,
    "comments": "<!--" * 150_000,
    "quotes": "<a \"'" * 150_000,
    "kinds": "".join(f"<t{i}>" for i in range(60_000)),
    "siblings": "".join(f"<t{i}/>" for i in range(60_000)),
    "words": "word " * 200_000,
    "signatures": "a b c d e f g h(" * 40_000,
    "brackets": "(" * 500_000,
    "lines": "def f(\n" * 100_000,
    "spaces": " " * 500_000 + "x",
    "commas": "," * 300_000,
    "short rows": "a,b\n" * 100_000,
    "quoted rows": '"a,b\n' * 100_000,
    "hashes": "# x\n" * 100_000,
    "hunks": "diff --git a b\n@@ -1 +1 @@\n+x\n" * 30_000,
    "underlines": "x\n---\n" * 60_000,
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize(
    "content",
    [ContentType.XML, ContentType.CODE, ContentType.DIFF, ContentType.TABLE, ContentType.MARKDOWN],
)
def test_bombs_take_linear_time(name: str, content: ContentType) -> None:
    started = time.process_time()
    reduced(BOMBS[name], 4_000, content, "x word a")
    assert time.process_time() - started < 10
