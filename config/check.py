"""Strict reading of one source of settings: every value typed, every problem collected.

A source is a parsed file, the environment or the command line. What is valid is kept even when its
neighbour is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, cast

from config.keys import Key, Kind, keys_of, leaf_keys
from config.locate import Position
from config.problem import Problem, Severity
from config.rules import RULES
from config.toml_text import KeyPath, dotted, toml_value

_SHOWN_CHARACTERS = 40
Values = dict[KeyPath, Any]
"""Valid values by full path. A path of a table of tables maps to its names, in order."""


def _nowhere(_path: KeyPath) -> Position | None:
    return None


@dataclass(slots=True)
class Checker:
    """Collects values and problems of one source."""

    file: str
    """How problems name the source."""
    locate: Callable[[KeyPath], Position | None] = _nowhere
    problems: list[Problem] = field(default_factory=list[Problem])

    def report(
        self,
        path: KeyPath,
        reason: str,
        hint: str = "",
        *,
        severity: Severity = Severity.ERROR,
        key: str | None = None,
    ) -> None:
        """Note a problem with the key at ``path``; ``key`` overrides how it is written."""
        at = self.locate(path)
        self.problems.append(
            Problem(
                file=self.file,
                line=at.line if at else None,
                column=at.column if at else None,
                key=dotted(path) if key is None else key,
                reason=reason,
                hint=hint,
                upstream=path[1] if len(path) > 1 and path[0] == "upstreams" else None,
                severity=severity,
            )
        )

    def section(
        self, raw: Mapping[str, object], section: type[Any], at: KeyPath, values: Values
    ) -> None:
        """Read one table into ``values``."""
        keys = keys_of(section)
        for name, value in raw.items():
            path = (*at, name)
            key = keys.get(name)
            if key is None:
                self.report(path, "no such key", suggestion(name, section, at))
            elif key.kind is Kind.SECTION and key.section is not None:
                if (table := self._table(path, key, value)) is not None:
                    self.section(table, key.section, path, values)
            elif key.kind is Kind.SECTIONS and key.section is not None:
                self._sections(path, key, value, values)
            else:
                self.leaf(path, key, value, values)

    def leaf(self, path: KeyPath, key: Key, value: object, values: Values) -> None:
        """Read one value into ``values``."""
        self._typed(path, key, value, values)
        if path in values and path in RULES and (objection := RULES[path](values[path])):
            del values[path]
            self.report(path, *objection)

    def _typed(self, path: KeyPath, key: Key, value: object, values: Values) -> None:
        if key.kind is Kind.TABLE:
            self._texts_by_name(path, key, value, values)
        elif key.kind is Kind.TEXTS:
            self._texts(path, key, value, values)
        elif key.kind is Kind.CHOICE and key.choices is not None:
            self._choice(path, key.choices, value, values)
        elif key.kind in (Kind.INTEGER, Kind.NUMBER):
            self._number(path, key, value, values)
        else:
            wanted = bool if key.kind is Kind.BOOLEAN else str
            if isinstance(value, wanted):
                values[path] = value
            else:
                self._wrong_type(path, key, value)

    def _sections(self, path: KeyPath, key: Key, value: object, values: Values) -> None:
        table = self._table(path, key, value)
        if table is None or key.section is None:
            return
        names: list[str] = []
        for name, entry in table.items():
            inner = self._table((*path, name), key, entry)
            if inner is not None:
                names.append(name)
                self.section(inner, key.section, (*path, name), values)
        values[path] = tuple(names)

    def _table(self, path: KeyPath, key: Key, value: object) -> Mapping[str, object] | None:
        if isinstance(value, Mapping):
            return cast("Mapping[str, object]", value)
        self.report(
            path,
            f"expected a table, found {_kind_of(value, secret=key.secret)}",
            f"Write a line [{dotted(path)}] and its keys below.",
        )
        return None

    def _texts_by_name(self, path: KeyPath, key: Key, value: object, values: Values) -> None:
        table = self._table(path, key, value)
        if table is None:
            return
        entries: dict[str, str] = {}
        for name, text in table.items():
            if isinstance(text, str):
                entries[name] = text
            else:
                self.report(
                    (*path, name),
                    f"expected text in quotes, found {_kind_of(text, secret=True)}",
                    "Put the value in quotes.",
                )
        values[path] = entries

    def _texts(self, path: KeyPath, key: Key, value: object, values: Values) -> None:
        if not isinstance(value, list):
            hint = _array_hint(key, value) if isinstance(value, str) else ""
            self._wrong_type(path, key, value, hint)
            return
        items = cast("list[object]", value)
        wrong = [n for n, item in enumerate(items) if not isinstance(item, str)]
        for n in wrong:
            self.report(
                path,
                f"expected text in quotes, found {_kind_of(items[n], secret=False)}",
                "Put the value in quotes.",
                key=f"{dotted(path)}[{n}]",
            )
        if not wrong:
            values[path] = tuple(cast("list[str]", items))

    def _choice(self, path: KeyPath, choices: type[Enum], value: object, values: Values) -> None:
        words = [str(choice.value) for choice in choices]
        for choice in choices:
            if isinstance(value, str) and choice.value == value:
                values[path] = choice
                return
        near = _nearest(value, words) if isinstance(value, str) else None
        self.report(
            path,
            f"expected {_either(words)}, found {_kind_of(value, secret=False)}",
            f"Did you mean {near}?" if near else "",
        )

    def _number(self, path: KeyPath, key: Key, value: object, values: Values) -> None:
        allowed = int if key.kind is Kind.INTEGER else (int, float)
        if isinstance(value, bool) or not isinstance(value, allowed):
            self._wrong_type(path, key, value)
            return
        number: int | float = value
        if not math.isfinite(number):
            self._wrong_type(path, key, value)
        elif key.minimum is not None and number < key.minimum:
            self.report(path, f"{number} is too small", _bounds(key))
        elif key.maximum is not None and number > key.maximum:
            self.report(path, f"{number} is too large", _bounds(key))
        else:
            values[path] = number if key.kind is Kind.INTEGER else float(number)

    def _wrong_type(self, path: KeyPath, key: Key, value: object, hint: str = "") -> None:
        found = _kind_of(value, secret=key.secret)
        self.report(path, f"expected {key.kind.value}, found {found}", hint)


def suggestion(name: str, section: type[Any], at: KeyPath) -> str:
    """The nearest valid key beside it, else the same name elsewhere, else what is valid here."""
    here = list(keys_of(section))
    near = _nearest(name, here)
    if near:
        return f"Did you mean {dotted((*at, near))}?"
    elsewhere = [path for path, _ in leaf_keys() if path[-1] == name]
    if elsewhere:
        return f"Did you mean {dotted(elsewhere[0])}?"
    return f"Valid here: {', '.join(here)}."


def _nearest(name: str, valid: list[str]) -> str | None:
    import difflib

    found = difflib.get_close_matches(name.lower().replace("-", "_"), valid, 1, 0.6)
    return found[0] if found else None


def _array_hint(key: Key, text: str) -> str:
    import shlex

    try:
        words = shlex.split(text) if key.expand else [text]
    except ValueError:
        words = [text]
    return f"Write {key.name} = {toml_value(words)}."


def _bounds(key: Key) -> str:
    if key.minimum is None:
        return f"At most {_plain(key.maximum)}."
    if key.maximum is None:
        return f"At least {_plain(key.minimum)}."
    return f"Allowed are {_plain(key.minimum)} to {_plain(key.maximum)}."


def _plain(number: float | None) -> str:
    return str(number)


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _kind_of(value: object, *, secret: bool) -> str:
    """What was found, for a person. The value itself only where it cannot be a secret."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return "a number" if secret else f"the number {value}"
    if isinstance(value, str):
        if secret:
            return "a text"
        cut = value if len(value) <= _SHOWN_CHARACTERS else value[: _SHOWN_CHARACTERS - 1] + "…"
        return f"the text {toml_value(cut)}"
    if isinstance(value, list):
        return "an array"
    if isinstance(value, Mapping):
        return "a table"
    return "a date or time"
