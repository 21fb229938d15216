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
SAVINGS = "savings"
HELD = "held"
HELD_TEXT = "held_text"
WHAT_IF = "what_if"
MEMORY = "memory"
RECORD = "record"
DECISIONS = "decisions"
FORGETTING = "forgetting"
RUNS = "runs"
SURFACING = "surfacing"
SURFACING_EVENT = "surfacing_event"
SURFACING_FIGURES = "surfacing_figures"
TUNING = "tuning"


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
    short: str = ""
    """For the navigation when not all titles fit; empty: the title."""


SCREENS: tuple[ScreenName, ...] = (
    ScreenName(OVERVIEW, "1", "Overview", "Home"),
    ScreenName(UPSTREAMS, "2", "Upstreams", "Upstr"),
    ScreenName(CALLS, "3", "Calls"),
    ScreenName(CONFIG, "4", "Config", "Conf"),
    ScreenName(SAVINGS, "5", "Savings", "Saved"),
    ScreenName(MEMORY, "6", "Memory"),
    ScreenName(DECISIONS, "7", "Decisions", "Decide"),
    ScreenName(FORGETTING, "8", "Forgetting", "Forget"),
    ScreenName(SURFACING, "9", "Surfacing", "Surf"),
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
    SAVINGS: "Savings",
    HELD: "held texts",
    HELD_TEXT: "one held text",
    WHAT_IF: "what-if",
    MEMORY: "Memory",
    RECORD: "one record",
    DECISIONS: "Decisions",
    FORGETTING: "Forgetting",
    RUNS: "runs of forgetting",
    SURFACING: "Surfacing",
    SURFACING_EVENT: "one answer with memories",
    SURFACING_FIGURES: "figures of surfacing",
    TUNING: "tuning",
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
    Action("overview.savings", "s", "savings", "Savings", "tokens saved, in full", OVERVIEW, 55),
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
    Action(
        "calls.what_if",
        "w",
        "what_if",
        "What-if",
        "its answer under other settings",
        CALLS,
        63,
    ),
    Action("calls.copy", "y", "copy", "Copy", "copy the row", CALLS, 40),
    Action(
        "call.original",
        "o",
        "original",
        "Original",
        "the answer as the upstream sent it, and back to what the agent got",
        CALL,
        70,
    ),
    Action(
        "call.sides",
        "s",
        "sides",
        "Before/after",
        "both side by side, cut lines marked, and back",
        CALL,
        69,
    ),
    Action("call.what_if", "w", "what_if", "What-if", "the answer under other settings", CALL, 68),
    Action("call.held", "h", "held", "Held", "the held text of this answer", CALL, 50),
    Action("call.copy", "y", "copy_result", "Copy", "copy the answer that is shown", CALL, 60),
    Action("call.copy_arguments", "a", "copy_arguments", "Copy arguments", "copy it", CALL, 59),
    Action("call.newer", "n", "newer", "Newer", "the next call of the list", CALL, 40),
    Action("call.previous", "b", "older", "Before", "the call before it", CALL, 40),
    Action("config.edit", "e", "edit", "Edit", "change the value", CONFIG, 85),
    Action("config.unset", "u", "unset", "Unset", "back to the default (asks)", CONFIG, 70),
    Action("config.filter", "slash", "filter", "Search", "search keys and values", CONFIG, 80),
    Action("config.changed", "c", "changed", "Changed", "only what is not default", CONFIG, 66),
    Action("config.reload", "r", "reload", "Reload", "read the files again now", CONFIG, 65),
    Action("config.copy", "y", "copy", "Copy", "copy key and value", CONFIG, 40),
    Action("savings.tools", "t", "tools", "Tools", "sums per tool", SAVINGS, 72),
    Action("savings.servers", "s", "servers", "Servers", "sums per server", SAVINGS, 71),
    Action("savings.days", "d", "days", "Days", "sums per day", SAVINGS, 70),
    Action("savings.range", "r", "range", "Range", "7 days, 30 days, all time", SAVINGS, 69),
    Action("savings.held", "h", "held", "Held texts", "browse the held texts", SAVINGS, 75),
    Action(
        "savings.clear_cache",
        "C",
        "clear_cache",
        "Clear cache",
        "forget answers kept to be given again (asks)",
        SAVINGS,
        41,
    ),
    Action("savings.copy", "y", "copy", "Copy", "copy the table", SAVINGS, 40),
    Action("held.filter", "slash", "filter", "Filter", "part of a name or a key", HELD, 80),
    Action("held.copy_key", "c", "copy_key", "Copy key", "copy the key", HELD, 60),
    Action("held.copy", "y", "copy", "Copy text", "copy the text", HELD, 61),
    Action("held.drop", "X", "drop", "Drop", "delete it for good (asks)", HELD, 62),
    Action("held.reload", "r", "reload", "Reload", "ask the station again", HELD, 40),
    Action("held_text.copy_key", "c", "copy_key", "Copy key", "copy the key", HELD_TEXT, 60),
    Action("held_text.copy", "y", "copy", "Copy text", "copy the text", HELD_TEXT, 61),
    Action("held_text.drop", "X", "drop", "Drop", "delete it for good (asks)", HELD_TEXT, 62),
    Action("what_if.apply", "A", "apply", "Apply", "write it to the settings (asks)", WHAT_IF, 80),
    Action(
        "what_if.strategies",
        "s",
        "strategies",
        "Strategies",
        "choose which strategies to try",
        WHAT_IF,
        75,
    ),
    Action(
        "what_if.more", "plus,equals_sign", "more", "Budget+", "the next larger budget", WHAT_IF, 74
    ),
    Action("what_if.less", "minus", "less", "Budget\u2212", "the next smaller budget", WHAT_IF, 73),
    Action("what_if.budget", "b", "budget", "Type it", "type a budget in tokens", WHAT_IF, 60),
    Action("what_if.query", "e", "query", "Query", "type what is looked for", WHAT_IF, 61),
    Action("what_if.facts", "f", "facts", "Facts/text", "missing facts or the text", WHAT_IF, 62),
    Action("what_if.copy", "y", "copy", "Copy", "copy the variant's text", WHAT_IF, 40),
    Action("memory.search", "slash", "search", "Search", "find as an agent would", MEMORY, 80),
    Action("memory.kind", "t", "kind", "Kind", "one kind, then the next, then all", MEMORY, 70),
    Action("memory.state", "s", "state", "State", "active, superseded, archived, …", MEMORY, 69),
    Action("memory.order", "o", "order", "Order", "newest, oldest, changed last", MEMORY, 48),
    Action("memory.more", "m", "more", "More", "the next page of the list", MEMORY, 50),
    Action("memory.pin", "P", "pin", "Pin", "never forget it, and back", MEMORY, 55),
    Action("memory.archive", "d", "archive", "Archive", "take it out of search (asks)", MEMORY, 54),
    Action("memory.restore", "R", "restore", "Restore", "make it active again", MEMORY, 54),
    Action("memory.undo", "u", "undo", "Undo", "take your last change back", MEMORY, 56),
    Action("memory.copy", "y", "copy", "Copy", "copy the text", MEMORY, 41),
    Action("memory.copy_id", "c", "copy_id", "Copy id", "copy the id", MEMORY, 40),
    Action("memory.space", "S", "space", "Space", "look at another project's memory", MEMORY, 47),
    Action("memory.reload", "r", "reload", "Reload", "ask the memory again", MEMORY, 39),
    Action("record.edit", "e", "edit", "Edit", "change the text", RECORD, 75),
    Action("record.pin", "P", "pin", "Pin", "never forget it, and back", RECORD, 70),
    Action("record.archive", "d", "archive", "Archive", "take it out of search (asks)", RECORD, 72),
    Action("record.restore", "R", "restore", "Restore", "make it active again", RECORD, 72),
    Action(
        "record.expunge",
        "X",
        "expunge",
        "Expunge",
        "erase the text for ever (typed confirmation)",
        RECORD,
        60,
    ),
    Action("record.undo", "u", "undo", "Undo", "take your last change back", RECORD, 71),
    Action("record.copy", "y", "copy", "Copy", "copy the text", RECORD, 50),
    Action("record.copy_id", "c", "copy_id", "Copy id", "copy the id", RECORD, 49),
    Action("record.reload", "r", "reload", "Reload", "ask the memory again", RECORD, 39),
    Action("decisions.approve", "a", "approve", "Approve", "do what is proposed", DECISIONS, 85),
    Action("decisions.reject", "x", "reject", "Reject", "leave all as it is", DECISIONS, 84),
    Action(
        "decisions.keep_both",
        "b",
        "keep_both",
        "Keep both",
        "leave all as it is and never propose this pair again",
        DECISIONS,
        83,
    ),
    Action("decisions.undo", "u", "undo", "Undo", "take a decision back", DECISIONS, 82),
    Action("decisions.edit", "e", "edit", "Edit", "change a text before deciding", DECISIONS, 70),
    Action(
        "decisions.survivor",
        "s",
        "survivor",
        "Other stays",
        "choose which record stays",
        DECISIONS,
        69,
    ),
    Action(
        "decisions.record", "o", "record", "Record", "one of the records in full", DECISIONS, 60
    ),
    Action("decisions.filter", "slash", "filter", "Filter", "words of the texts", DECISIONS, 58),
    Action(
        "decisions.decided", "v", "decided", "Decided", "what was decided, and back", DECISIONS, 57
    ),
    Action("decisions.pause", "p", "pause", "Pause", "hold the list still", DECISIONS, 45),
    Action("decisions.more", "m", "more", "More", "the next page of the list", DECISIONS, 50),
    Action("decisions.copy", "y", "copy", "Copy", "copy all that is shown", DECISIONS, 40),
    Action("decisions.reload", "r", "reload", "Reload", "ask the memory again", DECISIONS, 39),
    Action(
        "forgetting.preview",
        "r",
        "preview",
        "Preview",
        "make a plan; nothing is forgotten",
        FORGETTING,
        85,
    ),
    Action(
        "forgetting.exempt",
        "space",
        "exempt",
        "Keep",
        "leave this record out of the plan, and back",
        FORGETTING,
        80,
    ),
    Action("forgetting.pin", "P", "pin", "Pin", "never forget it, and back", FORGETTING, 72),
    Action(
        "forgetting.survivor",
        "s",
        "survivor",
        "Other stays",
        "let this one stay instead of its twin",
        FORGETTING,
        71,
    ),
    Action(
        "forgetting.reason", "t", "reason", "Reason", "one reason, then the next", FORGETTING, 60
    ),
    Action(
        "forgetting.run",
        "D",
        "run",
        "Run",
        "archive what the plan says (typed confirmation)",
        FORGETTING,
        84,
    ),
    Action("forgetting.undo", "u", "undo", "Undo", "take the last run back (asks)", FORGETTING, 65),
    Action("forgetting.runs", "h", "runs", "Runs", "all runs and what they cost", FORGETTING, 64),
    Action("forgetting.record", "o", "record", "Record", "the record in full", FORGETTING, 50),
    Action("forgetting.more", "m", "more", "More", "the next page of the plan", FORGETTING, 45),
    Action("forgetting.copy", "y", "copy", "Copy", "copy all that is shown", FORGETTING, 40),
    Action("runs.undo", "u", "undo", "Undo", "restore what the run archived (asks)", RUNS, 80),
    Action("runs.copy", "y", "copy", "Copy", "copy the run", RUNS, 40),
    Action("runs.reload", "r", "reload", "Reload", "ask the memory again", RUNS, 39),
    *(
        action
        for scope in (SURFACING, SURFACING_EVENT)
        for action in (
            Action(f"{scope}.helpful", "h", "rate('helpful')", "Helpful", "it helped", scope, 89),
            Action(
                f"{scope}.partly",
                "t",
                "rate('partially_helpful')",
                "Partly",
                "it helped partly",
                scope,
                88,
            ),
            Action(
                f"{scope}.not_relevant",
                "n",
                "rate('not_relevant')",
                "Not",
                "it does not matter for the call; not shown again in that session",
                scope,
                87,
            ),
            Action(
                f"{scope}.known",
                "w",
                "rate('already_known')",
                "Known",
                "the agent knew it already; not shown again in that session",
                scope,
                86,
            ),
        )
    ),
    Action("surfacing.filter", "slash", "filter", "Filter", "words of it", SURFACING, 80),
    Action("surfacing.figures", "f", "figures", "Figures", "how well it does", SURFACING, 82),
    Action(
        "surfacing.tuning", "T", "tuning", "Tuning", "steps of the tuner, advice", SURFACING, 78
    ),
    Action(
        "surfacing.order", "o", "order", "Order", "unrated first, or newest first", SURFACING, 60
    ),
    Action("surfacing.call", "c", "call", "Call", "the call it was shown with", SURFACING, 59),
    Action("surfacing.more", "m", "more", "More", "older ones, too", SURFACING, 50),
    Action("surfacing.copy", "y", "copy", "Copy", "copy the memory", SURFACING, 40),
    Action("surfacing.reload", "r", "reload", "Reload", "ask the station again", SURFACING, 39),
    Action(
        "surfacing_event.call",
        "c",
        "call",
        "Call",
        "the call it was shown with",
        SURFACING_EVENT,
        70,
    ),
    Action(
        "surfacing_event.record",
        "o",
        "record",
        "Record",
        "the memory's record, with its history",
        SURFACING_EVENT,
        60,
    ),
    Action("surfacing_event.copy", "y", "copy", "Copy", "copy all", SURFACING_EVENT, 40),
    Action("surfacing_figures.copy", "y", "copy", "Copy", "copy all", SURFACING_FIGURES, 60),
    Action(
        "surfacing_figures.tuning",
        "T",
        "tuning",
        "Tuning",
        "steps of the tuner, advice",
        SURFACING_FIGURES,
        61,
    ),
    Action("surfacing_figures.reload", "r", "reload", "Reload", "ask again", SURFACING_FIGURES, 39),
    Action("tuning.revert", "u", "revert", "Take back", "undo a step (asks)", TUNING, 85),
    Action(
        "tuning.apply", "A", "apply", "Apply", "write advice to the settings (asks)", TUNING, 84
    ),
    Action("tuning.span", "s", "span", "Span", "advice of a day, a week, a month", TUNING, 60),
    Action("tuning.copy", "y", "copy", "Copy", "copy both lists", TUNING, 40),
    Action("tuning.reload", "r", "reload", "Reload", "ask the station again", TUNING, 39),
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
