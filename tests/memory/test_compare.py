from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.compare import (
    STRONG_FROM,
    compare,
    content_words,
    is_candidate,
    related,
    surely_unrelated,
)
from memory.model import PairClass
from memory.words import ordered
from memory.words.contradiction import SHOWN_FROM

similarities = st.one_of(st.none(), st.floats(-1, 1))
VALUES = ordered(
    """
    8080 8081 8,081 80 -80 80% $80 €80 <80 >80 0.8 1.2.3 v1.2.3 v1.2 2024-05-01 2024-06-01
    05/01/2024 10:30 10:31 10ms 10s us-east-1 us-west-1 a@x.org b@x.org /etc/a /etc/b C:\\\\a .env
    foo_bar foo.bar x1 x2 #5 @anna @bob C++ C# 3rd 2nd != == ✅ ❌ → Monday Tuesday january february
    three four https://x.org/a https://x.org/b !ready camelCase C
    """
)
PLAIN = ordered(
    "the service port uses of a deploy backup team in is with when configuration user likes"
)
texts = st.lists(st.sampled_from([*PLAIN, *VALUES]), max_size=8)


def values_of(words: list[str]) -> Counter[str]:
    return Counter(word.replace(",", "") for word in words if word in VALUES)


@given(texts, texts, similarities)
def test_texts_with_other_values_are_never_duplicates(
    older: list[str], newer: list[str], similarity: float | None
) -> None:
    if values_of(older) != values_of(newer):
        assert not compare(" ".join(older), " ".join(newer), similarity).duplicates


@given(
    st.lists(st.sampled_from(PLAIN), min_size=1, max_size=6),
    st.sampled_from(VALUES),
    st.sampled_from(VALUES),
    st.lists(st.sampled_from(PLAIN), max_size=4),
    similarities,
)
def test_one_other_value_is_enough(
    before: list[str], one: str, other: str, after: list[str], similarity: float | None
) -> None:
    if one.replace(",", "") != other.replace(",", ""):
        older = " ".join([*before, one, *after])
        newer = " ".join([*before, other, *after])
        assert not compare(older, newer, similarity).duplicates


@given(st.integers(-999, 999), st.integers(-999, 999))
def test_numbers_are_values_with_their_signs(one: int, other: int) -> None:
    evidence = compare(f"the limit is {one} today", f"the limit is {other} today", 1.0)
    assert evidence.duplicates == (one == other)
    assert evidence.contradicts == (one != other)


sentences = st.lists(texts.map(" ".join), min_size=1, max_size=3).map(". ".join)


@given(sentences, sentences, similarities)
def test_what_is_surely_unrelated_is_unrelated(
    older: str, newer: str, similarity: float | None
) -> None:
    if surely_unrelated(older, newer):
        assert related(older, newer, similarity) is None
        assert surely_unrelated(newer, older)


def test_most_pairs_about_different_things_are_surely_unrelated() -> None:
    things = [
        f"The {place} {thing}"
        for place in ["north", "south", "east"]
        for thing in ("pump", "kiln", "tram")
    ]
    facts = [f"{thing} weighs exactly {number} kg." for number, thing in enumerate(things, 100)]
    told = [surely_unrelated(one, other) for one in facts for other in facts if one != other]
    assert sum(told) > 0.9 * len(told)
    assert not surely_unrelated(facts[0], facts[0].replace("100", "300"))
    assert not surely_unrelated("a" * 5_000, "The kiln is hot.")


@given(st.text(st.characters(), max_size=80), st.text(st.characters(), max_size=80), similarities)
def test_any_pair_of_texts_is_compared_and_always_alike(
    older: str, newer: str, similarity: float | None
) -> None:
    evidence = compare(older, newer, similarity)
    assert 0.0 <= evidence.score <= 1.0
    assert evidence == compare(older, newer, similarity)
    assert not evidence.contradicts or evidence.score >= SHOWN_FROM


@given(st.text(st.characters(), min_size=1, max_size=80).filter(str.strip))
def test_a_text_never_contradicts_itself(text: str) -> None:
    assert not compare(text, text, 1.0).contradicts


@pytest.mark.parametrize("part", ["hot ", "a1 b ", "x. ", ".", "a.", "never ", "not no "])
def test_texts_at_the_limit_of_length_are_compared(part: str) -> None:
    older = (part * 16_384)[:16_384]
    assert not compare(older, older.replace("o", "i") + " 5", 0.9).duplicates


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (
            "The payments service listens on port 8080.",
            "The payments service listens on port 9090.",
        ),
        ("Anna lives in Oslo.", "Anna lives in Rome."),
        ("The user's favourite colour is blue", "The user's favourite colour is green"),
        ("Use Python 3.11 for the backend", "Use Python 3.12 for the backend"),
        ("Deploys happen on Friday", "Deploys happen on Monday"),
        ("Anna works at Acme", "Anna works at Globex"),
        ("Team lead: Anna", "Team lead: Bob"),
        ("timeout = 30", "timeout = 60"),
        ("The limit is 10 MB", "The limit is 10 GB"),
        ("Anna's birthday is 3 May", "Anna's birthday is 5 May"),
        ("The default branch is main", "The default branch is master"),
        ("The billing api is owned by team orion3", "The billing api is owned by team vega7"),
        ("Indent with 2 spaces", "Indent with 4 spaces"),
        (
            "Auth tokens expire after 15 minutes. They are signed with RS256.",
            "They are signed with RS256. Auth tokens expire after 60 minutes.",
        ),
    ],
)
def test_another_value_of_one_thing_contradicts(older: str, newer: str) -> None:
    for first, second in ((older, newer), (newer, older)):
        for similarity in (None, 0.9):
            evidence = compare(first, second, similarity)
            assert evidence.klass is PairClass.VALUE
            assert evidence.older_words != evidence.newer_words


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The project uses npm", "The project does not use npm"),
        ("Always run tests before pushing", "Never run tests before pushing"),
        ("We deploy with Docker", "We no longer deploy with Docker"),
        ("The cache is enabled in staging", "The cache is disabled in staging"),
        ("The API is public", "The API is private"),
        ("Deploy with Docker", "Deploy without Docker"),
        ("The user likes dark mode", "The user dislikes dark mode"),
        ("User prefers tabs over spaces", "User prefers spaces over tabs"),
        ("Run make build before make test", "Run make build after make test"),
        ("There is no backup of the ledger", "There is a backup of the ledger"),
        ("**Never** deploy on Fridays", "Deploy on Fridays"),
    ],
)
def test_the_contrary_contradicts(older: str, newer: str) -> None:
    for first, second in ((older, newer), (newer, older)):
        for similarity in (None, 0.9):
            assert compare(first, second, similarity).klass is PairClass.POLARITY


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Anna speaks English", "Anna speaks Hindi"),
        ("Anna lives in Oslo", "Ben lives in Rome"),
        ("The payments api listens on port 80", "The billing api listens on port 90"),
        (
            "the ledger queue tango alpha keeps 5 copies",
            "the ledger queue alpha tango keeps 6 copies",
        ),
        ("Anna visited Paris in 2019", "Anna visited Paris in 2021"),
        ("Server 12 has 8 GB", "Server 13 has 16 GB"),
        ("Anna owns a car", "Anna owns a boat"),
        ("The staging port is 8080", "The production port is 9090"),
        ("Backend tests run with pytest", "Frontend tests run with vitest"),
        ("Use uv", "Never use pip"),
        ("Alice manages Bob", "Alice manages Carol"),
        ("The cache is not disabled", "The cache is enabled"),
        ("", "Anna lives in Oslo"),
    ],
)
def test_statements_that_can_both_hold_are_left_alone(older: str, newer: str) -> None:
    for similarity in (None, 0.9):
        evidence = compare(older, newer, similarity)
        assert not evidence.contradicts
        assert not evidence.duplicates


@pytest.mark.parametrize(
    ("older", "newer", "klass"),
    [
        ("The user prefers dark mode", "  the USER prefers dark mode. ", PairClass.IDENTICAL),
        (
            "Config is stored in the repository",
            "The configuration is stored in the repo",
            PairClass.REWORDING,
        ),
        ("Anna bought a car", "Anna purchased a car", PairClass.REWORDING),
        ("The builds run nightly", "Our build runs nightly", PairClass.REWORDING),
        (
            "Per the runbook the api is public",
            "According to the runbook our api is public",
            PairClass.REWORDING,
        ),
        (
            "The user prefers dark mode",
            "The user prefers dark mode in the evening",
            PairClass.DETAIL,
        ),
        ("Use uv for packages", "Use uv for packages; never use pip", PairClass.DETAIL),
    ],
)
def test_same_statements_and_additions_get_their_class(
    older: str, newer: str, klass: PairClass
) -> None:
    assert compare(older, newer, None).klass is klass
    assert compare(newer, older, 0.95).klass is klass


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("moved from A to B", "moved to A from B"),
        ("Anna manages Bob", "Bob manages Anna"),
        ("Anna was the CEO", "Anna is the CEO"),
        ("All tests pass", "Some tests pass"),
        ("You must use uv", "You may use uv"),
        ("Listens on tcp port 80", "Listens on udp port 80"),
        ("Plan A is best", "The plan is best"),
        ("Only admins can deploy", "Admins can deploy"),
        ("Deploy if tests pass", "Deploy. Tests pass"),
        ("rate is fine", "rat is fine"),
        ("5 - 3", "5 3"),
        ("Ask Jones first", "Ask Jone first"),
        ("It costs 30 days", "It costs 30 hours"),
    ],
)
def test_what_changes_a_statement_forbids_a_duplicate(older: str, newer: str) -> None:
    for similarity in (None, 1.0):
        assert not compare(older, newer, similarity).duplicates
        assert not compare(newer, older, similarity).duplicates


def test_a_light_word_more_is_no_detail_when_the_texts_are_very_similar() -> None:
    older, newer = "The api is actually public", "The api is public"
    older_more = "The following api is public"
    assert compare(older_more, newer, 0.95).klass is PairClass.REWORDING
    assert compare(older_more, newer, 0.80).klass is PairClass.DETAIL
    assert compare(older, newer, None).duplicates


def test_the_score_tells_strong_from_weak() -> None:
    strong = compare("The api listens on port 80", "The api listens on port 90", 0.95)
    weak = compare("The api handles 80 requests daily", "The api handles 90 requests daily", 0.7)
    assert strong.score >= STRONG_FROM > weak.score


def test_the_evidence_names_the_words_that_differ() -> None:
    evidence = compare("The api listens on port 80", "The api listens on port 90", None)
    assert (evidence.older_words, evidence.newer_words) == (("80",), ("90",))


def test_a_candidate_shares_words_and_is_near() -> None:
    older = content_words("The payments api listens on port 80")
    newer = content_words("The payments api moved to port 90")
    other = content_words("Anna likes pizza")
    assert is_candidate(older, newer, 0.7)
    assert is_candidate(older, newer, None)
    assert not is_candidate(older, newer, 0.2)
    assert not is_candidate(older, other, 0.7)
    assert is_candidate(older, other, 0.95)
    assert not is_candidate(frozenset(), newer, None)


def test_behind_a_label_a_statement_has_a_subject_of_its_own() -> None:
    note = "Note from the inspection: the {} is painted red."
    assert not compare(note.format("river kiln"), note.format("castle tram"), 0.9).contradicts
    assert compare("Backup port: 80", "Backup port: 90", 0.9).contradicts
    older, newer = "Note: the river kiln weighs 300 kg.", "Note: the river kiln weighs 450 kg."
    assert compare(older, newer, 0.95).contradicts


@pytest.mark.parametrize("said", ["No one", "no-one", "Noone"])
def test_no_one_is_nobody_however_it_is_written(said: str) -> None:
    found = compare("Nobody maintains the parser.", f"{said} maintains the parser.", 0.97)
    assert found.duplicates


def test_a_text_without_any_word_is_like_no_other() -> None:
    for empty in ("'", "''", " ' "):
        compare("0", empty, None)
        compare(empty, "0", 0.99)
        compare(empty, empty, 1.0)
