"""How one setting or table of settings is declared: default, meaning, bounds, whether it reloads live."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any


def setting(
    default: Any,
    help: str,
    *,
    live: bool = True,
    minimum: float | None = None,
    maximum: float | None = None,
    secret: bool = False,
    expand: bool = False,
) -> Any:
    """Declare one setting.

    ``live``: a change takes effect while the station runs. ``minimum``/``maximum``: inclusive
    bounds. ``secret``: never shown in clear. ``expand``: ``${VAR}``, ``${VAR:-default}`` and ``~``
    are replaced.
    """
    metadata = {
        "help": help,
        "live": live,
        "minimum": minimum,
        "maximum": maximum,
        "secret": secret,
        "expand": expand,
    }
    if default == {}:
        return field(default_factory=_no_entries, metadata=metadata)
    return field(default=default, metadata=metadata)


def _no_entries() -> Mapping[str, Any]:
    return MappingProxyType({})


def section(factory: Any, help: str) -> Any:
    """Declare a nested table of settings."""
    return field(default_factory=factory, metadata={"help": help})
