"""The bound of tokens is never below what the vocabulary counts."""

from __future__ import annotations

import random
import string

from hypothesis import given
from hypothesis import strategies as st

from proxy.surface.common_words import COMMON_WORDS
from proxy.surface.token_bound import token_bound
from proxy.tokens import InProcessCounter

COUNT = InProcessCounter()

WORDS = sorted(COMMON_WORDS)


def _too_low(texts: list[str]) -> list[str]:
    return [
        text for text, count in zip(texts, COUNT(texts), strict=True) if count > token_bound(text)
    ]


def test_every_character_alone_is_bounded() -> None:
    assert _too_low([chr(code) for code in range(0x3400)]) == []
    assert _too_low([chr(code) for code in range(0x3400, 0x20000, 7)]) == []
    assert _too_low([chr(code) for code in (0x20000, 0x2F800, 0xE0001, 0xE0100, 0x10FFFF)]) == []


def test_common_words_are_one_token_each_and_two_behind_a_sign() -> None:
    assert len(WORDS) > 1000
    for form in (str, str.capitalize):
        words = [form(word) for word in WORDS]
        assert set(COUNT(words)) == {1}
        assert set(COUNT([" " + word for word in words])) == {1}
        assert set(map(token_bound, words)) == {1}
        assert {token_bound(" " + word) for word in words} == {1}
    behind = [sign + word for sign in string.punctuation for word in WORDS]
    assert _too_low(behind) == []
    assert (
        _too_low([word + end for word in WORDS for end in ("'s", "'t", "'ll", "'re", "ed")]) == []
    )


def test_pairs_and_triples_of_letters_and_digits_are_bounded() -> None:
    letters = string.ascii_letters
    texts = [one + other for one in letters for other in letters]
    assert _too_low(texts) == []
    assert _too_low([" " + text for text in texts]) == []
    small = string.ascii_lowercase
    assert _too_low([a + b + c for a in small for b in small for c in small]) == []
    assert _too_low([str(number) for number in range(2000)]) == []


def test_prose_is_not_overestimated_wildly() -> None:
    text = "Staging deploys run from the release branch, never from main."
    assert COUNT([text]) == [14]
    assert token_bound(text) == 20
    assert token_bound("") == 0


def test_mixtures_of_everything_are_bounded() -> None:
    chance = random.Random(5)
    alphabets = (
        *(string.ascii_lowercase, string.ascii_letters, string.printable, string.digits + "abcdef"),
        *(
            "\u00e9\u00df\u0301a ",
            "\u0440\u0443\u0441\u0441\u043a\u0438\u0439 -",
            "\u4e2d\u6587\u90e8\u7f72 a",
        ),
        *(
            "\ud55c\uad6d\uc5b4 \ub2e4",
            "\u304b\u306a\u30ab\u30ca\u3002",
            "\u0e44\u0e17\u0e22\u0e35\u0e48",
            "\U0001f680\ufe0f\u200d ",
        ),
        *("\u0915\u093f\u094d\u0930 ", "\u1780\u17d2\u1793", "\u2019\u201c\u2014\u2026a "),
    )
    texts: list[str] = []
    for _ in range(6000):
        parts = [
            chance.choice((" ", "", "\n", "'")) + chance.choice(WORDS)
            if chance.random() < 0.3
            else "".join(chance.choices(chance.choice(alphabets), k=chance.randint(1, 12)))
            for _ in range(chance.randint(1, 4))
        ]
        texts.append("".join(parts))
    for _ in range(6000):
        first = chance.choice((0x80, 0x400, 0x900, 0xE00, 0x1780, 0x2000, 0x4E00, 0xAC00, 0xFF00))
        texts.append(
            chance.choice(("", " ", "a", "(", "the "))
            + "".join(chr(first + chance.randrange(0x400)) for _ in range(chance.randint(1, 9)))
        )
    assert _too_low([text.encode("utf-8", "replace").decode() for text in texts]) == []


@given(st.text(max_size=60))
def test_any_text_is_bounded(text: str) -> None:
    assert _too_low([text]) == []
