"""The texts of recent calls, kept in memory as they came, shown laid out and with secrets redacted.

Bounded in bytes: the oldest go first. Nothing of this ever reaches the disk.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from proxy.loose_json import indented, readable
from proxy.model import CallDetail, CallRecord

SHOWN_CHARACTERS = 256 * 1024
"""The most that a screen gets of one text."""

_MARGIN = 16 * 1024
"""Characters read beyond what is shown, so that a secret which the cut would split is found whole."""

_ENTRY_BYTES = 1024
"""What an entry costs besides its texts, roughly."""


@dataclass(frozen=True, slots=True)
class RecentCall:
    """One finished call with its raw texts (JSON as it was transmitted)."""

    record: CallRecord
    arguments: bytes
    result: bytes


class DetailRing:
    """Recent calls with their texts. Thread-safe."""

    def __init__(self, capacity_bytes: int) -> None:
        self._lock = threading.Lock()
        self._capacity = capacity_bytes
        self._held = 0
        self._calls: OrderedDict[int, RecentCall] = OrderedDict()

    @property
    def held_bytes(self) -> int:
        """What the ring holds now."""
        return self._held

    def put(self, call: RecentCall) -> None:
        """Keep a call; one that is larger than the whole ring is not kept."""
        with self._lock:
            self._drop(call.record.id)
            size = _size(call)
            if size > self._capacity:
                return
            self._calls[call.record.id] = call
            self._held += size
            self._shrink()

    def get(self, call_id: int) -> RecentCall | None:
        """A call, ``None`` when it is gone."""
        with self._lock:
            return self._calls.get(call_id)

    def resize(self, capacity_bytes: int) -> None:
        """Change the bound; what is over it goes at once."""
        with self._lock:
            self._capacity = capacity_bytes
            self._shrink()

    def _shrink(self) -> None:
        while self._held > self._capacity and self._calls:
            self._drop(next(iter(self._calls)))

    def _drop(self, call_id: int) -> None:
        call = self._calls.pop(call_id, None)
        if call is not None:
            self._held -= _size(call)


def detail_of(call: RecentCall, redact: Callable[[str], str]) -> CallDetail:
    """The call for a person. Takes up to 0.1 s for texts of many megabytes."""
    arguments, arguments_cut = shown(call.arguments, redact)
    result, result_cut = shown(call.result, redact)
    return CallDetail(call.record, arguments, result, arguments_cut or result_cut)


def shown(raw: bytes, redact: Callable[[str], str]) -> tuple[str, bool]:
    """``raw`` laid out and redacted, and whether it was cut to `SHOWN_CHARACTERS`."""
    text = indented(raw).decode("utf-8", "replace")
    cut = len(text) > SHOWN_CHARACTERS + _MARGIN
    text = redact(readable(text[: SHOWN_CHARACTERS + _MARGIN]))
    if cut:
        text = text[: max(0, len(text) - _MARGIN)]
    return text[:SHOWN_CHARACTERS], cut or len(text) > SHOWN_CHARACTERS


def _size(call: RecentCall) -> int:
    return len(call.arguments) + len(call.result) + _ENTRY_BYTES
