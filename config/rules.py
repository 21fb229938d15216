"""What must hold for single values beyond type and bounds."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

_LOOPBACK = re.compile(r"(?:127(?:\.\d{1,3}){3}|::1|localhost)\Z")
_SPACE = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#\s]+\Z")

Verdict = tuple[str, str] | None
"""Reason and hint, or nothing to object to."""


def _loopback(host: str) -> Verdict:
    if _LOOPBACK.match(host):
        return None
    return "only this machine may connect", "Write 127.0.0.1, ::1 or localhost."


def _origins(origins: tuple[str, ...]) -> Verdict:
    for origin in origins:
        if not _ORIGIN.match(origin):
            return (
                "an origin is a scheme, a host and perhaps a port",
                "For example http://localhost:3000, without a path.",
            )
    return None


def _space(name: str) -> Verdict:
    if _SPACE.match(name):
        return None
    return (
        "a space's name is 1 to 64 letters, digits, dots, - and _",
        "For example my-project.",
    )


def _database(url: str) -> Verdict:
    if not url or url.startswith(("sqlite:///", "postgresql://")):
        return None
    return (
        "only SQLite and PostgreSQL can hold the memory",
        "Write sqlite:///PATH or postgresql://USER@HOST/NAME, or leave it out.",
    )


RULES: Mapping[tuple[str, ...], Callable[[Any], Verdict]] = MappingProxyType(
    {
        ("proxy", "http", "host"): _loopback,
        ("proxy", "http", "allowed_origins"): _origins,
        ("memory", "space"): _space,
        ("memory", "url"): _database,
    }
)
"""By key path; called with a value of the right type."""
