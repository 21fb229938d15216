"""The engine's values as JSON and back, for the operator channel and for ``--json``.

A value becomes one JSON object per dataclass with the fields' own names; enums become their values,
tuples arrays. Events and commands are unions, so their object carries ``type``, the class's name.

Two versions of mms may talk to each other: unknown extra fields are ignored, a missing field takes
its default if it has one. Floats must be finite: JSON has no other ones.
"""

from __future__ import annotations

import functools
from typing import Any, TypeVar, cast, get_args

import msgspec

from proxy.commands import Command
from proxy.events import Event

_Value = TypeVar("_Value")


class WireError(ValueError):
    """The bytes are not the value that was expected; ``str()`` says where they differ."""


class _Tagged(msgspec.Struct):
    type: str


_EVENTS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Event)}
_COMMANDS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Command)}


def encode(value: object) -> bytes:
    """The value as one line of JSON (no newline in it, none at its end).

    Half surrogate pairs, which an upstream's JSON may contain, become U+FFFD: UTF-8 cannot hold them.
    """
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_whole_characters(msgspec.to_builtins(value)))


def decode(data: bytes | msgspec.Raw, kind: type[_Value]) -> _Value:
    """The value of that type. ``kind`` may be a generic alias such as ``tuple[CallRecord, ...]``.

    Raises `WireError`.
    """
    try:
        return cast("_Value", _decoder(kind).decode(data))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WireError(str(error)) from error


def encode_tagged(value: Event | Command) -> bytes:
    """An event or a command with the name of its class."""
    body = encode(value)
    head = b'{"type":"' + type(value).__name__.encode() + b'"'
    return head + b"}" if body == b"{}" else head + b"," + body[1:]


def decode_event(data: bytes | msgspec.Raw) -> Event | None:
    """The event; ``None`` for a kind that this version does not know. Raises `WireError`."""
    kind = _EVENTS.get(decode(data, _Tagged).type)
    return None if kind is None else decode(data, kind)


def decode_command(data: bytes | msgspec.Raw) -> Command:
    """The command. Raises `WireError`, also for a kind that this version does not know."""
    name = decode(data, _Tagged).type
    kind = _COMMANDS.get(name)
    if kind is None:
        raise WireError(f"{name!r} is no command that this version knows")
    return decode(data, kind)


@functools.cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def _whole_characters(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {
            _whole_characters(key): _whole_characters(item)
            for key, item in cast("dict[Any, Any]", value).items()
        }
    if isinstance(value, list | tuple):
        return [_whole_characters(item) for item in cast("list[Any]", value)]
    return value
