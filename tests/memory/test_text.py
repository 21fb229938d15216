from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.model import MemoryText
from memory.text import (
    MOST_TERMS,
    content_hash,
    embedding_text,
    fold,
    index_text,
    norm_hash,
    norm_words,
    search_terms,
    title,
)

any_text = st.text(st.characters(), max_size=120)
words = st.text(st.sampled_from(string.ascii_letters + string.digits), min_size=1, max_size=8)
values = st.one_of(
    st.integers(-9999, 9999).map(str),
    st.floats(0, 99, allow_nan=False).map(lambda x: f"{x:.2f}"),
    st.sampled_from(
        ["v1.2", "v1.20", "50%", "$50", "50", "5.0", "-5", ".env", "env", "a/b", "ab", "10:30"]
    ),
    st.sampled_from(
        ["not", "never", "was", "no", "no-one", "x_1", "x1", "C++", "C", "C#", "a@b.c"]
    ),
)
memory_texts = st.builds(
    MemoryText,
    content=any_text,
    summary=any_text,
    steps=st.lists(any_text, max_size=3).map(tuple),
    preconditions=st.lists(any_text, max_size=2).map(tuple),
    note=any_text,
)


def norm(content: str) -> str:
    return norm_hash(MemoryText(content))


@given(memory_texts)
def test_any_text_has_hashes_a_title_and_forms_for_the_database(text: MemoryText) -> None:
    assert len(content_hash(text)) == len(norm_hash(text)) == 64
    for form in (index_text(text), embedding_text(text), title(text), *search_terms(text.content)):
        form.encode("utf-8")
        assert "\x00" not in form
    assert content_hash(text) == content_hash(text)
    assert len(title(text)) <= 120
    assert "\n" not in title(text)


@given(any_text)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(any_text, st.integers(1, 40))
def test_a_title_keeps_its_limit(content: str, limit: int) -> None:
    assert len(title(MemoryText(content), limit)) <= limit


@given(any_text)
def test_search_terms_are_few_different_and_can_be_quoted(query: str) -> None:
    terms = search_terms(query)
    assert len(terms) <= MOST_TERMS
    assert len(set(terms)) == len(terms)
    assert all(term and not any(c.isspace() or c == '"' for c in term) for term in terms)


def test_a_hundred_kilobytes_of_anything_are_taken() -> None:
    for content in (
        "a" * 100_000,
        "a " * 50_000,
        "\ud800\x00" * 30_000,
        "._" * 30_000,
        "日本" * 10_000,
    ):
        text = MemoryText(content)
        assert len(norm_hash(text)) == 64
        assert len(search_terms(content)) <= MOST_TERMS
        assert index_text(text)
        assert len(title(text)) <= 120


@given(st.lists(words, min_size=1, max_size=8), st.sampled_from([" ", "  ", "\n", "\t ", "\u3000"]))
def test_hashes_ignore_case_and_white_space(tokens: list[str], gap: str) -> None:
    plain, changed = MemoryText(" ".join(tokens)), MemoryText(gap.join(tokens).upper() + gap)
    assert content_hash(plain) == content_hash(changed)
    assert norm_hash(plain) == norm_hash(changed)


@given(st.lists(words, max_size=4), values, values, st.lists(words, max_size=4))
def test_another_value_is_another_hash(
    before: list[str], one: str, other: str, after: list[str]
) -> None:
    if one.lower() == other.lower():
        return
    first = " ".join([*before, one, *after])
    second = " ".join([*before, other, *after])
    assert content_hash(MemoryText(first)) != content_hash(MemoryText(second))
    assert norm(first) != norm(second)


def test_the_summary_and_the_note_do_not_count_for_the_hash_but_steps_do() -> None:
    text = MemoryText("Deploy", "short", ("build", "push"), ("login",), "mine")
    assert content_hash(text) == content_hash(
        MemoryText("deploy", "", ("Build", "push"), ("login",))
    )
    assert content_hash(text) != content_hash(
        MemoryText("Deploy", "", ("push", "build"), ("login",))
    )
    assert content_hash(text) != content_hash(MemoryText("Deploy", "", ("build push",), ("login",)))
    assert norm_hash(text) != norm_hash(MemoryText("Deploy", "", ("build",), ("push", "login")))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The port is 8080.", "port 8080"),
        ("Use `uv`, **never** pip!", "use uv never pip"),
        ("- deploy on Fridays\n- rest", "deploy on fridays rest"),
        ("“Anna” lives in Oslo…", "Anna lives in the Oslo"),
        ('the "6" key', "the 6 key"),
        ("ﬁle caﬀeine", "file caffeine"),
    ],
)
def test_punctuation_articles_and_bullets_do_not_change_the_normal_hash(
    one: str, other: str
) -> None:
    assert norm(one) == norm(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("moved from A to B", "moved to A from B"),
        ("Anna was the CEO", "Anna is the CEO"),
        ("x != 5", "x = 5"),
        ("between 8 - 10", "between 8 10"),
        ("plan A is best", "plan is best"),
        ("read .env", "read env"),
        ("it does not work", "it does work"),
        ("3. deploy", "deploy"),
        ("load < 5", "load 5"),
        ("load <5", "load 5"),
        ("6' tall", '6" tall'),
    ],
)
def test_what_changes_a_statement_changes_the_normal_hash(one: str, other: str) -> None:
    assert norm(one) != norm(other)


def test_a_text_of_filler_only_keeps_its_words() -> None:
    assert norm_words("The the") == ("the", "the")


def test_a_query_loses_its_stop_words() -> None:
    assert search_terms("What is the port of the payments service?") == (
        "port",
        "payments",
        "service",
    )


def test_a_query_of_stop_words_only_keeps_them() -> None:
    assert search_terms("to be or not to be") == ("to", "be", "or", "not")


def test_an_identifier_is_a_term_and_so_are_its_words() -> None:
    assert search_terms("call foo_bar in v1.2.3") == ("call", "foo_bar", "foo", "bar", "v1.2.3")
    assert search_terms("Anna's laptop") == ("anna", "laptop")
    assert search_terms("src/app/main.py:17")[0] == "src/app/main.py:17"


def test_names_with_signs_are_found_by_a_word_of_their_own() -> None:
    assert search_terms("C++ or C#?") == ("cplusplus", "csharp")
    assert "cplusplus" in index_text(MemoryText("The core is in C++17 and C++."))
    assert "dotnet" in index_text(MemoryText("Runs on .NET 8"))
    assert "dotnet" not in index_text(MemoryText("see example.network"))


def test_scripts_without_spaces_are_searched_by_pairs() -> None:
    assert search_terms("東京都の天気") == ("東京", "京都", "都の", "の天", "天気")
    indexed = index_text(MemoryText("明日の東京都の天気は晴れ")).split()
    assert set(search_terms("東京都")) <= set(indexed)
    assert "れ" in indexed
    assert search_terms("猫") == ("猫",)
    assert set(search_terms("서버")) <= set(index_text(MemoryText("결제서버 포트")).split())
    thai = index_text(MemoryText("ที่อยู่ของเซิร์ฟเวอร์")).split()
    assert set(search_terms("เซิร์ฟเวอร์")) <= set(thai)


def test_mixed_scripts_give_terms_in_order() -> None:
    assert search_terms("port 8080 東京") == ("port", "8080", "東京")


def test_every_field_is_indexed_and_all_but_the_note_embedded() -> None:
    text = MemoryText("content", "summary", ("step",), ("before",), "remark")
    assert index_text(text).split() == ["content", "summary", "step", "before", "remark"]
    assert embedding_text(text).split("\n") == ["content", "summary", "step", "before"]


def test_a_title_is_the_first_line_cut_at_a_word() -> None:
    assert title(MemoryText("\n  Use\ttabs \u202e here\nsecond")) == "Use tabs here"
    assert title(MemoryText("one two three four"), 12) == "one two…"
    assert title(MemoryText("one two three"), 13) == "one two three"
    assert title(MemoryText("abcdefghijkl"), 5) == "abcd…"
    assert title(MemoryText(" \n ")) == ""
