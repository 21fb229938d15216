"""Read one sentence: its content words and values in order, what it denies, where its subject ends.

English; words of other languages are read as plain words. Reading never fails and is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from memory.words import listed
from memory.words.attributes import IMPERATIVES, NOUNS_TOO, SUBORDINATORS, VERBS
from memory.words.polarity import BARE_NEGATORS, ENDING_VERBS, NEGATORS
from memory.words.stem import stem
from memory.words.stop import STOP_WORDS
from memory.words.synonyms import SAME
from memory.words.values import (
    AMBIGUOUS_DATES,
    MONTHS,
    NUMBERS,
    QUALIFIERS,
    RELATIONS,
    UNITS,
    WEEKDAYS,
)


class TokenKind(Enum):
    """What a token is; all but `WORD` and `NAME` are values."""

    WORD = "word"
    NAME = "name"
    """Written with a capital letter inside a sentence, or in capitals."""
    NUMBER = "number"
    UNIT = "unit"
    """A word of measure behind a number."""
    WEEKDAY = "weekday"
    MONTH = "month"
    DATE = "date"
    TIME = "time"
    VERSION = "version"
    ID = "id"
    """An identifier, path, address, or anything else with signs or digits inside."""
    SIGN = "sign"
    """A sign that stands alone, such as a comparison."""


VALUE_KINDS = frozenset(TokenKind) - {TokenKind.WORD, TokenKind.NAME}


class Token(NamedTuple):
    """One content word or value."""

    key: str
    """Equal for words that say the same."""
    stem: str
    surface: str
    """Folded."""
    kind: TokenKind
    clause: int


class Negator(NamedTuple):
    """A word that denies what follows."""

    at: int
    """Content tokens before it."""
    word: str
    bare: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence as it was read."""

    tokens: tuple[Token, ...]
    negators: tuple[Negator, ...]
    qualifiers: tuple[str, ...]
    """Kinds of `QUALIFIERS` and quantifiers, sorted, each as often as it occurs."""
    relations: tuple[str, ...]
    """Those of `RELATIONS`, each with the key of the token behind it, sorted."""
    subject_end: int
    """Content tokens before the main verb; 0 for an instruction."""
    found_verb: bool
    labelled: bool
    """``name: value`` or ``name = value``."""
    indefinite: bool
    """It begins with something unspecific ("a dog", "two people"): another sentence may mean another one."""
    signature: tuple[str, ...]
    """All values and signs as they are written, in order."""
    keys: frozenset[str]
    """Of all tokens."""
    subject: frozenset[str]
    """Keys of the tokens before `subject_end`."""


_PUNCTUATION = (
    r"!-/:-@\[-`{-~\xa1\xa8\xab\xad\xb4\xb7\xb8\xbb\xbf"
    r"\u2010-\u2027\u2030-\u205e\u3000-\u303f\uff01-\uff0f"
)
_CHUNK = re.compile(
    r"""
      https?://[^\s<>"']+
    | [!<>=\u2264\u2265\u2248~$\u20ac\u00a3\u00a5\#@/\\.+\u2212-]{0,4}\w
      (?:(?:[\w./:@\#&+*%\u00b0=~^'\u2019$\u2010\u2011\\-]|(?<=\d),(?=\d))*[\w%\u00b0+\#/$])?
    | [<>=\u2264\u2265\u2248\u2260%\u00b0$\u20ac\u00a3\u00a5+^|!~\u2192-]{1,8}
    | (?<!\S)[*/\\]{1,3}(?!\S)
    | [,;:.!?()\u2013\u2014]
    | [^\w\s"""
    + _PUNCTUATION
    + "]",
    re.VERBOSE,
)
"""Web addresses; words, numbers and names with the signs that belong to them; signs that stand alone; marks
that end a clause; and whatever is neither punctuation nor part of a word, such as an emoji."""
_NUMBER = re.compile(
    r"([<>=\u2264\u2265\u2248~$\u20ac\u00a3\u00a5#+-]{0,4})(\d[\d,]*(?:\.\d+)?|\.\d+)([a-z\u00b5%\u00b0]{0,12})"
)
_DATE = re.compile(
    r"\d{4}-\d{1,2}(?:-\d{1,2})?(?:t[\d:.+z-]*)?|\d{1,2}/\d{1,2}(?:/\d{2,4})?|\d{1,2}\.\d{1,2}\.\d{2,4}|\d{4}/\d{1,2}/\d{1,2}"
)
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?:am|pm|z)?|\d{1,2}(?:am|pm)")
_VERSION = re.compile(
    r"v\d+(?:[._]\d+){0,4}\w{0,12}|\d+(?:\.\d+){2,4}(?:[-+]?[\w.]{0,20})?|\d+\.(?:x|\d+(?:a|b|rc)\d+)"
)
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_WORDS_JOINED = re.compile(
    r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?(?:[-/&\u2010\u2011+][^\W\d_]+(?:['\u2019][^\W\d_]+)?)*"
)
_JOINT = re.compile(r"[-/&\u2010\u2011+]")
_CAMEL = re.compile(r"[a-z][A-Z]")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_CLAUSE = frozenset(",;:()\u2013\u2014.!?")
_BREAKS = frozenset({"but", "however", "although", "though", "whereas"})
_QUANTIFIERS = {
    "all": "all",
    "every": "all",
    "each": "all",
    "everyone": "all",
    "both": "both",
    "another": "other",
}
_FILLERS = listed(
    """
    according per regarding concerning via etc eg ie really actually just still currently also already
    simply please basically generally usually there therefore thus hence so today now like such upon
    within us
    """
)
"""Content-free here, though a search may ask for some of them."""
_INDEFINITE = frozenset({"a", "an", "some", "several", "many", "someone", "another", "few"})
_FUNCTION = STOP_WORDS | _FILLERS
_OBJECT_OPENERS = frozenset(
    {"a", "an", "the", "to", "on", "by", "as", "every", "all", "no", "its", "their", "about"}
)
"""After an unknown word in s or ed they show that it is a verb rather than a noun."""


class _Lexical(NamedTuple):
    """What a word in lower case is, wherever it stands."""

    plain: bool
    """A content word that needs no look at its neighbours."""
    key: str
    stem: str
    ends: bool
    """A verb of ending."""
    verbal: bool
    """It may be the main verb."""
    measure: bool
    """It may be a number, unit, month or day of the week."""
    denies: bool
    qualifies: str | None
    """Its kind of `QUALIFIERS` or quantifiers."""
    function: bool


@lru_cache(maxsize=8192)
def _lexical(low: str) -> _Lexical:
    stemmed = stem(low)
    measure = low in UNITS or low in MONTHS or low in WEEKDAYS or low in NUMBERS
    denies = low in NEGATORS or low.endswith("n't")
    qualifies = _QUANTIFIERS.get(low) or QUALIFIERS.get(low)
    function = low in _FUNCTION
    verb = low in VERBS
    special = (
        measure
        or denies
        or qualifies is not None
        or function
        or verb
        or low in _BREAKS
        or low == "longer"
        or low.endswith(("'s", "'"))
    )
    return _Lexical(
        plain=not special,
        key=SAME.get(stemmed, stemmed),
        stem=stemmed,
        ends=stemmed in ENDING_VERBS,
        verbal=verb or low.endswith(("s", "ed")),
        measure=measure,
        denies=denies,
        qualifies=qualifies,
        function=function,
    )


_NO_ONE = re.compile(r"\bno[ -]?one\b", re.IGNORECASE)
"""One negator in two words, where "no" alone would deny only what follows."""


@lru_cache(maxsize=2048)
def read_sentence(sentence: str) -> Reading:
    """The reading of one sentence (of any string)."""
    return _Reader().read(sentence)


class _Reader:
    """Collects what one sentence says."""

    def __init__(self) -> None:
        self.tokens: list[Token] = []
        self.negators: list[Negator] = []
        self.qualifiers: list[tuple[str, int]] = []
        self.signature: list[str] = []
        self.clause = 0
        self.verb_at = -1
        self.labelled = False
        self.label_end = -1
        self.previous = ""
        self.started = False
        self.shouting = False

    def read(self, sentence: str) -> Reading:
        text = _NO_ONE.sub("nobody", unicodedata.normalize("NFKC", sentence))
        self.shouting = text.isupper()
        chunks: list[str] = _CHUNK.findall(text)
        for chunk, following in zip(chunks, (*chunks[1:], ""), strict=False):
            if chunk in _CLAUSE:
                self._mark(chunk)
                continue
            low = chunk.casefold()
            if low.isalpha():
                self._word(chunk, low, following)
                self.previous = low
            else:
                self._chunk(chunk, low, following)
            self.started = True
        first = chunks[0].casefold() if chunks else ""
        imperative = first in IMPERATIVES
        subject_end = 0 if imperative else max(self.verb_at, 0)
        keys = [token.key for token in self.tokens]
        return Reading(
            tokens=tuple(self.tokens),
            negators=tuple(self.negators),
            qualifiers=tuple(sorted(kind for kind, _ in self.qualifiers)),
            relations=tuple(sorted(self._relations())),
            subject_end=subject_end,
            found_verb=self.verb_at >= 0 or imperative,
            labelled=self.labelled,
            indefinite=first in _INDEFINITE or first in NUMBERS,
            signature=tuple(self.signature),
            keys=frozenset(keys),
            subject=frozenset(keys[:subject_end]),
        )

    def _relations(self) -> Iterator[str]:
        for kind, at in self.qualifiers:
            if kind in RELATIONS:
                yield f"{kind} {self.tokens[at].key if at < len(self.tokens) else ''}"

    def _mark(self, mark: str) -> None:
        if mark == ":" and self.verb_at < 0 and 0 < len(self.tokens) <= 6:
            self.verb_at = self.label_end = len(self.tokens)
            self.labelled = True
        self.clause += 1
        self.previous = mark

    def _chunk(self, chunk: str, low: str, following: str) -> None:
        """Take what is no plain word."""
        low = low.replace("\u2019", "'").replace("\u2212", "-")
        if any(map(str.isdigit, low)):
            self._value(low)
        elif not any(map(str.isalnum, low)):
            self._sign(low, following)
        elif low in NEGATORS or low in VERBS or low in _FUNCTION:
            self._word(chunk, low, following)
        elif _WORDS_JOINED.fullmatch(low) is not None:
            parts = _JOINT.split(chunk)
            if len(parts) > 1 and stem(low) in SAME:
                self._word(chunk, low, following)
            else:
                for part in parts:
                    self._word(part, part.casefold().replace("\u2019", "'"), following)
        else:
            self._add(low, low, low, TokenKind.ID)
        self.previous = low

    def _sign(self, sign: str, following: str) -> None:
        if sign in ("=", ":=", "=>", "->", "\u2192") and self.verb_at < 0 and self.tokens:
            self.verb_at = len(self.tokens)
            self.labelled = True
        dash = sign in ("-", "--", "---") and not following[:1].isdigit()
        bullet = sign in ("*", "+") and not self.started
        if not dash and not bullet and sign not in ("|", "!", "!!", "!!!"):
            self._add(sign, sign, sign, TokenKind.SIGN)

    def _value(self, low: str) -> None:
        low = low.rstrip("'*")
        if low.endswith("'s"):
            low = low[:-2]
        if _DATE.fullmatch(low):
            kind = TokenKind.DATE
        elif _TIME.fullmatch(low):
            kind = TokenKind.TIME
        elif _VERSION.fullmatch(low):
            kind = TokenKind.VERSION
        elif (number := _NUMBER.fullmatch(low)) is not None:
            sign, digits, unit = number.groups()
            if not unit or unit in UNITS:
                key = sign + digits.replace(",", "")
                self._add(key, key, sign + digits, TokenKind.NUMBER)
                if unit:
                    self._add(UNITS[unit], UNITS[unit], unit, TokenKind.UNIT)
                return
            kind = TokenKind.NUMBER if _ORDINAL.fullmatch(low) else TokenKind.ID
        else:
            kind = TokenKind.ID
        self._add(low, low, low, kind)

    def _word(self, chunk: str, low: str, following: str) -> None:
        lexical = _lexical(low)
        if lexical.plain:
            if lexical.verbal and self._seeks_verb():
                self._verb(low, following.casefold())
            self._content(chunk, low, lexical)
        elif not lexical.measure or not self._measure(chunk, low, following.casefold()):
            self._function(chunk, low, following, lexical)

    def _content(self, chunk: str, low: str, lexical: _Lexical) -> None:
        if lexical.ends:
            self.negators.append(Negator(len(self.tokens), low, False))
        kind = TokenKind.WORD
        if chunk != low and not self.shouting:
            inside = self.started or (len(chunk) > 1 and chunk.isupper())
            if (inside and chunk[0].isupper()) or _CAMEL.search(chunk) is not None:
                kind = TokenKind.NAME
        self.tokens.append(Token(lexical.key, lexical.stem, low, kind, self.clause))

    def _measure(self, chunk: str, low: str, beside: str) -> bool:
        """Add a number, unit, month or day of the week, if ``low`` is one here."""
        after_number = bool(self.tokens) and self.tokens[-1].kind is TokenKind.NUMBER
        if after_number and low in UNITS and self.previous[-1:].isalnum():
            self._add(UNITS[low], UNITS[low], low, TokenKind.UNIT)
            return True
        dated = after_number or beside[:1].isdigit()
        name = MONTHS.get(low) or WEEKDAYS.get(low)
        if name is not None and (
            dated or low not in AMBIGUOUS_DATES or (low != "may" and chunk[:1].isupper())
        ):
            kind = TokenKind.MONTH if low in MONTHS else TokenKind.WEEKDAY
            self._add(name, name, name, kind)
            return True
        if low in NUMBERS and not self._pronoun(low, beside):
            self._add(NUMBERS[low], NUMBERS[low], low, TokenKind.NUMBER)
            return True
        return False

    def _function(self, chunk: str, low: str, following: str, lexical: _Lexical) -> None:
        """A negator, qualifier, verb or filler; or a content word after all."""
        if lexical.denies:
            self.negators.append(Negator(len(self.tokens), low, low in BARE_NEGATORS))
            self._verb(low, following.casefold())
            return
        if low == "longer" and self.previous == "no":
            return
        kind = lexical.qualifies
        if kind is not None and not (low == "to" and self.previous == "according"):
            self.qualifiers.append((kind, len(self.tokens)))
        if lexical.verbal:
            self._verb(low, following.casefold())
        if low in _BREAKS:
            self.clause += 1
        acronym = len(chunk) > 1 and chunk.isupper() and not self.shouting
        letter = chunk == "A" and self.started and self.previous not in _CLAUSE
        if lexical.function and not acronym and not letter:
            return
        owner = low.removesuffix("'s").removesuffix("'")
        if owner:
            self._content(chunk, owner, lexical if owner == low else _lexical(owner))

    def _verb(self, low: str, following: str) -> None:
        """Note where the main verb is, if ``low`` is it."""
        if not self._seeks_verb() or self.previous in SUBORDINATORS or not self.started:
            return
        if low in VERBS:
            verb = low not in NOUNS_TOO or following in _FUNCTION or following[:1].isdigit()
        else:
            verb = (
                bool(self.tokens)
                and low.endswith(("s", "ed"))
                and not low.endswith(("ss", "us", "is"))
                and following in _OBJECT_OPENERS
            )
        if verb and self.tokens:
            self.verb_at = len(self.tokens)
            self.labelled = False

    def _seeks_verb(self) -> bool:
        """Whether the main verb is still to come; behind a label there may be a whole statement."""
        return self.verb_at < 0 or (self.verb_at == self.label_end < len(self.tokens))

    def _pronoun(self, low: str, following: str) -> bool:
        """Whether a number word has another sense here."""
        if low == "one":
            return self.previous in _FUNCTION - {"a", "has", "have"} or following in (
                "of",
                "another",
                "must",
            )
        return low == "second" and self.previous in ("a", "per", "every", "each")

    def _add(self, key: str, stemmed: str, surface: str, kind: TokenKind) -> None:
        self.tokens.append(Token(key, stemmed, surface, kind, self.clause))
        if kind in VALUE_KINDS:
            self.signature.append(key)
