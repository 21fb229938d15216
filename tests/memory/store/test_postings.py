"""Ranking by words in memory gives what FTS5 gives, whatever happened to the index before."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from memory.model import Instant, State
from memory.store.database import Store
from memory.store.postings import Postings, Tokenizer
from memory.store.selection import Selection
from memory.store.sqlite import SqliteBackend
from memory.store.writing import RecordPatch
from memory.text import search_terms
from tests.memory.store.making import PERSON, SPACE, START, edit, new, put
from tests.support.postgres import fast_folder

HERE = Selection(SPACE)
WORDS = (
    "apple",
    "apples",
    "pear",
    "Plüm",
    "us-east-1",
    "us",
    "east",
    "v1.2",
    "1",
    "C++",
    "the",
    "rain",
)


@contextmanager
def opened() -> Generator[Store]:
    with tempfile.TemporaryDirectory(dir=fast_folder()) as folder:
        store = Store.open(f"sqlite:///{Path(folder) / 'memory.sqlite3'}")
        try:
            yield store
        finally:
            store.close()


REFERENCE = """
    SELECT words_1.rowid, -bm25(words_1) FROM words_1 JOIN records ON num = words_1.rowid
    WHERE words_1 MATCH ? AND state = 'active' ORDER BY 2 DESC, 1 LIMIT ?
"""


def both(store: Store, query: str, limit: int = 5) -> list[tuple[int, float]]:
    """What is found, after seeing that FTS5 finds the same."""
    terms = search_terms(query)
    with store.reading() as reading:
        found = reading.words(terms, HERE, limit)
        active = {
            num for num, one in reading.by_nums(range(1, 100)).items() if one.state is State.ACTIVE
        }
        allowed = np.array([num in active for num in range(100)])
        assert reading.words(terms, HERE, limit, allowed) == found
    assert isinstance(store.backend, SqliteBackend)
    with closing(sqlite3.connect(store.backend.file)) as connection:
        match = " OR ".join(f'"{term}"' for term in terms)
        ranked = connection.execute(REFERENCE, (match, limit)).fetchall()
    assert [num for num, _ in found] == [num for num, _ in ranked]
    assert all(abs(one - other) < 1e-8 for (_, one), (_, other) in zip(found, ranked, strict=True))
    return found


def fail_to_put(store: Store, words: str, now: Instant) -> None:
    """Look for what a transaction wrote that is rolled back."""
    with suppress(KeyError), store.writing(PERSON, SPACE, now) as writing:
        num = writing.add(new(words)).num
        assert num in [one for one, _ in writing.words(search_terms(words), HERE, 50)]
        raise KeyError


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
acts = st.lists(
    st.tuples(st.sampled_from(("put", "put", "edit", "fail", "erase", "archive")), texts, st.integers(0, 9)),
    max_size=12,
)  # fmt: skip


@limits(max_examples=60, deadline=None)
@given(st.lists(texts, min_size=1, max_size=8), texts, acts)
def test_what_is_kept_stays_what_the_index_has(
    first: list[str], query: str, then: list[tuple[str, str, int]]
) -> None:
    with opened() as store:
        records = put(store, *first)
        both(store, query)
        for step, (act, words, which) in enumerate(then):
            old, now = records[which % len(records)], START + (step + 100) * 1_000_000
            if act == "put":
                records += put(store, words, now=now)
            elif act == "fail":
                fail_to_put(store, words, now)
            else:
                with store.writing(PERSON, SPACE, now) as writing:
                    known = writing.record(old.id)
                    assert known is not None
                    if known.state is State.EXPUNGED:
                        continue
                    if act == "edit":
                        edit(writing, known, words)
                    elif act == "erase":
                        writing.expunge(old.id, "")
                    else:
                        patch = RecordPatch(state=State.ARCHIVED)
                        writing.change(old.id, "archived", patch)
            both(store, query)
            both(store, words, limit=2)


def test_a_reader_beside_a_change_sees_its_own_state_and_spoils_nothing() -> None:
    with opened() as store:
        put(store, "apples here", "pears there")
        assert [num for num, _ in both(store, "apples")] == [1]
        with store.reading() as old:
            assert old.position == 2
            with store.writing(PERSON, SPACE, START) as writing:
                writing.add(new("apples and pears"))
                assert len(writing.words(["apples"], HERE, 5)) == 2
                assert len(old.words(["apples"], HERE, 5)) == 1
                assert len(old.words(["pears"], HERE, 5)) == 1
            assert len(old.words(["pears"], HERE, 5)) == 1
        assert len(both(store, "pears")) == len(both(store, "apples")) == 2


def test_what_another_process_wrote_is_found() -> None:
    with opened() as store:
        put(store, "apples here")
        assert len(both(store, "apples")) == 1
        other = Store.open(str(store.backend.engine.url))
        put(other, "apples there", "more apples", now=START + 1_000_000)
        assert len(both(store, "apples")) == 3
        put(store, "apples again", now=START + 9_000_000)
        assert len(both(other, "apples")) == len(both(store, "apples")) == 4
        other.close()


def test_many_are_ranked_as_by_fts5_whatever_the_limit() -> None:
    random = Random(3)
    with opened() as store:
        put(store, *(" ".join(random.choices(WORDS, k=random.randrange(1, 9))) for _ in range(60)))
        for limit in (1, 3, 20, 100):
            for word in WORDS:
                both(store, f"{word} {random.choice(WORDS)}", limit)


def test_a_text_is_cut_as_fts5_does() -> None:
    tokenizer = Tokenizer()
    assert tokenizer.tokens("The gateways LISTEN at us-east-12.") == (
        "the", "gatewai", "listen", "at", "us", "east", "12",
    )  # fmt: skip
    assert tokenizer.terms(["Zürich-Ost, running", "a_b", ""]) == [
        ("zurich", "ost", "run"),
        ("a", "b"),
        (),
    ]
    assert tokenizer.terms(['"Zürich"', '"..."', '"Zürich"']) == [("zurich",), (), ("zurich",)]
    tokenizer.close()


@given(st.text(st.characters(max_codepoint=127, exclude_characters="\0"), max_size=60))
def test_ascii_is_cut_as_everything_else(text: str) -> None:
    tokenizer = Tokenizer()
    (whole,) = tokenizer.terms([f"{text} é"])
    assert (*tokenizer.tokens(text), "e") == whole
    tokenizer.close()


def test_a_phrase_counts_where_its_words_follow_each_other() -> None:
    postings = Postings([(1, 4), (2, 3)])
    term = ("us", "east")
    postings.put(term, [[(1, 0), (1, 2), (2, 0)], [(1, 1), (1, 3), (2, 2)]])
    assert postings.count(term) == 1
    postings.add(3, ("in", "us", "east", "us", "east"))
    assert postings.count(term) == 2
    postings.remove(1, ("us", "east", "us", "east"))
    assert [num for num, _ in postings.ranked([term], 5, None)] == [3]
