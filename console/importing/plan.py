"""What an import would do: each found server compared with what is here and with the others. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any

from config.expand import expand
from config.schema import UpstreamSettings
from config.secrets import shown_target
from config.upstreams import default_prefix
from console.importing.servers import FoundServer
from console.importing.sources import Source

_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME = 32


class Status(Enum):
    """What an import does with a server."""

    NEW = "new"
    """It is added under the plan's name."""
    ALREADY_HERE = "already here"
    SAME_AS_ANOTHER = "same as another"
    """The same server is found twice; it is added once."""
    OURSELVES = "mms itself"
    UNUSABLE = "unusable"


@dataclass(frozen=True, slots=True)
class PlannedServer:
    """One line of the preview."""

    name: str
    """The name it gets, or has, here."""
    original_name: str
    source: Source
    file: str
    scope: str
    status: Status
    target: str
    """Command line or URL, secrets hidden."""
    variables: tuple[str, ...]
    """Names of its variables or headers; their values stay out of the preview."""
    notes: tuple[str, ...]
    table: Mapping[str, Any]
    """What is written, secrets included; never shown."""

    @property
    def importable(self) -> bool:
        """It would be added."""
        return self.status is Status.NEW


def make_plan(
    found: Iterable[tuple[Source, FoundServer]],
    existing: Mapping[str, Mapping[str, Any]],
    environ: Mapping[str, str],
) -> tuple[PlannedServer, ...]:
    """One line per found server, in the order in which they were found.

    ``existing``: the tables under ``[upstreams]`` as they stand in the user's file.
    """
    maker = _PlanMaker(existing, environ)
    return tuple(maker.plan(source, server) for source, server in found)


class _PlanMaker:
    def __init__(
        self, existing: Mapping[str, Mapping[str, Any]], environ: Mapping[str, str]
    ) -> None:
        self._environ = environ
        self._here = {identity(table): name for name, table in existing.items()}
        self._planned: dict[str, str] = {}
        self._names = set(existing)
        self._prefixes = {
            str(table.get("prefix") or default_prefix(name)) for name, table in existing.items()
        }

    def plan(self, source: Source, server: FoundServer) -> PlannedServer:
        if server.problem:
            return self._line(source, server, server.name, Status.UNUSABLE, (server.problem,))
        if why := _is_proxy(server.table):
            return self._line(source, server, server.name, Status.OURSELVES, (why,))
        key = identity(server.table)
        if key in self._here:
            here = self._here[key]
            return self._line(source, server, here, Status.ALREADY_HERE, (f"here as {here}",))
        if key in self._planned:
            name = self._planned[key]
            return self._line(source, server, name, Status.SAME_AS_ANOTHER, (f"same as {name}",))
        return self._new(source, server, key)

    def _new(self, source: Source, server: FoundServer, key: str) -> PlannedServer:
        table = dict(server.table)
        notes = list(server.notes)
        wanted = fit_name(server.name)
        name = self._free(wanted, source)
        if wanted != server.name:
            notes.append(f"renamed from {server.name}: only letters, digits, - and _, at most 32")
        if name != wanted:
            notes.append(f"{wanted} is another server here; named {name}")
        self._settle_prefix(name, table, notes)
        if missing := missing_variables(table, self._environ):
            table["enabled"] = False
            notes.append(f"switched off until these are set: {', '.join(missing)}")
        self._planned[key] = name
        self._names.add(name)
        return self._line(source, server, name, Status.NEW, notes, table)

    def _free(self, wanted: str, source: Source) -> str:
        """A name whose tools cannot be mistaken for another upstream's."""
        if self._is_free(wanted):
            return wanted
        endings = [source.value, *map(str, range(2, len(self._names) + 3))]
        for ending in endings:
            name = f"{wanted[: _LONGEST_NAME - len(ending) - 1]}-{ending}"
            if self._is_free(name):
                return name
        raise AssertionError("there is one more number than there are names")

    def _is_free(self, name: str) -> bool:
        return name not in self._names and default_prefix(name) not in self._prefixes

    def _settle_prefix(self, name: str, table: dict[str, Any], notes: list[str]) -> None:
        """Keep the prefix the server had, if it can be had."""
        prefix = table.get("prefix")
        if prefix is not None:
            fit = default_prefix(fit_name(str(prefix)))
            if fit == default_prefix(name):
                del table["prefix"]
            elif fit in self._prefixes:
                del table["prefix"]
                notes.append(f"its prefix {prefix} is taken; its tools begin with {name}")
            else:
                table["prefix"] = fit
                if fit != prefix:
                    notes.append(f"prefix {prefix} becomes {fit}")
        self._prefixes.add(str(table.get("prefix") or default_prefix(name)))

    def _line(
        self,
        source: Source,
        server: FoundServer,
        name: str,
        status: Status,
        notes: Sequence[str],
        table: Mapping[str, Any] | None = None,
    ) -> PlannedServer:
        kept = server.table if table is None else table
        names = (*kept.get("env", {}), *kept.get("headers", {}))
        return PlannedServer(
            name=name,
            original_name=server.name,
            source=source,
            file=server.file,
            scope=server.scope,
            status=status,
            target=_shown(kept),
            variables=names,
            notes=tuple(notes),
            table=kept,
        )


def identity(table: Mapping[str, Any]) -> str:
    """The same text for the same server, whatever it is called."""
    headers = {str(key).lower(): value for key, value in dict(table.get("headers", {})).items()}
    parts = [
        table.get("command", ""),
        list(table.get("args", ())),
        dict(table.get("env", {})),
        table.get("cwd", ""),
        str(table.get("url", "")).rstrip("/"),
        headers,
    ]
    return json.dumps(parts, sort_keys=True, default=str)


def fit_name(name: str) -> str:
    """The nearest valid name of an upstream."""
    return _UNFIT.sub("-", name).strip("-")[:_LONGEST_NAME].rstrip("-") or "upstream"


def missing_variables(table: Mapping[str, Any], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Variables that the table refers to and that are not set."""
    texts = [table.get(key, "") for key in ("command", "cwd", "url")]
    texts += table.get("args", ())
    for key in ("env", "headers"):
        texts += table.get(key, {}).values()
    found = [name for text in texts for name in expand(str(text), environ).missing]
    return tuple(dict.fromkeys(found))


def _shown(table: Mapping[str, Any]) -> str:
    if not table:
        return ""
    return shown_target(
        UpstreamSettings(
            command=str(table.get("command", "")),
            args=tuple(map(str, table.get("args", ()))),
            url=str(table.get("url", "")),
        )
    )


def _is_proxy(table: Mapping[str, Any]) -> str:
    """Why the server must not stand behind mms; empty if it may."""
    words = [PurePath(str(word)).name for word in (table.get("command"), *table.get("args", ()))]
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word.removesuffix(".exe") in ("mms", "mms.py") and following in ("connect", "serve"):
            return "this is mms; behind itself it would go round in circles"
        if word.removesuffix(".exe") in ("memtomem-stm", "memtomem_stm"):
            return "this is memtomem-stm, whose own servers are imported from stm_proxy.json"
    return ""
