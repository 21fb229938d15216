"""Traces of calls on their way to a collector: a call leaves a note in a queue, a thread sends them.

Whatever happens to the collector, calls go on: what does not fit into the queue or cannot be delivered
is dropped and counted.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol
from urllib.parse import urlsplit

from config.schema_surfacing import TracingSettings
from proxy import wire
from proxy.telemetry.trace import CallMoments, CallTrace, TraceContext, context_in, is_sampled

MOST_WAITING = 2_048
"""Traces in the queue."""
BATCH = 256
"""Traces that are sent at once."""
BREATH_SECONDS = 0.2
"""What ends within it is sent at once."""
LATEST_SECONDS = 1_800.0
"""So long a call's trace is known to reports about it."""
MOST_LATEST = 512
"""Tools of conversations of which the latest trace is known."""
_EXTRA = "pip install 'mms-console[tracing]'"
_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_TRACES_ENDPOINT = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
_log = logging.getLogger("mms.tracing")


class TraceExporter(Protocol):
    """Delivers traces. Used by one thread, but for `close`."""

    def send(self, traces: Sequence[CallTrace], /) -> str:
        """Deliver them. Returns what went wrong, a part of a sentence; empty when they arrived."""
        ...

    def close(self) -> None:
        """Send nothing any more, and give up what is being sent."""
        ...


OpenExporter = Callable[[str, Mapping[str, str], str], TraceExporter]
"""From the endpoint, the headers, and the version of mms. Raises `ImportError` without the extra."""


class BadEndpoint(Exception):
    """There is nowhere to send to; ``str()`` is a sentence that says what to do."""


def open_otlp(endpoint: str, headers: Mapping[str, str], version: str) -> TraceExporter:
    """The real one. Raises `ImportError` when its packages are not installed."""
    from proxy.telemetry.otlp import OtlpExporter  # an extra, and a third of a second of imports

    return OtlpExporter(endpoint, headers, version)


def endpoint_of(settings: TracingSettings, environ: Mapping[str, str]) -> str:
    """The address of the collector: as set, else by the variables of OpenTelemetry. Raises `BadEndpoint`."""
    endpoint, source = settings.endpoint, "tracing.endpoint"
    if not endpoint and environ.get(_TRACES_ENDPOINT):
        endpoint, source = environ[_TRACES_ENDPOINT], _TRACES_ENDPOINT
    if not endpoint and environ.get(_ENDPOINT):
        endpoint, source = environ[_ENDPOINT].rstrip("/") + "/v1/traces", _ENDPOINT
    if not endpoint:
        raise BadEndpoint(
            "Tracing is on, but nobody said where to: set tracing.endpoint, for example to "
            f"http://localhost:4318/v1/traces, or the variable {_ENDPOINT}."
        )
    try:
        parts = urlsplit(endpoint)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        usable = False
    if not usable:
        raise BadEndpoint(
            f"Nothing is traced: {source} is no address that begins with http:// or https://."
        )
    return endpoint


class Tracing:
    """One station's traces. `begin`, `note` and `latest` are for the engine's loop, and return at once."""

    def __init__(
        self,
        settings: TracingSettings,
        environ: Mapping[str, str],
        version: str,
        *,
        open_exporter: OpenExporter = open_otlp,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.enabled = False
        """Whether calls are traced now; all that a call looks at while they are not."""
        self._settings = settings
        self._environ = environ
        self._version = version
        self._open_exporter = open_exporter
        self._clock = clock
        self._latest: OrderedDict[tuple[int, str, str], tuple[str, float]] = OrderedDict()
        self._queue: deque[CallTrace] = deque()
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._progress = threading.Condition()
        self._noted = 0
        self._done = 0
        """Of these, delivered or given up."""
        self._lost = 0
        self._overrun = 0
        self._problem = ""
        self._thread: threading.Thread | None = None
        self._exporter: TraceExporter | None = None
        self._opened_for: TracingSettings | None = None
        self._unopened = ""
        self._started = False

    # life

    def start(self) -> None:
        """From now on, calls are traced if the settings say so."""
        self._started = True
        self.applied(self._settings)

    def applied(self, settings: TracingSettings) -> None:
        """The settings changed; what was noted before is sent to where they say now."""
        self._settings = settings
        self.enabled = False
        self._problem = ""
        if not settings.enabled:
            self._latest.clear()
            self._wake.set()
            return
        try:
            endpoint_of(settings, self._environ)
        except BadEndpoint as error:
            self._problem = str(error)
            return
        if self._started:
            self.enabled = True
            self._run_thread()

    def stop(self, timeout_seconds: float) -> bool:
        """Send what waits and end the thread. False when that took too long. Blocking."""
        self._started = self.enabled = False
        thread = self._thread
        if thread is None:
            return True
        self._stopping.set()
        self._wake.set()
        thread.join(timeout_seconds / 2)
        exporter = self._exporter
        if thread.is_alive() and exporter is not None:
            exporter.close()
            thread.join(timeout_seconds / 2)
        return not thread.is_alive()

    @property
    def problem(self) -> str:
        """Why traces are missing, sentences for a person; empty when none are."""
        problem, dropped = self._problem, self.dropped
        if not problem or not dropped:
            return problem
        return f"{problem} {dropped:,} trace{'s were' if dropped > 1 else ' was'} dropped."

    @property
    def dropped(self) -> int:
        """Traces that were not delivered, since the start."""
        return self._lost + self._overrun

    # a call's way

    def begin(
        self, params: wire.Members | None, session: int, server: str, tool: str
    ) -> CallMoments | None:
        """A call begins. ``None``: it is not traced.

        ``tool``: as offered by the upstream; empty for a name that it does not offer, and without tool.
        """
        context = self._context(params)
        if not context.sampled or not is_sampled(context.trace_id, self._settings.sampling):
            # A report about this call must not be told the trace of another one.
            self._latest.pop((session, server, tool), None)
            return None
        return CallMoments(context, f"{random.getrandbits(64) or 1:016x}", tool)

    def note(self, trace: CallTrace, session: int, server: str, tool: str) -> None:
        """A call has ended."""
        if tool:
            self._latest[session, server, tool] = (trace.trace_id, self._clock())
            self._latest.move_to_end((session, server, tool))
            if len(self._latest) > MOST_LATEST:
                self._latest.popitem(last=False)
        if not self.enabled:
            return
        if len(self._queue) >= MOST_WAITING:
            self._overrun += 1
            return
        self._noted += 1
        self._queue.append(trace)
        if not self._wake.is_set():
            self._wake.set()

    def latest(self, session: int, server: str, tool: str) -> str:
        """The trace of the latest call of this tool within `LATEST_SECONDS`; empty when there is none.

        The conversation's own call comes first, then any other one's: a host may have connected anew.
        """
        earliest = self._clock() - LATEST_SECONDS
        own = self._latest.get((session, server, tool))
        if own is not None and own[1] >= earliest:
            return own[0]
        for (_, *names), (trace_id, ended) in reversed(self._latest.items()):
            if names == [server, tool] and ended >= earliest:
                return trace_id
        return ""

    def flush(self, timeout_seconds: float) -> bool:
        """Wait until what was noted is delivered or given up. False when it is not. Blocking."""
        wanted = self._noted
        with self._progress:
            return self._progress.wait_for(lambda: self._done >= wanted, timeout_seconds)

    def _context(self, params: wire.Members | None) -> TraceContext:
        """The host's trace, else a new one."""
        meta = None if params is None else params.get("_meta")
        if meta is not None and bytes(meta)[:1] == b"{":
            given = wire.string(wire.members_of(meta), "traceparent")
            found = None if given is None else context_in(given)
            if found is not None:
                return found
        return TraceContext(f"{random.getrandbits(128) or 1:032x}")

    # the thread's side

    def _run_thread(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._stopping.clear()
            self._thread = threading.Thread(target=self._run, name="mms-tracing", daemon=True)
            self._thread.start()
        self._wake.set()  # to tell the person at once when something is missing

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.wait()
            self._stopping.wait(BREATH_SECONDS)
            self._wake.clear()
            self._turn()
        self._turn()
        self._close()

    def _turn(self) -> None:
        settings = self._settings
        trouble = self._open(settings)
        while self._queue:
            batch: list[CallTrace] = []
            while self._queue and len(batch) < BATCH:
                batch.append(self._queue.popleft())
            overrun = self._overrun
            exporter = self._exporter
            if exporter is not None:
                trouble = self._guarded(partial(_send, exporter, batch))
            if trouble or exporter is None:
                self._lost += len(batch)
            elif self._overrun > overrun:
                trouble = "Calls end faster than their traces can be sent."
            self._tell(trouble, settings)
            with self._progress:
                self._done += len(batch)
                self._progress.notify_all()
        if trouble:
            self._tell(trouble, settings)

    def _guarded(self, work: Callable[[], str]) -> str:
        try:
            return work()
        except Exception as error:  # the thread's edge: the next traces are tried again
            _log.warning("a fault in mms keeps traces from being sent", exc_info=True)
            return f"Traces are not delivered: a fault in mms ({type(error).__name__})."

    def _open(self, settings: TracingSettings) -> str:
        """Make the exporter for these settings. Returns a sentence when there is none."""
        if settings is self._opened_for:
            return self._unopened
        self._close()
        self._unopened = self._guarded(lambda: self._make(settings))
        self._opened_for = settings
        return self._unopened

    def _make(self, settings: TracingSettings) -> str:
        if not settings.enabled:
            return ""
        try:
            endpoint = endpoint_of(settings, self._environ)
            self._exporter = self._open_exporter(endpoint, settings.headers, self._version)
        except BadEndpoint as error:
            return str(error)
        except ImportError as error:
            _log.warning("the packages for tracing cannot be imported: %s", error)
            if settings is self._settings:
                self.enabled = False
            return (
                "Nothing is traced: the packages that send spans are not installed. Install them "
                f"beside mms ({_EXTRA}) and restart it, or set tracing.enabled = false."
            )
        return ""

    def _close(self) -> None:
        exporter, self._exporter, self._opened_for = self._exporter, None, None
        if exporter is not None:
            exporter.close()

    def _tell(self, problem: str, settings: TracingSettings) -> None:
        if settings is self._settings and settings.enabled:
            self._problem = problem


def _send(exporter: TraceExporter, batch: Sequence[CallTrace]) -> str:
    trouble = exporter.send(batch)
    return trouble and f"Traces are not delivered: {trouble}."
