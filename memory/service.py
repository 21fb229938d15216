"""The memory's service: answers every request of `memory.api` on one store.

Synchronous; one thread asks at a time (`memory.process.server` sees to that), while `memory.upkeep` works
in a thread of its own. Importing this loads SQLAlchemy and numpy.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from config.paths import ensure_private_directory
from config.schema import MemorySettings
from memory import api as ask
from memory import browse, edit, exchange, forget, recall, remember, supersede
from memory.api import Request
from memory.core import Core
from memory.errors import FaultCode, MemoryFault
from memory.model import Actor, Instant
from memory.semantic_index import SemanticIndex
from memory.store.database import Store
from memory.tools.calls import answer_tool
from memory.upkeep import Asked, Upkeep

R = TypeVar("R")
_log = logging.getLogger("mms.memory")
DATABASE = "memory.sqlite3"
_LEAVING_WORK = (ask.EditRecord, ask.ExpungeRecord, ask.Import)
"""What leaves vectors to be made; so does all that had to do without vectors."""


class MemoryService:
    """One memory, open."""

    def __init__(self, core: Core, clock: Callable[[], Instant]) -> None:
        """See `open`, which makes one."""
        self._core = core
        self._clock = clock
        self.upkeep = Upkeep(core, clock)
        self._answers: Mapping[type[Any], Callable[[Any, Actor, Instant], Any]] = {
            ask.CallTool: self._call_tool,
            ask.Search: self._search,
            ask.ListRecords: lambda request, _actor, _now: browse.list_records(core, request),
            ask.GetRecord: lambda request, _actor, _now: browse.get_record(core, request),
            ask.GetOverview: lambda request, _actor, now: browse.overview(core, request, now),
            ask.GetPosition: lambda request, _actor, _now: browse.position(core, request),
            ask.AddRecord: lambda request, actor, now: remember.add(core, request, actor, now),
            ask.EditRecord: lambda request, actor, now: edit.edit_record(core, request, actor, now),
            ask.ArchiveRecord: lambda request, actor, now: edit.archive_record(
                core, request, actor, now
            ),
            ask.RestoreRecord: lambda request, actor, now: edit.restore_record(
                core, request, actor, now
            ),
            ask.ExpungeRecord: lambda request, actor, now: edit.expunge_record(
                core, request, actor, now
            ),
            ask.RecordOutcome: lambda request, actor, now: edit.record_outcome(
                core, request, actor, now
            ),
            ask.BestProcedures: lambda request, _actor, now: edit.best_procedures(
                core, request, now
            ),
            ask.ListProposals: lambda request, _actor, _now: browse.list_proposals(core, request),
            ask.Decide: lambda request, actor, now: supersede.decide(core, request, actor, now),
            ask.Resolve: lambda request, actor, now: supersede.resolve(core, request, actor, now),
            ask.PreviewForgetting: lambda request, actor, now: forget.preview(
                core, request, actor, now
            ),
            ask.GetPlan: lambda request, _actor, now: forget.get_plan(core, request, now),
            ask.RunForgetting: lambda request, actor, now: forget.run(core, request, actor, now),
            ask.ListRuns: lambda request, _actor, _now: browse.list_runs(core, request),
            ask.UndoRun: lambda request, actor, now: forget.undo_run(core, request, actor, now),
            ask.Reindex: self._reindex,
            ask.GetIndexStatus: lambda _request, _actor, _now: core.index.status(),
            ask.Verify: lambda _request, _actor, _now: browse.verify(core),
            ask.Export: lambda request, _actor, _now: exchange.export_page(core, request),
            ask.Import: lambda request, actor, now: exchange.import_lines(
                core, request, actor, now
            ),
        }

    @classmethod
    def open(
        cls,
        directory: Path,
        settings: MemorySettings,
        environ: Mapping[str, str],
        *,
        clock: Callable[[], Instant] | None = None,
        upkeep: bool = True,
    ) -> MemoryService:
        """Open the memory in ``directory``, made if needed. Raises `MemoryFault` (``UNAVAILABLE``)."""
        ensure_private_directory(directory)
        store = Store.open(settings.url or f"sqlite:///{directory / DATABASE}")
        try:
            index = SemanticIndex(store, directory, settings.embedder, settings.vectors, environ)
        except BaseException:
            store.close()
            raise
        service = cls(Core(directory, store, index, settings, environ), clock or now)
        if upkeep:
            service.upkeep.start()
        return service

    def answer(self, request: Request[R], actor: Actor, at: Instant | None = None) -> R:
        """The answer to one request. Raises `MemoryFault`; every other fault becomes one."""
        answer = self._answers.get(type(request))
        if answer is None:
            raise MemoryFault(
                FaultCode.INVALID, f"The memory knows no request {type(request).__name__}."
            )
        try:
            result = answer(request, actor, self._clock() if at is None else at)
            if isinstance(request, _LEAVING_WORK) or getattr(result, "degraded", ""):
                self.upkeep.wake()
            return cast("R", result)
        except MemoryFault:
            raise
        except Exception as error:
            _log.exception("%s failed", type(request).__name__)
            raise MemoryFault(
                FaultCode.INTERNAL,
                f"The memory failed ({type(error).__name__}); nothing was changed.",
                "Its log has more: memory.log beside the database.",
            ) from error

    def configure(self, settings: MemorySettings) -> None:
        """Take on changed settings; the database's address needs a new process."""
        self._core.settings = settings
        self._core.index.configure(settings.embedder, settings.vectors)
        self.upkeep.wake()

    def close(self) -> None:
        """Finish the batch at hand and close everything."""
        self.upkeep.close()
        self._core.index.close()
        self._core.store.close()

    def _call_tool(self, request: ask.CallTool, actor: Actor, at: Instant) -> ask.ToolAnswer:
        def ask_inside(inner: Request[R], by: Actor) -> R:
            return self.answer(inner, by, at)

        return answer_tool(ask_inside, request, actor)

    def _search(self, request: ask.Search, _actor: Actor, at: Instant) -> ask.SearchResult:
        result = recall.search(self._core, request, at)
        if request.as_of is None and request.as_known_at is None:
            self.upkeep.asked(Asked(request.query, request.space))
        return result

    def _reindex(self, request: ask.Reindex, _actor: Actor, _at: Instant) -> ask.IndexStatus:
        if request.from_scratch:
            self._core.index.start_over()
        self.upkeep.wake()
        return self._core.index.status()


def now() -> Instant:
    """The time, in microseconds."""
    return time.time_ns() // 1_000
