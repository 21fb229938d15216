"""Calls of the twelve tools."""

from __future__ import annotations

from dataclasses import dataclass

from memory.api.base import Request
from memory.model import DEFAULT_SPACE


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The ``result`` member of an MCP answer, as JSON."""

    body: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class CallTool(Request[ToolAnswer]):
    """One call of one of the twelve tools. Argument mistakes are answers with ``is_error``."""

    name: str
    arguments: str
    """JSON of an object."""
    space: str = DEFAULT_SPACE
