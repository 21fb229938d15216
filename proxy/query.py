"""What an agent looks for in an answer: told by it, else read from the call's arguments, else from its
earlier calls. Pure; takes odd JSON and bounded time.

Level 1 is the argument ``_context_query``, which never reaches the upstream. Level 2 takes the values of
the call's own arguments in their order: of paths and patterns the words, of long texts the first
sentences, ids as they are; switches, page sizes and cursors say nothing. Level 3 does the same with
the session's latest calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from proxy import wire
from proxy.loose_json import members, string
from proxy.splice import without_member

CONTEXT_QUERY = "_context_query"
LONGEST_TOLD = 2000
"""Characters of a query that an agent tells."""
LONGEST_READ = 600
"""Characters of a query that is read from arguments."""
LONGEST_RECENT = 300
RECENT_CALLS = 5
LONGEST_VALUE = 200
"""Characters of one argument that count."""
LONGEST_TOKEN = 64
"""Longer runs without a space are encoded data, not words."""
_VALUES = 40
_LOOKED_AT = 4096
"""Bytes of one argument that are read."""

_QUIET = frozenset(
    (
        *("cursor", "page_cursor", "page_token", "next_page_token"),
        *("encoding", "format", "output_format", "response_format", "timezone", "locale"),
        *("sort", "sort_by", "order", "order_by", "direction"),
    )
)
"""Arguments that shape an answer and do not say what is looked for."""
_SIZES = re.compile(
    r"(?:^|_)(?:limit|offset|page|size|count|max|min|top|first|last|start|end|depth|head|tail|timeout|lines|width|"
    r"height|context|before|after|skip|take|level|length|results|budget|tokens|chars|ms|seconds)(?:_|$)"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://(?:[^/\s@]*@)?")
_ROOTED = re.compile(r"[~.]{0,2}/|[A-Za-z]:\\")
_HOME = re.compile(r"(?:[A-Za-z]:)?[/\\](?:home|Users)[/\\][^/\\]+[/\\]")
"""Whose files they are is no topic."""
_PATTERN = re.compile(r"[*?^$\[\](){}|]|\\[dDsSwWbB.]")
_SEPARATORS = re.compile(r"[^\w]+|_+")
_ESCAPE = re.compile(
    r"\\[A-Za-z](?=\W|\\|$)|\\[bBdDsSwWAZ]|\[[^\]]{0,100}\]|\{\d{0,9},?\d{0,9}\}|\(\?[:=!<P]{0,3}"
)
_SENTENCE = re.compile(r"[.!?]+(?=\s)|[\u3002\uff01\uff1f]+|\n")
_LEAF = re.compile(rb'"((?:[^"\\]|\\.)*+)"(\s*+:)?|(?<![\w.+-])-?\d[\d.eE+-]*+', re.DOTALL)


_CUT_ESCAPE = re.compile(rb"(?<!\\)((?:\\\\)*+)\\(?:u[0-9a-fA-F]{0,3})?\Z")


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for. ``source``: ``_context_query``, ``arguments``, ``recent calls`` or empty."""

    text: str
    source: str


def query_of(arguments: bytes, recent: Sequence[str]) -> Query:
    """The query of a call. ``recent``: arguments of the session's earlier calls, the newest first."""
    own = arguments_of(arguments)
    told = _told(own)
    if told:
        return Query(told, CONTEXT_QUERY)
    text = _joined(_words_of(own), LONGEST_READ)
    if text:
        return Query(text, "arguments")
    earlier = (words for call in recent[:RECENT_CALLS] for words in _words_of_text(call))
    text = _joined(earlier, LONGEST_RECENT)
    return Query(text, "recent calls" if text else "")


def strip_context_query(params: wire.Members) -> tuple[wire.Members, str]:
    """The params of ``tools/call`` without ``_context_query``, and what it was.

    For tools that do not declare an argument of this name. Every other byte stays.
    """
    arguments = bytes(params.get("arguments", b""))
    if CONTEXT_QUERY.encode() not in arguments:
        return params, ""
    stripped = without_member(arguments, CONTEXT_QUERY)
    if stripped == arguments:
        return params, ""
    return params | {"arguments": wire.Raw(stripped)}, _told(arguments_of(arguments))


def _told(arguments: dict[str, bytes]) -> str:
    raw = arguments.get(CONTEXT_QUERY, b"")
    return " ".join(string(raw).split())[:LONGEST_TOLD] if raw else ""


_RAW_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def arguments_of(raw: bytes) -> dict[str, bytes]:
    """The members of an object as raw JSON; none when it is no object."""
    if not raw:
        return {}
    try:
        return {name: bytes(value) for name, value in _RAW_MEMBERS.decode(raw).items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return members(raw) or {}


def _words_of_text(text: str) -> Iterator[str]:
    """Of an earlier call: its arguments as JSON, or anything else as words."""
    raw = text.encode("utf-8", "replace")
    found = arguments_of(raw)
    if found or raw.lstrip()[:1] in (b"{", b"["):
        return _words_of(found)
    return words_of_value(text)


def _words_of(arguments: dict[str, bytes]) -> Iterator[str]:
    for name, raw in arguments.items():
        if name == CONTEXT_QUERY or name.lower() in _QUIET:
            continue
        for value, is_number in leaves(raw):
            if is_number:
                if _tells(name, value):
                    yield value
            else:
                yield from words_of_value(value)


def leaves(raw: bytes) -> Iterator[tuple[str, bool]]:
    """The strings and numbers of a value, in order; names within it are left out."""
    if len(raw) > _LOOKED_AT:
        raw = _CUT_ESCAPE.sub(rb"\1", raw[:_LOOKED_AT])
        if raw[:1] == b'"':
            raw += b'"'
    for match in _LEAF.finditer(raw):
        if match.group(1) is None:
            yield match.group().decode("ascii", "replace"), True
        elif match.group(2) is None:
            yield string(match.group()), False


def _tells(name: str, number: str) -> bool:
    """A number is an id, a year or the like and no page size."""
    snake = _CAMEL.sub("_", name).lower()
    if _SIZES.search(snake):
        return False
    return len(number) >= 4 or snake.endswith(("id", "number", "no", "key", "nr", "code", "pid"))


def words_of_value(value: str) -> Iterator[str]:
    """What one argument says: words of a path, the opening of a text, an id as it is."""
    text = value.strip()[: LONGEST_VALUE * 4]
    if not text or text.lower() in ("true", "false", "null", "none"):
        return
    place = place_words(text)
    if place is not None:
        yield from place
    elif any(map(str.isspace, text)):
        yield opening(text)
    elif len(text) <= LONGEST_TOKEN or not text.isascii():
        yield text[:LONGEST_VALUE]


def place_words(text: str) -> Iterator[str] | None:
    """The words of a path, a URL or a pattern; ``None`` for a text that is none of them."""
    if any(map(str.isspace, text)):
        return None
    scheme = _SCHEME.match(text)
    if scheme:
        return path_words(text[scheme.end() :])
    if _ROOTED.match(text):
        return path_words(_HOME.sub("", text, count=1))
    if _PATTERN.search(text):
        return name_words(_ESCAPE.sub(" ", text))
    return path_words(text) if "/" in text or "\\" in text else None


def path_words(path: str) -> Iterator[str]:
    """The last part as a whole, which an answer may name, then the words of all parts."""
    path, _, fragment = path.partition("#")
    last = re.split(r"[/\\]", path.rstrip("/\\"))[-1].partition("?")[0]
    if last and len(last) <= LONGEST_TOKEN and not _PATTERN.search(last):
        yield last
    yield from name_words(fragment)
    yield from name_words(_ESCAPE.sub(" ", path) if _PATTERN.search(path) else path)


def name_words(text: str) -> Iterator[str]:
    """The words of a name in snake, kebab or camel case, of two characters and more."""
    for part in _SEPARATORS.split(text):
        if 1 < len(part) <= LONGEST_TOKEN:
            yield from (word for word in _CAMEL.split(part) if len(word) > 1)


def opening(text: str) -> str:
    """The first sentences, at most `LONGEST_VALUE` characters."""
    if len(text) <= LONGEST_VALUE:
        return " ".join(text.split())
    end = 0
    for mark in _SENTENCE.finditer(text):
        if mark.end() > LONGEST_VALUE:
            break
        end = mark.end()
    if end == 0:
        end = text.rfind(" ", 0, LONGEST_VALUE + 1)
        end = LONGEST_VALUE if end <= 0 else end
    return " ".join(text[:end].split())


def _joined(words: Iterable[str], most: int) -> str:
    """Distinct words or texts with spaces between them, no more than ``most`` characters."""
    kept: dict[str, str] = {}
    length = 0
    for count, word in enumerate(words):
        folded = word.casefold()
        if folded in kept:
            continue
        if count >= _VALUES or length + len(word) + 1 > most + 1:
            break
        kept[folded] = word
        length += len(word) + 1
    return " ".join(kept.values())
