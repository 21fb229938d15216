"""Read the other programs' files and make the plan. The only part of an import that touches the disk."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from console.importing.plan import PlannedServer, make_plan
from console.importing.servers import FileProblem, FoundServer, UnreadableError
from console.importing.sources import Candidate, Machine, Source, candidates, named_file

LARGEST_FILE = 64 * 1024 * 1024
"""Bytes; ``~/.claude.json`` also holds history and grows to some megabytes."""


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """Everything that an import would do."""

    servers: tuple[PlannedServer, ...]
    problems: tuple[FileProblem, ...]
    """Files that could not be read; the others count."""
    files: tuple[str, ...]
    """Files that were read."""


def plan_import(
    environ: Mapping[str, str],
    directory: Path,
    config_file: Path,
    *,
    sources: Sequence[Source] = (),
    named: Sequence[Path] = (),
    all_projects: bool = False,
) -> ImportPlan:
    """Look at the known files, or those of ``sources``, or only at the ``named`` ones.

    ``config_file`` is the user's file of mms. A known file that does not exist is no problem, a named
    one is. Reads only.
    """
    machine = Machine(environ, directory)
    wanted: list[Candidate] = [named_file(machine, path) for path in named]
    if sources or not named:
        wanted += [
            one
            for one in candidates(machine, all_projects=all_projects)
            if not sources or one.source in sources
        ]
    found: list[tuple[Source, FoundServer]] = []
    problems: list[FileProblem] = []
    files: list[str] = []
    for candidate in wanted:
        file = str(candidate.path)
        try:
            text = _text_of(candidate.path)
            findings = candidate.read(text, file)
        except FileNotFoundError:
            if candidate.source is Source.FILE:
                problems.append(FileProblem(file, None, "there is no such file"))
        except OSError as error:
            problems.append(FileProblem(file, None, error.strerror or str(error)))
        except UnreadableError as error:
            problems.append(FileProblem(file, error.line, error.reason))
        else:
            files.append(file)
            problems += findings.problems
            found += [(candidate.source, server) for server in findings.servers]
    plan = make_plan(found, existing_upstreams(config_file), environ)
    return ImportPlan(plan, tuple(problems), tuple(files))


def existing_upstreams(config_file: Path) -> dict[str, dict[str, Any]]:
    """The tables under ``[upstreams]`` as they stand in the file; none if it cannot be read.

    Whether the file is valid is for whoever writes to it to say.
    """
    try:
        data = tomllib.loads(config_file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    upstreams = data.get("upstreams")
    if not isinstance(upstreams, dict):
        return {}
    tables = cast("dict[str, Any]", upstreams)
    return {name: table for name, table in tables.items() if isinstance(table, dict)}


def _text_of(path: Path) -> str:
    if path.stat().st_size > LARGEST_FILE:
        raise UnreadableError(f"larger than {LARGEST_FILE >> 20} MiB")
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableError("not text in UTF-8", line) from None
