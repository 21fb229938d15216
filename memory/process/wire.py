"""What goes over the socket to the memory's process: one line of JSON per message. Pure.

Both sides begin with a greeting, ``{"mms":"memory","version":…,"pid":…}``. Then the client sends
``{"id":1,"method":"Search","params":{…},"actor":{…}}`` and gets ``{"id":1,"result":…}`` or
``{"id":1,"error":{"code":…,"message":…,"hint":…}}``. A process that ends says ``{"begun":ID}`` first: of
this connection it began the request of that id, and none after it.

Methods are the request classes of `memory.api` by name; whatever is a dataclass there needs no code here.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast, get_args

import msgspec

from memory import api, model
from memory.api import Request
from memory.errors import FaultCode, MemoryFault
from memory.model import Actor

FRAME_LIMIT = 64 * 1024 * 1024
"""Bytes of the longest line."""
PROTOCOL = 1
_NAME = "memory"


class Malformed(Exception):
    """A line is not what this connection speaks."""


class FrameTooLong(Exception):
    """A line passed `FRAME_LIMIT`; the connection is of no use after that."""


class Lines:
    """Collects bytes until lines are complete. Joins the parts of a long line once."""

    __slots__ = ("_held", "_limit", "_parts")

    def __init__(self, limit: int = FRAME_LIMIT) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._held = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that are complete now. Raises `FrameTooLong`."""
        *ended, rest = data.split(b"\n")
        if ended:
            ended[0] = b"".join((*self._parts, ended[0]))
            self._parts.clear()
            self._held = 0
        if rest:
            self._parts.append(rest)
            self._held += len(rest)
        if self._held > self._limit or any(len(line) > self._limit for line in ended):
            raise FrameTooLong(f"a line is longer than {self._limit:,} bytes")
        return [line for line in ended if line.strip()]


# Methods


@functools.cache
def methods() -> Mapping[str, tuple[type[Request[Any]], Any]]:
    """Request class and result type by the name of the class."""
    found: dict[str, tuple[type[Request[Any]], Any]] = {}
    for name, value in vars(api).items():
        if inspect.isclass(value) and issubclass(value, Request) and value is not Request:
            request = cast("Any", value)
            found[name] = (request, get_args(request.__orig_bases__[0])[0])
    return MappingProxyType(found)


@functools.cache
def version() -> str:
    """Of the protocol and of the shape of every request and value: both sides must say the same."""
    shapes: list[str] = []
    for module in (api, model):
        for name, value in sorted(vars(module).items()):
            if inspect.isclass(value) and dataclasses.is_dataclass(value):
                fields = (f"{one.name}:{one.type}" for one in dataclasses.fields(value))
                shapes.append(f"{name}({','.join(fields)})")
    digest = hashlib.sha256("\n".join(shapes).encode()).hexdigest()
    return f"{PROTOCOL}-{digest[:12]}"


# Greeting


@dataclass(frozen=True, slots=True)
class Greeting:
    """The first line of either side."""

    mms: str
    version: str
    pid: int = 0


def greeting_frame() -> bytes:
    """Our greeting, with the line's end."""
    return _line(Greeting(_NAME, version(), os.getpid()))


def read_greeting(line: bytes) -> Greeting:
    """Their greeting. Raises `Malformed`."""
    try:
        found = msgspec.json.decode(line, type=Greeting)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise Malformed("it does not speak to a memory") from None
    if found.mms != _NAME:
        raise Malformed("it does not speak to a memory")
    return found


# Calls


class _Call(msgspec.Struct):
    id: int
    method: str
    params: msgspec.Raw
    actor: Actor


@dataclass(frozen=True, slots=True)
class Call:
    """A request that came in."""

    id: int
    method: str
    params: bytes
    actor: Actor

    def request(self) -> Request[Any]:
        """The request itself. Raises `MemoryFault` (INVALID) for an unknown method or wrong values."""
        known = methods().get(self.method)
        if known is None:
            raise MemoryFault(FaultCode.INVALID, f"There is no request {self.method[:80]!r}.")
        try:
            return msgspec.json.decode(self.params, type=known[0])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise MemoryFault(FaultCode.INVALID, f"{self.method}: {error}") from None


def call_frame(id: int, request: Request[Any], actor: Actor) -> bytes:
    """A call. Raises `MemoryFault` (INVALID) when it can't be sent: too long, or a lone surrogate in it."""
    body = {"id": id, "method": type(request).__name__, "params": request, "actor": actor}
    try:
        frame = _line(body)
    except UnicodeEncodeError:
        raise MemoryFault(
            FaultCode.INVALID, "A text holds half of a surrogate pair, which is no character."
        ) from None
    if len(frame) > FRAME_LIMIT:
        raise MemoryFault(
            FaultCode.INVALID,
            f"The request has {len(frame):,} bytes; {FRAME_LIMIT:,} are possible.",
        )
    return frame


def read_call(line: bytes) -> Call:
    """A call that came in. Raises `Malformed`."""
    try:
        found = msgspec.json.decode(line, type=_Call)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(str(error)) from None
    return Call(found.id, found.method, bytes(found.params), found.actor)


# Answers


class _Error(msgspec.Struct):
    code: FaultCode
    message: str
    hint: str = ""


class _Reply(msgspec.Struct):
    id: int = 0
    result: msgspec.Raw = msgspec.Raw()
    error: _Error | None = None
    begun: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of the call of this id."""

    id: int
    result: bytes = b""
    fault: MemoryFault | None = None

    def value(self, request: Request[Any]) -> Any:
        """The result of ``request``. Raises the fault, or `MemoryFault` (INTERNAL) when it can't be read."""
        if self.fault is not None:
            raise self.fault
        try:
            return msgspec.json.decode(self.result, type=methods()[type(request).__name__][1])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise MemoryFault(
                FaultCode.INTERNAL, f"The memory's answer could not be read: {error}"
            ) from None


@dataclass(frozen=True, slots=True)
class Goodbye:
    """The process ends. Calls with ids after ``begun`` were not begun and will not be."""

    begun: int


def result_frame(id: int, result: object) -> bytes:
    """An answer. Raises `MemoryFault` (INTERNAL) when it is too long or no JSON can be made of it."""
    try:
        frame = _line({"id": id, "result": result})
    except (UnicodeEncodeError, TypeError, msgspec.MsgspecError) as error:
        raise MemoryFault(FaultCode.INTERNAL, f"The answer could not be sent: {error}") from None
    if len(frame) > FRAME_LIMIT:
        raise MemoryFault(
            FaultCode.INTERNAL,
            f"The answer has {len(frame):,} bytes; {FRAME_LIMIT:,} are possible.",
            "Ask for a smaller page.",
        )
    return frame


def fault_frame(id: int, fault: MemoryFault) -> bytes:
    """An answer that tells of a fault. Halves of surrogate pairs in it become question marks."""
    told = (text.encode("utf-8", "replace").decode() for text in (fault.message, fault.hint))
    return _line({"id": id, "error": _Error(fault.code, *told)})


def goodbye_frame(begun: int) -> bytes:
    """What is said before a connection is closed from the memory's side."""
    return _line(Goodbye(begun))


def read_reply(line: bytes) -> Answer | Goodbye:
    """What the memory's process sent. Raises `Malformed`."""
    try:
        found = msgspec.json.decode(line, type=_Reply)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(str(error)) from None
    if found.begun is not None:
        return Goodbye(found.begun)
    error = found.error
    fault = None if error is None else MemoryFault(error.code, error.message, error.hint)
    result = bytes(found.result)
    if fault is None and not result:
        raise Malformed("neither a result nor an error")
    return Answer(found.id, result, fault)


def _line(value: object) -> bytes:
    return msgspec.json.encode(value) + b"\n"
