"""Words of any script, made comparable: what is searched for, and what it is searched in.

Everything here is made for search, not for linguistics: two forms of a word should give the same term,
and a term is a *prefix* of the word it came from, so that `proxy.compress.ranking` can find it in a
text with a plain string search instead of cutting the text into words.

- Folding: NFKC, case folded, accents and Arabic marks taken off.
- Scripts with spaces: light suffix stripping (English; endings of German, Spanish and Hindi).
- Scripts without spaces: pairs of characters (Han, kana), triples (Thai, Lao, Khmer, Burmese).
- Identifiers: their parts, and the whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from proxy.compress.text_stop_words import STOP_WORDS

PUNCTUATION = (
    "\\s!-/:-@\\[-`{-~\u00a0-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb-\u00bf\u00d7\u00f7"
    "\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u3004\u3008-\u3020\u3030"
    "\u0964\u0965\u060c\u061b\u061f\u06d4\u066a-\u066c\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
"""What separates words, as the inside of a regular expression's character class.

Not ``\\W``: that would cut Hindi, Thai and Arabic words at their vowel signs.
"""
_WORD = re.compile(f"[^{PUNCTUATION}]+")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_COMPOUND = re.compile(r"(?<![^\W_])[^\W_]++(?:(?:[-./_:@+#]++|,(?=[0-9]))[^\W_]++)++")
_NOT_ASCII = re.compile("[^\x00-\x7f]+")
_MARKS = re.compile("[\u0300-\u036f]+")
_ARABIC = re.compile("[\u0600-\u06ff]")
_ARABIC_MARKS = re.compile("[\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]+")
_ARABIC_FORMS = str.maketrans(
    {"\u0622": "\u0627", "\u0623": "\u0627", "\u0625": "\u0627", "\u0671": "\u0627"}
    | {"\u0649": "\u064a", "\u06cc": "\u064a", "\u0629": "\u0647", "\u06a9": "\u0643"}
)
_UNSPACED = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
    "|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+"
)
_HINDI_ENDINGS = (
    "\u0901\u0902\u0903\u093e\u093f\u0940\u0941\u0942\u0947\u0948\u094b\u094c\u0913\u090f"
)
MAX_WORD = 64
"""Characters of a word that are looked at; longer ones are blobs, not words."""


def fold(text: str) -> str:
    """``text`` in the form that is compared. Its length may differ, unless it is ASCII."""
    if text.isascii():
        return text.lower()
    if len(text.encode("utf-8", "surrogatepass")) > 1.1 * len(text):
        return _fold_all(text)
    known: dict[str, str] = {}

    def run(found: re.Match[str]) -> str:
        letters = found.group()
        folded = known.get(letters)
        if folded is None:
            folded = known[letters] = _fold_all(letters)
        return folded

    return _NOT_ASCII.sub(run, text).lower()


def _fold_all(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text).casefold()
    folded = unicodedata.normalize("NFC", _MARKS.sub("", folded))
    if _ARABIC.search(folded):
        folded = _ARABIC_MARKS.sub("", folded).translate(_ARABIC_FORMS)
    return folded


def stem(word: str) -> str:
    """A prefix of the folded ``word`` that its other forms share; the word itself when it is short."""
    if len(word) < 4 or not word.isalpha():
        return _hindi_stem(word) if "\u0900" <= word[:1] <= "\u097f" else word
    if "\u0900" <= word[0] <= "\u097f":
        return _hindi_stem(word)
    if word[0] >= "\u0600":
        return word
    return _latin_stem(word)


def _hindi_stem(word: str) -> str:
    return word.rstrip(_HINDI_ENDINGS).removesuffix("\u093f\u092f") or word


_ENDINGS = (
    *(
        "ations",
        "ization",
        "ation",
        "ingly",
        "edly",
        "ments",
        "ment",
        "ness",
        "ions",
        "ings",
        "ities",
        "ity",
    ),
    *(
        "ion",
        "ing",
        "ies",
        "ied",
        "ers",
        "ors",
        "est",
        "ed",
        "er",
        "or",
        "ly",
        "es",
        "en",
        "em",
        "os",
        "as",
        "s",
    ),
)


def _latin_stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            if ending == "s" and word[-2] in "su":
                continue
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiou":
        return word[:-1]
    if len(word) > 3 and word[-1] in "aeioy":
        return word[:-1]
    return word


def _pieces(run: str) -> Iterator[str]:
    """N-grams of a run of a script without spaces."""
    size = 3 if "\u0e00" <= run[0] <= "\u17ff" else 2
    if len(run) <= size:
        yield run
        return
    for start in range(len(run) - size + 1):
        yield run[start : start + size]


def _of_word(word: str) -> Iterator[str]:
    """The terms of one folded word; none for a word that was only marks."""
    if not word:
        return
    if word.isascii():
        yield stem(word[:MAX_WORD])
        return
    end = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > end:
            yield stem(word[end : run.start()][:MAX_WORD])
        yield from _pieces(run.group())
        end = run.end()
    if end < len(word):
        yield stem(word[end:][:MAX_WORD])


def terms(text: str) -> list[str]:
    """All terms of ``text`` in order; parts of an identifier come after the whole of it."""
    found: list[str] = []
    for raw in _WORD.findall(text):
        word = fold(raw)
        found.extend(_of_word(word))
        if raw.isascii() and not raw.islower() and not raw.isupper():
            humps = _HUMPS.findall(raw[:MAX_WORD])
            if len(humps) > 1:
                found.extend(stem(hump.lower()) for hump in humps)
    return found


def is_stop_word(word: str) -> bool:
    """Whether a folded word is too common to be searched for, in one of the common languages."""
    return word in STOP_WORDS


def query_terms(query: str) -> list[str]:
    """The distinct terms of ``query`` without stop words, in order.

    All terms when there is nothing but stop words.
    """
    kept: dict[str, None] = {}
    for raw in _WORD.findall(query):
        if fold(raw) not in STOP_WORDS:
            kept.update(dict.fromkeys(terms(raw)))
    return list(kept) or list(dict.fromkeys(terms(query)))


def compounds(query: str) -> list[str]:
    """Folded names with punctuation inside (``a.b.c``, ``max_size``, ``1,200``, a path), kept whole."""
    return list(dict.fromkeys(fold(found) for found in _COMPOUND.findall(query)))
