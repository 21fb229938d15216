"""An external memory: an MCP server of the user's own, kept alive like an upstream, yet none.

It is in no catalogue, and no call of a host ever waits for its start: until it is ready, and whenever it is
not, a search is refused at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Callable, Mapping
from typing import Any

from config.schema import ProxySettings, UpstreamSettings, UpstreamTransport
from config.schema_surfacing import LtmSettings, SurfacingSettings, SurfacingSource
from proxy import wire
from proxy.dialects import InputRequired
from proxy.exchange import Answer, Exchange, Failure, FailureKind
from proxy.links.link import Link, LinkListener
from proxy.links.stdio import Program, open_stdio
from proxy.listing import error_text
from proxy.model import UpstreamState
from proxy.surface import ltm_answers
from proxy.surface.calibration import external_probability, overlaps_of
from proxy.surface.ltm_answers import Capabilities, Results
from proxy.surface.model import FoundMemory
from proxy.surface.source import (
    NewMemory,
    ProposalsUnsupported,
    Proposed,
    SourceAnswer,
    SourceFailed,
    SourceQuery,
    SourceUnavailable,
)
from proxy.upstream import Upstream
from proxy.upstream_ports import OpenLink

SEARCH = "mem_search"
GATEWAY = "mem_do"
"""The tool behind which all actions are but searching and adding."""
NAME = "surfacing.ltm"
CALL_SECONDS = 30.0
"""The longest that one question to it may take; a search's own deadline is its caller's."""
PROBE_SECONDS = 10.0
TICK_SECONDS = 0.5
CRASH_PAUSE_SECONDS = 5.0
_log = logging.getLogger("mms.surface")


class ExternalSource:
    """`proxy.surface.source.MemorySource` over an MCP server. Also the owner of its upstream.

    Somebody's task runs `run`; without it, every search is refused.
    """

    name = "ltm"
    is_empty = False

    def __init__(
        self,
        settings: SurfacingSettings,
        environ: Mapping[str, str],
        client_info: wire.Raw,
        *,
        open_link: OpenLink | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """``environ``: the station's. ``open_link``: something else than starting the program."""
        self._settings = settings
        self._environ = environ
        self._client_info = client_info
        self._open_link = open_link or self._start
        self._chance = chance
        self._upstream: Upstream | None = None
        self._changed = asyncio.Event()
        self._ready = asyncio.Event()
        self._capabilities: Capabilities | None = None
        """``None``: it was not asked yet on this connection."""
        self._parameters: frozenset[str] | None = None
        """The arguments of `SEARCH`; ``None``: it has no such tool."""
        self._has_gateway = False
        self._credits = True
        self._detail = ""

    @property
    def detail(self) -> str:
        """Which memory it is and what it can do; empty before it was reached."""
        return self._detail

    @property
    def problem(self) -> str:
        """Why it does not answer, a sentence; empty while it does."""
        upstream = self._upstream
        if upstream is None:
            if self._settings.enabled and self._settings.source is SurfacingSource.LTM:
                if self._settings.ltm.command:
                    return "the external memory is still starting"
                return "no program is set for the external memory (surfacing.ltm.command)"
            return "the external memory is switched off"
        if not upstream.ready or self._capabilities is None:
            if upstream.state in (UpstreamState.BACKING_OFF, UpstreamState.FAILED):
                return f"the external memory {upstream.reason or 'does not answer'}"
            return "the external memory is still starting"
        if self._parameters is None:
            return f"the external memory has no tool {SEARCH}"
        if self._settings.ltm.namespace and "namespace" not in self._parameters:
            return (
                f"the external memory's {SEARCH} takes no namespace, but surfacing.ltm.namespace is "
                "set"
            )
        return ""

    # life

    async def run(self) -> None:
        """Keep the program running, as the settings say, until this task is cancelled; then end it."""
        while True:
            self._changed.clear()
            wanted = _wanted(self._settings)
            try:
                async with asyncio.TaskGroup() as group:
                    helpers = self._begin(wanted, group) if wanted is not None else []
                    await self._changed.wait()
                    for task in helpers:
                        task.cancel()
            finally:
                self._upstream = None
                self._capabilities = None

    def applied(self, settings: SurfacingSettings) -> None:
        """Follow new settings: the program is started anew only if it is another one."""
        before, self._settings = self._settings, settings
        if _process_of(_wanted(before)) != _process_of(_wanted(settings)):
            self._detail = ""
            self._capabilities = None  # the one that ends is not asked any more
            self._changed.set()

    def _begin(self, wanted: LtmSettings, group: asyncio.TaskGroup) -> list[asyncio.Task[None]]:
        upstream = Upstream(
            UpstreamSettings(
                name=NAME,
                command=wanted.command,
                args=wanted.args,
                env=wanted.env,
                cwd=wanted.cwd,
                transport=UpstreamTransport.STDIO,
                connect_timeout_seconds=wanted.connect_timeout_seconds,
            ),
            ProxySettings(),
            self._open_link,
            self,
            None,
            self._client_info,
            self._chance,
        )
        self._upstream = upstream
        self._ready.clear()
        return [
            group.create_task(self._keep(upstream), name=NAME),
            group.create_task(self._probe_when_ready(upstream)),
            group.create_task(_tick(upstream)),
        ]

    async def _keep(self, upstream: Upstream) -> None:
        """The fence around it: a fault of ours in it must not end the station."""
        while True:
            try:
                await upstream.run()
                return
            except Exception:
                _log.exception("the external memory failed inside mms")
                upstream.enter(UpstreamState.FAILED, "cannot be used: mms itself failed")
                await asyncio.sleep(CRASH_PAUSE_SECONDS)

    async def _start(self, settings: UpstreamSettings, listener: LinkListener) -> Link:
        limit = ProxySettings().max_upstream_frame_bytes
        program = Program(
            settings.command, settings.args, settings.env, settings.cwd or None, limit
        )
        return await open_stdio(program, self._environ, settings.name, listener)

    async def _probe_when_ready(self, upstream: Upstream) -> None:
        while True:
            await self._ready.wait()
            self._ready.clear()
            self._look_at_tools(upstream)
            capabilities = Capabilities()
            if self._has_gateway:
                with contextlib.suppress(SourceFailed, SourceUnavailable, TimeoutError):
                    async with asyncio.timeout(PROBE_SECONDS):
                        text = await self._do(upstream, "version")
                        capabilities = ltm_answers.parse_version(text)
            if upstream.ready:
                self._credits = True
                self._capabilities = capabilities
                self._detail = self._describe(upstream, capabilities)

    def _look_at_tools(self, upstream: Upstream) -> None:
        tools = upstream.offer.tools
        self._parameters = ltm_answers.parameters_of(tools, SEARCH)
        self._has_gateway = ltm_answers.parameters_of(tools, GATEWAY) is not None

    def _describe(self, upstream: Upstream, capabilities: Capabilities) -> str:
        server = upstream.introduction.server
        if capabilities.version and capabilities.version not in server:
            server = f"{server} ({capabilities.version})".strip()
        able = [
            "structured search" if self._structured(capabilities) else "compact search",
            "proposals for review" if capabilities.proposals else "no proposals for review",
        ]
        return f"{server[:100]}: {', '.join(able)}"

    # what its upstream reports

    def state_changed(self, upstream: Upstream) -> None:
        """Its state changed: after a new start it is asked anew what it can do."""
        if upstream is self._upstream and not upstream.ready:
            self._capabilities = None

    def became_ready(self, upstream: Upstream) -> None:
        """It answers calls."""
        if upstream is self._upstream:
            self._capabilities = None
            self._ready.set()

    def offer_changed(self, upstream: Upstream, announced: frozenset[str]) -> None:
        """It has other tools."""
        if upstream is self._upstream:
            self._look_at_tools(upstream)

    def asked(self, upstream: Upstream, message: wire.Members) -> None:
        """It asks for something: it lives on its own here, without a host."""
        id, method = message["id"], wire.text_of(message["method"])
        if method == "ping":
            upstream.respond(wire.result(id, b"{}"))
        elif method == "roots/list":
            upstream.respond(wire.result(id, b'{"roots":[]}'))
        else:
            refusal = "mms serves no such request to a memory"
            upstream.respond(wire.error(id, wire.METHOD_NOT_FOUND, refusal))

    def asked_back(self, upstream: Upstream, exchange: Exchange, asked: InputRequired) -> None:
        """It wants answers before it goes on (stateless era): there are none."""
        exchange.finish(Failure(FailureKind.MALFORMED, "asked back instead of answering"))

    def notified(self, upstream: Upstream, message: wire.Members) -> None:
        """It said something that nobody waits for."""

    # asking

    async def search(self, query: SourceQuery) -> SourceAnswer:
        """Find memories. Raises `SourceUnavailable` or `SourceFailed`."""
        upstream, capabilities = self._able()
        parameters = self._parameters or frozenset()
        arguments: dict[str, Any] = {"query": query.text}
        if "top_k" in parameters or not parameters:
            arguments["top_k"] = query.limit
        if self._structured(capabilities):
            arguments["output_format"] = "structured"
        for flag in ("rerank", "record"):  # both off: the fast way, which leaves no trace there
            if flag in parameters:
                arguments[flag] = False
        if self._settings.ltm.namespace:
            arguments["namespace"] = self._settings.ltm.namespace
        text = await self._call(upstream, SEARCH, arguments)
        return _found(ltm_answers.parse_results(text), query)

    async def helped(self, memory_ids: tuple[str, ...]) -> None:
        """Have it count these as useful, where it can. Best effort: raises nothing."""
        if not memory_ids or not self._credits or not self._has_gateway:
            return
        try:
            upstream, _ = self._able()
            await self._do(upstream, "increment_access", {"chunk_ids": list(memory_ids)})
        except SourceFailed as error:
            # An older one without this action is not asked again on this connection.
            self._credits = "unknown action" not in str(error)
        except SourceUnavailable:
            pass

    async def propose(self, memory: NewMemory) -> Proposed:
        """File a candidate. Raises `ProposalsUnsupported`, `SourceUnavailable` or `SourceFailed`."""
        upstream, capabilities = self._able()
        if not capabilities.proposals:
            raise ProposalsUnsupported(
                "The external memory takes no proposals for review; nothing was written."
            )
        params = {
            "content": memory.content,
            "source": "mms",
            "source_ref": memory.source_ref,
            "idempotency_key": memory.idempotency_key,
        }
        return ltm_answers.parse_candidate(await self._do(upstream, "candidate_propose", params))

    def _able(self) -> tuple[Upstream, Capabilities]:
        problem = self.problem
        if problem or self._upstream is None or self._capabilities is None:
            raise SourceUnavailable(problem)
        return self._upstream, self._capabilities

    def _structured(self, capabilities: Capabilities) -> bool:
        declared = self._parameters is not None and "output_format" in self._parameters
        return declared and (capabilities.structured or not self._has_gateway)

    async def _do(
        self, upstream: Upstream, action: str, params: dict[str, Any] | None = None
    ) -> str:
        arguments: dict[str, Any] = {"action": action}
        if params is not None:
            arguments["params"] = params
        return await self._call(upstream, GATEWAY, arguments)

    async def _call(self, upstream: Upstream, tool: str, arguments: dict[str, Any]) -> str:
        """The text of an answer. Raises `SourceUnavailable` or `SourceFailed`."""
        if not upstream.ready:
            raise SourceUnavailable(self.problem)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def finish(result: Answer) -> None:
            if not answer.done():
                answer.set_result(result)

        now = time.monotonic()
        end = now + CALL_SECONDS
        params = {"name": wire.raw(tool), "arguments": wire.raw(arguments)}
        exchange = Exchange("tools/call", params, finish, now, end, end, 0)
        refused = upstream.submit(exchange)
        if refused is not None:
            raise SourceUnavailable(f"the external memory {refused.text}")
        try:
            result = await answer
        except asyncio.CancelledError:
            upstream.cancel(exchange, {"reason": wire.raw("nobody waits for it any more")})
            raise
        if isinstance(result, Failure):
            kind = SourceFailed if result.kind is FailureKind.MALFORMED else SourceUnavailable
            raise kind(f"the external memory {result.text}")
        if "error" in result:
            complaint = error_text(result)[: ltm_answers.LONGEST_COMPLAINT]
            raise SourceFailed(f"the external memory answered: {complaint}")
        return ltm_answers.text_of(bytes(result["result"]))


def _found(results: Results, query: SourceQuery) -> SourceAnswer:
    memories: list[FoundMemory] = []
    wanted = results.results[: query.limit]
    stamped = [ltm_answers.without_stamp(result.text) for result in wanted]
    overlaps = overlaps_of(query.text, [text for text, _ in stamped])
    for result, (text, created_at), overlap in zip(wanted, stamped, overlaps, strict=True):
        memories.append(
            FoundMemory(
                result.id,
                text,
                external_probability(result.score, results.scale, overlap),
                result.namespace,
                created_at,
                common_words=overlap.common,
            )
        )
    memories.sort(key=lambda one: -one.score)  # stable: equals stay in the order of the source
    return SourceAnswer(tuple(memories), hints=results.hints)


async def _tick(upstream: Upstream) -> None:
    while True:
        await asyncio.sleep(TICK_SECONDS)
        upstream.tick(time.monotonic())


def _wanted(settings: SurfacingSettings) -> LtmSettings | None:
    """What is to run; ``None``: nothing."""
    used = settings.enabled and settings.source is SurfacingSource.LTM
    return settings.ltm if used and settings.ltm.command else None


def _process_of(wanted: LtmSettings | None) -> tuple[object, ...]:
    """Changes of this need a new process."""
    if wanted is None:
        return ()
    return (
        wanted.command,
        wanted.args,
        dict(wanted.env),
        wanted.cwd,
        wanted.connect_timeout_seconds,
    )
