"""Whether a text is JSON as a whole, or JSON Lines; also with NaN, lone surrogates and any depth."""

from __future__ import annotations

import json
import re

import msgspec

from proxy.compress.model import ContentType

MAX_PARSED = 64_000_000
"""Characters. A longer text that begins and ends like JSON is believed to be JSON."""
_RAW = msgspec.json.Decoder(msgspec.Raw)
_STRINGS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_BRACKETS = re.compile(r"[{}\[\]]+")


def json_type(text: str) -> ContentType | None:
    """Which kind of JSON a text that begins with a bracket is; ``None``: it is none."""
    bare = text.strip("\ufeff \t\r\n")
    if bare[-1:] not in ("}", "]"):
        return ContentType.JSON_LINES if _json_lines(bare) else None
    whole = ContentType.JSON_OBJECT if bare[0] == "{" else ContentType.JSON_ARRAY
    if len(bare) > MAX_PARSED or _parses(bare):
        return whole
    return ContentType.JSON_LINES if _json_lines(bare) else None


def _parses(text: str) -> bool:
    """Whether ``text`` is one JSON value; also with NaN, lone surrogates and any depth."""
    try:
        _RAW.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        pass
    else:
        return True
    if _deep(text):
        return _balanced(text)
    try:
        json.loads(text, strict=False)
    except ValueError:
        return False
    except RecursionError:
        return _balanced(text)
    return True


def _deep(text: str) -> bool:
    """Whether the brackets alone may nest too deep for a parser that calls itself."""
    return text.count("[") + text.count("{") > 400 and any(
        opened in text for opened in ("[" * 200, '{"' * 200)
    )


def _balanced(text: str) -> bool:
    """Whether every bracket outside of strings is closed by its own kind, at the end and not before."""
    bare = _STRINGS.sub("0", text)
    stack: list[str] = []
    for run in _BRACKETS.finditer(bare):
        for bracket in run.group():
            if bracket in "{[":
                stack.append("}" if bracket == "{" else "]")
            elif not stack or stack.pop() != bracket:
                return False
        if not stack and run.end() < len(bare):
            return False
    return not stack and '"' not in bare


def _json_lines(text: str) -> bool:
    """Two lines or more, each one a JSON object or array; a sample of them is parsed."""
    if "\n" not in text:
        return False
    lines = [line for line in text.split("\n") if line and not line.isspace()]
    if len(lines) < 2:
        return False
    for line in lines:
        if line.lstrip()[0] not in "{[":
            return False
    step = max(1, len(lines) // 40)
    return all(_parses(line.strip()) for line in [*lines[::step], lines[-1]][:80])
