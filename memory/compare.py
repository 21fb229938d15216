"""What two texts have to do with each other: the same, in other words, contrary, more, or nothing.

By words, with a little help of the similarity of their vectors: the words are aligned, and what is left
over on each side decides. Nothing here knows the world: "is a vegetarian" and "eats beef" are not contrary.
Pure, deterministic; a pair of sentences takes about 100 microseconds.

One rule has no exception: texts that differ in any value (number, date, version, unit, id, path, address,
name, sign), in a negation, or in a word that qualifies what is said are no duplicates.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import NamedTuple

from memory.model import PairClass, PairEvidence
from memory.text import norm_words
from memory.words.contradiction import MOST_SENTENCES, contradiction, surfaces
from memory.words.light import LIGHT
from memory.words.tokens import Reading, Token, TokenKind, read_sentence

STRONG_FROM = 0.7
"""Score from which a contradiction is strong; any has at least `memory.words.contradiction.SHOWN_FROM`."""
SAME_FROM = 0.92
"""Similarity (of the MiniLM model) from which light words may differ in a duplicate."""
NEAR_FROM = 0.40
"""Similarity below which a pair is not worth comparing."""
SHARED_FROM = 0.34
"""Share of the shorter text's content words that must be in the other."""

_SENTENCE_END = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])[\"'\u201d\u2019)\]]{0,2}\s+|\n+|;\s+")


@lru_cache(maxsize=2048)
def content_words(text: str) -> frozenset[str]:
    """The keys of the words and values of ``text``, for `is_candidate`."""
    readings = _whole(_sentences(text))
    if len(readings) == 1:
        return readings[0].keys
    return frozenset[str]().union(*(reading.keys for reading in readings))


def is_candidate(
    older_words: Collection[str], newer_words: Collection[str], similarity: float | None
) -> bool:
    """Whether a pair is worth `compare`, by the texts' `content_words`; takes a microsecond."""
    if similarity is not None and similarity < NEAR_FROM:
        return False
    if similarity is not None and similarity >= SAME_FROM:
        return True
    shorter = min(len(older_words), len(newer_words))
    if not shorter:
        return False
    shared = len(set(older_words) & set(newer_words))
    return shared >= SHARED_FROM * shorter


def compare(older: str, newer: str, similarity: float | None = None) -> PairEvidence:
    """The class of a pair, how sure it is, and the words that decide.

    ``similarity``: cosine of the texts' embeddings from -1 to 1, or ``None`` when there are none; it moves
    scores a little and never makes a duplicate by itself. The score of a duplicate or detail is the share of
    words that agree.
    """
    normal = norm_words(older)
    if normal and normal == norm_words(newer):
        return PairEvidence(PairClass.IDENTICAL, 1.0)
    return compare_different(older, newer, similarity)


def compare_different(older: str, newer: str, similarity: float | None = None) -> PairEvidence:
    """`compare` for texts whose `memory.text.norm_hash` is known to differ: they are not identical."""
    olders, newers = _sentences(older), _sentences(newer)
    if not olders or not newers:
        return PairEvidence(PairClass.UNRELATED, 0.0)
    found = contradiction(olders, newers, similarity)
    if found is not None:
        return found
    return _agreement(_whole(olders), _whole(newers), similarity)


def related(older: str, newer: str, similarity: float | None = None) -> PairEvidence | None:
    """`compare_different`; ``None`` for texts that are unrelated, which most pairs are and which is told
    by sets of words in microseconds.
    """
    olders, newers = _sentences(older), _sentences(newer)
    found = contradiction(olders, newers, similarity)
    if found is not None:
        return found
    (words, weighty), (other_words, other_weighty) = _exact_words(older), _exact_words(newer)
    if not weighty <= other_words and not other_weighty <= words:
        return None  # each says something that the other does not say
    evidence = _agreement(_whole(olders), _whole(newers), similarity)
    return None if evidence.klass is PairClass.UNRELATED else evidence


class _Outline(NamedTuple):
    """Sets of words of a text, a bit for each word; words may share a bit, so a set may look larger."""

    sentences: tuple[tuple[int, int], ...]
    """The subject and all words of each sentence that is compared."""
    weighty: int
    words: int


_BITS = 256
_LONGEST_OUTLINED = 1_000
"""Characters; what is longer is rare, and would be kept with its outline."""


def surely_unrelated(older: str, newer: str) -> bool:
    """Whether `related` finds nothing, told in a microsecond by what is kept of texts that were read before.

    ``False`` tells nothing. Both conditions of `related` are looked at: the sentences have other subjects,
    and each text says something that the other does not say.
    """
    if max(len(older), len(newer)) > _LONGEST_OUTLINED:
        return False
    one, other = _outline(older), _outline(newer)
    if not (one.weighty & ~other.words and other.weighty & ~one.words):
        return False
    return all(
        subject & ~words and other_subject & ~other_words
        for subject, other_words in one.sentences
        for other_subject, words in other.sentences
    )


@lru_cache(maxsize=16_384)
def _outline(text: str) -> _Outline:
    """Half a kilobyte, where the readings of a text take several."""
    words, weighty = _exact_words(text)
    readings = _whole(_sentences(text)[:MOST_SENTENCES])
    return _Outline(
        tuple((_bits(reading.subject), _bits(reading.keys)) for reading in readings),
        _bits(weighty),
        _bits(words),
    )


def _bits(words: Iterable[str]) -> int:
    bits = 0
    for word in words:
        bits |= 1 << hash(word) % _BITS
    return bits


@lru_cache(maxsize=2048)
def _exact_words(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The exact keys of all tokens of a text, and of those that are not light."""
    tokens = [token for reading in _whole(_sentences(text)) for token in reading.tokens]
    weighty = (_exact_key(token) for token in tokens if not _all_light([token]))
    return frozenset(map(_exact_key, tokens)), frozenset(weighty)


@lru_cache(maxsize=2048)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(part for part in map(str.strip, _SENTENCE_END.split(text)) if part)


def _whole(sentences: tuple[str, ...]) -> tuple[Reading, ...]:
    return tuple(map(read_sentence, sentences))


def _agreement(
    older: tuple[Reading, ...], newer: tuple[Reading, ...], similarity: float | None
) -> PairEvidence:
    """Whether one text says what the other says."""
    first = [token for reading in older for token in reading.tokens]
    second = [token for reading in newer for token in reading.tokens]
    extra, more, in_order = _left_over(first, second)
    longest = max(len(first), len(second))
    share = 1.0 - max(len(extra), len(more)) / longest if longest else 0.0
    words = (surfaces(extra), surfaces(more))
    if not first or not second:
        return PairEvidence(PairClass.UNRELATED, 0.0, *words)
    same_frame = in_order and _same_frame(older, newer)
    if not extra and not more:
        if same_frame:
            return PairEvidence(PairClass.REWORDING, 1.0)
        return PairEvidence(PairClass.UNRELATED, share)
    light = _all_light(extra) and _all_light(more)
    if light and same_frame and similarity is not None and similarity >= SAME_FROM:
        return PairEvidence(PairClass.REWORDING, share, *words)
    if not extra or not more or light:
        covered = 1.0 - min(len(extra), len(more)) / longest
        if len(first) - len(extra) >= 2 or not (extra and more):
            return PairEvidence(PairClass.DETAIL, covered, *words)
    return PairEvidence(PairClass.UNRELATED, share, *words)


def _left_over(first: list[Token], second: list[Token]) -> tuple[list[Token], list[Token], bool]:
    """Tokens of each side that the other lacks, and whether the rest comes in one order.

    Values agree only when they are written alike; words when their keys are equal.
    """
    places: dict[str, list[int]] = {}
    for place in range(len(first) - 1, -1, -1):
        places.setdefault(_exact_key(first[place]), []).append(place)
    used = bytearray(len(first))
    more: list[Token] = []
    last, in_order = -1, True
    for token in second:
        found = places.get(_exact_key(token))
        if not found:
            more.append(token)
            continue
        place = found.pop()
        used[place] = 1
        in_order = in_order and place > last
        last = place
    extra = [token for place, token in enumerate(first) if not used[place]]
    return extra, more, in_order


def _exact_key(token: Token) -> str:
    """What must be equal in duplicates: a name is itself only, a word any inflection or synonym."""
    if token.kind is TokenKind.NAME and token.key == token.stem:
        return token.surface if token.surface.endswith("s") else token.key
    return token.key


def _same_frame(older: tuple[Reading, ...], newer: tuple[Reading, ...]) -> bool:
    """Whether values, negations and qualifiers agree."""
    return (
        _joined(older, "signature") == _joined(newer, "signature")
        and sorted(_joined(older, "qualifiers")) == sorted(_joined(newer, "qualifiers"))
        and sorted(_joined(older, "relations")) == sorted(_joined(newer, "relations"))
        and _denials(older) == _denials(newer)
    )


def _joined(readings: tuple[Reading, ...], field: str) -> list[str]:
    return [one for reading in readings for one in getattr(reading, field)]


def _denials(readings: tuple[Reading, ...]) -> Counter[str]:
    """What each negator denies, by the next word's key."""
    return Counter(
        reading.tokens[negator.at].key if negator.at < len(reading.tokens) else ""
        for reading in readings
        for negator in reading.negators
    )


def _all_light(tokens: list[Token]) -> bool:
    return all(token.kind is TokenKind.WORD and token.stem in LIGHT for token in tokens)
