"""Settings from ``MEMTOMEM_STM_…`` variables and from flags of the command line.

The name of a variable is the dotted key in capitals with ``__`` between the levels. Upstreams are
defined in the user's file only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from config.check import Checker, Values, suggestion
from config.keys import Key, Kind, find_key, leaf_keys
from config.problem import Problem, Severity
from config.schema import Settings
from config.toml_text import KeyPath, dotted, split_key
from config.typed_text import parse_typed

PREFIX = "MEMTOMEM_STM_"
ENVIRONMENT = "environment"
COMMAND_LINE = "command line"


def variable_of(path: KeyPath) -> str:
    """The variable that sets a key."""
    return PREFIX + "__".join(path).upper()


def read_environment(environ: Mapping[str, str]) -> tuple[Values, list[Problem]]:
    """Values and problems of the environment. A variable nobody knows is a warning only."""
    values: Values = {}
    problems: list[Problem] = []
    given = {name: text for name, text in environ.items() if name.startswith(PREFIX)}
    if not given:
        return values, problems
    known = {variable_of(path): (path, key) for path, key in leaf_keys()}
    for name, text in given.items():
        if name not in known:
            problems.append(_unknown_variable(name, list(known)))
            continue
        path, key = known[name]
        checker = Checker(ENVIRONMENT)
        checker.leaf(path, key, parse_typed(key, text), values)
        problems += (_naming(problem, name) for problem in checker.problems)
    return values, problems


def read_flags(flags: Mapping[str, str]) -> tuple[Values, list[Problem]]:
    """Values and problems of ``{dotted key: typed text}``."""
    values: Values = {}
    checker = Checker(COMMAND_LINE)
    for name, text in flags.items():
        path = split_key(name)
        key: Key | None = find_key(path) if path else None
        if path is None or key is None or key.kind in (Kind.SECTION, Kind.SECTIONS):
            hint = suggest_key(path) if path else ""
            checker.report(path or (name,), "no such key", hint, key=name)
        elif path[0] == "upstreams":
            checker.report(path, "upstreams are defined in the user's file only")
        else:
            _flag(checker, path, key, text, values)
    return values, checker.problems


def suggest_key(path: KeyPath) -> str:
    """A hint for a dotted key that does not exist."""
    section: type[Any] = Settings
    for n in range(len(path)):
        key = find_key(path[: n + 1])
        if key is None or key.section is None:
            return suggestion(path[n], section, path[:n])
        section = key.section
    return f"{dotted(path)} is a table; name one of its keys."


def _flag(checker: Checker, path: KeyPath, key: Key, text: str, values: Values) -> None:
    parent = find_key(path[:-1])
    if parent is not None and parent.kind is Kind.TABLE:
        values.setdefault(path[:-1], {})[path[-1]] = str(parse_typed(key, text))
    else:
        checker.leaf(path, key, parse_typed(key, text), values)


def _naming(problem: Problem, variable: str) -> Problem:
    return Problem(
        file=problem.file,
        line=None,
        column=None,
        key=problem.key,
        reason=f"{variable}: {problem.reason}",
        hint=problem.hint,
    )


def _unknown_variable(name: str, known: list[str]) -> Problem:
    import difflib

    near = difflib.get_close_matches(name, known, 1, 0.8)
    if name.startswith(f"{PREFIX}UPSTREAMS__"):
        hint = "Upstreams are defined in the user's file only."
    elif near:
        hint = f"Did you mean {near[0]}?"
    else:
        hint = "Nothing reads it; take it out."
    return Problem(
        file=ENVIRONMENT,
        line=None,
        column=None,
        key=name,
        reason="no setting has this name",
        hint=hint,
        severity=Severity.WARNING,
    )
