"""What the memory makes of a record's words: hashes, what search indexes, what is embedded, a title.

Everything here is total: any string goes in, also one with lone surrogates, NUL, or a megabyte of it. The
forms that go on to a database or a model hold neither lone surrogates nor NUL. Pure; standard library only.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator

from memory.model import MemoryText
from memory.words.stop import ARTICLES, SAME_WITHOUT, STOP_WORDS

MOST_TERMS = 64
"""Words of a query that are searched for."""
TITLE_LENGTH = 120

_GROUP = "\x1e"
_ITEM = "\x1f"
# Both are white space for `str.split`, so no folded text holds them.

_UNSPACED_RANGES = (
    "\u0e00-\u0e7f"  # Thai
    "\u0e80-\u0eff"  # Lao
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED_RANGES}]+")

_TERM = re.compile(r"\w+(?:['\u2019]\w+|[._:/@+#&-]{1,3}\w+)*(?:\+\+|\#)?")
_TERM_PART = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_SIGNED_NAMES = re.compile(r"(?<!\w)(?:c\+\+|[cfj]\#|\.net(?!\w))", re.IGNORECASE)
_SIGNED = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp", "j#": "jsharp", ".net": "dotnet"}
"""Names that a full-text tokenizer would cut to one letter or a common word, and what is indexed for them."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_BULLET = re.compile(r"^[ \t]*[-*\u2022\u2013][ \t]+(?=[^\W\d])", re.MULTILINE)
_BEFORE = "\"'`([{\u00ab\u2018\u201c\u201e\u201a\u2039,;:?\u2026\u00bf\u00a1"
_AFTER = "\"'`)]}\u00bb\u2019\u201d\u203a.,;:!?\u2026"
_FUNCTION_WORDS = STOP_WORDS - ARTICLES
_DASHES = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2015\u2212")
_MEASURES = ("'", '"')
"""Behind a number without an opening quotation mark: feet, inches, minutes, seconds."""
_PAIRED = re.compile(r"(\*{1,3}|_{1,3}|~~)(\w.*\w|\w)\1")


def fold(text: str) -> str:
    """``text`` in NFKC without case, every run of white space as one space. Folding twice changes nothing."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    # Folding case can bring new compositions; their case is folded already, except for a handful.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", folded).casefold())
    return " ".join(folded.split())


def content_hash(text: MemoryText) -> str:
    """SHA-256 (hex) of the folded content, steps and preconditions; summary and note do not count.

    Two records with one hash say the same words in the same order.
    """
    return _digest(
        _GROUP.join(
            (
                fold(text.content),
                _ITEM.join(map(fold, text.steps)),
                _ITEM.join(map(fold, text.preconditions)),
            )
        )
    )


def norm_hash(text: MemoryText) -> str:
    """SHA-256 (hex) of the same, also without punctuation, list bullets and the few words of `SAME_WITHOUT`.

    Numbers, signs, units, ids, paths and negations all count, so texts of one hash hold the same values.
    """
    return _digest(
        _GROUP.join(
            (
                _ITEM.join(norm_words(text.content)),
                _ITEM.join(
                    _ITEM.join((str(n), *norm_words(one))) for n, one in _numbered(text.steps)
                ),
                _ITEM.join(
                    _ITEM.join((str(n), *norm_words(one)))
                    for n, one in _numbered(text.preconditions)
                ),
            )
        )
    )


def norm_words(text: str) -> tuple[str, ...]:
    """The folded words of ``text`` that `norm_hash` counts, each with the signs that belong to its value."""
    words = [word for word in map(_bare, fold(_BULLET.sub("", text)).split()) if word]
    return tuple(
        word
        for place, word in enumerate(words)
        if not _is_filler(word, words[place + 1] if place + 1 < len(words) else "")
    ) or tuple(words)


def index_text(text: MemoryText) -> str:
    """What full-text search indexes: every field by lines, the note included.

    Behind the text come the overlapping pairs of characters of every run in a script without spaces (and the
    last character of a run, so that a prefix search for one character finds it), and plain words for names
    like C++.
    """
    fields = (text.content, text.summary, *text.steps, *text.preconditions, text.note)
    plain = unicodedata.normalize("NFKC", "\n".join(filter(None, map(storable, fields))))
    lines = [plain]
    pairs = " ".join(
        pair for run in _UNSPACED_RUN.findall(plain) for pair in _pairs(run, last=True)
    )
    names = " ".join(_SIGNED[name.lower()] for name in _SIGNED_NAMES.findall(plain))
    lines += [line for line in (pairs, names) if line]
    return "\n".join(lines)


def search_terms(query: str) -> tuple[str, ...]:
    """The words of ``query`` to search for, folded, in order, each once, at most `MOST_TERMS`.

    Stop words are left out unless there is nothing else. An identifier such as ``foo_bar`` or ``v1.2.3`` is
    one term (a phrase, for a tokenizer that splits at its signs) and its words of three and more characters
    are terms, too. Runs in a script without spaces give pairs of characters as `index_text` does. No term
    holds white space or a quotation mark, so that it can be quoted.
    """
    found: dict[str, None] = {}
    fallback: dict[str, None] = {}
    for term in _terms(fold(storable(query))):
        target = fallback if term in STOP_WORDS else found
        if len(target) < MOST_TERMS:
            target[term] = None
        if len(found) == MOST_TERMS:
            break
    return tuple(found or fallback)


def embedding_text(text: MemoryText) -> str:
    """What is embedded: content, summary, steps and preconditions by lines; not the person's note."""
    fields = (text.content, text.summary, *text.steps, *text.preconditions)
    return "\n".join(line for line in (storable(one).strip() for one in fields) if line)


def title(text: MemoryText, limit: int = TITLE_LENGTH) -> str:
    """The first line of the content that is not blank, in one line of at most ``limit`` characters.

    A longer line is cut at a word where there is one in its second half, and ends with an ellipsis. Control
    and format characters are left out. Empty when the content is blank. ``limit`` is at least 1.
    """
    for line in text.content.splitlines():
        shown = " ".join("".join(map(_visible, storable(line))).split())
        if shown:
            return _cut(shown, limit)
    return ""


def storable(text: str) -> str:
    """``text`` with the replacement character for what UTF-8 and databases cannot hold."""
    return _UNSTORABLE.sub("\ufffd", text)


def _digest(canonical: str) -> str:
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    return enumerate(lines, 1)


def _bare(chunk: str) -> str:
    """``chunk`` without the punctuation around it; signs that change a value stay."""
    paired = _PAIRED.fullmatch(chunk)
    word = (paired[2] if paired else chunk).lstrip(_BEFORE).rstrip(_AFTER)
    if paired is None and (paired := _PAIRED.fullmatch(word)) is not None:
        word = paired[2]
    if (
        word[-1:].isdigit()
        and chunk.startswith(word)
        and chunk[len(word) : len(word) + 1] in _MEASURES
    ):
        word += chunk[len(word)]
    return word


def _is_filler(word: str, following: str) -> bool:
    """Whether ``word`` adds nothing before ``following``."""
    if word in _DASHES:  # between words; before a number it is a sign
        return not following[:1].isdigit()
    if word == "a":  # at the end or before a verb it is a name: plan A is the cheap one
        return following[:1].isalnum() and following not in _FUNCTION_WORDS
    return word in SAME_WITHOUT


def _pairs(run: str, last: bool) -> Iterator[str]:
    """Overlapping pairs of the run's letters. Marks are left out: tokenizers split at them."""
    letters = [
        character for character in run if not unicodedata.category(character).startswith("M")
    ]
    if len(letters) == 1:
        yield letters[0]
        return
    for first, second in itertools.pairwise(letters):
        yield first + second
    if last and letters:
        yield letters[-1]


def _terms(folded: str) -> Iterator[str]:
    for name in _SIGNED_NAMES.findall(folded):
        yield _SIGNED[name]
    position = 0
    for run in _UNSPACED_RUN.finditer(folded):
        yield from _spaced_terms(folded[position : run.start()])
        yield from _pairs(run[0], last=False)
        position = run.end()
    yield from _spaced_terms(folded[position:])


def _spaced_terms(folded: str) -> Iterator[str]:
    for match in _TERM.finditer(folded):
        term = _POSSESSIVE.sub("", match[0]).replace("\u2019", "'").strip("_")
        if not term or term in _SIGNED:
            continue
        yield term
        if not term.isalnum() and term not in STOP_WORDS:
            for part in _TERM_PART.findall(term):
                if len(part) > 2 and not part.isdigit():
                    yield part


def _visible(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf" and character != "\u200d":  # the joiner of emoji families
        return ""
    return " " if category in ("Cc", "Zl", "Zp") else character


def _cut(line: str, limit: int) -> str:
    limit = max(limit, 1)
    if len(line) <= limit:
        return line
    head = line[: limit - 1]
    space = head.rfind(" ")
    if line[limit - 1] != " " and space >= limit // 2:
        head = head[:space]
    return head.rstrip() + "\u2026"
