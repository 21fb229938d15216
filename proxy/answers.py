"""What happens to answers between the upstream and the host: shaped, held, given again, read back.

The engine's side of the pipeline. Everything that takes processor time runs in the worker process, and
everything that reads a disk in a thread; what is here waits for them in tasks of the engine's group.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import msgspec

from config.schema import Compression, LlmSettings, ProxySettings
from proxy import wire
from proxy.answer import all_text
from proxy.answer_cache import AnswerCache
from proxy.answer_model import HeldDetail, HeldList, WhatIf, WhatIfQuery
from proxy.answer_rules import AnswerRules, default_budget
from proxy.jobs import (
    Compared,
    Fetched,
    Job,
    JobFailed,
    Outcome,
    ReadJob,
    Reduced,
    ReduceJob,
    SelectJob,
    WhatIfJob,
)
from proxy.measure import Measured
from proxy.progressive_reads import ProgressiveRead, chunk_read, initial_reads
from proxy.query import CONTEXT_QUERY, Query, query_of
from proxy.store.database import StoreUnavailable
from proxy.store.held import HeldBody, HeldStore
from proxy.summary import SummaryFailed

_log = logging.getLogger("mms.answers")
JOB_SECONDS = 20.0
"""How long the worker may take for one answer; then a plain cut goes out."""
WHAT_IF_SECONDS = 60.0
REMEMBERED_CALLS = 256
"""Calls per session whose answers can be compared with later ones."""
MOST_ARGUMENTS = 4096
"""Bytes of a call's arguments that are remembered for later calls."""
RECENT_CALLS = 5
"""Calls of a session that say what a call without words of its own may be about."""


class JobRunner(Protocol):
    """The worker process."""

    def submit(self, job: Job, done: Callable[[Outcome], None], timeout_seconds: float, /) -> None:
        """Do the job; ``done`` is called once, in the engine's loop."""
        ...


class Summarizer(Protocol):
    """Asks a language model."""

    async def __call__(
        self, text: str, query: str, settings: LlmSettings, budget_tokens: int, /
    ) -> str:
        """A summary. Raises `proxy.summary.SummaryFailed`."""
        ...


NO_QUERY = Query("", "")


def _nobody(_read: ProgressiveRead) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """One tool's answer on its way to a host."""

    session: int
    upstream: str
    tool: str
    arguments: bytes
    query: str
    """The ``_context_query`` of the call; empty when there was none."""
    body: bytes
    rules: AnswerRules
    output_schema: bytes
    handles: bool
    """The host's session can see the tools that read held text."""


@dataclass(frozen=True, slots=True)
class ShapedAnswer:
    """What goes to the host, and what there is to know about it."""

    body: bytes
    before: bytes = b""
    """The original; empty when it is ``body``."""
    strategy: str = ""
    overhead_tokens: int = 0
    held_key: str = ""
    fault: str = ""
    query: Query = NO_QUERY
    measured: Measured | None = None
    """Sizes of ``body``, when they are known."""
    measured_before: Measured | None = None
    surfacing_id: str = ""
    """Of memories shown with it."""
    surfaced_tokens: int = 0
    before_tokens: int = 0
    """Of the upstream's answer; 0: nobody counted."""
    sent_tokens: int = 0
    """Of ``body``, without memories."""
    clean_ms: float = 0.0
    compress_ms: float = 0.0


@dataclass(slots=True)
class _SessionMemory:
    """What is known of a host's earlier calls."""

    answered: OrderedDict[bytes, str] = field(default_factory=OrderedDict[bytes, str])
    """Key of the held original by call."""
    arguments: deque[bytes] = field(default_factory=lambda: deque[bytes](maxlen=RECENT_CALLS))


class Answers:
    """Shapes answers and serves what was held. Lives on the engine's loop."""

    def __init__(
        self,
        settings: Callable[[], ProxySettings],
        held: HeldStore,
        worker: JobRunner,
        summarize: Summarizer,
        redact: Callable[[str], str],
        original_of: Callable[[int], OriginalCall | None],
        note_read: Callable[[ProgressiveRead], None] = _nobody,
    ) -> None:
        """``original_of``: a recorded call with its texts, blocking; ``None`` when it is unknown.
        ``note_read``: told of every chunk of a progressive answer that goes out; returns at once."""
        self.held_store = held
        self.cache = AnswerCache(settings().cache.max_bytes)
        self._settings = settings
        self._worker = worker
        self._summarize = summarize
        self._redact = redact
        self._original_of = original_of
        self._note_read = note_read
        self.progressive_failures = 0
        """Progressive answers that went out whole since they could not be cut."""
        self._sessions: dict[int, _SessionMemory] = {}
        self._group: asyncio.TaskGroup | None = None

    def start(self, group: asyncio.TaskGroup) -> None:
        """Tasks of answers belong to the engine's group."""
        self._group = group

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run in the engine's group; a fault of ours in it must not end the station."""
        assert self._group is not None
        self._group.create_task(_fenced(work))

    def applied(self) -> None:
        """New settings are in force."""
        settings = self._settings()
        self.cache.resize(settings.cache.max_bytes)
        self.held_store.resize(settings.held.max_bytes)

    def called(self, session: int, arguments: bytes) -> None:
        """A host called a tool: later calls may be about the same."""
        self._memory(session).arguments.append(arguments[:MOST_ARGUMENTS])

    def left(self, session: int) -> None:
        """A host has left: what it was given may be evicted now."""
        self._sessions.pop(session, None)
        self.held_store.unpin_session(session)

    # on the way to a host

    async def shape(self, request: AnswerRequest) -> ShapedAnswer:
        """The answer within its budget. Never raises: at worst a plain cut goes out."""
        query = self._query(request)
        job = ReduceJob(
            request.body,
            request.rules.strategy.value,
            request.rules.budget,
            request.rules.unit,
            request.rules.clean,
            query.text,
            query.source == CONTEXT_QUERY,
            request.handles,
            request.output_schema,
            await self._earlier(request),
        )
        fault = ""
        if request.rules.strategy is Compression.LLM_SUMMARY:
            job, fault = await self._with_summary(job)
        outcome = await self._ask(job, JOB_SECONDS)
        if isinstance(outcome, JobFailed):
            fault = outcome.reason
            outcome = await asyncio.to_thread(_cut_or_as_it_is, job)
        assert isinstance(outcome, Reduced)
        fault = outcome.fault or fault
        if request.rules.strategy is Compression.PROGRESSIVE and fault and not outcome.body:
            self.progressive_failures += 1
        if not outcome.body:
            return ShapedAnswer(
                request.body,
                fault=fault,
                query=query,
                measured=outcome.after,
                before_tokens=outcome.before_tokens,
                sent_tokens=outcome.sent_tokens,
                clean_ms=outcome.clean_ms,
                compress_ms=outcome.compress_ms,
            )
        if request.session in self._sessions:  # the host may have left meanwhile
            self.held_store.pin(request.session, outcome.key)
            self._remember(request, outcome.key)
        self.held_store.put(
            outcome.key,
            request.body,
            [(part.key, part.pointer) for part in outcome.parts],
            request.upstream,
            request.tool,
        )
        if outcome.strategy == Compression.PROGRESSIVE.value:
            for read in initial_reads(outcome.body, time.time(), request.upstream, request.tool):
                self._note_read(read)
        return ShapedAnswer(
            outcome.body,
            request.body,
            outcome.strategy,
            outcome.overhead_tokens,
            outcome.key,
            fault,
            query,
            outcome.after,
            outcome.before,
            before_tokens=outcome.before_tokens,
            sent_tokens=outcome.sent_tokens,
            clean_ms=outcome.clean_ms,
            compress_ms=outcome.compress_ms,
        )

    # our own tools

    async def read_more(
        self, session: int, key: str, offset: int, limit: int | None
    ) -> FetchedText:
        """The next chunk of a held text."""
        self._memory(session)
        held = await self._held(self.held_store.get, key)
        if held is None:
            return _not_held(key)
        budget = default_budget(self._settings())
        job = ReadJob(held.body, held.pointer, key, offset, limit, budget)
        return await self._fetch(session, key, held, job)

    async def select(self, session: int, key: str, sections: tuple[str, ...]) -> FetchedText:
        """Sections of a held text."""
        self._memory(session)
        held = await self._held(self.held_store.get, key)
        if held is None:
            return _not_held(key)
        budget = default_budget(self._settings())
        job = SelectJob(held.body, held.pointer, key, sections, budget)
        return await self._fetch(session, key, held, job)

    # for operators

    async def held(self, limit: int) -> HeldList:
        """Held answers, used last first."""
        try:
            return await asyncio.to_thread(self.held_store.list, limit)
        except StoreUnavailable:  # the store's own problem is shown to the person already
            return HeldList(self.held_store.totals(), ())

    async def held_answer(self, key: str) -> HeldDetail | None:
        """One held answer with its text."""
        try:
            return await asyncio.to_thread(self.held_store.detail, key, self._redact)
        except StoreUnavailable:
            return None

    async def drop_held(self, key: str) -> bool:
        """Forget one held answer. False when there is none."""
        return await asyncio.to_thread(self.held_store.drop, key)

    def clear_cache(self, upstream: str, tool: str) -> int:
        """Forget kept answers; returns how many. Empty names match all."""
        return self.cache.clear(upstream, tool)

    async def what_if(self, query: WhatIfQuery) -> WhatIf:
        """The same call under other settings."""
        original = await asyncio.to_thread(self._original_of, query.call_id)
        if original is None or not original.body:
            return _no_what_if(query, original)
        unknown = [name for name in query.strategies if name not in _STRATEGIES]
        if unknown:
            names = ", ".join(sorted(_STRATEGIES))
            return replace(
                _no_what_if(query, original),
                problem=f"There is no strategy {unknown[0]}. There are: {names}.",
            )
        job = WhatIfJob(
            original.body,
            query.strategies,
            query.budget_tokens or original.budget,
            original.query.text if query.query is None else query.query,
            query.query is not None or original.query.source == CONTEXT_QUERY,
            original.sent,
            original.strategy,
        )
        outcome = await self._ask(job, WHAT_IF_SECONDS)
        if not isinstance(outcome, Compared):
            reason = outcome.reason if isinstance(outcome, JobFailed) else "nothing came back"
            return replace(
                _no_what_if(query, original), problem=f"This could not be worked out: {reason}."
            )
        return await asyncio.to_thread(self._compared, query, original, outcome)

    # helpers

    def _compared(self, query: WhatIfQuery, original: OriginalCall, found: Compared) -> WhatIf:
        def shown(variant: Any) -> Any:
            return replace(variant, text=self._redact(variant.text)[:_SHOWN_CHARACTERS])

        return WhatIf(
            query.call_id,
            original.upstream,
            original.tool,
            found.content,
            found.before_tokens,
            self._redact(found.before_text)[:_SHOWN_CHARACTERS],
            None if found.sent is None else shown(found.sent),
            tuple(shown(variant) for variant in found.variants),
        )

    async def _fetch(
        self, session: int, key: str, held: HeldBody, job: ReadJob | SelectJob
    ) -> FetchedText:
        if session in self._sessions:
            self.held_store.pin(session, key)
        outcome = await self._ask(job, JOB_SECONDS)
        if isinstance(outcome, Fetched):
            if isinstance(job, ReadJob) and not outcome.is_error:
                read = chunk_read(
                    outcome.text, key, time.time(), held.upstream, held.tool, initial=False
                )
                if read is not None:
                    self._note_read(read)
            return FetchedText(outcome.text, outcome.is_error, held.upstream, held.tool)
        reason = outcome.reason if isinstance(outcome, JobFailed) else "nothing came back"
        text = f"mms: the text is held, but reading it failed: {reason}. Try again."
        return FetchedText(text, True, held.upstream, held.tool)

    def _ask(self, job: Job, timeout_seconds: float) -> asyncio.Future[Outcome]:
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def done(outcome: Outcome) -> None:
            if not future.done():
                future.set_result(outcome)

        self._worker.submit(job, done, timeout_seconds)
        return future

    def _query(self, request: AnswerRequest) -> Query:
        if request.query:
            return Query(request.query, CONTEXT_QUERY)
        recent = [
            arguments.decode("utf-8", "replace")
            for arguments in reversed(self._memory(request.session).arguments)
        ]
        return query_of(request.arguments, recent)

    async def _held(self, read: Callable[[str], HeldBody | None], key: str) -> HeldBody | None:
        """Read a held text, in a thread if the disk is needed."""
        return read(key) if self.held_store.at_hand(key) else await asyncio.to_thread(read, key)

    async def _earlier(self, request: AnswerRequest) -> bytes:
        """What the same call was answered with before in this session; empty when it was not."""
        if not request.rules.delta or not request.handles:
            return b""
        key = self._memory(request.session).answered.get(_identity(request))
        held = None if key is None else await self._held(self.held_store.peek, key)
        return b"" if held is None else held.body

    def _remember(self, request: AnswerRequest, key: str) -> None:
        answered = self._memory(request.session).answered
        identity = _identity(request)
        answered[identity] = key
        answered.move_to_end(identity)
        while len(answered) > REMEMBERED_CALLS:
            answered.popitem(last=False)

    def _memory(self, session: int) -> _SessionMemory:
        return self._sessions.setdefault(session, _SessionMemory())

    async def _with_summary(self, job: ReduceJob) -> tuple[ReduceJob, str]:
        """Ask the model; when that does not work, an extract goes out."""
        llm = self._settings().llm
        budget = job.budget if job.unit == "tokens" else job.budget // 4
        try:
            text = await asyncio.to_thread(all_text, job.body)
            summary = await self._summarize(text, job.query, llm, budget)
        except (SummaryFailed, wire.MalformedMessage) as error:
            return job, f"no summary: {error}"
        return msgspec.structs.replace(job, summary=summary), ""


@dataclass(frozen=True, slots=True)
class OriginalCall:
    """A recorded call with what is needed to answer it anew."""

    upstream: str
    tool: str
    body: bytes
    """The upstream's result; empty when it is no longer held."""
    sent: bytes
    strategy: str
    query: Query
    budget: int
    """Tokens that an answer of this tool may have now."""


@dataclass(frozen=True, slots=True)
class FetchedText:
    """What one of our own tools answers."""

    text: str
    is_error: bool = False
    upstream: str = ""
    """Whose text it is."""
    tool: str = ""


_STRATEGIES: Mapping[str, Compression] = {one.value: one for one in Compression}
_SHOWN_CHARACTERS = 256 * 1024


def plain_cut(job: ReduceJob) -> Reduced:
    """What goes out when the worker failed: cut in this process. Blocking."""
    from proxy.pipeline import reduce_answer
    from proxy.token_gauge import TokenGauge

    simple = msgspec.structs.replace(
        job, strategy=Compression.TRUNCATE.value, earlier=b"", summary=""
    )
    return reduce_answer(simple, TokenGauge())


def _cut_or_as_it_is(job: ReduceJob) -> Reduced:
    """`plain_cut`; should that fail, too, the answer goes out whole: a stage returns its input."""
    try:
        return plain_cut(job)
    except Exception as error:  # the pipeline's edge: a fault costs the saving, not the answer
        _log.exception("an answer could not be cut")
        return Reduced(fault=f"it could not be cut either ({type(error).__name__})")


async def _fenced(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        _log.exception("an answer failed inside mms")


def _identity(request: AnswerRequest) -> bytes:
    """One call's identity for comparing its answers: who, what, and every argument."""
    parts = (request.upstream.encode(), request.tool.encode(), request.arguments)
    digest = hashlib.sha256()
    for part in (*parts, request.query.encode("utf-8", "surrogatepass")):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()


def _not_held(key: str) -> FetchedText:
    return FetchedText(
        f"There is no held text {key[:64]!r} any more, or there never was. "
        "Use the key exactly as an answer gave it, or call the tool again.",
        True,
    )


def _no_what_if(query: WhatIfQuery, original: OriginalCall | None) -> WhatIf:
    problem = (
        f"There is no call {query.call_id}."
        if original is None
        else "The original of this call is not held any more."
    )
    upstream, tool = ("", "") if original is None else (original.upstream, original.tool)
    return WhatIf(query.call_id, upstream, tool, "", 0, "", None, (), problem)
