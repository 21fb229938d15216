"""What is asked of a shortened text, and how it is judged. Pure."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any


class Check(Enum):
    """How to tell that an answer survived."""

    SPAN = "one of the answers stands in the text"
    ALL = "every answer stands in the text"
    ROW = "an object of the parsed text has all the asked members"
    MEMBER = "the parsed text has the asked member anywhere"


@dataclass(frozen=True)
class Case:
    """One question about one text."""

    shape: str
    text: str
    question: str
    answers: tuple[str, ...]
    check: Check = Check.SPAN
    members: tuple[tuple[str, Any], ...] = ()
    """For `ROW`: names and values that one object has; for `MEMBER` one of them."""
    json: bool = False
    """The text is JSON, so the result must be."""
    name: str = ""
    told: bool = True
    """The agent said what it looks for, as with ``_context_query``; else it is guessed from the call."""


def kept(case: Case, sent: str) -> bool:
    """Does ``sent`` still answer the question?"""
    match case.check:
        case Check.SPAN:
            there = _normal(sent)
            return any(_stands(answer, there) for answer in case.answers)
        case Check.ALL:
            there = _normal(sent)
            return all(_stands(answer, there) for answer in case.answers)
        case Check.ROW:
            return any(_has(found, case.members) for found in _objects(parsed(sent)))
        case Check.MEMBER:
            return any(_has(found, case.members[:1]) for found in _objects(parsed(sent)))


def parsed(text: str) -> Any:
    """The JSON value, of JSON Lines the list of theirs, ``None`` when it is neither."""
    try:
        return json.loads(text)
    except RecursionError:
        return None
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            return None
    try:
        return [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        return None


def is_json(text: str) -> bool:
    """One JSON value, or one on every line."""
    return text.strip() == "null" or parsed(text) is not None


def _has(found: dict[str, Any], members: tuple[tuple[str, Any], ...]) -> bool:
    return all(name in found and found[name] == value for name, value in members)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _stands(answer: str, there: str) -> bool:
    answer = _normal(answer)
    if not answer:
        return True
    if not _NUMBER.fullmatch(answer):
        return answer in there
    return (
        re.search(rf"(?<![\w.])(?<!\d,)0*{re.escape(answer)}(?!\w|\.\d|,\d{{3}}(?!\d))", there)
        is not None
    )


@cache
def _spaces() -> re.Pattern[str]:
    return re.compile(r"\s+")


_NUMBER = re.compile(r"[-+]?\d[\d.,]*")


def _normal(text: str) -> str:
    return _spaces().sub(" ", unicodedata.normalize("NFKC", text).lower()).strip()
