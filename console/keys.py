"""Every action a person can take, with its key: the one list behind bindings, footer, help and palette.

``[console.keys]`` in the settings gives other keys to actions by their id. Nothing here imports
Textual before `bindings` is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.binding import BindingType

EVERYWHERE = "everywhere"
LISTS = "lists"
OVERVIEW = "overview"
UPSTREAMS = "upstreams"
UPSTREAM = "upstream"
CALLS = "calls"
CALL = "call"
CONFIG = "config"


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can be done."""

    id: str
    """Stable name, used in ``[console.keys]``."""
    keys: str
    """Textual's key names, separated by commas; the first one is shown."""
    action: str
    """Textual's action string; the method is ``action_…`` of the screen, the widget or the app."""
    label: str
    """One or two words for the footer and the palette."""
    help: str
    """What it does, as half a sentence."""
    scope: str
    """Where it works: one of the names above."""
    footer: int = 0
    """0: not in the footer; else the higher ones stay when the footer is too narrow."""


@dataclass(frozen=True, slots=True)
class ScreenName:
    """A main screen, reached by its number."""

    id: str
    number: str
    title: str


SCREENS: tuple[ScreenName, ...] = (
    ScreenName(OVERVIEW, "1", "Overview"),
    ScreenName(UPSTREAMS, "2", "Upstreams"),
    ScreenName(CALLS, "3", "Calls"),
    ScreenName(CONFIG, "4", "Config"),
)
"""The main screens in the order of their numbers."""

TITLES: Mapping[str, str] = {
    EVERYWHERE: "everywhere",
    LISTS: "in lists and texts",
    OVERVIEW: "Overview",
    UPSTREAMS: "Upstreams",
    UPSTREAM: "one upstream",
    CALLS: "Calls",
    CALL: "one call",
    CONFIG: "Config",
}
"""How help calls a scope."""

REGISTRY: tuple[Action, ...] = (
    *(
        Action(
            f"go.{screen.id}",
            screen.number,
            f"go('{screen.id}')",
            screen.title,
            f"show {screen.title}",
            EVERYWHERE,
        )
        for screen in SCREENS
    ),
    Action("app.back", "escape", "step_back", "Back", "one step back; never quits", EVERYWHERE, 20),
    Action(
        "app.palette",
        "colon,ctrl+p",
        "command_palette",
        "Commands",
        "search all commands by name",
        EVERYWHERE,
        50,
    ),
    Action(
        "app.help",
        "question_mark,f1",
        "show_help",
        "Help",
        "keys, glyphs and filter words",
        EVERYWHERE,
        90,
    ),
    Action("app.quit", "q", "quit", "Quit", "leave; asks when hosts are connected", EVERYWHERE, 95),
    Action("list.down", "j,down", "cursor_down", "Down", "next line", LISTS),
    Action("list.up", "k,up", "cursor_up", "Up", "previous line", LISTS),
    Action("list.top", "g,home", "cursor_top", "Top", "first line", LISTS),
    Action("list.bottom", "G,end", "cursor_bottom", "Bottom", "last line", LISTS),
    Action("list.page_down", "pagedown", "cursor_page_down", "Page down", "a page down", LISTS),
    Action("list.page_up", "pageup", "cursor_page_up", "Page up", "a page up", LISTS),
    Action("list.open", "enter", "open_row", "Open", "open what the cursor is on", LISTS, 86),
    Action("overview.add", "a", "add", "Add", "add an upstream", OVERVIEW, 60),
    Action("overview.import", "i", "import", "Import", "import servers of hosts", OVERVIEW, 60),
    Action("overview.demo", "d", "demo", "Demo", "start the bundled demo", OVERVIEW, 60),
    Action("overview.copy", "y", "copy", "Copy", "copy the snippet that is shown", OVERVIEW, 0),
    Action("upstreams.filter", "slash", "filter", "Filter", "show names like this", UPSTREAMS, 80),
    Action(
        "upstreams.reconnect",
        "R",
        "reconnect",
        "Reconnect",
        "stop it if it runs and start it now; asks when calls are in flight",
        UPSTREAMS,
        70,
    ),
    Action("upstreams.enable", "e", "enable", "Enable", "switch it on", UPSTREAMS, 69),
    Action("upstreams.disable", "d", "disable", "Disable", "switch it off (asks)", UPSTREAMS, 69),
    Action(
        "upstreams.remove",
        "X",
        "remove",
        "Remove",
        "take it out of the settings (asks)",
        UPSTREAMS,
        40,
    ),
    Action(
        "upstreams.calls",
        "c",
        "show_calls",
        "Calls",
        "its calls, on the Calls screen",
        UPSTREAMS,
        62,
    ),
    Action("upstreams.add", "a", "add", "Add", "add an upstream", UPSTREAMS, 45),
    Action("upstreams.import", "i", "import", "Import", "import servers of hosts", UPSTREAMS, 44),
    Action("upstreams.copy", "y", "copy", "Copy", "copy all that is known of it", UPSTREAMS, 35),
    Action("upstream.copy", "y", "copy", "Copy", "copy the text", UPSTREAM, 60),
    Action("calls.filter", "slash", "filter", "Filter", "type filter words", CALLS, 80),
    Action(
        "calls.pause",
        "p",
        "pause",
        "Pause",
        "hold the list still; calls are still recorded",
        CALLS,
        79,
    ),
    Action("calls.follow", "f", "follow", "Follow", "keep the newest call in view", CALLS, 65),
    Action("calls.errors", "e", "errors", "Errors", "only calls that failed, and back", CALLS, 64),
    Action("calls.older", "o", "older", "Older", "read 500 older calls", CALLS, 45),
    Action("calls.copy", "y", "copy", "Copy", "copy the row", CALLS, 40),
    Action("call.copy", "y", "copy_result", "Copy result", "copy what came back", CALL, 60),
    Action("call.copy_arguments", "a", "copy_arguments", "Copy arguments", "copy it", CALL, 59),
    Action("call.newer", "n", "newer", "Newer", "the next call of the list", CALL, 40),
    Action("call.previous", "b", "older", "Before", "the call before it", CALL, 40),
    Action("config.edit", "e", "edit", "Edit", "change the value", CONFIG, 85),
    Action("config.unset", "u", "unset", "Unset", "back to the default (asks)", CONFIG, 70),
    Action("config.filter", "slash", "filter", "Search", "search keys and values", CONFIG, 80),
    Action("config.changed", "c", "changed", "Changed", "only what is not default", CONFIG, 66),
    Action("config.reload", "r", "reload", "Reload", "read the files again now", CONFIG, 65),
    Action("config.copy", "y", "copy", "Copy", "copy key and value", CONFIG, 40),
)
"""All actions. Within what works on one screen no key appears twice (a test holds that)."""

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
