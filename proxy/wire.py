"""JSON-RPC messages as their members' own bytes: read once, change three members, write the rest as it came.

Typed models would drop what they do not know and rewrite numbers; a relay must not. So a message is a
dict from member name to the exact JSON text of its value. No I/O.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, NoReturn

import msgspec

Raw = msgspec.Raw
"""The JSON text of one value, as bytes."""

Members = dict[str, Raw]
"""The members of one JSON object, in their order."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
SERVER_ERROR = -32000
"""What mms itself answers when an upstream cannot (JSON-RPC's range for implementations)."""
RESOURCE_NOT_FOUND = -32002
UNSUPPORTED_VERSION = -32022

MAX_DEPTH = 400
"""Deeper nesting is refused: recursive readers of hosts would fail on it."""


class HostRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A request in the form that all common hosts write: these members and no others."""

    id: Raw
    method: str
    params: Members
    jsonrpc: Raw = Raw()


_REQUEST = msgspec.json.Decoder(HostRequest)
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
_STRING = msgspec.json.Decoder(str)
_ENCODER = msgspec.json.Encoder()
_ID_NEAR_THE_ENDS = re.compile(rb'"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")')
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]|[^"{}\[\]]+', re.DOTALL)
_VERSION = Raw(b'"2.0"')


class MessageKind(Enum):
    """What a JSON-RPC object is, by its members."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESPONSE = "response"
    NONE = "none"
    """No JSON-RPC message at all."""


class MalformedMessage(Exception):
    """A line is no JSON object that can be passed on. ``id`` is what could be found of its id."""

    def __init__(self, reason: str, id: bytes | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.id = id


def parse(line: bytes) -> Members:
    """Read the top-level members of one line.

    The values are checked to be JSON but not built. Lone surrogates are let through, since the
    common readers accept them; NaN, invalid UTF-8 and nesting beyond `MAX_DEPTH` are not.
    Raises `MalformedMessage`.
    """
    try:
        members = _MEMBERS.decode(line)
        if not line.isascii():
            line.decode()
    except UnicodeDecodeError as error:
        raise MalformedMessage(f"byte {error.start} is not valid UTF-8", _find_id(line)) from None
    except (msgspec.DecodeError, RecursionError) as error:
        return _parse_odd(line, error)
    return members


def request_in(line: bytes) -> HostRequest | None:
    """Read a common request in one go, down to the members of its parameters.

    ``None`` for everything else, be it fine or not: `parse` tells.
    """
    try:
        request = _REQUEST.decode(line)
        if not line.isascii():
            line.decode()
    except (UnicodeDecodeError, msgspec.MsgspecError, RecursionError):
        return None
    return request


def members_of(value: Raw | bytes) -> Members:
    """Read the members of an object inside a message. Raises `MalformedMessage`."""
    if isinstance(value, Raw):  # its line was checked: neither a copy nor a second look is needed
        try:
            return _MEMBERS.decode(value)
        except (msgspec.DecodeError, RecursionError) as error:
            return _parse_odd(bytes(value), error)
    return parse(value)


def items_of(value: Raw | bytes) -> list[Raw]:
    """Read the items of an array inside a message. Raises `MalformedMessage`."""
    data = bytes(value)
    try:
        return _ITEMS.decode(data)
    except (msgspec.DecodeError, RecursionError):
        members = _split_container(data, b"[", b"]")
        return [Raw(item) for item in members]


def text_of(value: Raw | bytes) -> str | None:
    """The string that a value is; ``None`` when it is none."""
    try:
        return _STRING.decode(value)
    except msgspec.DecodeError:
        try:
            decoded = json.loads(bytes(value))
        except (ValueError, RecursionError):
            return None
        return decoded if isinstance(decoded, str) else None


def string(members: Members, name: str) -> str | None:
    """A member that is a string; ``None`` when it is missing or something else."""
    return text_of(members[name]) if name in members else None


def value_of(value: Raw | bytes) -> Any:
    """Build the value. For small things only. Raises `MalformedMessage`."""
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        try:
            return json.loads(bytes(value))
        except (ValueError, RecursionError) as error:
            raise MalformedMessage(str(error)) from None


def raw(value: Any) -> Raw:
    """The JSON text of a value of ours. Lone surrogates in texts are escaped."""
    try:
        return Raw(_ENCODER.encode(value))
    except UnicodeEncodeError:
        return Raw(json.dumps(value, separators=(",", ":")).encode())


def encode(members: Mapping[str, Raw | str | int]) -> bytes:
    """One JSON object from its members; raw values are copied as they are."""
    return _ENCODER.encode(members)


def kind_of(members: Members) -> MessageKind:
    """Tell requests, notifications and responses apart."""
    if "method" in members:
        return MessageKind.REQUEST if "id" in members else MessageKind.NOTIFICATION
    if "id" in members and ("result" in members or "error" in members):
        return MessageKind.RESPONSE
    return MessageKind.NONE


def request(id: Raw | int, method: str, params: Raw | None = None) -> bytes:
    """A request frame."""
    message: dict[str, Raw | str | int] = {"jsonrpc": _VERSION, "id": id, "method": method}
    if params is not None:
        message["params"] = params
    return _ENCODER.encode(message)


def notification(method: str, params: Raw | None = None) -> bytes:
    """A notification frame."""
    message: dict[str, Raw | str] = {"jsonrpc": _VERSION, "method": method}
    if params is not None:
        message["params"] = params
    return _ENCODER.encode(message)


def result(id: Raw, value: Raw | bytes) -> bytes:
    """A response frame that carries a result given as JSON text."""
    return b'{"jsonrpc":"2.0","id":' + bytes(id) + b',"result":' + bytes(value) + b"}"


def response(id: Raw, members: Members) -> bytes:
    """A response of somebody else's under another id.

    ``jsonrpc`` and ``id`` come first, whatever the order was: the bridge looks for them there.
    """
    return _ENCODER.encode({"jsonrpc": _VERSION, "id": id} | members | {"id": id})


def error_value(code: int, message: str, data: Any = None) -> Raw:
    """The ``error`` member of a response."""
    body: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        body["data"] = data
    return raw(body)


def error(id: Raw | None, code: int, message: str, data: Any = None) -> bytes:
    """A response frame that carries an error."""
    return _ENCODER.encode(
        {
            "jsonrpc": _VERSION,
            "id": Raw(b"null") if id is None else id,
            "error": error_value(code, message, data),
        }
    )


def tool_error(text: str) -> Raw:
    """A tool result that tells the model what went wrong, in words it can act on."""
    return raw({"content": [{"type": "text", "text": text}], "isError": True})


def _parse_odd(line: bytes, cause: Exception) -> Members:
    """Second opinion on a line that the fast reader refused."""
    found = _find_id(line)
    if line[:1] == b"[":
        raise MalformedMessage("batches are not part of the protocol", found)
    body = line.removeprefix(b"\xef\xbb\xbf")
    if _depth(body) > MAX_DEPTH:
        raise MalformedMessage(f"nested deeper than {MAX_DEPTH} levels", found)
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise MalformedMessage(f"byte {error.start} is not valid UTF-8", found) from None
    except (ValueError, RecursionError):
        raise MalformedMessage(f"not JSON ({_short(cause)})", found) from None
    if not isinstance(value, dict):
        raise MalformedMessage("not a JSON object", None)
    pieces = _split_container(body, b"{", b"}")
    members: Members = {}
    for piece in pieces:
        name, end = json.JSONDecoder().raw_decode(piece.decode())
        rest = piece.decode()[end:].lstrip()
        members[name] = Raw(rest[1:].strip().encode())
    return members


def _split_container(body: bytes, opening: bytes, closing: bytes) -> list[bytes]:
    """Cut valid JSON at the commas of its outermost level."""
    body = body.strip()
    if body[:1] != opening or body[-1:] != closing:
        raise MalformedMessage("not the expected JSON container")
    pieces: list[bytes] = []
    depth = 0
    start = 1
    for match in _TOKEN.finditer(body):
        token = match.group()
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and token[:1] != b'"':
            at = match.start()
            for offset, byte in enumerate(token):
                if byte == 0x2C:  # a comma
                    pieces.append(body[start : at + offset].strip())
                    start = at + offset + 1
    last = body[start:-1].strip()
    if last:
        pieces.append(last)
    return pieces


def _depth(body: bytes) -> int:
    depth = deepest = 0
    for match in _TOKEN.finditer(body):
        token = match.group()
        if token in (b"{", b"["):
            depth += 1
            deepest = max(deepest, depth)
        elif token in (b"}", b"]"):
            depth -= 1
    return deepest


def _find_id(line: bytes) -> bytes | None:
    """Look for an id near both ends, where writers of JSON-RPC put it."""
    match = _ID_NEAR_THE_ENDS.search(line[:256]) or _ID_NEAR_THE_ENDS.search(line[-128:])
    return match.group(1) if match else None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _short(cause: Exception) -> str:
    return str(cause).split("\n", 1)[0][:120] or type(cause).__name__
