"""What hosts are offered, as lists: built from the offers, kept as bytes, announced when they change.

A host's first list may wait for upstreams that were never seen before; nothing else waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from config.schema import ProxySettings, ToolSettings, UpstreamSettings
from proxy import wire
from proxy.catalogue import Catalogue, OfferedUpstream, build
from proxy.descriptions import DescriptionPlan, DescriptionRules
from proxy.eligibility import runs_tasks
from proxy.model import UpstreamState
from proxy.session import HostSession
from proxy.tool_health import Failures, FailureShare, failing
from proxy.upstream import Upstream

OUTAGE_GRACE_SECONDS = 600.0
"""So long an upstream may be away before its tools are withdrawn; shorter outages change no list."""
KINDS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "templates",
}
"""The lists by the method that asks for them."""
_ANNOUNCED = {
    "prompts": ("prompts",),
    "resources": ("resources", "templates"),
    "tools": ("tools",),
}
"""Which notice stands for which lists."""


@dataclass(slots=True)
class _WaitingList:
    """A host's list request that waits for an upstream never seen before."""

    session: HostSession
    id: wire.Raw
    kind: str


class HostLists:
    """The lists of one station. ``upstreams`` and ``sessions`` are the router's own."""

    def __init__(
        self,
        settings: Callable[[], ProxySettings],
        upstreams: Mapping[str, Upstream],
        sessions: Mapping[int, HostSession],
        looks_secret: Callable[[str], bool],
        tool_list_sent: Callable[[bytes], None],
    ) -> None:
        """``tool_list_sent``: told whenever a host gets a list with our own tools, which it gets, too."""
        self.catalogue = Catalogue()
        self.own_tools: Callable[[], Sequence[bytes]] = tuple
        """Definitions of the tools that mms itself answers."""
        self._failures: Failures = {}
        self._settings = settings
        self._upstreams = upstreams
        self._sessions = sessions
        self._looks_secret = looks_secret
        self._tool_list_sent = tool_list_sent
        self._waiting: list[_WaitingList] = []
        self._first_seen: dict[str, float] = {}
        self._texts = {kind: self.catalogue.list_result(kind) for kind in KINDS.values()}

    def rebuild(self) -> frozenset[str]:
        """Derive the catalogue anew; returns the kinds of lists that changed."""
        now = time.monotonic()
        settings = self._settings()
        failing_tools = failing(self._failures, settings.max_error_share)
        offered = [
            _offered(upstream, settings, failing_tools.get(upstream.name, {}))
            for upstream in self._upstreams.values()
            if _advertised(upstream, now)
        ]
        self.catalogue = build(
            offered,
            self._looks_secret,
            context_query=settings.advertise_context_query,
            own_tools=self.own_tools(),
        )
        before = self._texts
        self._texts = {kind: self.catalogue.list_result(kind) for kind in KINDS.values()}
        changed = {kind for kind in KINDS.values() if before[kind] != self._texts[kind]}
        if "templates" in changed:
            changed.discard("templates")
            changed.add("resources")
        self.answer_waiting()
        return frozenset(changed)

    def note_failures(self, failures: Failures) -> frozenset[str]:
        """Recent calls that failed: by them and ``proxy.max_error_share`` tools are withheld.

        Returns the kinds of lists that changed.
        """
        if failures == self._failures:
            return frozenset()
        self._failures = failures
        return self.rebuild()

    def announce(self, changed: frozenset[str], said: frozenset[str] = frozenset()) -> None:
        """Tell hosts that lists changed: those that hold another one, and of what upstreams ``said``."""
        for kind, parts in _ANNOUNCED.items():
            if kind not in changed | said:
                continue
            frame = wire.notification(f"notifications/{kind}/list_changed")
            for session in self._sessions.values():
                stale = any(
                    part in session.listed and session.listed[part] != self._texts[part]
                    for part in parts
                )
                if session.initialized and (stale or kind in said):
                    session.send(frame)

    def upstream_added(self, name: str) -> None:
        """From now on, first lists may wait for it."""
        self._first_seen[name] = time.monotonic()

    def tick(self, now: float) -> bool:
        """Answer lists that have waited long enough. True: some upstream was away for too long."""
        self.answer_waiting()
        return any(
            not _advertised(upstream, now) and name in self.catalogue.prefixes.values()
            for name, upstream in self._upstreams.items()
        )

    def forget(self, session: HostSession) -> None:
        """A host left: nobody wants its lists."""
        self._waiting = [item for item in self._waiting if item.session is not session]

    def answer(self, session: HostSession, id: wire.Raw, kind: str) -> None:
        """Answer a host's list request, perhaps a little later."""
        if self._unseen_upstreams():
            self._waiting.append(_WaitingList(session, id, kind))
        else:
            self._reply(session, id, kind)

    def _reply(self, session: HostSession, id: wire.Raw, kind: str) -> None:
        session.listed[kind] = self._texts[kind]
        if kind == "tools" and self.catalogue.own:
            self._tool_list_sent(b",".join(self.catalogue.own_tools.values()))
        session.reply(id, self._texts[kind])

    def _unseen_upstreams(self) -> bool:
        """Some upstream was never seen before and may still appear in time."""
        wait = self._settings().first_list_wait_seconds
        now = time.monotonic()
        return any(
            not upstream.known
            and upstream.state in (UpstreamState.IDLE, UpstreamState.CONNECTING)
            and now < self._first_seen.get(name, now) + wait
            for name, upstream in self._upstreams.items()
        )

    def answer_waiting(self) -> None:
        """Something changed: lists may no longer have to wait."""
        if self._waiting and not self._unseen_upstreams():
            waiting, self._waiting = self._waiting, []
            for item in waiting:
                self._reply(item.session, item.id, item.kind)


def _offered(
    upstream: Upstream, settings: ProxySettings, failing_tools: Mapping[str, FailureShare]
) -> OfferedUpstream:
    """The upstream with its settings, every default filled in."""
    own = upstream.settings
    general = own.compression or settings.compression
    return OfferedUpstream(
        upstream.name,
        own.prefix or upstream.name,
        upstream.offer,
        frozenset(name for name, tool in own.tools.items() if not tool.enabled),
        DescriptionPlan(
            _description_rules(settings, own),
            {name: _description_rules(settings, own, tool) for name, tool in own.tools.items()},
        ),
        runs_tasks(upstream.capabilities),
        failing_tools,
        {"": general} | {name: tool.compression or general for name, tool in own.tools.items()},
    )


def _description_rules(
    settings: ProxySettings, upstream: UpstreamSettings, tool: ToolSettings | None = None
) -> DescriptionRules:
    most = None if tool is None else tool.max_description_chars
    if most is None:
        most = upstream.max_description_chars
    strip = None if tool is None else tool.strip_schema_descriptions
    if strip is None:
        strip = upstream.strip_schema_descriptions
    return DescriptionRules(
        "" if tool is None else tool.description_override,
        settings.max_description_chars if most is None else most,
        settings.strip_schema_descriptions if strip is None else strip,
    )


def _advertised(upstream: Upstream, now: float) -> bool:
    """Whether hosts are offered what it has: through short outages, but not when it is off."""
    if upstream.state is UpstreamState.DISABLED:
        return False
    return upstream.down_since is None or now - upstream.down_since < OUTAGE_GRACE_SECONDS
