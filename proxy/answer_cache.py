"""Answers kept in memory to be given again, and calls that share one answer. Pure: time is passed in.

A tool's own annotations decide whether its answers may be kept at all. A call that writes makes every
kept answer of its upstream worthless, also those that are still on their way: `AnswerCache.generation`
tells whether that happened since a call began.
"""

from __future__ import annotations

import functools
import hashlib
import struct
from collections import OrderedDict
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

from config.schema import CachePolicy
from proxy import wire

_T = TypeVar("_T")

_ENTRY_BYTES = 512
"""What a kept answer costs besides its text and its key, roughly."""
_LONGEST_SORTED = 64 * 1024
"""Bytes. Longer arguments count as the same only when they are so byte for byte."""
_DEEPEST_SORTED = 8


class ToolHints(msgspec.Struct):
    """The hints of MCP that matter here. ``None``: the tool does not say."""

    read_only: bool | None = msgspec.field(default=None, name="readOnlyHint")
    destructive: bool | None = msgspec.field(default=None, name="destructiveHint")
    idempotent: bool | None = msgspec.field(default=None, name="idempotentHint")


@functools.lru_cache(maxsize=1024)
def hints_of(annotations: bytes) -> ToolHints:
    """What cannot be read counts as a tool that writes."""
    if not annotations:
        return ToolHints()
    try:
        return msgspec.json.decode(annotations, type=ToolHints)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ToolHints(read_only=False)


def is_writing(annotations: bytes) -> bool:
    """A call may change what other tools of the server answer: the tool does not say it only reads."""
    hints = hints_of(annotations)
    return hints.read_only is not True or hints.destructive is True


def cache_key(upstream: str, tool: str, arguments: bytes) -> bytes:
    """The same for calls that mean the same: the order of members and white space do not matter.

    Numbers and texts have to be written alike. ``arguments``: JSON, without ``_context_query``.
    """
    names = upstream.encode("utf-8", "surrogatepass"), tool.encode("utf-8", "surrogatepass")
    head = struct.pack(">II", len(names[0]), len(names[1]))
    digest = hashlib.sha256(_canonical(arguments)).digest()
    return b"".join((head, *names, digest))


def _names_of(key: bytes) -> tuple[str, str]:
    """Upstream and tool of a `cache_key`."""
    first, second = struct.unpack_from(">II", key)
    upstream, tool = key[8 : 8 + first], key[8 + first : 8 + first + second]
    return upstream.decode("utf-8", "surrogatepass"), tool.decode("utf-8", "surrogatepass")


def _canonical(arguments: bytes) -> bytes:
    text = arguments.strip()
    if text in (b"", b"null", b"{}"):
        return b"{}"
    return _sorted(text, 0) if len(text) <= _LONGEST_SORTED else text


def _sorted(value: bytes, depth: int) -> bytes:
    """JSON with the members of its objects in order; what cannot be read stays as it is."""
    if depth >= _DEEPEST_SORTED or value[:1] not in (b"{", b"["):
        return value
    try:
        if value[:1] == b"[":
            items = msgspec.json.decode(value, type=list[msgspec.Raw])
            return b"[" + b",".join(_sorted(bytes(item), depth + 1) for item in items) + b"]"
        members = wire.members_of(value)
        return b"{%b}" % b",".join(
            msgspec.json.encode(name) + b":" + _sorted(bytes(members[name]), depth + 1)
            for name in sorted(members)
        )
    except (wire.MalformedMessage, msgspec.MsgspecError, UnicodeError, RecursionError):
        return value


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer that may be given again."""

    body: bytes
    """The ``result`` as the upstream sent it."""
    stored_at: float


_Entry = tuple[bytes, float, float]
"""Body, when it was stored, when it is too old."""


class AnswerCache:
    """Kept answers, bounded in bytes; what was used longest ago goes first. For one thread."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._entries: OrderedDict[bytes, _Entry] = OrderedDict()
        self._by_upstream: dict[str, set[bytes]] = {}
        self._writes: dict[str, int] = {}
        self._clearings = 0

    @property
    def held_bytes(self) -> int:
        """What the kept answers take, about."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._entries)

    @staticmethod
    def eligible(policy: CachePolicy, annotations: bytes) -> bool:
        """Whether answers of a tool with these annotations (JSON, or empty) may be kept and shared."""
        hints = hints_of(annotations)
        if policy is CachePolicy.IGNORE or hints.destructive is True:
            return False
        if hints.read_only is not None or policy is CachePolicy.STRICT:
            return hints.read_only is True
        # The other hints are about what a tool changes: whoever gives them says that it writes.
        return hints.destructive is None and hints.idempotent is None

    def generation(self, upstream: str) -> int:
        """Rises whenever answers of calls that began before are not to be kept any more."""
        return self._clearings + self._writes.get(upstream, 0)

    def get(self, key: bytes, now: float) -> KeptAnswer | None:
        """A kept answer that is not too old."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        body, stored_at, expires_at = entry
        if now >= expires_at:
            self._drop(key)
            return None
        self._entries.move_to_end(key)
        return KeptAnswer(body, stored_at)

    def put(self, key: bytes, body: bytes, now: float, ttl_seconds: float) -> None:
        """Keep an answer. One that is larger than the whole cache, or is to live 0 s, is not kept."""
        self._drop(key)
        size = _size(key, body)
        if ttl_seconds <= 0 or size > self._max_bytes:
            return
        self._entries[key] = (body, now, now + ttl_seconds)
        self._by_upstream.setdefault(_names_of(key)[0], set()).add(key)
        self._bytes += size
        self._shrink()

    def invalidate(self, upstream: str) -> None:
        """Something was written to the upstream: forget its answers, also those on their way."""
        self._writes[upstream] = self._writes.get(upstream, 0) + 1
        keys = self._by_upstream.get(upstream)
        if keys is not None:
            for key in list(keys):
                self._drop(key)

    def clear(self, upstream: str, tool: str) -> int:
        """Forget the answers of a tool, an upstream or all (empty names); how many there were."""
        self._clearings += 1
        keys = [
            key
            for key in (self._by_upstream.get(upstream, ()) if upstream else self._entries)
            if not tool or _names_of(key)[1] == tool
        ]
        for key in keys:
            self._drop(key)
        return len(keys)

    def resize(self, max_bytes: int) -> None:
        """Another bound; what is over it goes at once."""
        self._max_bytes = max_bytes
        self._shrink()

    def _shrink(self) -> None:
        while self._bytes > self._max_bytes:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: bytes) -> None:
        entry = self._entries.pop(key, None)
        if entry is None:
            return
        self._bytes -= _size(key, entry[0])
        upstream = _names_of(key)[0]
        keys = self._by_upstream[upstream]
        keys.discard(key)
        if not keys:
            del self._by_upstream[upstream]


def _size(key: bytes, body: bytes) -> int:
    return len(key) + len(body) + _ENTRY_BYTES


class Flights(Generic[_T]):
    """Identical calls at the same time: the first one asks, the others wait for its answer."""

    def __init__(self) -> None:
        self._calls: dict[bytes, list[_T]] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def join(self, key: bytes, call: _T) -> bool:
        """True: this call has to ask the upstream. False: another one does, and tells this one."""
        calls = self._calls.setdefault(key, [])
        calls.append(call)
        return len(calls) == 1

    def landed(self, key: bytes, call: _T) -> tuple[_T, ...]:
        """The call that asked has its answer or its failure: those that wait for it, in order.

        None for a call that does not ask (any more).
        """
        calls = self._calls.get(key)
        if calls is None or calls[0] is not call:
            return ()
        del self._calls[key]
        return tuple(calls[1:])

    def leave(self, key: bytes, call: _T) -> _T | None:
        """A call is cancelled. When it was the one that asks: the call that has to ask in its place."""
        calls = self._calls.get(key)
        if calls is None:
            return None
        asks = calls[0] is call
        calls[:] = [other for other in calls if other is not call]
        if not calls:
            del self._calls[key]
            return None
        return calls[0] if asks else None
