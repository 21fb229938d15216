"""What must hold for an upstream beyond the types of its keys, and its expanded settings.

Names and prefixes become parts of file names and of tool names, so they are narrow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from config.check import Checker, Values
from config.expand import Expanded, expand
from config.keys import Kind, keys_of
from config.problem import Severity
from config.schema import ToolSettings, UpstreamSettings, UpstreamTransport
from config.toml_text import KeyPath, dotted

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}\Z")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_Texts = str | tuple[str, ...] | Mapping[str, str]
_NAME_RULE = "Use 1 to 32 letters, digits, - and _."


@dataclass(slots=True)
class UpstreamReader:
    """Makes the upstreams out of checked values; problems go to the checker."""

    checker: Checker
    environ: Mapping[str, str]
    variables: set[str] = field(default_factory=set[str])
    """Names of the variables that were expanded."""

    def read(self, values: Values) -> Mapping[str, UpstreamSettings]:
        """All upstreams without an error, in the order of the file."""
        found: dict[str, UpstreamSettings] = {}
        owners: dict[str, str] = {}
        for name in values.get(("upstreams",), ()):
            upstream = self._one(name, values)
            other = owners.setdefault(upstream.prefix, name)
            if other != name:
                self.checker.report(
                    ("upstreams", name, "prefix"),
                    f"upstream {other} already has the prefix {upstream.prefix}",
                    f'Give one of them another, for example prefix = "{upstream.prefix[:30]}2".',
                )
            found[name] = upstream
        broken = {
            problem.upstream
            for problem in self.checker.problems
            if problem.severity is Severity.ERROR
        }
        return MappingProxyType(
            {name: upstream for name, upstream in found.items() if name not in broken}
        )

    def _one(self, name: str, values: Values) -> UpstreamSettings:
        at = ("upstreams", name)
        if not _NAME.match(name):
            self.checker.report(at, "not a valid name of an upstream", _NAME_RULE)
        given: dict[str, Any] = {
            key.name: values[(*at, key.name)]
            for key in keys_of(UpstreamSettings).values()
            if key.kind is not Kind.SECTIONS and (*at, key.name) in values
        }
        # A switched-off upstream may wait for its variables; nothing of it is started.
        enabled = given.get("enabled", True)
        severity = Severity.ERROR if enabled else Severity.WARNING
        complete = self._expand(at, given, severity)
        self._prefix(at, name, given)
        self._target(at, given)
        if complete:
            self._texts(at, given)
        for table in ("env", "headers"):
            if table in given:
                given[table] = MappingProxyType(given[table])
        tools = {
            tool: ToolSettings(**_below((*at, "tools", tool), values))
            for tool in values.get((*at, "tools"), ())
        }
        return UpstreamSettings(name=name, tools=MappingProxyType(tools), **given)

    def _prefix(self, at: KeyPath, name: str, given: dict[str, Any]) -> None:
        prefix = given.get("prefix")
        if prefix is None:
            given["prefix"] = default_prefix(name)
        elif not _NAME.match(prefix):
            self.checker.report((*at, "prefix"), "not a valid prefix", _NAME_RULE)
        elif "__" in prefix or prefix.endswith("_"):
            self.checker.report(
                (*at, "prefix"),
                "a prefix must not contain __ or end with _",
                f'Two underscores separate it from the tool. Try prefix = "{default_prefix(prefix)}".',
            )

    def _target(self, at: KeyPath, given: dict[str, Any]) -> None:
        """Exactly one of command and url, in agreement with the transport."""
        transport = given.get("transport", UpstreamTransport.AUTO)
        has_command, has_url = bool(given.get("command")), bool(given.get("url"))
        problems_before = {
            problem.key for problem in self.checker.problems if problem.upstream == at[1]
        }
        if problems_before & {dotted((*at, "command")), dotted((*at, "url"))}:
            return  # the target is there and wrong, which is already said
        if has_command and has_url:
            self.checker.report(at, "both command and url are given", "Keep one of them.")
        elif not has_command and not has_url:
            self.checker.report(
                at,
                "neither command nor url is given",
                'Add command = "…" for a program or url = "https://…" for a server.',
            )
        elif transport is UpstreamTransport.STDIO and has_url:
            self.checker.report(
                (*at, "transport"),
                "stdio needs a command, but a url is given",
                'Write transport = "http", or leave it out.',
            )
        elif transport is UpstreamTransport.HTTP and has_command:
            self.checker.report(
                (*at, "transport"),
                "http needs a url, but a command is given",
                'Write transport = "stdio", or leave it out.',
            )

    def _texts(self, at: KeyPath, given: dict[str, Any]) -> None:
        """Texts that no program or server could take. Values are not shown: they are expanded."""
        report = self.checker.report
        for name in ("command", "cwd", "url"):
            if "\0" in given.get(name, ""):
                report((*at, name), "contains a null character", "Take it out.")
        for n, argument in enumerate(given.get("args", ())):
            if "\0" in argument:
                key = f"{dotted((*at, 'args'))}[{n}]"
                report((*at, "args"), "contains a null character", "Take it out.", key=key)
        for name, value in given.get("env", {}).items():
            if not name or "=" in name or "\0" in name + value:
                report((*at, "env", name), "not a valid variable", "Check its name and value.")
        for name, value in given.get("headers", {}).items():
            if not _HEADER.match(name):
                report((*at, "headers", name), "not a valid name of a header", "Check its name.")
            elif any(char in value for char in "\r\n\0"):
                report((*at, "headers", name), "contains a line break", "Take it out.")
        cwd = given.get("cwd", "")
        if cwd and not PurePath(cwd).is_absolute():
            report(
                (*at, "cwd"),
                "a relative directory depends on where mms was started",
                "Write the full path, or begin it with ~/.",
            )
        if given.get("url") and not _is_web_address(given["url"]):
            report(
                (*at, "url"),
                "not an address of a streamable HTTP server",
                "It begins with http:// or https:// and a host.",
            )

    def _expand(self, at: KeyPath, given: dict[str, Any], severity: Severity) -> bool:
        """Expand in place. True when every reference had a value."""
        complete = True
        for key in keys_of(UpstreamSettings).values():
            value: _Texts | None = given.get(key.name)
            if not key.expand or not value:
                continue
            texts: list[str] = []
            for label, path, text in _labelled((*at, key.name), value):
                expanded = expand(text, self.environ)
                self.variables.update(expanded.used)
                complete = self._report_expansion(path, label, expanded, severity) and complete
                texts.append(expanded.text)
            if isinstance(value, str):
                given[key.name] = texts[0]
            elif isinstance(value, tuple):
                given[key.name] = tuple(texts)
            else:
                given[key.name] = dict(zip(value, texts, strict=True))
        return complete

    def _report_expansion(
        self, path: KeyPath, label: str, expanded: Expanded, severity: Severity
    ) -> bool:
        for name in expanded.missing:
            self.checker.report(
                path,
                f"variable {name} is not set",
                f"Set it where mms is started, or give a default: ${{{name}:-…}}.",
                key=label,
                severity=severity,
            )
        for reference in expanded.malformed:
            self.checker.report(
                path,
                f"{reference[:40]} names no variable",
                "Write ${NAME} or ${NAME:-default}; for the plain characters write $${.",
                key=label,
                severity=severity,
            )
        return not expanded.missing and not expanded.malformed


def default_prefix(name: str) -> str:
    """The prefix of an upstream that gives none: its name, without what separates it from tools."""
    return re.sub(r"_{2,}", "_", name).rstrip("_") or "upstream"


def _labelled(path: KeyPath, value: _Texts) -> list[tuple[str, KeyPath, str]]:
    """Each text of a value: how problems name it, the key where it stands, and the text."""
    if isinstance(value, str):
        return [(dotted(path), path, value)]
    if isinstance(value, tuple):
        return [(f"{dotted(path)}[{n}]", path, text) for n, text in enumerate(value)]
    return [(dotted((*path, name)), (*path, name), text) for name, text in value.items()]


def _below(at: KeyPath, values: Values) -> dict[str, Any]:
    return {path[-1]: value for path, value in values.items() if path[:-1] == at}


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and (parts.port is None or parts.port > 0)
            and not any(char <= " " for char in url)
        )
    except ValueError:
        return False
