"""Read all sources, check them, and put them together with their provenance.

Precedence, strongest first: flag, environment, project file, user file, default. Loading never
raises for what a person wrote: everything valid is kept and the rest is reported.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from config.check import Values
from config.document import Document
from config.environment import read_environment, read_flags, variable_of
from config.keys import Kind, keys_of
from config.paths import Paths
from config.problem import Problem, Severity
from config.schema import Settings
from config.toml_text import KeyPath, dotted
from config.upstreams import UpstreamReader

PROJECT_FILE = ".mms.toml"


class Source(Enum):
    """Where a value comes from, strongest last."""

    DEFAULT = "default"
    USER_FILE = "user file"
    PROJECT_FILE = "project file"
    ENVIRONMENT = "environment"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Source of one value."""

    source: Source
    where: str
    """``file:line`` or the variable's name; empty for defaults and flags."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The outcome of reading everything once."""

    settings: Settings
    """Best effort. An upstream with an error is left out."""
    provenance: Mapping[str, Provenance]
    """By dotted key; a key that is not here has its default."""
    problems: tuple[Problem, ...]
    files: tuple[Path, ...]
    """The files to watch, whether they exist or not."""
    variables: frozenset[str] = frozenset()
    """Names of the variables that upstreams refer to and that are set."""
    user_file_missing: bool = False
    """There is no user's file, which is fine at the start and odd later."""

    def provenance_of(self, key: str) -> Provenance:
        """Where the value of a dotted key comes from."""
        return self.provenance.get(key, _DEFAULT)


_DEFAULT = Provenance(Source.DEFAULT, "")


@dataclass(slots=True)
class _Layer:
    """What one source says."""

    source: Source
    values: Values
    where: Callable[[KeyPath], str]


def load_settings(
    paths: Paths,
    environ: Mapping[str, str],
    *,
    project_directory: Path | None,
    flags: Mapping[str, str] = MappingProxyType({}),
) -> Loaded:
    """Read the files, the environment and the flags (``{dotted key: typed text}``)."""
    files = [paths.config_file]
    user = Document(paths.config_file)
    layers = [
        _Layer(Source.USER_FILE, user.check(user.read(own=True), own=True), user.where),
    ]
    problems: list[Problem] = []
    if project_directory is not None:
        files.append(project_directory / PROJECT_FILE)
        project = Document(files[-1])
        values = project.check(project.read(own=False), own=False)
        layers.append(_Layer(Source.PROJECT_FILE, values, project.where))
        problems += project.checker.problems
    values, found = read_environment(environ)
    layers.append(_Layer(Source.ENVIRONMENT, values, variable_of))
    problems += found
    values, found = read_flags(flags)
    layers.append(_Layer(Source.FLAG, values, lambda _: ""))
    problems += found
    return _assemble(user, layers, problems, environ, tuple(files))


def problems_in(text: str, file: Path, environ: Mapping[str, str]) -> tuple[Problem, ...]:
    """What would be wrong with ``file`` as the user's file if it held ``text``."""
    document = Document(file)
    layer = _Layer(Source.USER_FILE, document.check(text, own=True), document.where)
    return _assemble(document, [layer], [], environ, (file,)).problems


def _assemble(
    user: Document,
    layers: list[_Layer],
    problems: list[Problem],
    environ: Mapping[str, str],
    files: tuple[Path, ...],
) -> Loaded:
    """Merge the layers, weakest first, and build the settings."""
    reader = UpstreamReader(user.checker, environ)
    upstreams = reader.read(layers[0].values)
    values: Values = {}
    provenance: dict[str, Provenance] = {}
    for layer in layers:
        for path, value in layer.values.items():
            # Tables of texts merge entry by entry, as tables do in general.
            is_table = isinstance(value, Mapping) and path in values
            values[path] = {**values[path], **value} if is_table else value
            provenance[dotted(path)] = Provenance(layer.source, layer.where(path))
    return Loaded(
        settings=dataclasses.replace(_build(Settings, values, ()), upstreams=upstreams),
        provenance=MappingProxyType(provenance),
        problems=tuple(sorted((*user.checker.problems, *problems), key=_reading_order)),
        files=files,
        variables=frozenset(reader.variables),
        user_file_missing=user.is_missing,
    )


def _build(section: type[Any], values: Values, at: KeyPath) -> Any:
    """One settings dataclass from the values below ``at``; what is missing has its default."""
    given: dict[str, Any] = {}
    for name, key in keys_of(section).items():
        path = (*at, name)
        if key.kind is Kind.SECTION and key.section is not None:
            given[name] = _build(key.section, values, path)
        elif key.kind is Kind.TABLE and path in values:
            given[name] = MappingProxyType(values[path])
        elif key.kind is not Kind.SECTIONS and path in values:
            given[name] = values[path]
    return section(**given)


def _reading_order(problem: Problem) -> tuple[bool, str, int, int]:
    """By file and line, warnings behind errors."""
    is_warning = problem.severity is Severity.WARNING
    return (is_warning, problem.file, problem.line or 0, problem.column or 0)
