"""What the bridge keeps in mind of the lines that it passes on: requests without answer, the handshake.

Standard library only. Ids are looked for at the ends of a line, where writers of JSON-RPC put them; the
line is parsed only when they are not there.
"""

from __future__ import annotations

import re

_ID = rb'"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")'
_METHOD = rb'"method"\s*:\s*"([^"\\]*)"'
_VERSION = rb'(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?'
_ID_FIRST = re.compile(
    rb"\{\s*" + _VERSION + _ID + rb"\s*,\s*(?:" + _METHOD + rb'|("(?:result|error)")\s*:)?'
)
_METHOD_FIRST = re.compile(rb"\{\s*" + _VERSION + _METHOD + rb"\s*(?:,\s*" + _ID + rb"\s*[,}])?")
_ID_LAST = re.compile(_ID + rb"\s*\}\s*\Z")
_ENDS = 4096
"""Bytes that are kept of either end of a line that is still being read."""
_LONG = 1 << 16


class Ledger:
    """The host's requests that the station has not answered, and how the host introduced itself."""

    def __init__(self) -> None:
        self.under_way: set[bytes] = set()
        """Ids as they stand in the line."""
        self.initialize = b""
        self.initialized = b""
        self._host_rest = b""
        self._station_rest = b""
        self._swallow: bytes | None = None

    @property
    def held(self) -> int:
        """Bytes of unfinished lines that are kept."""
        return len(self._host_rest) + len(self._station_rest)

    @property
    def repeating(self) -> bool:
        """The answer to a repeated handshake is still to come, and to be kept from the host."""
        return self._swallow is not None

    def station_lost(self) -> list[bytes]:
        """Forget what was under way; the ids that now need an answer."""
        self._station_rest = b""
        lost = sorted(self.under_way)
        self.under_way.clear()
        return lost

    def repeat_handshake(self) -> bytes:
        """The host's introduction, for another station, whose answer the host must not see."""
        found = request_of(self.initialize.strip())
        self._swallow = found[1] if found else None
        return self.initialize + self.initialized

    def from_host(self, data: bytes) -> None:
        """Note what the host sends."""
        self._host_rest, lines = _lines(self._host_rest, data)
        for line in lines:
            found = request_of(line)
            if found is None:
                continue
            method, id = found
            if method == b"notifications/initialized":
                self.initialized = line + b"\n"
            elif id is not None:
                self.under_way.add(id)
                if method == b"initialize":
                    self.initialize = line + b"\n"

    def host_goes_on(self, piece: memoryview) -> None:
        """Note a piece of a line of the host's that neither begins another one nor ends it."""
        self._host_rest = _longer(self._host_rest, piece)

    def station_goes_on(self, piece: memoryview) -> None:
        """Note such a piece of a line of the station's."""
        self._station_rest = _longer(self._station_rest, piece)

    def from_station(self, data: bytes) -> bytes:
        """Note what the station sends; returns what the host is to see of it."""
        self._station_rest, lines = _lines(self._station_rest, data)
        for line in lines:
            head = _ID_FIRST.match(line)  # the station writes the id of an answer first
            if head is None or head.group(3) is None:
                continue
            id = head.group(1)
            self.under_way.discard(id)
            if id == self._swallow:
                self._swallow = None
                data = data.replace(line + b"\n", b"", 1)
        return data


def request_of(line: bytes) -> tuple[bytes, bytes | None] | None:
    """Method and id of a request or notification (which has no id); ``None`` for anything else."""
    head = _ID_FIRST.match(line)
    if head is not None and head.group(3) is not None:
        return None
    if head is not None and head.group(2) is not None:
        return head.group(2), head.group(1)
    head = _METHOD_FIRST.match(line)
    if head is not None:
        if head.group(2) is not None:
            return head.group(1), head.group(2)
        tail = _ID_LAST.search(line[-512:])
        return head.group(1), tail.group(1) if tail else _middle_id(line)
    return _parsed(line)


def _middle_id(line: bytes) -> bytes | None:
    """An id that is neither first nor last; costs a parse, which common writers never bring about."""
    if b'"id"' not in line:
        return None
    found = _parsed(line)
    return None if found is None else found[1]


def _parsed(line: bytes) -> tuple[bytes, bytes | None] | None:
    import json  # not at the top: hosts wait for our start

    try:
        message = json.loads(line)
        method, id = message["method"], message.get("id")
    except (ValueError, RecursionError, TypeError, KeyError):
        return None
    if not isinstance(method, str):
        return None
    known = isinstance(id, (int, str)) and not isinstance(id, bool)
    return method.encode(), json.dumps(id).encode() if known else None


def _lines(rest: bytes, data: bytes) -> tuple[bytes, list[bytes]]:
    """The unfinished line, and the complete ones without their ends."""
    end = data.find(b"\n")
    if end < 0:
        return _longer(rest, memoryview(data)), []
    lines = [rest + data[:end]]
    start = end + 1
    while (end := data.find(b"\n", start)) >= 0:
        lines.append(data[start:end])
        start = end + 1
    return data[start:], lines


def _longer(rest: bytes, piece: memoryview) -> bytes:
    """The unfinished line with its next piece; of a long one only both ends."""
    if len(rest) + len(piece) <= _LONG:
        return rest + piece
    begin = rest[:_ENDS]
    begin += piece[: _ENDS - len(begin)]
    return begin + (piece[-_ENDS:] if len(piece) >= _ENDS else (rest + piece)[-_ENDS:])
