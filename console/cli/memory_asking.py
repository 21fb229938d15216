"""What all actions of ``mms memory`` share: who asks, times, ids, JSON, and asking for a confirmation."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

from console.cli.context import Context, local_zone
from console.cli.context import run as run_async
from console.cli.errors import CliError, UsageError
from console.safe import safe
from memory.model import Actor, Instant, Origin

if TYPE_CHECKING:
    from memory.api import MemoryPort, Request
    from memory.model import Record

R = TypeVar("R")

PERSON = Actor(Origin.OPERATOR, "mms")
"""Who asks: the person at this command line."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_TIMES = frozenset(
    {
        "recorded_at", "changed_at", "state_at", "valid_from", "valid_to", "first_used", "last_used",
        "created_at", "decided_at", "undone_at", "happened_at", "at", "now", "last_at",
    }
)  # fmt: skip
"""Names of members that are times, wherever they stand."""


def ask(context: Context, request: Request[R]) -> R:
    """One request of the person. Raises `MemoryFault`."""

    async def work() -> R:
        async with context.memory() as memory:
            return await memory.ask(request, PERSON)

    return run_async(work())


def space_of(arguments: argparse.Namespace, context: Context) -> str:
    """The space that the line names, or that of the settings."""
    return str(arguments.space or context.load().settings.memory.space)


async def full_id(memory: MemoryPort, id: str, space: str) -> str:
    """The id of the record that ``id`` names or begins. Raises `MemoryFault`."""
    return (await full_record(memory, id, space)).id


async def full_record(memory: MemoryPort, id: str, space: str) -> Record:
    """The record that ``id`` names or begins. Raises `MemoryFault`."""
    from memory.api import GetRecord

    return (await memory.ask(GetRecord(id, space), PERSON)).record


def parse_instant(text: str | None, option: str) -> Instant | None:
    """A date or time of ISO 8601, local unless it names its zone. Raises `UsageError`."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
        at = at if at.tzinfo is not None else at.replace(tzinfo=local_zone())
        return (at - _EPOCH) // _MICROSECOND
    except (ValueError, OverflowError):
        raise UsageError(
            f"{option} {text}: write a date or time such as 2026-05-01 or 2026-05-01T12:30."
        ) from None


def iso(at: Instant) -> str:
    """A time as ``2026-05-01T12:30:00.000000Z``."""
    try:
        return (_EPOCH + at * _MICROSECOND).replace(tzinfo=None).isoformat(
            timespec="microseconds"
        ) + "Z"
    except OverflowError:  # beyond the year 9999
        return str(at)


def moment(at: Instant, context: Context) -> str:
    """A time for a person."""
    from console import format as figures

    try:
        return figures.moment(at / 1e6, context.clock(), local_zone())
    except (OverflowError, ValueError, OSError):
        return str(at)


def document(value: Any) -> Any:
    """A result as plain JSON values: times in ISO 8601 UTC, patches as objects."""
    import msgspec

    return _with_times(msgspec.to_builtins(value))


def document_of_patch(patch: str) -> dict[str, Any]:
    """A journal entry's patch, with times as in `document`."""
    return cast("dict[str, Any]", _with_times(patch, "patch"))


def _with_times(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {key: _with_times(one, key) for key, one in members.items()}
    if isinstance(value, (list, tuple)):
        return [_with_times(one) for one in cast("list[Any]", value)]
    if name in _TIMES and isinstance(value, int) and not isinstance(value, bool):
        return iso(value)
    if name == "patch" and isinstance(value, str):
        return _with_times(json.loads(value))
    return value


def confirm(question: str, expected: str, *, yes: bool) -> None:
    """Let the person type ``expected``. Raises `CliError` when they don't, or when nobody can answer."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise CliError(f"{question} Nothing was done: no one can be asked here; add --yes.")
    sys.stderr.write(f"{safe(question)}\nType {expected} to go on: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip() != expected:
        raise CliError("Nothing was done.")
