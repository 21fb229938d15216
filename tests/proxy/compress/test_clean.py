"""CLEAN removes what is noise beyond doubt, and leaves everything else byte for byte."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.compress.clean import clean
from proxy.compress.model import ContentType
from tests.proxy.compress.gauges import STRUCTURED, TEXTS

POM = "<project><groupId>org.x</groupId><version>1.2</version></project>"
UNHARMED = {
    "code with comparisons": ("    if (a<b && c>d) { std::vector<int> v; }\n", ContentType.CODE),
    "command line help": (
        "usage: cp <source> <dest>\n\n  <source>  where from\n",
        ContentType.PROSE,
    ),
    "command line help, mixed": ("usage: cp <source> <dest>\n", ContentType.MIXED),
    "xml": (POM, ContentType.XML),
    "a diff of jsx": (
        '@@ -1,2 +1,2 @@\n-  <Button color="red">Save</Button>  \n+  <Button>Save</Button>\n\n\n\n\n',
        ContentType.DIFF,
    ),
    "jsx": ("return <div className={x}>\n\n\n\n  <b>bold</b>   \n</div>\n", ContentType.CODE),
    "generics": ("a vector<int> and a Map<String, List<Foo>>\n", ContentType.PROSE),
    "links": (
        "\n".join(f"- [Result {i}](https://example.org/{i})" for i in range(12)),
        ContentType.MARKDOWN,
    ),
    "repeated log lines": ("INFO tick\nINFO tick\nINFO tick\n", ContentType.LOG),
    "repeated paragraphs": ("Same.\n\nSame.\n\nSame.\n", ContentType.PROSE),
    "windows line ends": ("one\r\ntwo\r\n\r\nthree\r\n", ContentType.PROSE),
    "indentation of the first line": ("    indented\nnot\n", ContentType.PROSE),
    "json with markup": ('{"html": "<b>bold</b>   "}', ContentType.JSON_OBJECT),
    "a table with empty last cells": ("a\tb\t\n1\t\t\n", ContentType.TABLE),
    "hard line breaks of markdown": ("one  \ntwo\n", ContentType.MARKDOWN),
    "a fence with trailing space": ("```\nx   \n\n\n\n\ny\r z\n```\n", ContentType.MARKDOWN),
    "old line ends": ("line one\rline two\rline three", ContentType.PROSE),
    "numbers with old line ends": ("1\r2\r3", ContentType.MIXED),
    "an unfinished control sequence": ("a\x1b[12", ContentType.LOG),
    "a fragment that looks like html": ("<b>x</b> is how bold is written", ContentType.HTML),
}


@pytest.mark.parametrize("name", UNHARMED)
def test_what_only_looks_like_noise_stays(name: str) -> None:
    text, content = UNHARMED[name]
    assert clean(text, content) == text


def test_control_sequences_of_terminals_go() -> None:
    text = "\x1b[1;31mred\x1b[0m \x1b]0;title\x07and \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\x1b[?25l!"
    assert clean(text, ContentType.LOG) == "red and link!"


def test_only_colours_go_from_a_diff() -> None:
    assert clean("\x1b[32m+new  \x1b[m\n\x1b[2J", ContentType.DIFF) == "+new  \n\x1b[2J"


def test_a_progress_bar_keeps_its_last_state() -> None:
    text = "get x\n 10% [#    ] 1.0 MB/s\r 55% [###  ] 2.1 MB/s\r100% [#####] 2.0 MB/s\ndone\n"
    assert clean(text, ContentType.LOG) == "get x\n100% [#####] 2.0 MB/s\ndone\n"


def test_a_line_that_is_written_over_by_something_else_stays() -> None:
    text = "warning: disk is full\r 10% [#  ]\r 20% [## ]\n"
    assert clean(text, ContentType.LOG) == "warning: disk is full\r 20% [## ]\n"


def test_white_space_at_line_ends_and_many_blank_lines_go() -> None:
    assert clean("a  \t\r\nb \n\n\n\n\n\nc\t", ContentType.PROSE) == "a\r\nb\n\n\nc\t"
    assert clean("a\r\n\r\n\r\n\r\n\r\nb", ContentType.PROSE) == "a\r\n\r\n\r\nb"


def test_fences_are_skipped_and_what_is_around_them_is_not() -> None:
    text = "a  \n```py\nb  \n\n\n\n\n```\nc  \n\n\n\n\nd"
    assert clean(text, ContentType.MIXED) == "a\n```py\nb  \n\n\n\n\n```\nc\n\n\nd"


PAGE = """<!DOCTYPE html>
<html><head><title>Tea &amp; Co</title><style>p > b { color: red }</style>
<script>if (a < b) document.write("<p>no</p>")</script></head>
<body><!-- hidden <b>words</b> --><nav><a href="/home?a=1&amp;b=2">Home</a> <a href="#top">Top</a></nav>
<h2>signal</h2><p>Buffer   of
<b>bold</b> text</p><ul><li>one<li>two</ul>
<table><tr><th>Name</th><th>Size</th></tr><tr><td>A</td><td>12</td></tr></table>
<img src="x.png" alt="A chart"><pre>x   y
  z</pre><p>vector<int> stays<br>new line</body></html>
"""


def test_a_page_becomes_what_its_reader_sees() -> None:
    seen = clean(PAGE, ContentType.HTML)
    assert seen == (
        "Tea & Co\n\n[Home](/home?a=1&b=2) Top\n\n## signal\n\nBuffer of bold text\n\n- one\n- two\n\n"
        "Name | Size\nA | 12\n![A chart](x.png)\n```\nx   y\n  z\n```\n\nvector<int> stays\nnew line"
    )


def test_a_page_without_text_is_left_alone() -> None:
    shell = (
        '<!doctype html><html><body><div id="app"></div><script src="a.js"></script></body></html>'
    )
    assert clean(shell, ContentType.HTML) == shell


@given(st.one_of(TEXTS, STRUCTURED), st.sampled_from(ContentType))
def test_any_text_survives_and_cleaning_again_changes_nothing_more(
    text: str, content: ContentType
) -> None:
    once = clean(text, content)
    assert len(once) <= max(len(text), 1)
    if content is not ContentType.HTML:
        assert clean(once, content) == once


@given(STRUCTURED)
def test_any_page_is_cleaned_the_same_way_again(inner: str) -> None:
    page = f"<!doctype html><html><body>{inner}</body></html>"
    assert clean(page, ContentType.HTML) == clean(page, ContentType.HTML)


BOMBS = {
    "comments": "<!--" * 100_000,
    "quotes": "<a \"'" * 100_000,
    "one quote": "<a b='" * 100_000,
    "scripts": "<script>" * 60_000,
    "open tags": "<div>" * 100_000,
    "angle brackets": "<" * 500_000,
    "spaces": "a" + " " * 500_000 + "b\n",
    "carriage returns": "5%\r" * 150_000,
    "blank lines": "\n" * 500_000,
    "unfinished titles": "\x1b]0;" * 100_000,
    "parameters": "\x1b[" + "1;" * 200_000,
    "entities": "&#" * 200_000,
    "fences": "```\n" * 100_000,
    "backticks": "`" * 500_000,
    "declarations": "<!doctype html><!" * 30_000,
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("content", [ContentType.HTML, ContentType.LOG, ContentType.MARKDOWN])
def test_bombs_take_linear_time(name: str, content: ContentType) -> None:
    text = BOMBS[name]
    if content is ContentType.HTML:
        text = "<!doctype html>" + text
    started = time.process_time()
    clean(text, content)
    assert time.process_time() - started < 10


def test_code_fences_from_the_first_line_on_are_left_as_they_are() -> None:
    code = "```\nx  \n\n\n\n\ny\n```\n"
    text = f"{code}a\n  \n\n\n\n\nb\n{code}c\n\t\nd\n"

    assert clean(text, ContentType.MARKDOWN) == f"{code}a\n\n\nb\n{code}c\n\nd\n"
