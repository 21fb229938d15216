"""Which tools hosts are offered, and why the others are not. Pure.

Each tool is judged on its own: a bad one is withheld with a reason, never its upstream.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

from config.secret_formats import format_hits
from proxy import wire
from proxy.model import WithheldReason, WithheldTool
from proxy.tool_health import FailureShare

SEPARATOR = "__"
MAX_NAME = 128
"""Characters of an advertised name; hosts leave out tools with longer ones."""

_NAME = re.compile(r"[A-Za-z0-9_./-]+")
_RUN = 6
"""So many characters in the order of the alphabet or of the digits show that a key is made up."""
_RUNS = "01234567890 abcdefghijklmnopqrstuvwxyz"
_EXAMPLE_HOST = re.compile(
    r"@(?:[\w-]+\.)*(?:example(?:\.\w+)?|host(?:name)?|(?:my|your)?domain\.com)(?![\w.-])",
    re.IGNORECASE,
)
_EXAMPLE_PASSWORD = re.compile(
    r"(?:my|your|the|some|test|db)?[_-]?"
    r"(?:pass(?:word|wd)?|pwd?|secret|postgres|root|admin|user)[0-9]{0,3}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Offering:
    """What counts about the upstream of a tool."""

    upstream: str
    prefix: str
    hidden: Collection[str] = ()
    """Own names of tools that are switched off in the settings."""
    runs_tasks: bool = True
    """Its upstream says that it runs tool calls as tasks."""
    failing: Mapping[str, FailureShare] = field(default_factory=dict[str, FailureShare])
    """Own names of tools that are withheld since their calls failed."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names that are taken."""

    reserved: Collection[str]
    """Of mms's own tools."""
    owners: Mapping[str, Collection[tuple[str, str]]]
    """Upstream and own name of every tool that wants a name. Two of them: a call could go wrong."""
    taken: Collection[str]
    """Advertised already."""


def own_name(text: bytes) -> str:
    """The name in a definition; empty when there is none."""
    try:
        return wire.string(wire.members_of(text), "name") or ""
    except wire.MalformedMessage:
        return ""


def judge(
    offering: Offering, text: bytes, names: Names, looks_secret: Callable[[str], bool]
) -> WithheldTool | wire.Members:
    """The members of a definition that may be advertised, or why it may not."""
    try:
        members = wire.members_of(text)
    except wire.MalformedMessage as error:
        reason = f"its definition cannot be read: {error.reason}"
        return WithheldTool("?", reason, WithheldReason.UNREADABLE)
    name = wire.string(members, "name")
    if not name:
        return WithheldTool("?", "it has no name", WithheldReason.INVALID_NAME)
    checks = (
        _name_fault(offering, name, names),
        _definition_fault(members),
        _task_fault(offering, members),
    )
    found = next((fault for fault in checks if fault is not None), None)
    if found is None and _is_sensitive(text, looks_secret):
        found = (
            WithheldReason.SENSITIVE_METADATA,
            "its definition holds something that looks like a credential",
        )
    if found is None and name in offering.failing:
        share = offering.failing[name]
        calls = f"{share.failed} of its {share.calls} calls of the last 24 hours"
        reason = f"{calls} failed by its upstream's fault; proxy.max_error_share decides"
        found = (WithheldReason.UNHEALTHY, reason)
    return members if found is None else WithheldTool(name, found[1], found[0])


def runs_tasks(capabilities: wire.Members) -> bool:
    """Whether a server says that ``tools/call`` may be a task (revision 2025-11-25 or the extension)."""
    try:
        if "tasks" in capabilities:
            requests = wire.members_of(wire.members_of(capabilities["tasks"])["requests"])
            return "call" in wire.members_of(requests["tools"])
        return b"/tasks" in bytes(capabilities.get("extensions", b""))
    except (wire.MalformedMessage, KeyError):
        return False


def looks_sensitive(text: str) -> bool:
    """Whether a text holds a credential of a known format that is no example of a document.

    ``sk-…``, ``YOUR_API_KEY``, ``ghp_1234567890abcdef…`` and ``postgres://user:pass@localhost/db`` are
    examples.
    """
    return any(
        not _is_example(literal, text[start:end], text[end : end + 100])
        for literal, (start, end) in format_hits(text)
    )


_Fault = tuple[WithheldReason, str]


def _name_fault(offering: Offering, name: str, names: Names) -> _Fault | None:
    composed = offering.prefix + SEPARATOR + name
    if name in offering.hidden:
        return (
            WithheldReason.CONFIG_HIDDEN,
            f"switched off by upstreams.{offering.upstream}.tools.{name}.enabled",
        )
    if not _NAME.fullmatch(name):
        return (
            WithheldReason.INVALID_NAME,
            "its name has characters other than letters, digits and _ - . /",
        )
    if len(composed) > MAX_NAME:
        return (
            WithheldReason.NAME_OVERFLOW,
            f"its name with the prefix has {len(composed)} characters; hosts take {MAX_NAME}",
        )
    if composed in names.reserved:
        return (WithheldReason.RESERVED_NAME, f"the name {composed} is one of mms's own tools")
    others = [owner for owner in names.owners.get(composed, ()) if owner[0] != offering.upstream]
    if others:
        where = f"by {others[0][0]} as well"
    elif composed in names.taken:
        where = "twice by this upstream"
    else:
        return None
    return (WithheldReason.DUPLICATE_NAME, f"the name {composed} is offered {where}")


def _definition_fault(members: wire.Members) -> _Fault | None:
    for key in ("description", "title"):
        if key in members and wire.text_of(members[key]) is None and bytes(members[key]) != b"null":
            return WithheldReason.UNREADABLE, f"its {key} is not a text"
    schema = bytes(members.get("inputSchema", b"")).strip()
    if not schema.startswith(b"{"):
        what = "it has no input schema" if not schema else "its input schema is not an object"
        return WithheldReason.INVALID_SCHEMA, what
    try:
        declared = wire.members_of(schema)
    except wire.MalformedMessage as error:
        return WithheldReason.INVALID_SCHEMA, f"its input schema cannot be read: {error.reason}"
    if "type" in declared and wire.text_of(declared["type"]) != "object":
        return WithheldReason.INVALID_SCHEMA, "its input schema does not describe an object"
    return None


def _task_fault(offering: Offering, members: wire.Members) -> _Fault | None:
    """A task is relayed like any call, so only an upstream that runs none makes it impossible."""
    if offering.runs_tasks or "execution" not in members:
        return None
    try:
        support = wire.string(wire.members_of(members["execution"]), "taskSupport")
    except wire.MalformedMessage:
        return None
    if support != "required":
        return None
    return (
        WithheldReason.TASK_REQUIRED,
        "it runs as a task only, but its upstream does not say that it runs tasks",
    )


@lru_cache(maxsize=2048)
def _is_sensitive(text: bytes, looks_secret: Callable[[str], bool]) -> bool:
    """Kept for the next time, since lists are derived often."""
    return any(looks_secret(part) for part in _texts(text))


def _texts(text: bytes) -> Iterator[str]:
    """The definition as it is read: with escapes, a credential could hide in its JSON text."""
    decoded = text.decode("utf-8", "replace")
    yield decoded
    if b"\\" in text:
        try:
            yield "\n".join(_strings(wire.value_of(text)))
        except (wire.MalformedMessage, UnicodeDecodeError):
            return


def _strings(value: Any) -> Iterator[str]:
    waiting: list[Any] = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            for name, member in cast("dict[str, Any]", one).items():
                yield name
                waiting.append(member)
        elif isinstance(one, list):
            waiting += cast("list[Any]", one)


def _is_example(literal: str, value: str, after: str) -> bool:
    if literal == "://":
        return bool(_EXAMPLE_PASSWORD.fullmatch(value) or _EXAMPLE_HOST.match(after))
    low = value.lower()
    return any(_RUNS[at : at + _RUN] in low for at in range(len(_RUNS) - _RUN + 1))
