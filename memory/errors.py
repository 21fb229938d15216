"""What goes wrong in the memory, as one exception that every edge can show.

The edges (MCP tools, socket, CLI, screens) map it to their own form; nothing else leaves the package.
"""

from __future__ import annotations

from enum import Enum


class FaultCode(Enum):
    """The kind of a fault; part of the wire format and of every ``isError`` answer."""

    INVALID = "invalid_argument"
    """A value is missing, of the wrong type, or out of range. Nothing was changed."""
    NOT_FOUND = "not_found"
    """No record, proposal, plan or run of that id in this space."""
    REFUSED = "refused"
    """A rule forbids it: a cycle, a self-supersession, a lower trust, a secret in the text."""
    STALE = "stale"
    """A record changed since the plan or proposal was made. Nothing was changed."""
    NEEDS_OPERATOR = "needs_operator"
    """Only the person may do this."""
    BUSY = "busy"
    """Another process writes for longer than the deadline; try again."""
    UNAVAILABLE = "unavailable"
    """The memory's process or its database cannot be reached."""
    INTERNAL = "internal_error"


class MemoryFault(Exception):
    """A request failed; state is as before."""

    def __init__(self, code: FaultCode, message: str, hint: str = "") -> None:
        """``message``: what happened and where. ``hint``: what to do next, a sentence, or empty."""
        super().__init__(f"{message} {hint}".strip())
        self.code = code
        self.message = message
        self.hint = hint
