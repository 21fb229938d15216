"""Find values of fields whose name says that they are secret, whatever the value looks like.

Knows JSON (also inside JSON strings, where quotes are escaped), YAML, ini and shell assignments, HTTP
headers, query strings, command line options and XML elements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.secret_text import Span, is_placeholder

_NAMES = (
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "authorization",
    "cookie",
    "credential",
    "apikey",
    *(f"api{gap}key" for gap in "_- "),
    *(f"{kind}{gap}key" for kind in ("access", "private") for gap in ("", "_", "-")),
    *(f"{kind}_key" for kind in ("signing", "encryption", "master", "account")),
    "accountkey",
)
"""How a secret field's name ends, in lower case."""

_WHOLE_LINE = frozenset({"cookie"})
_HEADERS = frozenset({"authorization", "cookie"})

_COUNTED = re.compile(
    r"(?:page|next|continuation|sync|cursor|max|min|num|total|prompt|completion|input|output|per|pad"
    r"|eos|bos|unk|stop|special|first|last|each|one|time_to_first)[_.-]?$"
)
"""Before ``token``: the unit of text, or a place in a list."""

_AFTER_NAME = re.compile(
    r"""(?P<plural>s?)(?:[_-]?(?:value|text|plain|b64|base64|confirmation|\d{1,2}))?
        (?P<close>\\{0,15}["'`])?\]?
        (?:(?P<gap>[ \t]{0,8})(?P<sep>={1,3}|!=|:=|=>|:)(?P<space>(?:[ \t]|\\t){0,16}|\s{0,16})
          |(?P<xml>>)
          |(?P<option>[ \t]{1,4}))""",
    re.VERBOSE,
)
_OPENING = re.compile(r"""(?P<escapes>\\{0,15})(?P<quote>["'`])""")
_BARE = re.compile(r"""[^\s"'`,;&<>(){}\[\]|\\]{1,4096}+""")
_SCHEME = re.compile(r"(?:bearer|basic|digest|token|negotiate|apikey)[ \t]{1,8}", re.IGNORECASE)
_REST_OF_LINE = re.compile(r"""[^\r\n"'`\\]{1,8192}+""")
_END_OF_VALUE = re.compile(r"""[ \t]*(?:$|[\r\n"'`},;]|\\{1,15}[nr"']|[ \t]\#)""")
_LINE_START = re.compile(
    r"""(?:^|[\r\n{,(?&;]|\\[nr])[ \t]*(?:(?:export|set|-)[ \t]+)?["'\w.-]*$"""
)
_CODE = re.compile(
    r"(?:self|this|config|settings|process|os|env|args|request|req|ctx|options|opts|params|props|state"
    r"|session|secrets|vars|data)\.[A-Za-z_][\w.]*"
)
_NAME_BEFORE = 48
_MOST_ELEMENTS = 256


def field_spans(text: str, low: str) -> Iterator[Span]:
    """The values of all secret fields. ``low`` is ``text`` in lower case, of the same length."""
    for name in _NAMES:
        position = low.find(name)
        while position >= 0:
            end = position + len(name)
            after = _AFTER_NAME.match(low, end)
            if after is not None and _is_field(
                name, low[max(0, position - _NAME_BEFORE) : position]
            ):
                for span in _values(text, low, name, position, after):
                    yield span
                    end = max(end, span[1])
            position = low.find(name, end)


def _is_field(name: str, before: str) -> bool:
    return name != "token" or _COUNTED.search(before) is None


def _values(text: str, low: str, name: str, position: int, after: re.Match[str]) -> Iterator[Span]:
    start = after.end()
    before = low[max(0, position - _NAME_BEFORE) : position]
    if after["xml"]:
        end = text.find("<", start, start + 1024)
        spans: Iterator[Span] = iter(((start, end),) if end > start else ())
    elif after["option"]:
        spans = _option_value(text, start) if re.search(r"--[\w-]*$", before) else iter(())
    elif (opening := _OPENING.match(text, start)) is not None:
        spans = iter((_quoted(text, opening),))
    elif text.startswith("[", start):
        spans = _elements(text, start + 1)
    elif name == "token" and after["plural"]:
        spans = iter(())  # a number of tokens
    else:
        spans = _bare_value(text, start, name, before, after)
    for span in spans:
        if not is_placeholder(text[span[0] : span[1]]):
            yield span


def _quoted(text: str, opening: re.Match[str]) -> Span:
    """From behind an opening quote to its closing one, the end of the line, or the end.

    Inside a JSON string that is itself in a JSON string each quote has one or three backslashes before
    it; the closing one has as many as the opening one.
    """
    quote, escapes = opening["quote"], len(opening["escapes"])
    start = position = opening.end()
    triple = quote * 3
    if not escapes and text.startswith(triple, start - 1):
        end = text.find(triple, start + 2)
        return start + 2, len(text) if end < 0 else end
    while True:
        found = text.find(quote, position)
        line_end = text.find("\n", position, None if found < 0 else found)
        if line_end >= 0 or found < 0:
            return start, len(text) if line_end < 0 else line_end
        first = found
        while first > start and text[first - 1] == "\\":
            first -= 1
        slashes = found - first
        if slashes % (2 * (escapes + 1)) == escapes or slashes < escapes:
            return start, found - min(slashes, escapes)
        position = found + 1


def _elements(text: str, start: int) -> Iterator[Span]:
    """The strings of a flat array."""
    for _ in range(_MOST_ELEMENTS):
        while start < len(text) and text[start] in " \t\r\n,":
            start += 1
        opening = _OPENING.match(text, start)
        if opening is None:
            return
        span = _quoted(text, opening)
        yield span
        start = span[1] + len(opening[0])


def _option_value(text: str, start: int) -> Iterator[Span]:
    """``--password VALUE``."""
    opening = _OPENING.match(text, start)
    if opening is not None:
        yield _quoted(text, opening)
        return
    bare = _BARE.match(text, start)
    if bare is not None and not bare[0].startswith("-"):
        yield bare.span()


def _bare_value(
    text: str, start: int, name: str, before: str, after: re.Match[str]
) -> Iterator[Span]:
    """A value without quotes: only where it is likely no prose and no code."""
    separator = after["sep"]
    if separator not in ("=", ":", ":=", "=>"):
        return
    if name in _HEADERS and separator == ":":
        yield from _header_value(text, start, name)
        return
    bare = _BARE.match(text, start)
    if bare is None or text.startswith(("(", "[", "{"), bare.end()):
        return
    value = bare[0]
    if value.startswith(("/", "~")) and name == "pwd":
        return
    if separator == "=" and (value.lower() == name or _CODE.fullmatch(value)):
        return
    if separator == "=" and after["gap"] and _is_word(value) and not _ends(text, bare.end()):
        return
    if separator == ":" and not after["close"] and not _is_yaml(text, before, bare):
        return
    yield bare.span()


def _header_value(text: str, start: int, name: str) -> Iterator[Span]:
    if name in _WHOLE_LINE:
        rest = _REST_OF_LINE.match(text, start)
        if rest is not None:
            yield rest.span()
        return
    scheme = _SCHEME.match(text, start)
    value = _BARE.match(text, start if scheme is None else scheme.end())
    if value is not None:
        yield value.span()


def _is_yaml(text: str, before: str, value: re.Match[str]) -> bool:
    """``name: value`` rather than a sentence with a colon: it has the line for itself, or the value is
    no word."""
    if not _is_word(value[0]):
        return True
    return _ends(text, value.end()) and _LINE_START.search(before) is not None


def _is_word(value: str) -> bool:
    """As a sentence or an expression has it; short ones always count as words."""
    return len(value) < 6 or value.rstrip(".!?:").replace("_", "").isalpha()


def _ends(text: str, position: int) -> bool:
    """Nothing more belongs to the value."""
    return _END_OF_VALUE.match(text, position) is not None
