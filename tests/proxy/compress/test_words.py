from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.compress.words import compounds, fold, query_terms, stem, terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("invention", "invented"),
        ("studies", "study"),
        ("running", "runs"),
        ("Straße", "STRASSE"),
        ("España", "espana"),
        ("ﬁle", "file"),
        ("भाषा", "भाषाओं"),
        ("كِتَاب", "كتاب"),
        ("أحمد", "احمد"),
    ],
)
def test_forms_of_a_word_give_the_same_term(one: str, other: str) -> None:
    first, second = terms(one)[0], terms(other)[0]

    assert first == second or second.startswith(first) or first.startswith(second)


def test_different_words_stay_different() -> None:
    assert terms("Warsaw") != terms("Wartime")
    assert terms("2016") != terms("2017")


def test_an_identifier_gives_its_parts_and_the_whole() -> None:
    found = terms("getUserName")

    assert found[0].startswith("getusernam")
    assert {"get", "user"} <= set(found)
    assert {"max", "result", "token"} <= set(terms("max_result_tokens"))


def test_scripts_without_spaces_give_pieces_of_characters() -> None:
    assert terms("東京都庁") == ["東京", "京都", "都庁"]
    assert terms("เมืองหลวง")[0] == "เมื"
    assert set(terms("北京")) <= set(terms("他在北京工作"))


def test_a_query_is_searched_without_its_stop_words() -> None:
    assert query_terms("Who was the king of Poland?") == query_terms("king Poland")
    assert query_terms("¿Cuándo fue la guerra?") == query_terms("guerra")


def test_a_query_of_stop_words_alone_is_searched_as_it_is() -> None:
    assert query_terms("who is it") != []


def test_names_with_punctuation_are_also_kept_whole() -> None:
    assert compounds("see src/main.py and max_size in 1,200 of a.b.c") == [
        "src/main.py",
        "max_size",
        "1,200",
        "a.b.c",
    ]


@given(st.text())
def test_any_text_has_terms_that_are_not_empty(text: str) -> None:
    assert all(terms(text))
    assert all(query_terms(text))


@given(st.text(min_size=1))
def test_a_stem_is_a_beginning_of_its_word(word: str) -> None:
    folded = fold(word)

    assert folded.startswith(stem(folded))


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_folding_ascii_keeps_every_position(text: str) -> None:
    assert len(fold(text)) == len(text)
