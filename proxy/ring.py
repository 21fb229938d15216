"""The texts of recent calls, kept in memory as they came, shown laid out and with secrets redacted.

Bounded in bytes: the oldest go first. Nothing of this ever reaches the disk.

A call is kept as one flat tuple of plain values: Python's garbage collector passes over those. With
tens of thousands of objects instead, its full runs stopped every call for 50 to 80 ms (measured).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from proxy.model import CallDetail, CallRecord
from proxy.shown import shown
from proxy.store.calls import Row, record_of, row_of

_ENTRY_BYTES = 1024
"""What an entry costs besides its texts, roughly."""


_Entry = tuple[bytes, bytes, bytes, str, str, *Row]
"""Arguments, result, original, query and its source, and the record as a row."""


@dataclass(frozen=True, slots=True)
class RecentCall:
    """One finished call with its raw texts (JSON as it was transmitted)."""

    record: CallRecord
    arguments: bytes
    result: bytes
    before: bytes = b""
    """The result as the upstream sent it; empty when it went out as it came."""
    query: str = ""
    query_source: str = ""


class DetailRing:
    """Recent calls with their texts. Thread-safe."""

    def __init__(self, capacity_bytes: int) -> None:
        self._lock = threading.Lock()
        self._capacity = capacity_bytes
        self._held = 0
        self._calls: OrderedDict[int, _Entry] = OrderedDict()

    @property
    def held_bytes(self) -> int:
        """What the ring holds now."""
        return self._held

    def put(self, call: RecentCall) -> None:
        """Keep a call; one that is larger than the whole ring is not kept."""
        entry: _Entry = (
            call.arguments,
            call.result,
            call.before,
            call.query,
            call.query_source,
            *row_of(call.record),
        )
        with self._lock:
            self._drop(call.record.id)
            size = _size(entry)
            if size > self._capacity:
                return
            self._calls[call.record.id] = entry
            self._held += size
            self._shrink()

    def get(self, call_id: int) -> RecentCall | None:
        """A call, ``None`` when it is gone."""
        with self._lock:
            entry = self._calls.get(call_id)
        if entry is None:
            return None
        record = record_of(entry[5:])
        return RecentCall(record, *entry[:5])

    def resize(self, capacity_bytes: int) -> None:
        """Change the bound; what is over it goes at once."""
        with self._lock:
            self._capacity = capacity_bytes
            self._shrink()

    def _shrink(self) -> None:
        while self._held > self._capacity and self._calls:
            _, entry = self._calls.popitem(last=False)
            self._held -= _size(entry)

    def _drop(self, call_id: int) -> None:
        entry = self._calls.pop(call_id, None)
        if entry is not None:
            self._held -= _size(entry)


def detail_of(call: RecentCall, redact: Callable[[str], str]) -> CallDetail:
    """The call for a person. Takes up to 0.1 s for texts of many megabytes."""
    arguments, arguments_cut = shown(call.arguments, redact)
    result, result_cut = shown(call.result, redact)
    original, original_cut = shown(call.before, redact) if call.before else (None, False)
    return CallDetail(
        call.record,
        arguments,
        result,
        arguments_cut or result_cut or original_cut,
        original,
        redact(call.query),
        call.query_source,
    )


def _size(entry: _Entry) -> int:
    """The query counts with the four bytes that a character may take."""
    return len(entry[0]) + len(entry[1]) + len(entry[2]) + 4 * len(entry[3]) + _ENTRY_BYTES
