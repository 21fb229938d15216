"""The tools of the station itself beside those for held text: descriptions, ratings, proposals, reports."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from config.schema import Settings
from proxy.admin.dispatcher import ADMIN, ADMIN_TOOL, Actions
from proxy.catalogue import Catalogue
from proxy.control_tools import text_result
from proxy.describe_tool import DESCRIBE_TOOL_TOOL, describe
from proxy.descriptions import DESCRIBE_TOOL
from proxy.host_tools import Caller, HostToolAnswer
from proxy.surface.feedback_tool import SURFACING_FEEDBACK, SURFACING_FEEDBACK_TOOL, answer, parse
from proxy.surface.model import Rater
from proxy.surface.proposing import MEMORY_PROPOSE, MEMORY_PROPOSE_TOOL, propose
from proxy.surface.rating import Ratings
from proxy.surface.source import MemorySource

_SESSIONS = 1_000
"""Sessions whose number of proposals is remembered."""
_log = logging.getLogger("mms.own_tools")


@dataclass(frozen=True, slots=True)
class _Tool:
    name: str
    definition: bytes
    offered: Callable[[Settings], bool]
    call: Callable[[bytes, Caller], Awaitable[HostToolAnswer]]


class StationTools:
    """`proxy.host_tools.HostTools`; which of them are offered follows the settings in force."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        catalogue: Callable[[], Catalogue],
        ratings: Ratings,
        source: Callable[[], MemorySource],
        actions: Actions,
    ) -> None:
        self._settings = settings
        self._catalogue = catalogue
        self._ratings = ratings
        self._source = source
        self._actions = actions
        self._proposals: OrderedDict[str, int] = OrderedDict()
        self._tools = {
            tool.name: tool
            for tool in (
                _Tool(
                    DESCRIBE_TOOL,
                    DESCRIBE_TOOL_TOOL,
                    lambda now: now.proxy.advertise_control_tools,
                    self._describe,
                ),
                _Tool(
                    SURFACING_FEEDBACK,
                    SURFACING_FEEDBACK_TOOL,
                    lambda now: now.proxy.advertise_control_tools and now.surfacing.enabled,
                    self._rate,
                ),
                _Tool(
                    MEMORY_PROPOSE,
                    MEMORY_PROPOSE_TOOL,
                    lambda now: now.formation.enabled,
                    self._propose,
                ),
                _Tool(
                    ADMIN,
                    ADMIN_TOOL,
                    lambda now: now.advertise_observability_tools,
                    self._admin,
                ),
            )
        }

    @property
    def names(self) -> frozenset[str]:
        """What calls are for us: what is offered, and proposals, which say that they are switched off."""
        return frozenset((*(tool.name for tool in self._offered()), MEMORY_PROPOSE))

    @property
    def definitions(self) -> tuple[bytes, ...]:
        """Entries of a tool list."""
        return tuple(tool.definition for tool in self._offered())

    async def call(self, name: str, arguments: bytes, caller: Caller) -> HostToolAnswer:
        """Answer one call."""
        try:
            return await self._tools[name].call(arguments, caller)
        except Exception as error:  # the host waits: it is told even of a fault of ours
            _log.exception("%s failed inside mms", name)
            text = f"mms itself failed ({type(error).__name__}); its log has more."
            return HostToolAnswer(text_result(text, is_error=True), is_error=True)

    def _offered(self) -> list[_Tool]:
        now = self._settings()
        return [tool for tool in self._tools.values() if tool.offered(now)]

    async def _describe(self, arguments: bytes, _: Caller) -> HostToolAnswer:
        recover = self._settings().proxy.recover_upstream_description
        found = describe(self._catalogue(), arguments, recover=recover)
        return HostToolAnswer(found.body, found.is_error)

    async def _rate(self, arguments: bytes, caller: Caller) -> HostToolAnswer:
        call = parse(arguments)
        if isinstance(call, str):
            return HostToolAnswer(text_result(call, is_error=True), is_error=True)
        results = await self._ratings.rate_all(
            call.surfacing_id,
            [(one.memory_id, one.rating) for one in call.ratings],
            Rater.AGENT,
            caller.session_id,
        )
        return HostToolAnswer(*answer(call, results))

    async def _propose(self, arguments: bytes, caller: Caller) -> HostToolAnswer:
        session, settings = caller.session_id, self._settings().formation
        filed = self._proposals.get(session, 0)
        done = await propose(arguments, caller, self._source(), settings, filed)
        if done.accepted:
            self._proposals[session] = self._proposals.get(session, 0) + 1
            self._proposals.move_to_end(session)
            while len(self._proposals) > _SESSIONS:
                self._proposals.popitem(last=False)
        return HostToolAnswer(done.body, done.is_error)

    async def _admin(self, arguments: bytes, _: Caller) -> HostToolAnswer:
        return HostToolAnswer(*await self._actions.call(arguments))
