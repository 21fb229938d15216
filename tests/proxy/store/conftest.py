"""Calls for the store's tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from proxy.model import CallRecord, Outcome, Sizes


def make_record(call_id: int, **changes: object) -> CallRecord:
    """A call with round numbers; ``changes`` replace single fields."""
    fields: dict[str, object] = {
        "id": call_id,
        "started_at": 1_700_000_000.0 + call_id,
        "duration_ms": 2.5,
        "host": "claude-code",
        "session": 1,
        "upstream": "files",
        "tool": "read_file",
        "outcome": Outcome.OK,
        "error": "",
        "arguments": Sizes(10, 10, 4),
        "text": Sizes(100, 90, 30),
        "structured": Sizes(20, 20, 8),
        "other_bytes": 7,
    }
    return CallRecord(**{**fields, **changes})  # type: ignore[arg-type]  # names are checked at run time


@pytest.fixture
def record() -> Callable[..., CallRecord]:
    """`make_record`."""
    return make_record
