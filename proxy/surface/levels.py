"""What memories are searched for at a call: the query, and which of five levels it came from. Pure.

The first level that says something wins; levels are never mixed, so that its name tells where every word
of a query came from:

1. the tool's ``surfacing_query``, filled in: ``{tool_name}``, ``{server}``, ``{arg.NAME}``;
2. ``_context_query``, as the agent told it;
3. words of arguments that are paths, URLs or patterns;
4. the opening sentences of arguments whose names carry meaning: query, title, message;
5. words of the upstream's and the tool's names.

Levels 1 and 2 say something with any letter or digit. Levels 3 and 4 need two words that mean something,
or one that is rare: with a digit, an underscore or an inner capital, or of eight letters and more. Level 5
needs two words that mean something. Ids, digests, numbers, switches and secrets' arguments never count.

A repository or a folder beside a question tells where to look and not what for: then level 4 comes before
level 3. A file, a page or a pattern keeps its place.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from proxy.loose_json import elements
from proxy.query import (
    CONTEXT_QUERY,
    arguments_of,
    leaves,
    name_words,
    opening,
    path_words,
    place_words,
    words_of_value,
)
from proxy.surface.level_words import (
    FOLDER_OR_FILE_NAMES,
    KEY_NAMES,
    OPAQUE_NAMES,
    PATH_NAMES,
    PERSON_NAMES,
    QUIET_WORDS,
    SCOPE_NAMES,
    VERBS,
)
from proxy.surface.model import QueryLevel
from proxy.tokens import SURROGATES

LONGEST = 600
"""Characters of a query."""
_LONGEST_VALUE = 200
"""Characters of one argument in a template."""
_VALUES = 40
"""Texts among the arguments that are looked at."""
_WORDS = 60
_DEEPEST = 3
_LARGE = 4096
"""Bytes. Of larger arrays and objects the beginning is read, without the names in it."""
_LONGEST_PLACE = 400
"""Characters. Longer runs without a space are data."""

_SLOT = re.compile(r"\{(tool_name|server|arg\.[^{}]{1,100})\}")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_HUMP = re.compile(r"[a-z][A-Z]")
_WORD = re.compile(r"\w")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_EDGES = ".,;:!?'\"()[]{}<>*`|=+-"
_OPAQUE = re.compile(
    r"(?:0[xX])?(?=[a-fA-F]*\d)[0-9a-fA-F]{7,}"  # a digest
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|(?=[A-Z]*\d)[0-9A-HJKMNP-TV-Z]{26}"  # a ULID
    r"|[\d.,:/TZ+%_-]+"  # numbers, dates, addresses
    r"|(?=(?:\D*\d){4})(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[\w+/=-]{20,}"  # encoded data
)
_RARE = re.compile(r"\d|_|[a-z][A-Z]")
_ENOUGH_LETTERS = 8


@dataclass(frozen=True, slots=True)
class SurfacingSearch:
    """What is searched for. Empty exactly when the level is ``NONE``."""

    text: str
    """One line of at most `LONGEST` characters, without control characters and lone surrogates."""
    level: QueryLevel


NO_SEARCH = SurfacingSearch("", QueryLevel.NONE)


def query_for(
    tool: str, upstream: str, template: str, context_query: str, arguments: bytes
) -> SurfacingSearch:
    """The query of one call.

    ``tool``, ``upstream``: as the settings and the upstream name them. ``template``: the tool's
    ``surfacing_query``, empty when it has none. ``context_query``: empty when the agent told none.
    ``arguments``: JSON; anything that is no object counts as none. Raises nothing.
    """
    if template:
        text = _line(_filled(template, tool, upstream, arguments))
        if _WORD.search(text):
            return SurfacingSearch(text, QueryLevel.TEMPLATE)
    text = _line(context_query)
    if _WORD.search(text):
        return SurfacingSearch(text, QueryLevel.CONTEXT_QUERY)
    named = list(itertools.islice(_texts(arguments), _VALUES))
    things = [one for one in named if not _is_scope(*one)]
    for level, words in (
        (QueryLevel.PATHS, _of_places(things)),
        (QueryLevel.KEYS, _of_keys(named)),
        (QueryLevel.PATHS, _of_places(named)),
    ):
        text = _joined(words)
        if _says_something(text):
            return SurfacingSearch(text, level)
    words = [*name_words(upstream), *name_words(tool)]
    telling = [word for word in words if _means(word) and word.casefold() not in VERBS]
    text = _joined(telling)
    if len({word.casefold() for word in telling}) >= 2:
        return SurfacingSearch(text, QueryLevel.TOOL_NAME)
    return NO_SEARCH


def _filled(template: str, tool: str, upstream: str, arguments: bytes) -> str:
    """The template with its slots filled; an argument that is not there is empty."""
    members = arguments_of(arguments)

    def value(slot: re.Match[str]) -> str:
        name = slot.group(1)
        if name == "tool_name":
            return tool
        if name == "server":
            return upstream
        raw = members.get(name.removeprefix("arg."), b"")
        texts = (text for text, _ in itertools.islice(leaves(raw), _VALUES))
        return opening(" ".join(" ".join(texts).split()))[:_LONGEST_VALUE]

    return _SLOT.sub(value, template)


def _texts(arguments: bytes) -> Iterator[tuple[str, str]]:
    """The texts among the arguments in their order, each with the name nearest to it."""
    for name, raw in arguments_of(arguments).items():
        if name != CONTEXT_QUERY:
            yield from _texts_in(name, raw, 1)


def _texts_in(name: str, raw: bytes, depth: int) -> Iterator[tuple[str, str]]:
    if depth < _DEEPEST and len(raw) <= _LARGE and raw[:1] == b"{":
        for inner, value in arguments_of(raw).items():
            yield from _texts_in(inner, value, depth + 1)
    elif depth < _DEEPEST and len(raw) <= _LARGE and raw[:1] == b"[":
        for element in elements(raw):
            yield from _texts_in(name, element, depth + 1)
    else:
        for text, is_number in leaves(raw):
            if not is_number:
                yield name, text


def _of_places(named: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Words of paths, URLs and patterns, the last part of each as a whole first."""
    for name, text in named:
        snake = _snake(name)
        if _is_opaque_name(snake) or (_carries_meaning(snake) and snake not in PATH_NAMES):
            continue
        place = text.strip()
        if snake in PATH_NAMES or place.startswith(("/", "~/", "./")):
            place = "_".join(place.split())
        if not place or len(place) > _LONGEST_PLACE:
            continue
        words = place_words(_without_parameters(place))
        if words is None and snake in PATH_NAMES:
            words = path_words(place)
        for word in words or ():
            if _means(word) or any(map(_means, name_words(word))):
                yield word


def _is_scope(name: str, text: str) -> bool:
    """A repository or a folder: where something is looked for."""
    snake = _snake(name)
    if snake in SCOPE_NAMES:
        return True
    place = text.strip().rstrip("/")
    return snake in FOLDER_OR_FILE_NAMES and "/" in place and "." not in place.rsplit("/", 1)[-1]


def _of_keys(named: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The opening sentences of what the names say is a question, a title or the like."""
    for name, text in named:
        snake = _snake(name)
        if _is_opaque_name(snake) or not _carries_meaning(snake):
            continue
        if not _OPAQUE.fullmatch(text.strip()[:_LONGEST_PLACE]):
            for words in words_of_value(text):
                yield words
                yield from _humps(words)


def _humps(text: str) -> Iterator[str]:
    """The words of names in camel case, which a memory spells apart."""
    for token in text.split():
        if _HUMP.search(token):
            yield from name_words(token.strip(_EDGES))


def _snake(name: str) -> str:
    return _CAMEL.sub("_", name[:100]).replace("-", "_").lower()


def _is_opaque_name(snake: str) -> bool:
    return any(part in OPAQUE_NAMES for part in (snake, *snake.split("_")))


def _carries_meaning(snake: str) -> bool:
    if snake in PERSON_NAMES:
        return False
    return snake in KEY_NAMES or snake.rsplit("_", 1)[-1] in KEY_NAMES


def _without_parameters(place: str) -> str:
    """A URL without its parameters but those that carry meaning: others hold ids, sizes and keys."""
    if "://" not in place:
        return place
    rest, _, fragment = place.partition("#")
    address, _, parameters = rest.partition("?")
    told = [
        value.replace("+", "/").replace("%20", "/")
        for name, _, value in (part.partition("=") for part in parameters.split("&"))
        if _carries_meaning(_snake(name))
    ]
    address = "/".join([address, *told])
    return address if "=" in fragment else f"{address}#{fragment}"


def _says_something(text: str) -> bool:
    """Two words that mean something, or one of them rare."""
    found: set[str] = set()
    for token in text.split():
        bare = token.strip(_EDGES)
        if _OPAQUE.fullmatch(bare):
            continue
        parts = [part for part in name_words(bare) if _means(part)]
        for part in parts:
            # Scripts without spaces: two characters make a word.
            found.update(part[at : at + 2] for at in range(0, len(part) - 1, 2)) if _is_dense(
                part
            ) else found.add(part.casefold())
        if parts and (_RARE.search(bare) or any(len(part) >= _ENOUGH_LETTERS for part in parts)):
            return True
        if len(found) >= 2:
            return True
    return False


def _means(word: str) -> bool:
    """A word that says what something is about."""
    bare = word.strip(_EDGES).casefold()
    if bare in QUIET_WORDS or not bare or _OPAQUE.fullmatch(word.strip(_EDGES)):
        return False
    letters = sum(map(str.isalpha, bare))
    return letters >= 3 or (letters >= 1 and _is_dense(bare))


def _is_dense(word: str) -> bool:
    """Of a script that writes words without spaces between them, as far as one character tells."""
    return any("\u0e00" <= character <= "\u0eff" or character >= "\u3040" for character in word)


def _joined(words: Iterable[str]) -> str:
    """Distinct words or texts on one line."""
    kept: dict[str, str] = {}
    for word in itertools.islice(words, _WORDS):
        kept.setdefault(word.casefold(), word)
    return _line(" ".join(kept.values()))


def _line(text: str) -> str:
    """At most `LONGEST` characters, cut between words where that is possible."""
    text = _CONTROLS.sub(" ", SURROGATES.sub("\ufffd", text[: LONGEST * 4]))
    line = " ".join(text.split())
    if len(line) <= LONGEST:
        return line
    end = line.rfind(" ", 0, LONGEST + 1)
    return line[: end if end > 0 else LONGEST]
