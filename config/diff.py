"""What a reload changed, as values and as sentences. Pure; secrets never leave in clear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from config.keys import Key, keys_of, leaf_keys, value_at
from config.schema import Settings, UpstreamSettings
from config.secrets import shown_value
from config.toml_text import KeyPath, dotted


@dataclass(frozen=True, slots=True)
class KeyChange:
    """One key with a new value."""

    key: str
    """Dotted; keys of upstreams included."""
    old: str
    """As TOML, secrets redacted; empty for "not set"."""
    new: str
    live: bool
    """The new value is in force; otherwise it waits for the next start."""


@dataclass(frozen=True, slots=True)
class SettingsDiff:
    """The difference between two settings. Names are in the order of the file they are in."""

    upstreams_added: tuple[str, ...] = ()
    upstreams_removed: tuple[str, ...] = ()
    upstreams_changed: tuple[str, ...] = ()
    keys_changed: tuple[KeyChange, ...] = ()

    @property
    def needs_restart(self) -> tuple[str, ...]:
        """Keys whose new value waits for the next start."""
        return tuple(change.key for change in self.keys_changed if not change.live)

    @property
    def is_empty(self) -> bool:
        """Nothing changed."""
        return self == SettingsDiff()

    def sentences(self) -> tuple[str, ...]:
        """One sentence per change, for people."""
        added = (f"upstream {name} added" for name in self.upstreams_added)
        removed = (f"upstream {name} removed" for name in self.upstreams_removed)
        return (*added, *removed, *(_sentence(change) for change in self.keys_changed))


def diff_settings(old: Settings, new: Settings) -> SettingsDiff:
    """Compare two settings key by key."""
    both = [name for name in new.upstreams if name in old.upstreams]
    changed = [name for name in both if old.upstreams[name] != new.upstreams[name]]
    keys = [_change(path, key, old, new) for path, key in leaf_keys()]
    for name in changed:
        keys += (_change(path, key, old, new) for path, key in _upstream_keys(name))
        keys += _tool_changes(name, old.upstreams[name], new.upstreams[name])
    return SettingsDiff(
        upstreams_added=tuple(name for name in new.upstreams if name not in old.upstreams),
        upstreams_removed=tuple(name for name in old.upstreams if name not in new.upstreams),
        upstreams_changed=tuple(changed),
        keys_changed=tuple(change for change in keys if change is not None),
    )


def _upstream_keys(name: str) -> Iterator[tuple[KeyPath, Key]]:
    return leaf_keys(UpstreamSettings, ("upstreams", name))


def _change(path: KeyPath, key: Key, old: Settings, new: Settings) -> KeyChange | None:
    before, after = value_at(old, path), value_at(new, path)
    if before == after:
        return None
    shown_before, shown_after = shown_value(path, key, before), shown_value(path, key, after)
    return KeyChange(dotted(path), shown_before, shown_after, key.live)


def _tool_changes(
    upstream: str, old: UpstreamSettings, new: UpstreamSettings
) -> Iterator[KeyChange]:
    """A tool that one side does not name counts with its defaults."""
    section = keys_of(UpstreamSettings)["tools"].section
    if section is None:
        return
    for tool in dict.fromkeys((*old.tools, *new.tools)):
        before, after = old.tools.get(tool, section()), new.tools.get(tool, section())
        for name, key in keys_of(section).items():
            path = ("upstreams", upstream, "tools", tool, name)
            values = getattr(before, name), getattr(after, name)
            if values[0] != values[1]:
                texts = [shown_value(path, key, value) for value in values]
                yield KeyChange(dotted(path), texts[0], texts[1], key.live)


def _sentence(change: KeyChange) -> str:
    if change.old == change.new:
        return f"{change.key} changed"  # only the redacted part did
    wait = "" if change.live else " (in force after the next start)"
    return f"{change.key} is now {change.new or 'not set'}{wait}"
