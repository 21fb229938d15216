"""One request on its way to an upstream and back, and the book of all that are under way there.

No I/O: frames go out through a function that is given, time is passed in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from proxy import wire
from proxy.dialects import Dialect, InputRequired
from proxy.model import Outcome


class FailureKind(Enum):
    """Why a request got no answer from its upstream."""

    LOST = "lost"
    """The upstream went away after the request was sent."""
    TIMEOUT = "timeout"
    BUSY = "busy"
    """Too many calls wait already."""
    DOWN = "down"
    """The upstream is not there; nothing was sent."""
    CANCELLED = "cancelled"
    """The host does not want it any more."""
    MALFORMED = "malformed"
    """Something came back that is no valid answer."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why, in words that an agent or a person can act on."""

    kind: FailureKind
    text: str


Answer = wire.Members | Failure
"""A response as the upstream sent it, or why there is none."""


def call_outcome(answer: Answer) -> Outcome:
    """How a call ended, from what came back."""
    if isinstance(answer, Failure):
        return _OUTCOMES[answer.kind]
    if "error" in answer:
        return Outcome.ERROR
    return Outcome.OK


_OUTCOMES: Mapping[FailureKind, Outcome] = {
    FailureKind.LOST: Outcome.UPSTREAM_LOST,
    FailureKind.TIMEOUT: Outcome.TIMEOUT,
    FailureKind.BUSY: Outcome.ERROR,
    FailureKind.DOWN: Outcome.UPSTREAM_LOST,
    FailureKind.CANCELLED: Outcome.CANCELLED,
    FailureKind.MALFORMED: Outcome.ERROR,
}


@dataclass(slots=True, eq=False)
class Exchange:
    """One request. ``finish`` is called exactly once."""

    method: str
    params: wire.Members | None
    finish: Callable[[Answer], None]
    started: float
    """When it was made (monotonic seconds)."""
    deadline: float
    """When it ends with a time-out; progress moves it."""
    latest: float
    """No progress moves the deadline beyond this."""
    patience: float
    """Seconds that each sign of progress grants."""
    session: int | None = None
    """The host's session; ``None`` for mms's own requests."""
    progress_token: wire.Raw | None = None
    """The host's own token, given back with each report of progress."""
    progressed: Callable[[wire.Members], None] | None = None
    id: bytes = b""
    """The id it has at the upstream, once sent."""
    on_sent: Callable[[], None] | None = None
    """Told whenever it is sent, if somebody wants to know."""
    rounds: int = 0
    """How often the upstream has asked back (stateless era)."""

    @property
    def sent(self) -> bool:
        """It has reached the upstream; repeating it could do the same thing twice."""
        return bool(self.id)


@dataclass(frozen=True, slots=True)
class TrafficLimits:
    """How much may be under way at one upstream."""

    in_flight: int
    queued: int


class Traffic:
    """The requests of one upstream: waiting, under way, and the matching of answers.

    Ids are minted here, rise, and are never used again; an answer with any other id is dropped.
    """

    def __init__(
        self,
        limits: TrafficLimits,
        asks_back: Callable[[Exchange, InputRequired], None],
    ) -> None:
        self.limits = limits
        self.under_way: dict[bytes, Exchange] = {}
        self.waiting: deque[Exchange] = deque()
        self.strays = 0
        """Answers that belonged to nothing: late, doubled or made up."""
        self._asks_back = asks_back
        self._next_id = 0
        self._send: Callable[[bytes], None] | None = None
        self._dialect: Dialect | None = None
        self._open = False

    @property
    def open(self) -> bool:
        """Requests of hosts are sent now; before, they wait."""
        return self._open

    @property
    def attached(self) -> bool:
        """`transmit_now` can send."""
        return self._send is not None

    @property
    def busy(self) -> bool:
        """A host's request is under way or waits."""
        return bool(self.waiting) or bool(self.sessions())

    def sessions(self) -> set[int]:
        """Sessions that have a request under way."""
        return {
            exchange.session for exchange in self.under_way.values() if exchange.session is not None
        }

    def attach(self, send: Callable[[bytes], None], dialect: Dialect) -> None:
        """The upstream can be spoken to, in this dialect; only `transmit_now` sends yet."""
        self._send = send
        self._dialect = dialect

    def start(self) -> None:
        """The upstream is ready: what waited is sent."""
        self._open = True
        self._fill()

    def submit(self, exchange: Exchange) -> Failure | None:
        """Send it, or let it wait; a `Failure` when too many wait already (``finish`` is not called)."""
        if self._open and len(self.under_way) < self.limits.in_flight:
            self._transmit(exchange)
            return None
        if len(self.waiting) >= self.limits.queued:
            return Failure(
                FailureKind.BUSY,
                f"{len(self.under_way)} calls are running and {len(self.waiting)} wait already",
            )
        self.waiting.append(exchange)
        return None

    def transmit_now(self, exchange: Exchange) -> None:
        """Send one of mms's own requests (handshake, lists) past the queue."""
        self._transmit(exchange)

    def answered(self, message: wire.Members) -> Exchange | None:
        """Match a response and finish its exchange; ``None`` when it belongs to nothing."""
        exchange = self.under_way.pop(bytes(message["id"]), None)
        if exchange is None:
            self.strays += 1
            return None
        assert self._dialect is not None
        try:
            translated = self._dialect.incoming(message)
        except wire.MalformedMessage as error:
            exchange.finish(Failure(FailureKind.MALFORMED, f"sent no valid result: {error.reason}"))
        else:
            if isinstance(translated, InputRequired):
                self._asks_back(exchange, translated)
            else:
                exchange.finish(translated)
        self._fill()
        return exchange

    def malformed(self, id: bytes, reason: str) -> bool:
        """An unreadable line seems to answer ``id``: end that one at once. False if it is unknown."""
        exchange = self.under_way.pop(id, None)
        if exchange is None:
            return False
        exchange.finish(
            Failure(FailureKind.MALFORMED, f"sent an answer that cannot be read: {reason}")
        )
        self._fill()
        return True

    def progressed(self, params: wire.Members, now: float) -> None:
        """Pass a report of progress on with the host's own token, and grant more time."""
        token = params.get("progressToken")
        exchange = self.under_way.get(bytes(token)) if token is not None else None
        if exchange is None or exchange.progress_token is None or exchange.progressed is None:
            self.strays += 1
            return
        exchange.deadline = min(exchange.latest, max(exchange.deadline, now + exchange.patience))
        exchange.progressed({**params, "progressToken": exchange.progress_token})

    def cancel(self, exchange: Exchange, note: wire.Members | None) -> None:
        """Forget it, without finishing it; tell the upstream when it was sent.

        ``note``: the host's own parameters of its notice, passed on but for the id.
        """
        if not exchange.sent:
            if exchange in self.waiting:
                self.waiting.remove(exchange)
            return
        if self.under_way.pop(exchange.id, None) is None or self._send is None:
            return
        params = {**(note or {}), "requestId": wire.Raw(exchange.id)}
        self._send(wire.notification("notifications/cancelled", wire.Raw(wire.encode(params))))
        self._fill()

    def expire(self, now: float) -> list[Exchange]:
        """Take out everything past its deadline, tell the upstream; the caller finishes them."""
        late = [exchange for exchange in self.under_way.values() if exchange.deadline <= now]
        late += [exchange for exchange in self.waiting if exchange.deadline <= now]
        reason = wire.raw("the deadline of the call has passed")
        for exchange in late:
            self.cancel(exchange, {"reason": reason})
        return late

    def stop(self) -> list[Exchange]:
        """The upstream is gone: what was sent is returned to be failed, what waits goes on waiting."""
        self._open = False
        self._send = None
        self._dialect = None
        lost = list(self.under_way.values())
        self.under_way.clear()
        return lost

    def drain(self) -> list[Exchange]:
        """Take out what waits, to be failed."""
        waiting = list(self.waiting)
        self.waiting.clear()
        return waiting

    def _fill(self) -> None:
        while self.waiting and self._open and len(self.under_way) < self.limits.in_flight:
            self._transmit(self.waiting.popleft())

    def _transmit(self, exchange: Exchange) -> None:
        assert self._send is not None
        assert self._dialect is not None
        self._next_id += 1
        exchange.id = str(self._next_id).encode()
        id = wire.Raw(exchange.id)
        params = exchange.params
        if exchange.progress_token is not None and params is not None:
            meta = {**wire.members_of(params["_meta"]), "progressToken": id}
            params = {**params, "_meta": wire.Raw(wire.encode(meta))}
        params = self._dialect.outgoing(params)
        self.under_way[exchange.id] = exchange
        text = None if params is None else wire.Raw(wire.encode(params))
        if exchange.on_sent is not None:
            exchange.on_sent()
        self._send(wire.request(id, exchange.method, text))
