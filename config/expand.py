"""``${VAR}``, ``${VAR:-default}`` and a leading ``~`` in the fields of an upstream.

Expanded once: what a variable holds is never looked at again, so a value cannot pull in another.
``$${`` stands for the two characters ``${``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_REFERENCE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{[^}]*\}?")


@dataclass(frozen=True, slots=True)
class Expanded:
    """A text after expansion; with ``missing`` or ``malformed`` it must not be used."""

    text: str
    used: tuple[str, ...] = ()
    """Names of variables whose values went into the text."""
    missing: tuple[str, ...] = ()
    """Names of variables that are not set and have no default."""
    malformed: tuple[str, ...] = ()
    """References that name no variable, as written."""


def expand(text: str, environ: Mapping[str, str]) -> Expanded:
    """Replace the references in ``text``. As in a shell, ``:-`` also stands in for an empty value."""
    if "${" not in text and not text.startswith("~"):
        return Expanded(text)
    used: list[str] = []
    missing: list[str] = []
    malformed: list[str] = []

    def replace(match: re.Match[str]) -> str:
        whole, name, default = match.group(0), match.group(1), match.group(2)
        if whole == "$${":
            return "${"
        if name is None:
            malformed.append(whole)
            return whole
        value = environ.get(name)
        if default is not None and not value:
            return str(default)
        if value is None:
            missing.append(name)
            return str(whole)
        used.append(name)
        return value

    rest = text
    home = ""
    if text == "~" or text.startswith("~/"):
        home = environ.get("HOME", "")
        if home:
            rest = text[1:]
        else:
            missing.append("HOME")
    return Expanded(
        home + _REFERENCE.sub(replace, rest), tuple(used), tuple(missing), tuple(malformed)
    )
