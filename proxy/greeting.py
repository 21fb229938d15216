"""What a host is told about mms when it connects: one answer for all upstreams together. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from proxy import wire
from proxy.handshake import Introduction

_BASE: dict[str, Any] = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "logging": {},
    "completions": {},
}
"""Always declared, whatever is connected right now: upstreams come and go, a host asks once."""
_PASSED_ON = ("experimental", "extensions", "tasks")


def initialize_result(
    revision: str, version: str, upstreams: Sequence[tuple[str, Introduction]]
) -> bytes:
    """The result of ``initialize``. ``upstreams``: prefix and introduction of each, in order."""
    capabilities: dict[str, Any] = {name: dict(value) for name, value in _BASE.items()}
    for _, introduction in upstreams:
        for name in _PASSED_ON:
            if name in introduction.capabilities:
                found = wire.value_of(introduction.capabilities[name])
                if isinstance(found, dict):
                    known = capabilities.get(name, {})
                    capabilities[name] = _merged(known, cast("dict[str, Any]", found))
    result: dict[str, Any] = {
        "protocolVersion": revision,
        "capabilities": capabilities,
        "serverInfo": {"name": "mms", "title": "mms", "version": version},
    }
    told = [(prefix, about.instructions) for prefix, about in upstreams if about.instructions]
    if len(upstreams) == 1 and told:
        result["instructions"] = told[0][1]
    elif told:
        result["instructions"] = "\n\n".join(
            f"Tools named {prefix}__*:\n{text.strip()}" for prefix, text in told
        )
    return bytes(wire.raw(result))


def _merged(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Both, with the first one's word where they differ."""
    merged = dict(first)
    for name, value in second.items():
        before = merged.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            merged[name] = _merged(cast("dict[str, Any]", before), cast("dict[str, Any]", value))
        else:
            merged.setdefault(name, value)
    return merged
