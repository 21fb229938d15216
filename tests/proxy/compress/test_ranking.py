from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from proxy.compress.ranking import Places, matches, matches_in, mentions, scores, smooth


def best(query: str, segments: list[str]) -> int:
    found = scores(query, segments)
    return found.index(max(found))


def test_the_segment_with_the_rare_word_wins() -> None:
    segments = ["the river is long", "the river has a dam of granite", "the river is cold"]

    assert best("Which river has granite?", segments) == 1


def test_a_segment_without_any_term_scores_nothing() -> None:
    assert scores("granite", ["sand", "granite"])[0] == 0.0


def test_other_forms_of_a_word_count_and_words_that_contain_it_do_not() -> None:
    found = scores("inventions", ["He invented it.", "prevention is better"])

    assert found[0] > 0
    assert found[1] == 0


def test_parts_of_camel_case_and_snake_case_count() -> None:
    found = scores("user name", ["def getUserName():", "user_name = 1", "nothing"])

    assert found[0] > 0
    assert found[1] > 0
    assert found[2] == 0


def test_a_whole_identifier_beats_its_parts() -> None:
    segments = ["max and size", "set max_size to 3", "size of max"]

    assert best("max_size", segments) == 1


def test_chinese_thai_hindi_and_arabic_are_found() -> None:
    assert best("北京的人口", ["上海很大。", "北京的人口很多。"]) == 1
    assert best("เมืองหลวง", ["แม่น้ำยาว", "กรุงเทพเป็นเมืองหลวง"]) == 1
    assert best("भाषाओं", ["नदी लंबी है", "यह भाषा है"]) == 1
    assert best("كتاب", ["النهر طويل", "قرأ الكتاب أمس"]) == 1


def test_accents_and_case_do_not_matter() -> None:
    assert scores("espana", ["ESPAÑA"])[0] > 0


def test_neighbours_get_a_share() -> None:
    alone = scores("granite", ["a", "b", "granite", "c"])
    shared = scores("granite", ["a", "b", "granite", "c"], neighbours=0.5)

    assert alone[1] == 0
    assert shared[1] == shared[3] > 0
    assert shared[0] == 0


def test_no_segments_give_no_scores() -> None:
    assert scores("word", []) == []
    assert smooth([], 0.4) == []


@given(st.text(alphabet="ab-", max_size=40), st.text(alphabet="ab-", min_size=1, max_size=5))
def test_a_name_is_found_through_its_parts(text: str, name: str) -> None:
    places = Places(text)
    for part in {*name.split("-"), name[1:]} - {""}:
        places.of(part)

    assert places.of_name(name) == Places(text).of(name)


def test_mentions_are_where_the_words_are() -> None:
    assert mentions("granite", Places("the granite dam")) == [4]


@given(st.text(), st.lists(st.text()))
def test_any_query_over_any_segments_gives_a_score_each_and_always_the_same(
    query: str, segments: list[str]
) -> None:
    found = scores(query, segments)

    assert len(found) == len(segments)
    assert all(score >= 0 for score in found)
    assert scores(query, segments) == found


@given(st.lists(st.text(alphabet="ab\x1e "), min_size=1))
def test_segments_with_the_separator_in_them_are_still_told_apart(segments: list[str]) -> None:
    assert len(scores("ab", segments)) == len(segments)


QUERIES = st.sampled_from(["alpha beta", "max_size of alpha", "betas", "a.b", "the", ""])
PARTS = st.sampled_from(["Alpha beta.", "alphaBeta", "max_size = 3", "betas", "a.b.c", "x"])


@given(QUERIES, st.lists(PARTS, min_size=1))
def test_a_text_is_searched_like_its_segments(query: str, segments: list[str]) -> None:
    text = "\n".join(segments)
    ends = list(accumulate(len(segment) + 1 for segment in segments))
    places = [(end - 1 - len(part), end - 1) for part, end in zip(segments, ends, strict=True)]

    starts, found_ends = zip(*places, strict=True)

    found = matches_in(query, text, Places(text.lower()), starts, found_ends)

    assert found == matches(query, segments)
