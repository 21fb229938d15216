"""Finding records by words."""

from __future__ import annotations

import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.model import State
from memory.store import check
from memory.store.database import Store
from memory.store.selection import Selection
from memory.store.writing import RecordPatch
from memory.text import search_terms
from tests.memory.store.making import AGENT, PERSON, SPACE, START, new, put
from tests.support.postgres import fast_folder

HERE = Selection(SPACE)


def found(store: Store, query: str, selection: Selection = HERE, limit: int = 10) -> list[int]:
    with store.reading() as reading:
        hits = reading.words(search_terms(query), selection, limit)
    assert all(score > 0 for _, score in hits)
    assert [score for _, score in hits] == sorted((score for _, score in hits), reverse=True)
    return [num for num, _ in hits]


def test_words_are_found_in_every_field_by_their_stem(store: Store) -> None:
    put(store, "The gateway listens", summary="networking", note="underlined")
    put(store, "Deploy", steps=("restart everything",), preconditions=("migrated",))
    put(store, "Nothing of this kind at all")
    assert found(store, "gateways") == [1]
    assert found(store, "network") == [1]
    assert found(store, "underlines") == [1]
    assert found(store, "restarting") == [2]
    assert found(store, "migrate") == [2]
    assert found(store, "absent") == []


def test_a_record_with_more_of_the_words_is_better(store: Store) -> None:
    put(store, "apples and pears", "apples pears and plums", "plums only and nothing else")
    assert found(store, "apples pears plums")[0] == 2
    assert set(found(store, "apples pears plums")) == {1, 2, 3}
    assert len(found(store, "apples pears plums", limit=2)) == 2
    assert found(store, "plums", limit=0) == []


def test_accents_do_not_matter_and_other_scripts_are_found_by_pairs(store: Store) -> None:
    put(store, "Café in Zürich", "東京都の天気", "กรุงเทพมหานคร", "서울특별시 날씨")
    assert found(store, "cafe") == [1]
    assert found(store, "zürich") == [1]
    assert found(store, "天気") == [2]
    assert found(store, "กรุงเทพ") == [3]
    assert found(store, "특별시") == [4]


def test_only_what_the_selection_takes_is_found(store: Store) -> None:
    put(store, "apples here")
    put(store, "apples there", space="theirs")
    put(store, "apples gone", state=State.ARCHIVED)
    put(store, "apples then", valid_to=START)
    assert found(store, "apples", Selection(SPACE, valid_at=START)) == [1]
    assert found(store, "apples", Selection("theirs")) == [2]
    assert found(store, "apples", Selection(SPACE, states=(State.ARCHIVED,))) == [3]
    assert len(found(store, "apples", Selection(SPACE, states=()))) == 3


def test_a_changed_state_is_seen_by_the_next_search(store: Store) -> None:
    (record,) = put(store, "apples here")
    with store.writing(PERSON, SPACE, START) as writing:
        writing.change(record.id, "archived", RecordPatch(state=State.ARCHIVED))
        assert writing.words(["apples"], HERE, 5) == []
    assert found(store, "apples") == []


@pytest.mark.parametrize(
    "term",
    [
        '"', "a\"b", "NEAR(a b)", "a AND", "*", "(", "body:", "^a", "a*", "-", "'", "\\", "\0", ":*",
        "\ud800", "a & b | !c", "<->", "' OR 1=1 --", "", " ",
    ],
)  # fmt: skip
def test_no_character_of_a_term_is_syntax(store: Store, term: str) -> None:
    put(store, "plain apples")
    with store.reading() as reading:
        reading.words([term], HERE, 5)
        hits = reading.words([term, "apples"], HERE, 5)
    assert [num for num, _ in hits] == [1]


def test_more_terms_than_count_are_no_fault(store: Store) -> None:
    put(store, "apples")
    with store.reading() as reading:
        hits = reading.words(["apples", *(f"term{place}" for place in range(500))], HERE, 5)
    assert len(hits) == 1


def test_a_huge_text_is_stored_and_found_by_its_first_words(store: Store) -> None:
    put(store, "apples " + " ".join(f"word{place}" for place in range(60_000)))
    assert found(store, "apples") == [1]


@settings(max_examples=30, deadline=None)
@given(texts=st.lists(st.text(max_size=30), min_size=1, max_size=5), query=st.text(max_size=30))
def test_any_text_can_be_stored_and_any_query_asked(texts: list[str], query: str) -> None:
    with tempfile.TemporaryDirectory(dir=fast_folder()) as folder:
        store = Store.open(f"sqlite:///{folder}/memory.db")
        with store.writing(AGENT, SPACE, START) as writing:
            for text in texts:
                writing.add(new(text))
            hits = writing.words(search_terms(query), HERE, 100)
            assert len({num for num, _ in hits}) == len(hits)
            assert check.verify(writing) == ()
        store.close()
