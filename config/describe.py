"""The settings for people and tools: rows with provenance, a JSON schema, the reference page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from config.environment import suggest_key, variable_of
from config.keys import Key, Kind, find_key, keys_of, leaf_keys, value_at
from config.load import Loaded, Source
from config.schema import Settings, UpstreamSettings
from config.secrets import shown_value
from config.toml_text import KeyPath, dotted, split_key, toml_value

NAME_PATTERN = "^[A-Za-z0-9_-]{1,32}$"
_ALWAYS_SHOWN = ("prefix", "enabled")
"""Keys of an upstream that are listed even with their defaults."""


class UnknownKeyError(LookupError):
    """There is no such key. ``str()`` says what may have been meant."""


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """One setting as it is in force."""

    key: str
    """Dotted."""
    value: str
    """As TOML, secrets redacted; empty for "not set"."""
    default: str
    source: Source
    where: str
    """``file:line`` or the variable's name; empty for defaults."""
    live: bool
    help: str


def setting_rows(loaded: Loaded) -> tuple[SettingInfo, ...]:
    """Every key in the order of the schema, then what is given about each upstream."""
    rows = [_info(loaded, path, key) for path, key in leaf_keys()]
    for name in loaded.settings.upstreams:
        for path, key in _upstream_keys(loaded, name):
            info = _info(loaded, path, key)
            if info.source is not Source.DEFAULT or path[-1] in _ALWAYS_SHOWN:
                rows.append(info)
    return tuple(rows)


def get(loaded: Loaded, key: str) -> SettingInfo:
    """One setting by its dotted key. Raises `UnknownKeyError`."""
    path = split_key(key)
    found = find_key(path) if path else None
    if path is None or found is None:
        raise UnknownKeyError(f"{key}: no such key. {suggest_key(path) if path else ''}".strip())
    if found.kind in (Kind.SECTION, Kind.SECTIONS):
        names = "" if found.section is None else f" Its keys: {', '.join(keys_of(found.section))}."
        raise UnknownKeyError(f"{key} is a table, not a key.{names}")
    try:
        return _info(loaded, path, found)
    except KeyError:
        raise UnknownKeyError(f"{key}: there is no such entry in the settings in force.") from None


def json_schema() -> dict[str, Any]:
    """The file as a JSON schema (draft 2020-12), for completion and checks in editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of mms",
        **_section_schema(Settings),
    }


def reference_markdown() -> str:
    """The reference page of all settings."""
    parts = [_INTRODUCTION]
    parts += _section_reference((), Settings, "")
    return "\n".join(parts).rstrip() + "\n"


def _upstream_keys(loaded: Loaded, name: str) -> Iterator[tuple[KeyPath, Key]]:
    at = ("upstreams", name)
    yield from leaf_keys(UpstreamSettings, at)
    tools = keys_of(UpstreamSettings)["tools"].section
    for tool in loaded.settings.upstreams[name].tools:
        if tools is not None:
            yield from leaf_keys(tools, (*at, "tools", tool))


def _info(loaded: Loaded, path: KeyPath, key: Key) -> SettingInfo:
    provenance = loaded.provenance_of(dotted(path))
    parent = find_key(path[:-1])
    if parent is not None and parent.kind is Kind.TABLE:
        provenance = loaded.provenance_of(dotted(path[:-1]))
    return SettingInfo(
        key=dotted(path),
        value=shown_value(path, key, value_at(loaded.settings, path)),
        default=_default(path, key),
        source=provenance.source,
        where=provenance.where,
        live=key.live,
        help=key.help,
    )


def _default(path: KeyPath, key: Key) -> str:
    if path[0] == "upstreams" and path[2:] == ("prefix",):
        from config.upstreams import default_prefix

        return toml_value(default_prefix(path[1]))
    return toml_value(key.default)


def _section_schema(section: type[Any]) -> dict[str, Any]:
    properties = {name: _key_schema(key) for name, key in keys_of(section).items()}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    if section is UpstreamSettings:
        schema["oneOf"] = [{"required": ["command"]}, {"required": ["url"]}]
    return schema


def _key_schema(key: Key) -> dict[str, Any]:
    described: dict[str, Any] = {"description": key.help}
    if key.kind is Kind.SECTION and key.section is not None:
        return {**described, **_section_schema(key.section)}
    if key.kind is Kind.SECTIONS and key.section is not None:
        schema = {
            **described,
            "type": "object",
            "additionalProperties": _section_schema(key.section),
        }
        if key.section is UpstreamSettings:
            schema["propertyNames"] = {"pattern": NAME_PATTERN}
        return schema
    described |= _type_schema(key)
    if not key.optional and key.kind is not Kind.TABLE and key.default not in ("", ()):
        described["default"] = getattr(key.default, "value", key.default)
    if key.minimum is not None:
        described["minimum"] = key.minimum
    if key.maximum is not None:
        described["maximum"] = key.maximum
    if key.name == "prefix":
        described |= {"pattern": NAME_PATTERN, "not": {"pattern": "__|_$"}}
    return described


def _type_schema(key: Key) -> dict[str, Any]:
    if key.kind is Kind.CHOICE and key.choices is not None:
        return {"enum": [choice.value for choice in key.choices]}
    if key.kind is Kind.TEXTS:
        return {"type": "array", "items": {"type": "string"}}
    if key.kind is Kind.TABLE:
        return {"type": "object", "additionalProperties": {"type": "string"}}
    names = {Kind.BOOLEAN: "boolean", Kind.INTEGER: "integer", Kind.NUMBER: "number"}
    return {"type": names.get(key.kind, "string")}


_INTRODUCTION = """\
# Settings

<!-- Written by `config.describe.reference_markdown`; a test keeps it current. -->

`mms config path` prints where the file is, `mms config show` what is in force and why, and
`mms config set KEY VALUE` changes one key and leaves the rest of the file as it was. While mms runs
it reads the file again as soon as it changes. A file with an error changes nothing; the last good
settings stay in force and the error is shown with its line.

A value comes from the first of these that gives one: a flag, an environment variable
(`MEMTOMEM_STM_` and the key in capitals, `__` between levels), the project's `.mms.toml`, your own
file, the default. A project's file can define neither upstreams nor the HTTP endpoint, and only
your own file defines upstreams. Your own file must not be writable by others
(`chmod go-w`), because it starts programs.

In an upstream's command, args, env, cwd, url and headers, `${VAR}` stands for an environment
variable, `${VAR:-text}` for one with a default, `$${` for the characters `${`, and `~/` at the
start for your home directory. A variable that is not set is an error, unless the upstream is
switched off.

```toml
[upstreams.files]
command = "npx"
args = ["-y", "@modelcontextprotocol/server-filesystem", "~/projects"]

[upstreams.issues]
prefix = "gh"
url = "https://mcp.example.com/mcp"
headers = { Authorization = "Bearer ${ISSUES_TOKEN}" }
```

*Live* means that a change takes effect while mms runs. *Reserved* means that the key is accepted
and nothing in this version reads it.
"""


def _section_reference(at: KeyPath, section: type[Any], help: str) -> Iterator[str]:
    """A heading, a table of the section's own keys, then the sections below it."""
    keys = keys_of(section)
    own = [k for k in keys.values() if k.kind not in (Kind.SECTION, Kind.SECTIONS)]
    if at:
        yield f"## `[{'.'.join(at)}]`\n"
        yield f"{help}\n"
    else:
        yield "## At the top of the file\n"
    if own:
        in_file_only = at[:1] == ("upstreams",)
        yield "| Key | Type | Default | Live | Meaning |"
        yield "|---|---|---|---|---|"
        for key in own:
            yield _reference_row((*at, key.name), key, in_file_only)
        yield ""
    for name, key in keys.items():
        if key.section is not None and key.kind is Kind.SECTION:
            yield from _section_reference((*at, name), key.section, key.help)
        elif key.section is not None and key.kind is Kind.SECTIONS:
            entry = "NAME" if key.section is UpstreamSettings else "TOOL"
            yield from _section_reference((*at, name, entry), key.section, key.help)


def _reference_row(path: KeyPath, key: Key, in_file_only: bool) -> str:
    meaning = key.help
    if not in_file_only and key.kind is not Kind.TABLE:
        meaning += f" Variable: `{variable_of(path)}`."
    default = toml_value(key.default)
    shown = f"`{default}`" if default and default != '""' else "not set"
    live = "yes" if key.live else "at the next start"
    return f"| `{key.name}` | {_type_text(key)} | {shown} | {live} | {meaning} |"


def _type_text(key: Key) -> str:
    if key.kind is Kind.CHOICE and key.choices is not None:
        return " or ".join(f"`{toml_value(choice)}`" for choice in key.choices)
    names = {
        Kind.BOOLEAN: "boolean",
        Kind.INTEGER: "integer",
        Kind.NUMBER: "number",
        Kind.TEXT: "text",
        Kind.TEXTS: "array of texts",
        Kind.TABLE: "table of texts",
    }
    bounds = ""
    if key.minimum is not None and key.maximum is not None:
        bounds = f", {key.minimum} to {key.maximum}"
    elif key.minimum is not None:
        bounds = f", from {key.minimum}"
    elif key.maximum is not None:
        bounds = f", up to {key.maximum}"
    return names[key.kind] + bounds


if __name__ == "__main__":
    print(reference_markdown(), end="")  # noqa: T201  # python -m config.describe > docs/settings.md
