"""Record finished calls off the engine's hot path.

The engine calls `Recorder.observe`, which only appends to a bounded queue. A thread of the recorder's
own takes batches, measures them, writes them, keeps the texts of recent calls in memory, adds up the
sums, and reports each batch. Reads are thread-safe and never wait for a measurement or a write.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from config.schema import HistorySettings
from proxy.answer_model import Savings, SavingsView
from proxy.ledger import Ledger, entries_of, summed, tool_list_entry
from proxy.measure import Call, Measured
from proxy.measuring import MeasurerHere, o200k_measurer
from proxy.model import CallDetail, CallQuery, CallRecord, Minute, Sizes, Totals
from proxy.observation import CallObservation
from proxy.ring import DetailRing, RecentCall, detail_of
from proxy.store.calls import (
    NO_HISTORY,
    History,
    clean,
    matches,
    read_call,
    read_calls,
    read_history,
)
from proxy.store.database import StoreTooOld, StoreUnavailable
from proxy.store.writer import BATCH, CallWriter, KeptSums
from proxy.sums import KEPT_MINUTES, CallSums
from proxy.tokens import ENCODING, TokenCounter

MOST_WAITING_CALLS = 20_000
MOST_WAITING_BYTES = 256 * 1024 * 1024
"""Bounds of the queue between the engine and the recorder. What is over them is not recorded.

The texts wait as the bytes that were relayed, without a copy; 256 MB is a burst of some seconds.
"""

__all__ = ["CallObservation", "Recorder"]

_BATCH_SECONDS = 0.05
_BATCH_BYTES = 8 * 1024 * 1024
_LARGE_BYTES = 256 * 1024
_QUIET_SECONDS = 0.1
_DELAY_SECONDS = 1.0
_DELAY_BYTES = 32 * 1024 * 1024
"""More bytes than `_LARGE_BYTES` keep a processor busy when they are measured, which slows the upstream and
the station where processors are few: they wait until no call ended for `_QUIET_SECONDS`, but at most
`_DELAY_SECONDS`, and for no more than `_DELAY_BYTES`."""
_IDLE_SECONDS = 30.0
_LONGEST_ERROR = 500
"""Characters of an error that are kept."""
_LONGEST_NAME = 256
"""Characters of a host's, upstream's or tool's name that are kept."""
_LONGEST_QUERY = 2_000
"""Characters of what an answer was searched for that are kept."""
_FAULT_SECONDS = 0.2
_BREATH_CALLS = 32
_BREATH_SECONDS = 0.0002
"""After so many calls the thread sleeps so long: the engine's loop gets the interpreter at once."""

_NO_SIZES = Sizes()
_NOT_MEASURED = Measured(_NO_SIZES, _NO_SIZES, _NO_SIZES, 0)

_T = TypeVar("_T")

_log = logging.getLogger(__name__)


def _size(call: CallObservation) -> int:
    return len(call.arguments) + len(call.result) + len(call.before)


def _with_breaths(items: Sequence[_T]) -> Iterator[_T]:
    for number, item in enumerate(items, start=1):
        yield item
        if not number % _BREATH_CALLS:
            time.sleep(_BREATH_SECONDS)


def _nobody(_records: tuple[CallRecord, ...]) -> None:
    """Nobody wants to know."""


def _as_it_is(text: str) -> str:
    return text


class Recorder:
    """Measures, stores and sums up finished calls."""

    def __init__(
        self,
        database: Path,
        *,
        history: HistorySettings,
        count: TokenCounter | None = None,
        on_recorded: Callable[[tuple[CallRecord, ...]], None] = _nobody,
        redact: Callable[[str], str] = _as_it_is,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """``count`` counts in this process; by default, a child measures, started at the first call.
        ``on_recorded`` is called from the recorder's thread. ``redact`` hides secrets in errors and
        shown texts."""
        self._database = database
        self._measurer = o200k_measurer() if count is None else MeasurerHere(count)
        self._on_recorded = on_recorded
        self._redact = redact
        self._clock = clock
        self._sums = CallSums()
        self._ring = DetailRing(history.payload_memory_bytes)
        self._writer = CallWriter(
            database,
            history=history,
            known=lambda: KeptSums(self._sums.days(), self._ledger.sums()),
            on_opened=self._restore,
            clock=clock,
        )
        self._ledger = Ledger()
        self._tool_lists: deque[tuple[float, int | bytes]] = deque(maxlen=MOST_WAITING_CALLS)
        self._control_tools_tokens = 0
        self._counted_list: tuple[bytes, int] = (b"", 0)
        self._ids = itertools.count(1)
        self._queue: deque[CallObservation] = deque()
        self._wake = threading.Event()
        self._wanted = 1
        self._wanted_bytes = _BATCH_BYTES
        self._emptying = False
        """A batch is done, and the queue was not empty: the rest does not wait again."""
        self._capacity = 0
        self._bytes_in = 0
        self._bytes_out = 0
        self._refused = 0
        self._stopping = False
        self._abandoned = 0
        self._in_hand: list[CallObservation] = []
        self._fault = ""
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Read what a predecessor left (milliseconds) and start the thread, which opens the file.

        Only a file of an older version is opened, and brought up to date, before this returns.
        """
        history = self._read_history()
        self._sums.restore(history.days, history.minutes)
        self._ledger.restore(history.ledger.sums)
        self._control_tools_tokens = history.ledger.control_tools_tokens
        self._ids = itertools.count(history.last_call_id + 1)
        self._stopping = False
        self._capacity = MOST_WAITING_CALLS
        self._thread = threading.Thread(target=self._run, name="mms-recorder", daemon=True)
        self._thread.start()

    def _without_texts(self, call_id: int) -> CallRecord | None:
        for record in self._writer.waiting:
            if record.id == call_id:
                return record
        try:
            return read_call(self._database, call_id)
        except StoreUnavailable:
            return None

    def _read_history(self) -> History:
        since = self._clock() - 60 * KEPT_MINUTES
        try:
            try:
                return read_history(self._database, since=since)
            except StoreTooOld:
                self._writer.open()
                return read_history(self._database, since=since)
        except StoreUnavailable:
            # The thread meets the same trouble, reports it and goes on trying. Ids made of the time
            # are above all that the file may hold.
            return replace(NO_HISTORY, last_call_id=int(self._clock() * 1000))

    def _restore(self, sums: KeptSums) -> None:
        self._sums.restore_days(sums.days)
        self._ledger.restore(sums.ledger)

    def stop(self, timeout_seconds: float) -> bool:
        """Write what was observed and end the thread. False when that took too long."""
        thread = self._thread
        if thread is None:
            return True
        self._capacity = 0
        self._stopping = True
        self._wake.set()
        thread.join(timeout_seconds)
        if thread.is_alive():
            return False
        self._thread = None
        return True

    def next_call_id(self) -> int:
        """An id for a call that begins; rises by one, also across restarts."""
        return next(self._ids)

    def observe(self, call: CallObservation) -> None:
        """Take a finished call. Never waits; about a microsecond. From one thread only."""
        size = len(call.arguments) + len(call.result) + len(call.before)
        queue = self._queue
        waiting = self._bytes_in - self._bytes_out
        if len(queue) >= self._capacity or (waiting and waiting + size > MOST_WAITING_BYTES):
            self._refused += 1
            return
        self._bytes_in += size
        queue.append(call)
        if (len(queue) >= self._wanted or waiting > self._wanted_bytes) and not self._wake.is_set():
            self._wake.set()

    def tool_list_sent(self, ours: int | bytes) -> None:
        """A host was given a tool list with our own tools in it. Never waits.

        ``ours``: their tokens, or their JSON, which is counted in the recorder's thread, and only
        when it differs from the last one.
        """
        self._tool_lists.append((self._clock(), ours))
        self._wake.set()

    def savings(self, days: int) -> SavingsView:
        """The ledger of the last ``days`` local days, today included; 0: of all time."""
        lines = self._ledger.lines(days, self._clock())
        return SavingsView(lines, self._control_tools_tokens, ENCODING)

    def totals_today(self) -> Totals:
        """Sums since local midnight."""
        return self._sums.today(self._clock())

    def totals_all_time(self) -> Totals:
        """Sums of everything ever recorded."""
        return self._sums.all_time()

    def minutes(self, n: int = 60) -> tuple[Minute, ...]:
        """Sums of the last ``n`` (up to 1,440) minutes, oldest first, without gaps."""
        return self._sums.minutes(n, self._clock())

    def calls(self, query: CallQuery) -> tuple[CallRecord, ...]:
        """Finished calls, newest first. Reads the file: call it off the engine's loop."""
        limit = max(1, min(query.limit, 10_000))
        waiting = [record for record in self._writer.waiting if matches(record, query)]
        try:
            stored = read_calls(self._database, query)
        except StoreUnavailable:
            stored = ()  # the writer meets the same trouble and `problem` says so
        known = {record.id: record for record in (*stored, *waiting)}
        return tuple(sorted(known.values(), key=lambda record: -record.id)[:limit])

    def detail(self, call_id: int) -> CallDetail | None:
        """One call with its texts, laid out and redacted. May take 0.1 s: call it off the loop."""
        recent = self._ring.get(call_id)
        if recent is not None:
            return detail_of(recent, self._redact)
        known = self._without_texts(call_id)
        return None if known is None else CallDetail(known, None, None, False)

    def original(self, call_id: int) -> RecentCall | None:
        """One call with its texts as they came; empty ones are gone. ``None``: there is no such call.

        Reads the file: call it off the loop. Not redacted: not for a screen.
        """
        recent = self._ring.get(call_id)
        if recent is not None:
            return recent
        known = self._without_texts(call_id)
        return None if known is None else RecentCall(known, b"", b"")

    @property
    def unrecorded(self) -> int:
        """Calls that are not in the store: refused, dropped, or waiting for a disk to work again."""
        return self._refused + self._abandoned + self._writer.unrecorded

    @property
    def problem(self) -> str:
        """Why the store is not working, for a person; empty while all is well."""
        return self._fault or self._writer.problem

    def apply_history(self, history: HistorySettings) -> None:
        """New limits; old calls are deleted soon, texts over the new bound go at once."""
        self._ring.resize(history.payload_memory_bytes)
        self._writer.apply(history)
        self._wake.set()

    def apply_redaction(self, redact: Callable[[str], str]) -> None:
        """Hide other secrets from now on."""
        self._redact = redact

    def _run(self) -> None:
        try:
            self._writer.open()
            while not (self._stopping and not self._queue and not self._tool_lists):
                try:
                    self._step()
                # The thread's edge: one batch is lost, not the recording.
                except Exception as error:
                    self._abandoned += len(self._in_hand)
                    self._fault = f"Calls were lost to the history by a fault in mms: {error!r}."
                    _log.exception("a batch of calls was not recorded")
                    time.sleep(_FAULT_SECONDS)
                finally:
                    self._bytes_out += sum(map(_size, self._in_hand))
                    self._in_hand = []
        finally:
            self._writer.close()
            self._measurer.close()

    def _step(self) -> None:
        more = self._writer.tidy()
        retry = self._writer.retry_in()
        self._wait(_BATCH_SECONDS if more else _IDLE_SECONDS if retry is None else retry)
        self._note_tool_lists()
        self._in_hand = self._take()
        self._emptying = bool(self._queue)
        if self._in_hand:
            self._record(self._in_hand)
            self._fault = ""

    def _wait(self, idle_seconds: float) -> None:
        """Until a batch is full, or `_BATCH_SECONDS` after its first call, or for nothing.

        A batch of large answers also waits for a pause of the calls.
        """
        if self._emptying:
            return
        self._wanted_bytes = _BATCH_BYTES
        for wanted, seconds in ((1, idle_seconds), (BATCH, _BATCH_SECONDS)):
            self._wanted = wanted
            self._wake.clear()
            if len(self._queue) < wanted and not self._stopping and not self._tool_lists:
                self._wake.wait(seconds)
            if not self._queue:
                return
        self._wanted, self._wanted_bytes = MOST_WAITING_CALLS, _DELAY_BYTES
        latest = time.monotonic() + _DELAY_SECONDS
        while not self._stopping and _LARGE_BYTES < self._bytes_in - self._bytes_out < _DELAY_BYTES:
            before = self._bytes_in
            self._wake.clear()
            self._wake.wait(_QUIET_SECONDS)
            if self._bytes_in == before or time.monotonic() >= latest:
                return

    def _take(self) -> list[CallObservation]:
        batch: list[CallObservation] = []
        size = 0
        while self._queue and len(batch) < BATCH and size < _BATCH_BYTES:
            call = self._queue.popleft()
            batch.append(call)
            size += _size(call)
        return batch

    def _record(self, batch: list[CallObservation]) -> None:
        """Measure, keep, add up, write and report, with one count for all texts of the batch."""
        calls: list[Call] = []
        for call in batch:
            calls.append((call.arguments, b"" if call.measured else call.result))
            if call.before and not call.measured_before:
                calls.append((b"", call.before))
        measured = iter(self._measurer.measure(calls))
        records: list[CallRecord] = []
        for call in _with_breaths(batch):
            sizes = next(measured)
            if call.measured is not None:
                sizes = replace(call.measured, arguments=sizes.arguments)
            before = call.measured_before or (next(measured) if call.before else _NOT_MEASURED)
            record = self._record_of(call, sizes, before)
            self._ring.put(self._recent(call, record))
            records.append(record)
        self._sums.include(records)
        ledger = summed(entries_of(records, [call.host_cut_tokens for call in batch]))
        self._ledger.include(ledger)
        self._writer.write(tuple(records), ledger)
        try:
            self._on_recorded(tuple(records))
        except Exception:  # a listener's fault must not end the recording
            _log.exception("a listener of recorded calls failed")

    def _note_tool_lists(self) -> None:
        entries: list[tuple[tuple[str, str, str], Savings]] = []
        while self._tool_lists:
            at, ours = self._tool_lists.popleft()
            if isinstance(ours, bytes):
                if ours != self._counted_list[0]:
                    self._counted_list = (
                        ours,
                        self._measurer.count([ours.decode("utf-8", "replace")])[0],
                    )
                ours = self._counted_list[1]
            self._control_tools_tokens = ours
            entries.append(tool_list_entry(at, ours))
        if entries:
            ledger = summed(entries)
            self._ledger.include(ledger)
            self._writer.note_tool_list(ledger, self._control_tools_tokens)

    def _recent(self, call: CallObservation, record: CallRecord) -> RecentCall:
        return RecentCall(
            record,
            call.arguments,
            call.result,
            call.before,
            call.query[:_LONGEST_QUERY],
            call.query_source,
        )

    def _record_of(self, call: CallObservation, measured: Measured, before: Measured) -> CallRecord:
        return CallRecord(
            id=call.id,
            started_at=call.started_at,
            duration_ms=call.duration_ms,
            host=clean(call.host[:_LONGEST_NAME]),
            session=call.session,
            upstream=clean(call.upstream[:_LONGEST_NAME]),
            tool=clean(call.tool[:_LONGEST_NAME]),
            outcome=call.outcome,
            error=self._one_line(call.error),
            arguments=measured.arguments,
            text=measured.text,
            structured=measured.structured,
            other_bytes=measured.other_bytes,
            strategy=call.strategy,
            before=before.text + before.structured if call.strategy else _NO_SIZES,
            overhead_tokens=call.overhead_tokens,
            held_key=call.held_key,
            fetched_upstream=clean(call.fetched_upstream[:_LONGEST_NAME]),
            fetched_tool=clean(call.fetched_tool[:_LONGEST_NAME]),
            cache=call.cache,
            cache_age_seconds=call.cache_age_seconds,
            fault=self._one_line(call.fault),
            surfacing_id=call.surfacing_id,
            surfaced_tokens=call.surfaced_tokens,
        )

    def _one_line(self, error: str) -> str:
        """Redacted before it is cut: a secret split by the cut would not be recognised."""
        if not error:
            return ""
        return clean(" ".join(self._redact(error[: 8 * _LONGEST_ERROR]).split())[:_LONGEST_ERROR])
