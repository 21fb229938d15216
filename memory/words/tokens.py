"""Read one sentence: its content words and values in order, what it denies, where its subject ends.

English; words of other languages are read as plain words. Reading never fails and is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
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
    subject_end: int
    """Content tokens before the main verb; 0 for an instruction."""
    found_verb: bool
    labelled: bool
    """``name: value`` or ``name = value``."""
    signature: tuple[str, ...]
    """All values and signs as they are written, in order."""


_CHUNK = re.compile(
    r"""
      https?://[^\s<>"']+
    | [<>=\u2264\u2265\u2248~$\u20ac\u00a3\u00a5\#@/\\.+\u2212-]{0,4}\w
      (?:(?:[\w./:@\#&+*%\u00b0=~^'\u2019$\u2010\u2011\\-]|(?<=\d),(?=\d))*[\w%\u00b0+\#/*$])?
    | [<>=\u2264\u2265\u2248\u2260%\u00b0$\u20ac\u00a3\u00a5+^|!~\u2192-]{1,8}
    | [,;:.!?()\u2013\u2014]
    """,
    re.VERBOSE,
)
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
_FUNCTION = STOP_WORDS | _FILLERS
_OBJECT_OPENERS = frozenset(
    {"a", "an", "the", "to", "on", "by", "as", "every", "all", "no", "its", "their", "about"}
)
"""After an unknown word in s or ed they show that it is a verb rather than a noun."""


@lru_cache(maxsize=512)
def read_sentence(sentence: str) -> Reading:
    """The reading of one sentence (of any string)."""
    return _Reader().read(sentence)


class _Reader:
    """Collects what one sentence says."""

    def __init__(self) -> None:
        self.tokens: list[Token] = []
        self.negators: list[Negator] = []
        self.qualifiers: list[str] = []
        self.signature: list[str] = []
        self.clause = 0
        self.verb_at = -1
        self.labelled = False
        self.previous = ""
        self.started = False
        self.shouting = False

    def read(self, sentence: str) -> Reading:
        text = unicodedata.normalize("NFKC", sentence)
        self.shouting = text.isupper()
        chunks: list[str] = _CHUNK.findall(text)
        for place, chunk in enumerate(chunks):
            following = chunks[place + 1] if place + 1 < len(chunks) else ""
            if chunk in _CLAUSE:
                self._mark(chunk)
            else:
                self._chunk(chunk, following)
                self.started = True
        self.qualifiers.sort()
        imperative = bool(chunks) and chunks[0].casefold() in IMPERATIVES
        return Reading(
            tokens=tuple(self.tokens),
            negators=tuple(self.negators),
            qualifiers=tuple(self.qualifiers),
            subject_end=0 if imperative else max(self.verb_at, 0),
            found_verb=self.verb_at >= 0 or imperative,
            labelled=self.labelled,
            signature=tuple(self.signature),
        )

    def _mark(self, mark: str) -> None:
        if mark == ":" and self.verb_at < 0 and 0 < len(self.tokens) <= 6:
            self.verb_at = len(self.tokens)
            self.labelled = True
        self.clause += 1
        self.previous = mark

    def _chunk(self, chunk: str, following: str) -> None:
        low = chunk.casefold().replace("\u2019", "'").replace("\u2212", "-")
        if any(map(str.isdigit, low)):
            self._value(low, following)
        elif not any(map(str.isalnum, low)):
            self._sign(low)
        elif low in NEGATORS or low in VERBS or low in _FUNCTION or low.isalpha():
            self._word(chunk, low, following)
        elif _WORDS_JOINED.fullmatch(low) is not None:
            parts = _JOINT.split(chunk)
            whole = stem(low)
            if len(parts) > 1 and (whole in SAME or low in NEGATORS):
                self._word(chunk, low, following)
            else:
                for part in parts:
                    self._word(part, part.casefold().replace("\u2019", "'"), following)
        else:
            self._add(low, low, low, TokenKind.ID)
        self.previous = low

    def _sign(self, sign: str) -> None:
        if sign in ("-", "--", "---", "|"):
            return
        if sign in ("=", ":=", "=>", "->", "\u2192") and self.verb_at < 0 and self.tokens:
            self.verb_at = len(self.tokens)
            self.labelled = True
        if not set(sign) <= {"!"}:
            self._add(sign, sign, sign, TokenKind.SIGN)

    def _value(self, low: str, following: str) -> None:
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
        after_number = bool(self.tokens) and self.tokens[-1].kind is TokenKind.NUMBER
        beside = following.casefold()
        if low.endswith("n't") or low in NEGATORS:
            self.negators.append(Negator(len(self.tokens), low, low in BARE_NEGATORS))
            self._verb(low, beside)
            if low == "without":
                self.qualifiers.append("without")
            return
        if low == "longer" and self.previous == "no":
            return
        capital = chunk[:1].isupper() and self.started
        if after_number and low in UNITS and self.previous[-1:].isalnum():
            self._add(UNITS[low], UNITS[low], low, TokenKind.UNIT)
            return
        if (
            (low in MONTHS or low in WEEKDAYS)
            and (low not in AMBIGUOUS_DATES or chunk[:1].isupper() or after_number)
            and not (low == "may" and not (after_number or beside[:1].isdigit()))
        ):
            name = MONTHS.get(low) or WEEKDAYS[low]
            kind = TokenKind.MONTH if low in MONTHS else TokenKind.WEEKDAY
            self._add(name, name, name, kind)
            return
        if low in NUMBERS and not self._pronoun(low, beside):
            self._add(NUMBERS[low], NUMBERS[low], low, TokenKind.NUMBER)
            return
        if low in _QUANTIFIERS:
            self.qualifiers.append(_QUANTIFIERS[low])
        elif low in QUALIFIERS:
            self.qualifiers.append(QUALIFIERS[low])
        self._verb(low, beside)
        if low in _BREAKS:
            self.clause += 1
        if low in _FUNCTION and not (len(chunk) > 1 and chunk.isupper() and not self.shouting):
            return
        low = low.removesuffix("'s").removesuffix("'")
        if not low:
            return
        stemmed = stem(low)
        if stemmed in ENDING_VERBS:
            self.negators.append(Negator(len(self.tokens), low, False))
        upper = len(chunk) > 1 and chunk.isupper()
        name = (capital or upper or _CAMEL.search(chunk) is not None) and not self.shouting
        self._add(
            SAME.get(stemmed, stemmed), stemmed, low, TokenKind.NAME if name else TokenKind.WORD
        )

    def _verb(self, low: str, following: str) -> None:
        """Note where the main verb is, if ``low`` is it."""
        if self.verb_at >= 0 or self.previous in SUBORDINATORS or not self.started:
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
