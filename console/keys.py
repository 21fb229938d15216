"""Which keys are in force: `console.key_table` as bindings, footer, help and palette want it.

``[console.keys]`` in the settings gives other keys to actions by their id. Nothing here imports
Textual before `bindings` is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from console.key_table import REGISTRY, Action
from console.scopes import EVERYWHERE, LISTS

if TYPE_CHECKING:
    from textual.binding import BindingType

__all__ = [
    "REGISTRY",
    "Action",
    "Keymap",
    "actions",
    "bindings",
    "keymap",
    "together",
]

_NAMES = {
    "slash": "/",
    "question_mark": "?",
    "colon": ":",
    "escape": "Esc",
    "enter": "Enter",
    "down": "\u2193",
    "up": "\u2191",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "home": "Home",
    "end": "End",
    "space": "Space",
    "tab": "Tab",
    "f1": "F1",
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
}


@dataclass(frozen=True, slots=True)
class Keymap:
    """Which keys are in force."""

    remapped: Mapping[str, str]
    """Action id to keys, as Textual's ``set_keymap`` takes it."""
    problems: tuple[str, ...]
    """What of the settings could not be followed, one sentence each."""

    def keys(self, action: Action) -> str:
        """The keys of an action, separated by commas."""
        return self.remapped.get(action.id, action.keys)

    def shown(self, action: Action, *, all_keys: bool = False) -> str:
        """The action's key as a person reads it: ``/``, ``Enter``, ``j \u2193`` with all keys."""
        names = [_readable(key) for key in self.keys(action).split(",")]
        return " ".join(names) if all_keys else names[0]


def keymap(wanted: Mapping[str, str]) -> Keymap:
    """Check the settings' keys. A wrong one is reported and left out, the others hold."""
    known = {action.id: action for action in REGISTRY}
    remapped: dict[str, str] = {}
    problems: list[str] = []
    for name, keys in wanted.items():
        action = known.get(name)
        if action is None:
            problems.append(f"console.keys: there is no action {name!r}; press ? to see them.")
            continue
        taken = _collision(action, keys, wanted)
        if taken is not None:
            problems.append(f"console.keys: {keys!r} for {name} is already the key of {taken.id}.")
            continue
        remapped[name] = keys
    return Keymap(remapped, tuple(problems))


def actions(scope: str) -> tuple[Action, ...]:
    """The actions of one scope, in the order of the registry."""
    return tuple(action for action in REGISTRY if action.scope == scope)


def together(scope: str) -> tuple[Action, ...]:
    """All actions that work while a screen of that scope is shown."""
    return tuple(action for action in REGISTRY if action.scope in (scope, LISTS, EVERYWHERE))


def bindings(*scopes: str) -> list[BindingType]:
    """Textual bindings of those scopes, to be remapped by id."""
    from textual.binding import Binding

    return [
        Binding(action.keys, action.action, action.label, show=False, id=action.id)
        for scope in scopes
        for action in actions(scope)
    ]


def _collision(action: Action, keys: str, in_force: Mapping[str, str]) -> Action | None:
    mine = {_readable(key) for key in keys.split(",")}
    for other in REGISTRY:
        shared = (
            other.scope == action.scope
            or EVERYWHERE in (other.scope, action.scope)
            or LISTS in (other.scope, action.scope)
        )
        if other is action or not shared:
            continue
        if mine & {_readable(key) for key in in_force.get(other.id, other.keys).split(",")}:
            return other
    return None


def _readable(key: str) -> str:
    key = key.strip()
    return _NAMES.get(key, key)
