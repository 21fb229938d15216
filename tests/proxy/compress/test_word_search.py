"""Texts that contain one of some words are found with one search per word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proxy.compress.word_search import containing

_TEXTS = st.lists(st.text("abErR\u00e9\n ").map(str.encode), max_size=12)


@given(_TEXTS, st.lists(st.sampled_from([b"err", b"a", b"\xc3\xa9", b"b\nb"]), unique=True))
def test_the_same_texts_are_found_as_one_by_one(texts: list[bytes], wanted: list[bytes]) -> None:
    expected = {
        number for number, text in enumerate(texts) if any(word in text.lower() for word in wanted)
    }
    found = containing(texts, wanted)
    if b"b\nb" not in wanted:
        assert found == expected
    assert found >= expected
