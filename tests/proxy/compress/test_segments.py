from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.compress.model import ContentType
from proxy.compress.segments import Span, SpanKind, heading_path, split
from proxy.compress.text_sentences import first_sentence, sentences

PIECES = """
# A|## B|- item|1. x|```|~~~|====||text.|Word. Next one! And?|def f():|    x = 1|class A:|@@ -1 +1 @@|--- a
+++ b|diff --git|a,"b|c",d|<h1>T</h1>|<p>x</p>|\t|\r|\u3002\u5b57\u3002|\u2028| x
"""
TABLES = ["|a|b|", "|-|-|", "|---|---|", "x" * 400, "a b " * 200]
MARKUP = st.lists(st.sampled_from([*PIECES.replace("\n", "|").split("|"), *TABLES])).map("\n".join)


def cut(text: str, content: ContentType, **kwargs: int) -> list[str]:
    return [text[span.start : span.end] for span in split(text, content, **kwargs)]


def check(text: str, spans: list[Span]) -> None:
    """Spans are in order, not empty, and only white space is between them. The last need has the others."""
    end = 0
    for number, span in enumerate(spans):
        assert end <= span.start < span.end
        assert not text[end : span.start].strip()
        assert all(0 <= need < len(spans) and need != number for need in span.needs)
        assert not span.needs or {*span.needs[:-1]} <= {*spans[span.needs[-1]].needs}
        end = span.end
    assert not text[end:].strip()


@given(st.one_of(st.text(), MARKUP), st.sampled_from(ContentType))
def test_spans_and_the_white_space_between_them_are_the_text(
    text: str, content: ContentType
) -> None:
    check(text, split(text, content))


@given(MARKUP, st.sampled_from(ContentType), st.integers(20, 300))
def test_no_span_is_longer_than_allowed(text: str, content: ContentType, longest: int) -> None:
    spans = split(text, content, longest=longest)

    check(text, spans)
    assert all(
        span.end - span.start <= longest + 1
        for span in spans
        if span.kind not in (SpanKind.CODE, SpanKind.HUNK)
    )


@given(MARKUP, st.lists(st.integers(0, 500)).map(sorted))
def test_paragraphs_out_of_focus_are_still_all_there(text: str, focus: list[int]) -> None:
    check(text, split(text, ContentType.MARKDOWN, focus=focus))


def test_prose_is_cut_into_sentences_and_abbreviations_are_not() -> None:
    text = "Dr. Smith came at 3.5 km. He left. Why? It rained, e.g. in May."

    assert cut(text, ContentType.PROSE) == [
        "Dr. Smith came at 3.5 km.",
        "He left.",
        "Why?",
        "It rained, e.g. in May.",
    ]


WORDS = ["Aldover", "town", "Dr", "e.g", "approx", "xpprox", "A", "U.S", "3.5", "it", "9"]
SHORT = {"Dr", "e.g", "approx", "A", "U.S"}
ENDS = [". ", ".\n", ".  ", '." ', ".) ", " ", "! ", "?) "]


@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(ENDS))), st.booleans())
def test_sentences_end_where_a_plain_pattern_says(
    words: list[tuple[str, str]], marks: bool
) -> None:
    text = "".join(f"{word}{end}" for word, end in words).strip()
    if not marks:
        text = text.replace("!", ".").replace("?", ".")
    ends = re.finditer(r"([^\s.]+|\S+?)([.!?])[\"')]*\s+(?=[^\sa-z])", text)
    cuts = [end.end() for end in ends if end[2] != "." or end[1] not in SHORT]
    wanted = [text[a:b].rstrip() for a, b in pairwise([0, *cuts, len(text)])] if text else []

    found = sentences(text, 0, len(text), marks=marks, wide=False)

    assert [text[start:end] for start, end in found] == wanted
    if wanted and not marks:
        end, following = first_sentence(text, 0, len(text))
        assert (text[:end], following) == (wanted[0], cuts[0] if cuts else end)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("东京是首都。人口很多\uff01对吗\uff1f", 3),
        ("यह पहला वाक्य है। यह दूसरा है।", 2),
        ("هل جاء؟ نعم جاء أمس. ثم ذهب.", 3),
        ("¿Quién es? No lo sé. Él vino.", 3),
    ],
)
def test_sentences_of_other_scripts_are_found(text: str, count: int) -> None:
    assert len(sentences(text, 0, len(text))) == count


def test_thai_is_cut_at_spaces_into_parts_of_some_length() -> None:
    text = "ประเทศไทยมีเมืองหลวงคือกรุงเทพมหานคร " * 20

    parts = cut(text.strip(), ContentType.PROSE)

    assert len(parts) > 3
    assert all(part.endswith("กรุงเทพมหานคร") for part in parts)


def test_wrapped_lines_are_one_paragraph_and_short_lines_are_not() -> None:
    wrapped = (
        "The first sentence of this paragraph is so long that it goes\n"
        "on in the next line, where it ends. The second one is as long\n"
        "as the first one and goes on until here.\n"
    )

    assert len(cut(wrapped, ContentType.PROSE)) == 2
    assert len(cut("total 8\nfile a\nfile b\n", ContentType.MIXED)) == 3


def test_markdown_parts_know_their_headings() -> None:
    text = "# A\n\nIntro.\n\n## B\n\nUnder b.\n\n# C\n\n- item\n"
    spans = split(text, ContentType.MARKDOWN)
    paths = {
        text[span.start : span.end]: heading_path(text, spans, n) for n, span in enumerate(spans)
    }

    assert paths["Under b."] == ("A", "B")
    assert paths["- item"] == ("C",)
    assert paths["# A"] == ()


def test_rows_need_the_head_of_their_table_and_code_its_fences() -> None:
    text = "| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx = 1\n\ny = 2\n```\n"
    spans = split(text, ContentType.MARKDOWN)
    kinds = [span.kind for span in spans]

    assert kinds == [
        SpanKind.TABLE_HEAD,
        SpanKind.ROW,
        SpanKind.FENCE,
        SpanKind.CODE,
        SpanKind.CODE,
        SpanKind.FENCE,
    ]
    assert spans[1].needs == (0,)
    assert spans[3].needs == (2, 5)


def test_a_heading_in_a_fence_is_code() -> None:
    spans = split("```\n# not a heading\n```\n", ContentType.MARKDOWN)

    assert SpanKind.HEADING not in [span.kind for span in spans]


def test_code_needs_the_signatures_around_it() -> None:
    text = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n"
    spans = split(text, ContentType.CODE)
    found = {text[span.start : span.end].strip(): span.needs for span in spans}

    assert found["return 1"] == (0, 1)
    assert found["return 2"] == (0, 3)


def test_hunks_need_the_head_of_their_file() -> None:
    text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -9 +9 @@\n-c\n+d\n"
    spans = split(text, ContentType.DIFF)
    last = spans[-1]

    assert [text[spans[need].start : spans[need].end] for need in last.needs] == [
        "--- a/y\n+++ b/y",
        "@@ -9 +9 @@",
    ]


def test_a_quoted_cell_with_a_line_end_stays_in_its_row() -> None:
    assert cut('a,b\n1,"x\ny"\n2,z\n', ContentType.TABLE) == ["a,b", '1,"x\ny"', "2,z"]


@pytest.mark.parametrize(
    "piece",
    [
        "!",
        "? ",
        ". ",
        '."',
        "。",
        "a",
        "# ",
        "- ",
        "|",
        "|-",
        "`",
        "\n",
        "<p",
        "<p>",
        "(",
        '"',
        "@@",
    ],
)
@pytest.mark.parametrize("content", [ContentType.MARKDOWN, ContentType.HTML, ContentType.CODE])
def test_no_piece_repeated_is_a_bomb(piece: str, content: ContentType) -> None:
    text = piece * (100_000 // len(piece))

    check(text, split(text, content))


@pytest.mark.parametrize("begin", ["", "--", "|", "a | b\n--", "| a |\n|--|", ">", "."])
def test_a_line_full_of_spaces_is_no_bomb(begin: str) -> None:
    text = begin + " " * 200_000 + "x"

    for content in (ContentType.MARKDOWN, ContentType.HTML, ContentType.CODE):
        check(text, split(text, content))


def test_short_forms_of_any_length_end_no_sentence() -> None:
    text = "They paid approx. Five was too much. We met Prof. Lee and Capt. Ahab at St. Paul. It ended."

    assert cut(text, ContentType.PROSE) == [
        "They paid approx. Five was too much.",
        "We met Prof. Lee and Capt. Ahab at St. Paul.",
        "It ended.",
    ]
    first = split(text, ContentType.PROSE, focus=[])[0]
    assert text[first.start : first.end] == "They paid approx. Five was too much."


def test_an_item_over_a_rule_is_the_head_of_a_table_and_over_an_item_it_is_none() -> None:
    table = split("- a | b\n--- | ---\n1 | 2\n", ContentType.MARKDOWN)
    items = split("- a | b\n- c | d\n\n- e\n", ContentType.MARKDOWN)

    assert [span.kind for span in table] == [SpanKind.TABLE_HEAD, SpanKind.ROW]
    assert [span.kind for span in items] == [SpanKind.ITEM] * 3
    assert [span.block for span in items] == [0, 0, 1]
