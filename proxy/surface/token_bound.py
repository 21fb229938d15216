"""An upper bound of a text's o200k tokens, without the vocabulary, in linear time. Pure.

Loading the vocabulary stops a process for up to a second (`proxy.tokens`), and what goes into an answer
has to be measured before it leaves. So this tells how many tokens a text has at most, for any text. Prose
comes out 1.4 to 2.5 times too high, Han and Cyrillic 3 times. It rests on facts that tests check:

- A text is first cut into pieces: a run of letters with one space or sign before it, up to three digits, a
  run of signs. No token reaches across pieces.
- Tokens grow by merging neighbours as long as the vocabulary has the pair. Every space with a letter and
  all but 29 pairs of small letters are tokens; so of two neighbouring tokens of a word at most one is a
  single letter, except at such a pair, and n letters with m such pairs are at most (2n + 1 + m) / 3 tokens.
  Pairs with a capital count among the m.
- `COMMON_WORDS` are one token; up to three digits are one token.
- A character beyond ASCII is at most as many tokens as it has bytes of UTF-8, and one less where its
  first two bytes are a token, which then cannot both be left over. `_SINGLE` ones are tokens themselves.
"""

from __future__ import annotations

import itertools
import re
from functools import lru_cache

from proxy.surface.common_words import COMMON_WORDS

_PIECE = re.compile(
    r"(?P<word> ?(?:[A-Z]*[a-z]+|[A-Z]+))|(?P<digits>[0-9]+)|(?P<other>[^\x00-\x7f])|[\x00-\x7f]"
)
_RARE_PAIRS = frozenset(
    (
        *("bq", "gk", "gq", "jv", "jz", "kq", "kz", "lq", "nq", "qf", "qg", "qj", "qk", "qv", "qz"),
        *("rj", "tq", "wq", "wz", "xg", "xj", "xk", "xq", "xv", "xw", "yq", "zj"),
        *("zq", "zv"),
    )
)
"""Neighbouring small letters that are no token."""


def _numbers(text: str) -> frozenset[int]:
    """Of hexadecimal numbers and ranges of them, ends included."""
    parts = (part.partition("-") for part in text.split())
    return frozenset(
        itertools.chain.from_iterable(
            range(int(first, 16), int(last or first, 16) + 1) for first, _, last in parts
        )
    )


_SINGLE = _numbers(
    "a0-da dc-109 390-3a1 3a3-3a9 3ac-3af 3b1-3ce 401-402 404-408 410-44f 451-45c 5d0-5ea 621-63a 640-654 "
    "660-66c 6f0-6f9 2013-2014 2018-2019 201c-201d 2022 2026 3001-3002 3041-3042 3044 3046-3048 304a-3061 "
    "3063-306b 306d-3073 3075-3079 307b-308d 308f 3092-3093 30a1-30a4 30a6-30c1 30c3-30c4 30c6-30cb "
    "30cd-30ed 30ef 30f3-30f4 30fb-30fd"
)
"""Code points that are one token: letters of Latin, Greek, Cyrillic, Hebrew, Arabic, kana, marks of text."""
_BEGUN = _numbers(
    "24-3e 40-43 48-4d 5e-5f 74 78-7d 7f-8c 91-9a 9c-9e ac c0-c5 c8 ce 138-174 177-1aa 1ac-21d 21f 221-25d "
    "25f-26e 272-273 278-27e 2b0-2b5 2b7-2b9 2bb-2bc 2c0-2c6 2c8 2ca-2cd 2cf-2d1 2d3-2d4 2d6 2da 2dc-2e1 "
    "2e3-2ea 2ec 2ef-2f0 2f2-2f4 2f6-2f9 301-30b 30d 314-31e 320-324 326-327 329 330-334 336 338-33d "
    "33f-346 348 34a-34c 34e-34f 352 354-35a 35d-35e 380 398 3a4 3c0-3c3 3ec 3f4 3f8-3ff"
)
"""Blocks of 64 code points of three bytes (code point / 64) whose first two bytes are a token."""
_EMOJI = range(0x1F000, 0x20000)


def token_bound(text: str) -> int:
    """At most so many o200k tokens; lone surrogates count as U+FFFD. 0 for no text."""
    total = 0
    for piece in _PIECE.finditer(text):
        kind = piece.lastgroup
        if kind == "word":
            total += _word_tokens(text, piece)
        elif kind == "digits":
            total += (len(piece.group()) + 2) // 3
        elif kind == "other":
            total += _character_tokens(piece.group())
        else:
            total += 1
    return total


def _word_tokens(text: str, piece: re.Match[str]) -> int:
    word = piece.group()
    before = text[piece.start() - 1 : piece.start()] if piece.start() else ""
    after = text[piece.end() : piece.end() + 1]
    bare = word.removeprefix(" ")
    if (
        before.isascii()
        and after.isascii()
        and (bare.islower() or bare[1:].islower())
        and bare.lower() in COMMON_WORDS
    ):
        return 1 if bare is not word or not before or before.isalnum() or before in "\r\n" else 2
    return (2 * len(word) + 1 + _unmerged(bare)) // 3


@lru_cache(maxsize=4096)
def _unmerged(word: str) -> int:
    """Neighbouring letters that may be no token."""
    return sum(
        not one.islower() or not other.islower() or one + other in _RARE_PAIRS
        for one, other in itertools.pairwise(word)
    )


@lru_cache(maxsize=4096)
def _character_tokens(character: str) -> int:
    code = ord(character)
    if code in _SINGLE:
        return 1
    if code < 0x800:
        return 2
    if 0xD800 <= code < 0xE000:
        code = 0xFFFD
    if code < 0x10000:
        return 2 if code >> 6 in _BEGUN else 3
    return 3 if code in _EMOJI else 4
