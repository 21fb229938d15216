"""What goes over the pipes to and from the worker: a small header, and payloads as they are.

A frame is the header's length (4 bytes), the lengths of two payloads (8 bytes each), the header, the
payloads. All little-endian. The header is a number and the job or outcome without its payloads, as
MessagePack; strings with lone surrogates, which that cannot carry, make it JSON. No I/O.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any

import msgspec

from proxy.jobs import Job, Outcome, Reduced, ReduceJob, WhatIfJob

HEAD = struct.Struct("<IQQ")
HEADER_LIMIT = 256 * 1024 * 1024
PAYLOAD_LIMIT = 1 << 30
"""Bytes. The engine's own limits on frames of upstreams are far below."""

Frame = tuple[bytes, bytes, bytes]
"""Header and the two payloads."""

_JobHeader = tuple[int, Job]
_ReplyHeader = tuple[int, Outcome | None]
_JOB = msgspec.msgpack.Decoder(_JobHeader)
_REPLY = msgspec.msgpack.Decoder(_ReplyHeader)
_ENCODER = msgspec.msgpack.Encoder()


class MalformedFrame(Exception):
    """The other end does not speak this protocol; nothing that follows can be trusted."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the child says about the job with this number."""

    number: int
    outcome: Outcome | None
    """``None`` only with number 0: the child is ready."""


def job_frame(number: int, job: Job) -> list[bytes]:
    """The parts of the frame that carries a job."""
    match job:
        case ReduceJob():
            payloads = (job.body, job.earlier)
            job = msgspec.structs.replace(job, body=b"", earlier=b"")
        case WhatIfJob():
            payloads = (job.body, job.sent)
            job = msgspec.structs.replace(job, body=b"", sent=b"")
        case _:
            payloads = (job.body, b"")
            job = msgspec.structs.replace(job, body=b"")
    return _frame((number, job), payloads)


def reply_frame(reply: Reply) -> list[bytes]:
    """The parts of the frame that carries an outcome."""
    outcome = reply.outcome
    if not isinstance(outcome, Reduced):
        return _frame((reply.number, outcome), (b"", b""))
    bare = msgspec.structs.replace(outcome, body=b"")
    return _frame((reply.number, bare), (outcome.body, b""))


def read_job(frame: Frame) -> tuple[int, Job]:
    """The job in a frame, and its number. Raises `MalformedFrame`."""
    header, first, second = frame
    number, job = _read(header, _JOB, _JobHeader)
    match job:
        case ReduceJob():
            return number, msgspec.structs.replace(job, body=first, earlier=second)
        case WhatIfJob():
            return number, msgspec.structs.replace(job, body=first, sent=second)
        case _:
            return number, msgspec.structs.replace(job, body=first)


def read_reply(frame: Frame) -> Reply:
    """The reply in a frame. Raises `MalformedFrame`."""
    header, first, _ = frame
    number, outcome = _read(header, _REPLY, _ReplyHeader)
    if isinstance(outcome, Reduced):
        outcome = msgspec.structs.replace(outcome, body=first)
    return Reply(number, outcome)


def read_head(head: bytes | memoryview) -> tuple[int, int, int]:
    """The three lengths, from the first `HEAD.size` bytes of a frame. Raises `MalformedFrame`."""
    header, first, second = HEAD.unpack(head)
    if header > HEADER_LIMIT or first > PAYLOAD_LIMIT or second > PAYLOAD_LIMIT:
        raise MalformedFrame("a frame is larger than any that is sent")
    return header, first, second


class FrameBuffer:
    """Puts frames together from what arrives in pieces; each payload is copied once."""

    def __init__(self) -> None:
        self._pieces: list[memoryview] = []
        """Of the part that is being read."""
        self._missing = HEAD.size
        self._parts: list[bytes] = []
        """Head, header and payloads of the frame that is being read, as far as they are complete."""
        self._lengths: tuple[int, int, int] = (0, 0, 0)

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are complete now. Raises `MalformedFrame`."""
        frames: list[Frame] = []
        view = memoryview(data)
        while view:
            piece = view[: self._missing]
            view = view[len(piece) :]
            self._pieces.append(piece)
            self._missing -= len(piece)
            while self._missing == 0:  # the next part may be empty
                frame = self._next_part()
                if frame is not None:
                    frames.append(frame)
        return frames

    def _next_part(self) -> Frame | None:
        part = b"".join(self._pieces)
        self._pieces.clear()
        if not self._parts:
            self._lengths = read_head(part)
        self._parts.append(part)
        done = len(self._parts) - 1
        if done < len(self._lengths):
            self._missing = self._lengths[done]
            return None
        _, header, first, second = self._parts
        self._parts = []
        self._missing = HEAD.size
        return header, first, second


def _frame(header: Any, payloads: tuple[bytes, bytes]) -> list[bytes]:
    try:
        text = _ENCODER.encode(header)
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(header)).encode()
    head = HEAD.pack(len(text), len(payloads[0]), len(payloads[1]))
    return [head + text, *(payload for payload in payloads if payload)]


def _read(header: bytes, decoder: msgspec.msgpack.Decoder[Any], kind: Any) -> Any:
    try:
        if header[:1] == b"[":
            return msgspec.convert(json.loads(header), kind)
        return decoder.decode(header)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise MalformedFrame(f"a header cannot be read: {type(error).__name__}") from None
