"""The schema as data: which keys exist, and what they accept.

Loader, editor, environment, JSON schema and documentation all walk these keys, so a setting that is
added to `config.schema` works everywhere at once.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from config.schema import Settings
from config.toml_text import KeyPath


class Kind(Enum):
    """What a key accepts."""

    BOOLEAN = "true or false"
    INTEGER = "a whole number"
    NUMBER = "a number"
    TEXT = "text in quotes"
    CHOICE = "one of some words"
    TEXTS = "an array of texts"
    TABLE = "a table of texts"
    SECTION = "a table"
    SECTIONS = "a table of tables"


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table, as `config.schema` declares it."""

    name: str
    kind: Kind
    default: Any
    help: str
    optional: bool = False
    """The default means "not set" (another value stands in)."""
    live: bool = True
    minimum: float | None = None
    maximum: float | None = None
    secret: bool = False
    expand: bool = False
    choices: type[Enum] | None = None
    """The enumeration of a ``CHOICE``."""
    section: type[Any] | None = None
    """The dataclass behind a ``SECTION`` or behind each entry of ``SECTIONS``."""


@cache
def keys_of(section: type[Any]) -> Mapping[str, Key]:
    """The keys of one settings dataclass: its own in the order of the schema, then inherited ones."""
    hints = typing.get_type_hints(section)
    fields = [field for field in dataclasses.fields(section) if "help" in field.metadata]
    own = section.__annotations__
    return types.MappingProxyType(
        {
            field.name: _key(field, hints[field.name])
            for field in sorted(fields, key=lambda field: field.name not in own)
        }
    )


def find_key(path: KeyPath) -> Key | None:
    """The key at ``path``; for an entry of a table of texts, a key that accepts text.

    The empty path is the whole of the settings. Names of upstreams and tools are taken as given.
    """
    at = Key("", Kind.SECTION, None, "All settings.", section=Settings)
    for name in path:
        if at.kind is Kind.SECTION and at.section is not None:
            found = keys_of(at.section).get(name)
        elif at.kind is Kind.SECTIONS:
            found = dataclasses.replace(at, name=name, kind=Kind.SECTION)
        elif at.kind is Kind.TABLE:
            found = dataclasses.replace(at, name=name, kind=Kind.TEXT, default="")
        else:
            found = None
        if found is None:
            return None
        at = found
    return at


def leaf_keys(section: type[Any] = Settings, at: KeyPath = ()) -> Iterator[tuple[KeyPath, Key]]:
    """Every key with a value, nested sections included; tables of tables are left out."""
    for name, key in keys_of(section).items():
        if key.kind is Kind.SECTION and key.section is not None:
            yield from leaf_keys(key.section, (*at, name))
        elif key.kind is not Kind.SECTIONS:
            yield (*at, name), key


def value_at(settings: Any, path: KeyPath) -> Any:
    """The value of a key in a settings object. Raises `KeyError` when an entry does not exist."""
    value = settings
    for name in path:
        if isinstance(value, Mapping):
            value = typing.cast("Mapping[str, Any]", value)[name]
        else:
            value = getattr(value, name)
    return value


def _key(field: dataclasses.Field[Any], hint: Any) -> Key:
    metadata = dict(field.metadata)
    default = (
        field.default_factory()
        if field.default_factory is not dataclasses.MISSING
        else field.default
    )
    optional = False
    if isinstance(hint, types.UnionType):
        [hint] = [part for part in typing.get_args(hint) if part is not types.NoneType]
        optional = True
    kind, section = _kind(hint)
    return Key(
        name=field.name,
        kind=kind,
        default=default,
        optional=optional,
        choices=hint if kind is Kind.CHOICE else None,
        section=section,
        **metadata,
    )


def _kind(hint: Any) -> tuple[Kind, type[Any] | None]:
    simple = {bool: Kind.BOOLEAN, int: Kind.INTEGER, float: Kind.NUMBER, str: Kind.TEXT}
    if hint in simple:
        return simple[hint], None
    if typing.get_origin(hint) is tuple:
        return Kind.TEXTS, None
    if typing.get_origin(hint) is Mapping:
        entry = typing.get_args(hint)[1]
        return (Kind.TABLE, None) if entry is str else (Kind.SECTIONS, entry)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return Kind.SECTION, hint
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Kind.CHOICE, None
    raise TypeError(f"config.schema: no kind of key for {hint!r}")
