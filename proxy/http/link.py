"""A dialogue with a server over streamable HTTP, as a link that carries frames.

A POST for each frame that goes out, a GET for what the server sends unasked; answers are followed through
broken connections where the server can go on with them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

import httpx2

from proxy import wire
from proxy.http.client import (
    AnswerRefused,
    DialogueLost,
    HttpClient,
    RedirectedAway,
    json_rpc_error,
    read_some,
)
from proxy.http.dialogue import Dialogue
from proxy.http.failures import describe_error, describe_status, is_unreachable
from proxy.http.sse import Event, one_line
from proxy.links.link import LinkListener, LinkLost

NOTE_SECONDS = 10.0
"""How long a server may take to accept a notification; later frames wait for that, to stay in order."""
GOODBYE_SECONDS = 2.0
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0
PAUSE_AFTER_BREAK = 0.1
RESUME_ATTEMPTS = 5
OUTGOING_LIMIT = 4096
"""Frames that may wait to be sent."""
_log = logging.getLogger("mms.http")


@dataclass(slots=True, eq=False)
class _Request:
    """A request under way."""

    id: wire.Raw
    method: str
    frame: bytes
    headers: dict[str, str]
    last_event: str = ""
    """Id of the last event on its stream: where to go on after a break."""
    pause: float = FIRST_PAUSE
    task: asyncio.Task[None] | None = None


class HttpLink:
    """A dialogue with a server. Made by `open_http`; `close` must be awaited."""

    def __init__(self, name: str, client: HttpClient, listener: LinkListener) -> None:
        self._name = name
        self._client = client
        self._listener = listener
        self._dialogue = Dialogue()
        self._outgoing: asyncio.Queue[bytes] = asyncio.Queue(OUTGOING_LIMIT)
        self._under_way: dict[bytes, _Request] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._group = asyncio.TaskGroup()
        self._listening = False
        self._lost = False
        self._unreachable = False
        self._closed = False

    @property
    def pid(self) -> int | None:
        return None

    async def start(self) -> None:
        """Begin to send what `send` is given."""
        # The group is left in `close`. That may be in another task: its children never raise, and
        # only then would it matter which task has entered it.
        await self._group.__aenter__()
        self._spawn(self._send_in_order())

    def send(self, frame: bytes) -> None:
        if self._lost:
            return
        try:
            self._outgoing.put_nowait(frame)
        except asyncio.QueueFull:
            self._lose(LinkLost("does not take the messages that it is sent"))

    async def close(self) -> None:
        """Tell the server, stop everything; about 2 seconds at most."""
        if self._closed:
            return
        self._closed = True
        self._lost = True
        try:
            await self._say_goodbye()
        finally:
            for task in list(self._tasks):
                task.cancel()
            try:
                await self._group.__aexit__(None, None, None)
            finally:
                await self._client.aclose()

    # sending

    async def _send_in_order(self) -> None:
        while True:
            frame = await self._outgoing.get()
            message = wire.parse(frame)
            method = wire.string(message, "method") or ""
            if wire.kind_of(message) is wire.MessageKind.REQUEST:
                self._start_request(message, method, frame)
                continue
            cancelled = self._cancelled(method, message)
            if not self._dialogue.stateless:
                await self._post_note(method, frame)
            if cancelled is not None and cancelled.task is not None:
                cancelled.task.cancel()  # nobody waits; without a session, this is the whole notice

    def _start_request(self, message: wire.Members, method: str, frame: bytes) -> None:
        self._dialogue.begin(method)
        headers = self._dialogue.headers_for_request(method, message.get("params"))
        request = _Request(message["id"], method, frame, headers)
        self._under_way[bytes(request.id)] = request
        request.task = self._spawn(self._ask(request))

    def _cancelled(self, method: str, message: wire.Members) -> _Request | None:
        if method != "notifications/cancelled" or "params" not in message:
            return None
        id = wire.members_of(message["params"]).get("requestId")
        return None if id is None else self._under_way.get(bytes(id))

    async def _post_note(self, method: str, frame: bytes) -> None:
        """Send a notification or a response, and wait until it was taken."""
        problem = ""
        try:
            async with asyncio.timeout(NOTE_SECONDS):
                headers = self._dialogue.headers_for_note()
                async with self._client.exchange("POST", headers, frame) as response:
                    if not response.is_success:
                        problem = await self._judge(response)
        except TimeoutError:
            problem = f"did not take it within {NOTE_SECONDS:.0f} s"
        except RedirectedAway as redirected:
            problem = str(redirected)
        except httpx2.HTTPError as error:
            problem = describe_error(error, self._client.url)
            if is_unreachable(error):
                self._unreachable = True
                raise DialogueLost(problem) from None
        if problem:
            self._listener.noise_received(f"mms: a {method or 'response'} was lost: {problem}")
        elif method == "notifications/initialized" and not self._listening:
            self._listening = True
            self._spawn(self._listen())

    # requests

    async def _ask(self, request: _Request) -> None:
        try:
            await self._pursue(request)
        except (AnswerRefused, RedirectedAway) as refused:
            if isinstance(refused, RedirectedAway) and not self._dialogue.greeted:
                raise DialogueLost(str(refused), permanent=True) from None
            text = str(refused)
            if self._dialogue.greeted:
                text = f"mms: upstream {self._name} {text}"
            self._deliver(wire.error(request.id, wire.SERVER_ERROR, text))
        finally:
            self._under_way.pop(bytes(request.id), None)

    async def _pursue(self, request: _Request) -> None:
        """Post it and follow its answer through breaks, until it is there."""
        failed = 0
        while True:
            broken = ""
            before = request.last_event
            try:
                if await (self._resume(request) if before else self._post(request)):
                    return
            except httpx2.HTTPError as error:
                broken = describe_error(error, self._client.url)
                if is_unreachable(error):
                    self._unreachable = True
                    raise DialogueLost(broken) from None
            if not request.last_event:
                broken = broken or "ended its answer before it was complete"
                if not self._dialogue.greeted:
                    raise DialogueLost(broken)
                raise AnswerRefused(f"{broken}; whether the call had an effect is not known")
            failed = 0 if request.last_event != before else failed + 1
            if failed >= RESUME_ATTEMPTS:
                raise AnswerRefused("broke the connection and does not go on with its answer")
            await asyncio.sleep(request.pause)

    async def _post(self, request: _Request) -> bool:
        async with self._client.exchange("POST", request.headers, request.frame) as response:
            if response.is_success:
                return await self._read_answer(response, request)
            body = await read_some(response)
            problem = await self._judge(response, body, request.method)
            error = json_rpc_error(body)
            if error is None:
                raise AnswerRefused(problem)
            self._deliver(wire.encode({**error, "id": request.id}))
            return True

    async def _resume(self, request: _Request) -> bool:
        headers = {
            **self._dialogue.headers(),
            "accept": "text/event-stream",
            "last-event-id": request.last_event,
        }
        async with self._client.exchange("GET", headers, None) as response:
            if response.is_success:
                return await self._read_answer(response, request)
            if response.status_code >= 500:
                return False
            raise AnswerRefused(
                f"does not go on with a broken answer: {await self._judge(response)}"
            )

    async def _read_answer(self, response: httpx2.Response, request: _Request) -> bool:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "text/event-stream":

            def take(event: Event) -> bool:
                request.last_event = event.id or request.last_event
                if event.retry_ms is not None:
                    request.pause = min(event.retry_ms / 1000, LONGEST_PAUSE)
                return bool(event.data) and self._take(event.data, request, response)

            return await self._client.read_events(response, take)
        if kind == "application/json":
            body = await self._client.read_all(response)
            if body[:1] == b"[":  # a batch, as revision 2025-03-26 allowed
                answers = [self._take(bytes(item), request, response) for item in _items(body)]
                done = any(answers)
            else:
                done = self._take(body, request, response)
            if not done:
                raise AnswerRefused("sent an answer that is no valid message")
            return True
        if response.status_code in (202, 204) or not kind:
            raise AnswerRefused(
                f"took the request and gave no answer (HTTP {response.status_code})"
            )
        raise AnswerRefused(f"answers with {kind[:60]!r} where JSON or an event stream belongs")

    # what the server sends unasked

    async def _listen(self) -> None:
        """Keep the GET stream open for as long as the server offers one."""
        last_event = ""
        pause = FIRST_PAUSE
        opened = False
        short = 0

        def take(event: Event) -> bool:
            nonlocal last_event, pause
            last_event = event.id or last_event
            if event.retry_ms is not None:
                pause = min(event.retry_ms / 1000, LONGEST_PAUSE)
            if event.data:
                self._take(event.data, None, None)
            return False

        while True:
            began = time.monotonic()
            headers = {**self._dialogue.headers(), "accept": "text/event-stream"}
            if last_event:
                headers["last-event-id"] = last_event
            try:
                async with self._client.exchange("GET", headers, None) as response:
                    kind = response.headers.get("content-type", "")
                    if response.status_code == 200 and kind.startswith("text/event-stream"):
                        opened = True
                        await self._client.read_events(response, take)
                    elif response.status_code == 404 and not opened:
                        return  # many servers say so when they offer no such stream
                    elif response.status_code in (400, 404, 401):
                        await self._judge(response)
                        return
                    elif response.status_code < 500 and response.status_code not in (408, 409, 429):
                        return
            except httpx2.HTTPError as error:
                if is_unreachable(error):
                    self._unreachable = True
                    raise DialogueLost(describe_error(error, self._client.url)) from None
                if time.monotonic() - began > FIRST_PAUSE:
                    await asyncio.sleep(PAUSE_AFTER_BREAK)
                    continue  # a server that died is noticed at once
            short = short + 1 if time.monotonic() - began < FIRST_PAUSE else 0
            growing = FIRST_PAUSE * 2.0 ** min(short - 1, 8) if short > 1 else 0.0
            await asyncio.sleep(min(max(pause, growing), LONGEST_PAUSE))

    # reading

    def _take(
        self, data: bytes, request: _Request | None, response: httpx2.Response | None
    ) -> bool:
        """Pass one message on; true when it answers ``request``."""
        frame = one_line(data)
        try:
            message = wire.parse(frame)
        except wire.MalformedMessage:
            self._deliver(frame)  # may hold the id; the upstream's own reader looks for it
            return False
        if request is None or response is None:
            self._deliver(frame)
            if wire.kind_of(message) is wire.MessageKind.RESPONSE:
                self._give_up(bytes(message["id"]))
            return False
        if "method" in message or not ("result" in message or "error" in message):
            self._deliver(frame)
            return False
        if bytes(message.get("id", b"")) != bytes(request.id):
            # Whatever the server made of the id, this stream is for this request alone.
            frame = wire.encode({**message, "id": request.id})
        self._dialogue.answered(request.method, message, response.headers)
        if request.method == "tools/list" and self._dialogue.stateless:
            frame = self._without_refused_tools(frame)
        self._under_way.pop(bytes(request.id), None)
        self._deliver(frame)
        return True

    def _without_refused_tools(self, frame: bytes) -> bytes:
        try:
            message, refused = self._dialogue.listed(wire.parse(frame))
        except wire.MalformedMessage:
            return frame  # whoever asked will notice
        for reason in refused:
            self._listener.noise_received(f"mms: {reason}")
        return wire.encode(message) if refused else frame

    def _give_up(self, id: bytes) -> None:
        """Stop waiting for an answer that came another way."""
        request = self._under_way.pop(id, None)
        if request is not None and request.task is not None:
            request.task.cancel()

    def _deliver(self, frame: bytes) -> None:
        if not self._lost:
            self._listener.frame_received(frame)

    # HTTP

    async def _judge(
        self, response: httpx2.Response, body: bytes | None = None, method: str = ""
    ) -> str:
        """What an answer with a failing status means for one message. Raises `DialogueLost` if for all."""
        status = response.status_code
        if body is None:
            body = await read_some(response)
        text = describe_status(status)
        if self._dialogue.session_id and method != "initialize":
            forgotten = status == 404 or (status == 400 and b"session" in body.lower())
            if forgotten:
                self._dialogue.session_id = ""
                raise DialogueLost(
                    f"no longer knows this session (HTTP {status}); it was restarted"
                )
        if status in (401, 407):
            raise DialogueLost(text, permanent=True)
        if not self._dialogue.greeted:
            if status == 403 or (status in (404, 405, 410) and json_rpc_error(body) is None):
                raise DialogueLost(text, permanent=True)
            if status >= 500 or status in (408, 429):
                raise DialogueLost(text)
        return text

    async def _say_goodbye(self) -> None:
        """Ask the server to forget the session; whether it does is its business."""
        if not self._dialogue.session_id or self._unreachable:
            return
        with contextlib.suppress(httpx2.HTTPError, RedirectedAway, TimeoutError):
            async with asyncio.timeout(GOODBYE_SECONDS):
                async with self._client.exchange("DELETE", self._dialogue.headers(), None):
                    pass

    # tasks

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._group.create_task(self._fenced(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _fenced(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except DialogueLost as error:
            self._lose(error.lost)
        except (AnswerRefused, RedirectedAway) as refused:
            self._listener.noise_received(f"mms: {self._name} {refused}")
        except (
            Exception
        ) as error:  # the fence: a fault in here must cost this link, not the station
            _log.exception("the link to upstream %s broke", self._name)
            self._lose(LinkLost(f"is lost through a fault in mms ({type(error).__name__})"))

    def _lose(self, lost: LinkLost) -> None:
        if not self._lost:
            self._lost = True
            self._listener.link_lost(lost)


def _items(body: bytes) -> list[wire.Raw]:
    try:
        return wire.items_of(body)
    except wire.MalformedMessage:
        return []
