"""One upstream server for as long as it is configured: started, spoken to, restarted, for ever.

Everything happens on the engine's loop. One task runs `Upstream.run`; frames come in by callbacks, so
that a call costs no task and no queue.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Callable, Sequence

from config.schema import ProxySettings, UpstreamSettings
from proxy import wire
from proxy.backoff import Backoff
from proxy.breaker import Breaker
from proxy.catalogue import Offer
from proxy.dialects import STATELESS, Dialect, HandshakeDialect, InputRequired
from proxy.exchange import Answer, Exchange, Failure, FailureKind, Traffic
from proxy.handshake import HandshakeRefused, Introduction, introduce
from proxy.links.link import Link, LinkFailed, LinkLost
from proxy.listing import list_everything
from proxy.model import UpstreamState
from proxy.store.catalogues import RememberedCatalogue
from proxy.upstream_ports import OpenLink, UpstreamLimits, UpstreamOwner, identity_of
from proxy.vitals import Vitals

LIST_CHANGE_PAUSE = 0.1
"""Seconds in which further notices of a changed list are gathered into one new listing."""
LIST_CHANGE_INTERVAL = 1.0
"""Seconds between two listings that notices bring about."""
LIST_RETRY_SECONDS = 30.0
"""When a list that got no answer is asked for again."""
HOPELESS_RETRY_SECONDS = 60.0
PROBE_SECONDS = 5.0
LIST_SECONDS = 15.0
"""How long each page of a list may take; what does not come is left out, and said."""


class Upstream:
    """One upstream. Also the listener of its link."""

    def __init__(
        self,
        settings: UpstreamSettings,
        proxy: ProxySettings,
        open_link: OpenLink,
        owner: UpstreamOwner,
        remembered: RememberedCatalogue | None,
        client_info: wire.Raw,
        chance: Callable[[], float],
    ) -> None:
        self.settings = settings
        self._client_info = client_info
        self.limits = UpstreamLimits.of(settings, proxy)
        self.identity = identity_of(settings)
        if remembered is not None and remembered.identity != self.identity:
            remembered = None
        self.introduction = Introduction.remembered(remembered)
        self.offer = _offer_of(remembered)
        self.known = remembered is not None
        """What it offers is known, from this run or an earlier one."""
        self.faults: tuple[str, ...] = ()
        """What was wrong with its lists, for a person."""
        self.state = UpstreamState.IDLE if settings.enabled else UpstreamState.DISABLED
        self.reason = ""
        self.since = time.time()
        self.retry_at: float | None = None
        """When it is tried again (monotonic seconds)."""
        self.down_since: float | None = time.monotonic()
        """Since when it does not answer (monotonic seconds); ``None`` while it does."""
        self.vitals = Vitals()
        self.traffic = Traffic(self.limits.traffic, self._asks_back)
        self._open_link = open_link
        self._owner = owner
        self._chance = chance
        self._link: Link | None = None
        self._lost: asyncio.Future[LinkLost] | None = None
        self._kick = asyncio.Event()
        self._list_changed = asyncio.Event()
        self._lists_missing = False
        self._changed_kinds: set[str] = set()
        self._breaker = Breaker()
        self._probing = False
        self._last_failure = 0.0
        self._listening: Exchange | None = None

    @property
    def name(self) -> str:
        """The name in the settings."""
        return self.settings.name

    @property
    def pid(self) -> int | None:
        """The process behind it."""
        return self._link.pid if self._link is not None else None

    @property
    def ready(self) -> bool:
        """Requests of hosts are sent to it."""
        return self.traffic.open

    @property
    def capabilities(self) -> wire.Members:
        """What it said it can do, now or the last time."""
        return self.introduction.capabilities

    async def run(self) -> None:
        """Keep it running until this task is cancelled; then end it and leave nothing behind."""
        backoff = Backoff()
        while self.settings.enabled:
            self.enter(UpstreamState.CONNECTING, self.reason)
            self._kick.clear()
            ready_at: list[float] = []
            lost = await self._serve(ready_at)
            now = time.monotonic()
            self._last_failure = now
            if self.down_since is None:
                self.down_since = now
            if not ready_at:
                self._fail_waiting(lost)
            asked_for = self._kick.is_set()
            if asked_for:
                backoff = Backoff()
                continue
            backoff = backoff.after_failure(now - ready_at[0] if ready_at else 0.0)
            delay = HOPELESS_RETRY_SECONDS if lost.permanent else backoff.delay(self._chance())
            self.retry_at = now + delay
            self.enter(
                UpstreamState.FAILED if lost.permanent else UpstreamState.BACKING_OFF, lost.reason
            )
            try:
                async with asyncio.timeout(delay):
                    await self._kick.wait()
                if lost.permanent:
                    backoff = Backoff()
            except TimeoutError:
                pass
            self.retry_at = None
            self.vitals.restarts += 1
        self.enter(UpstreamState.DISABLED, "")

    def submit(self, exchange: Exchange) -> Failure | None:
        """Send a host's request, or let it wait for the connection.

        A `Failure` means that it was not taken: ``finish`` will not be called.
        """
        now = exchange.started
        if self.ready:
            if not self._breaker.closed:
                wait = max(0.0, (self._breaker.open_until or now) - now)
                return Failure(
                    FailureKind.DOWN,
                    f"did not answer its last {self._breaker.failures} calls; "
                    f"it is asked again in {wait:.0f} s",
                )
            return self.traffic.submit(exchange)
        if self.state is UpstreamState.DISABLED:
            return Failure(FailureKind.DOWN, "is switched off")
        if self.state is UpstreamState.FAILED:
            return Failure(FailureKind.DOWN, f"cannot be started: {self.reason}")
        if self.state is UpstreamState.BACKING_OFF and self.retry_at is not None:
            wait = self.retry_at - now
            if wait > 1.0 and now - self._last_failure < 1.0:
                return Failure(
                    FailureKind.DOWN, f"{self.reason}; it is tried again in {wait:.0f} s"
                )
            if wait > 1.0:
                self._kick.set()
        return self.traffic.submit(exchange)

    def cancel(self, exchange: Exchange, note: wire.Members | None) -> None:
        """The host does not want this any more; ``finish`` will not be called."""
        self.traffic.cancel(exchange, note)

    @property
    def connected(self) -> bool:
        """There is something at the other end, ready or still starting."""
        return self._link is not None

    def respond(self, frame: bytes) -> None:
        """Send a response to a request of its own, which may come before it is ready."""
        if self._link is not None:
            self._link.send(frame)

    def send(self, frame: bytes) -> None:
        """Send a notification of a host; dropped while it is not ready."""
        if self._link is not None and self.ready:
            self._link.send(frame)

    def tell(self, method: str, params: wire.Members) -> None:
        """Send a request of mms's own whose answer does not matter."""
        if self.traffic.attached:
            now = time.monotonic()
            end = now + self.limits.call_timeout
            self.traffic.transmit_now(Exchange(method, params, _ignore, now, end, end, 0))

    @property
    def stateless(self) -> bool:
        """It speaks the stateless era, where notices come only to those who listen for them."""
        return self.introduction.protocol == STATELESS

    def listen(self, uris: Sequence[str]) -> None:
        """Listen for changed lists and these resources (stateless era), in place of before."""
        if not self.traffic.attached:
            return
        if self._listening is not None:
            self.traffic.cancel(self._listening, None)
        wanted = {
            "toolsListChanged": True,
            "promptsListChanged": True,
            "resourcesListChanged": True,
            "resourceSubscriptions": list(uris),
        }
        self._listening = Exchange(
            "subscriptions/listen",
            {"notifications": wire.raw(wanted)},
            _ignore,
            time.monotonic(),
            math.inf,
            math.inf,
            0,
        )
        self.traffic.transmit_now(self._listening)

    def reconnect(self) -> None:
        """Start it anew, now."""
        self._kick.set()
        self._lose(LinkLost("is being restarted, as asked"))

    def adjust(self, settings: UpstreamSettings, proxy: ProxySettings) -> None:
        """Take over settings that need no new process."""
        self.settings = settings
        self.limits = UpstreamLimits.of(settings, proxy)
        self.traffic.limits = self.limits.traffic

    def inherit(self, old: Upstream) -> None:
        """Offer what its predecessor did, until it has listed for itself."""
        self.offer = old.offer
        self.introduction = old.introduction
        self.known = old.known

    def tick(self, now: float) -> None:
        """Called some times a second: deadlines, and the probe that may close the breaker."""
        for exchange in self.traffic.expire(now):
            self._timed_out(exchange, now)
        if self._breaker.wants_probe(now) and self.ready and not self._probing:
            self._probing = True
            self.traffic.transmit_now(
                Exchange(
                    "ping", None, self._probed, now, now + PROBE_SECONDS, now + PROBE_SECONDS, 0
                )
            )

    # what the link reports

    def frame_received(self, frame: bytes) -> None:
        """One line from the upstream."""
        try:
            self._dispatch(wire.parse(frame))
        except wire.MalformedMessage as error:
            if error.id is None or not self.traffic.malformed(error.id, error.reason):
                self.vitals.noise_lines += 1

    def _dispatch(self, message: wire.Members) -> None:
        if "method" not in message:
            if "id" in message and ("result" in message or "error" in message):
                self._answered(message)
            else:
                self.vitals.noise_lines += 1
        elif "id" in message:
            self._owner.asked(self, message)
        else:
            self._notified(message)

    def noise_received(self, line: str) -> None:
        """One line of its error output."""
        self.vitals.print_line(line)

    def link_lost(self, lost: LinkLost) -> None:
        """The connection ended by itself."""
        self._lose(lost)

    # life of a connection

    async def _serve(self, ready_at: list[float]) -> LinkLost:
        """One connection from start to end; ``ready_at`` gets the time when it was ready."""
        lost = self._lost = asyncio.get_running_loop().create_future()
        self.vitals.last_words = ""
        try:
            async with asyncio.timeout(self.limits.connect_timeout):
                self._link = await self._open_link(self.settings, self)
                self._owner.state_changed(self)
                await self._connect(self._link)
        except LinkFailed as failed:
            return failed.lost
        except wire.MalformedMessage as malformed:
            return LinkLost(f"introduced itself in a way that cannot be read: {malformed.reason}")
        except HandshakeRefused as refused:
            return lost.result() if lost.done() else LinkLost(str(refused))
        except TimeoutError:
            return LinkLost(f"did not finish its start within {self.limits.connect_timeout:.0f} s")
        else:
            ready_at.append(time.monotonic())
            self._become_ready()
            async with asyncio.TaskGroup() as group:
                relisting = group.create_task(self._relist_when_told())
                result = await lost
                relisting.cancel()
            return result
        finally:
            await self._disconnect()

    async def _connect(self, link: Link) -> None:
        def speak(dialect: Dialect) -> None:
            self.traffic.attach(link.send, dialect)

        speak(HandshakeDialect())
        self.introduction = await introduce(
            self._ask,
            link.send,
            speak,
            client_info=self._client_info,
            remembered=self.introduction.protocol,
        )
        await self._list(frozenset())

    def _become_ready(self) -> None:
        self.down_since = None
        self._breaker = Breaker()
        self.enter(UpstreamState.READY, "")
        self._owner.became_ready(self)
        self.traffic.start()

    async def _disconnect(self) -> None:
        self._listening = None
        if self.down_since is None:
            self.down_since = time.monotonic()
        reason = "went away"
        # A station that stops cancels the future along with the task that waits for it.
        if self._lost is not None and self._lost.done() and not self._lost.cancelled():
            reason = self._lost.result().reason
        for exchange in self.traffic.stop():
            self._fail(exchange, Failure(FailureKind.LOST, f"{reason} before it answered"))
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    def _lose(self, lost: LinkLost) -> None:
        if self._lost is not None and not self._lost.done():
            self._lost.set_result(lost)
            for exchange in self.traffic.stop():
                self._fail(exchange, Failure(FailureKind.LOST, f"{lost.reason} before it answered"))

    async def _list(self, announced: frozenset[str]) -> None:
        listing = await list_everything(self._ask, self.capabilities, self.offer)
        if listing.faults != self.faults:
            self.faults = listing.faults
            self._owner.state_changed(self)
        offer = listing.offer.in_known_order(self.offer)
        if self._lost is not None and self._lost.done():
            return  # what was listed may be cut short
        changed = offer != self.offer or not self.known
        self.offer = offer
        self.known = True
        self._lists_missing = listing.unanswered
        if changed or announced:
            self._owner.offer_changed(self, announced)

    async def _relist_when_told(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LIST_RETRY_SECONDS if self._lists_missing else None):
                    await self._list_changed.wait()
            await asyncio.sleep(LIST_CHANGE_PAUSE)
            self._list_changed.clear()
            announced = frozenset(self._changed_kinds)
            self._changed_kinds.clear()
            await self._list(announced)
            await asyncio.sleep(LIST_CHANGE_INTERVAL)

    async def _ask(self, method: str, params: wire.Members | None) -> Answer:
        """Send a request of our own and wait; bounded by whoever waits."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer] = loop.create_future()

        def finish(result: Answer) -> None:
            if not answer.done():
                answer.set_result(result)

        now = time.monotonic()
        patience = LIST_SECONDS if method.endswith("/list") else self.limits.connect_timeout
        end = now + patience
        if self._lost is None or self._lost.done():
            return Failure(FailureKind.LOST, "went away")
        self.traffic.transmit_now(Exchange(method, params, finish, now, end, end, 0))
        return await answer

    # messages

    def _answered(self, message: wire.Members) -> None:
        exchange = self.traffic.answered(message)
        if exchange is None:
            return
        if self._breaker.failures:
            self._breaker = self._breaker.succeeded()
        if exchange.session is not None:
            self._count(exchange, failed="error" in message)

    def _notified(self, message: wire.Members) -> None:
        method = wire.text_of(message["method"])
        if method == "notifications/progress":
            if "params" in message:
                self.traffic.progressed(wire.members_of(message["params"]), time.monotonic())
        elif method is not None and method.endswith("/list_changed"):
            self._changed_kinds.add(method.split("/")[1])
            self._list_changed.set()
        elif method != "notifications/subscriptions/acknowledged":
            self._owner.notified(self, message)

    def _asks_back(self, exchange: Exchange, asked: InputRequired) -> None:
        self._owner.asked_back(self, exchange, asked)

    # failures

    def _timed_out(self, exchange: Exchange, now: float) -> None:
        seconds = now - exchange.started
        text = (
            f"did not answer within {seconds:.0f} s"
            if exchange.sent
            else f"was not ready within {seconds:.0f} s ({self.reason or 'it is still starting'})"
        )
        if exchange.sent and exchange.session is not None:
            self._breaker = self._breaker.failed(now)
            if not self._breaker.closed:
                self.enter(
                    UpstreamState.DEGRADED,
                    f"did not answer its last {self._breaker.failures} calls",
                )
        self._fail(exchange, Failure(FailureKind.TIMEOUT, text))

    def _probed(self, answer: Answer) -> None:
        self._probing = False
        if isinstance(answer, Failure):
            self._breaker = self._breaker.failed(time.monotonic())
            return
        self._breaker = Breaker()
        if self.state is UpstreamState.DEGRADED:
            self.enter(UpstreamState.READY, "")

    def _fail_waiting(self, lost: LinkLost) -> None:
        for exchange in self.traffic.drain():
            self._fail(
                exchange, Failure(FailureKind.DOWN, f"could not be reached: it {lost.reason}")
            )

    def _fail(self, exchange: Exchange, failure: Failure) -> None:
        if exchange.session is not None:
            self._count(exchange, failed=True)
        exchange.finish(failure)

    def _count(self, exchange: Exchange, *, failed: bool) -> None:
        if exchange.method == "tools/call":
            self.vitals.count((time.monotonic() - exchange.started) * 1000, failed=failed)

    def enter(self, state: UpstreamState, reason: str) -> None:
        """Note a new state and tell the owner."""
        if (state, reason) != (self.state, self.reason):
            if state is not self.state:
                self.since = time.time()
            self.state = state
            self.reason = reason
            self._owner.state_changed(self)

    def remembered(self) -> RememberedCatalogue:
        """What to keep, so that a restart can list before it connects."""
        introduction = self.introduction
        return RememberedCatalogue(
            self.identity,
            introduction.protocol,
            introduction.server_info,
            wire.encode(introduction.capabilities),
            introduction.instructions,
            self.offer.tools,
            self.offer.resources,
            self.offer.templates,
            self.offer.prompts,
        )


def _ignore(_: Answer) -> None:
    """Nobody waits for this answer."""


def _offer_of(remembered: RememberedCatalogue | None) -> Offer:
    if remembered is None:
        return Offer()
    return Offer(remembered.tools, remembered.resources, remembered.templates, remembered.prompts)
