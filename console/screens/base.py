"""What all main screens share: the bars around the body, the banner, and when they draw.

A screen draws only while it is shown. The app calls `MainScreen.draw` with the newest state, at most
eight times a second, and once more when the screen comes back.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.css.query import NoMatches
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Input

from console import format as fmt
from console import keys, scopes
from console.safe import safe, safe_line
from console.state import ConsoleState, Link, calls_per_minute
from console.widgets.bars import Banner, KeyBar, KeyHint, NavBar, StatusBar, TooSmall
from console.widgets.tone import Cell, Tone
from proxy.model import UpstreamState

if TYPE_CHECKING:
    from console.app import ConsoleApp

NEED_A_PERSON = (UpstreamState.FAILED, UpstreamState.BACKING_OFF, UpstreamState.DEGRADED)


def entitle(widget: Widget, title: str, subtitle: str = "") -> None:
    """Write on a widget's border. The texts are neutralised and never read as markup.

    Setting a title repaints all that is inside the border, so an equal one is not set again.
    """
    above = safe_line(title, 300)
    below = safe_line(subtitle, 300)
    if str(widget.border_title or "") != above:
        widget.border_title = Content(above)
    if str(widget.border_subtitle or "") != below:
        widget.border_subtitle = Content(below) if below else None


class MainScreen(Screen[None]):
    """Base of the screens."""

    AUTO_FOCUS = "#main"
    SCOPE: ClassVar[str] = ""
    """Which actions of the registry work here."""
    TAB: ClassVar[str] = ""
    """Which number is marked in the navigation; the scope, unless it is a screen under another."""

    def __init__(self) -> None:
        super().__init__()
        self._bar = KeyBar()

    @property
    def console(self) -> ConsoleApp:
        """The app, with its type."""
        return cast("ConsoleApp", self.app)  # pyright: ignore[reportUnknownMemberType]  # Textual leaves App's result type open

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield NavBar(self.TAB or self.SCOPE)
        yield Banner()
        with Vertical(id="body"):
            yield from self.body()
        yield self._bar
        yield TooSmall()

    def body(self) -> Iterable[Widget]:
        """The widgets between the bars."""
        raise NotImplementedError

    def draw(self, state: ConsoleState) -> None:
        """Show that state in the body."""
        raise NotImplementedError

    def go_back(self) -> bool:
        """One step back within the screen; false when there was none."""
        return False

    def can_go_back(self) -> bool:
        """Whether Esc does something here."""
        return self.SCOPE != scopes.OVERVIEW

    # -- drawing ------------------------------------------------------------------------------

    @property
    def whole(self) -> bool:
        """All of its widgets are there: it is neither being built nor being taken apart."""
        present = self.is_mounted and self.is_attached and self.console.is_running
        return present and bool(self.query(StatusBar)) and bool(self.query(TooSmall))

    def redraw(self) -> None:
        """Draw now what the app knows; nothing while the screen is not whole."""
        if not self.whole:
            return
        state = self.console.state
        try:
            self.draw_edges(state)
            self.draw(state)
            self.draw_keys()
        except NoMatches:
            if self.whole:
                raise

    def on_mount(self) -> None:
        self.redraw()

    def on_screen_resume(self) -> None:
        self.redraw()

    def tick(self) -> None:
        """The clock and the ages move."""
        if self.whole:
            self.draw_edges(self.console.state)

    def draw_edges(self, state: ConsoleState) -> None:
        """Status, navigation and banner."""
        now = self.console.now()
        clock = fmt.clock(now, self.console.tz)
        self.query_one(StatusBar).show(status_parts(state, now), clock)
        waiting = sum(view.state in NEED_A_PERSON for view in state.upstreams)
        badges: dict[str, Cell] = {}
        if waiting:
            badges[scopes.UPSTREAMS] = Cell(f"\u25b2{waiting}", Tone.WARN)
        if state.rejected_problems:
            badges[scopes.CONFIG] = Cell(f"\u2716{state.rejected_problems}", Tone.BAD)
        if self.console.memory.waiting:
            badges[scopes.DECISIONS] = Cell(f"\u25c6{self.console.memory.waiting}", Tone.WARN)
        self.query_one(NavBar).show(badges)
        self.query_one(Banner).show(banner(state))

    def draw_keys(self) -> None:
        """The footer; called again whenever what can be done may have changed."""
        self._bar.show(self.key_hints())

    def key_hints(self) -> list[KeyHint]:
        """The footer's entries: those of this screen, then those that work everywhere."""
        if isinstance(self.focused, Input):
            enter, escape = self.typing_words()
            return [
                KeyHint("Enter", enter, 50, "", on_app=False),
                KeyHint("Esc", escape, 50, "", on_app=False),
            ]
        shown: list[KeyHint] = []
        for scope in (scopes.LISTS, self.SCOPE, scopes.EVERYWHERE):
            for action in sorted(keys.actions(scope), key=lambda one: -one.footer):
                if action.footer == 0:
                    continue
                on_app = scope == scopes.EVERYWHERE
                name = action.action.partition("(")[0]
                possible = (
                    self.console.check_action(name, ()) if on_app else self.check_action(name, ())
                )
                if possible is False:
                    continue
                shown.append(
                    KeyHint(
                        self.console.keymap.shown(action),
                        action.label,
                        action.footer,
                        action.action,
                        on_app,
                        dim=possible is None,
                    )
                )
        return shown

    def typing_words(self) -> tuple[str, str]:
        """What Enter and Esc do while a person types."""
        return "keep", "clear"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """True: possible; ``None``: not now, shown dimmed; false: not offered."""
        if action in ("open_row",):
            return self.offers_open()
        return True

    def offers_open(self) -> bool:
        """Whether Enter opens something."""
        return True

    @on(KeyBar.Pressed)
    async def _key_pressed(self, event: KeyBar.Pressed) -> None:
        if event.hint.action:
            owner = self.console if event.hint.on_app else (self.focused or self)
            if not await self.console.run_action(event.hint.action, owner):
                await self.console.run_action(event.hint.action, self)

    @on(NavBar.Chosen)
    def _screen_chosen(self, event: NavBar.Chosen) -> None:
        self.console.action_go(event.screen_id)

    def on_descendant_focus(self) -> None:
        self.draw_keys()

    def on_descendant_blur(self) -> None:
        self.call_later(self.draw_keys)

    # -- shared deeds -------------------------------------------------------------------------

    def copy(self, text: str, what: str) -> None:
        """Send a text to the terminal's clipboard and say so; it is neutralised first."""
        clean = safe(text)
        self.console.copy_to_clipboard(clean)
        self.console.say(
            f"{what} sent to the terminal's clipboard ({fmt.plural(len(clean), 'character')}, "
            "OSC 52; some terminals ignore it)."
        )

    def modal_open(self) -> bool:
        """True while a dialog is shown: a repeated key must not open a second one."""
        return isinstance(self.console.screen, ModalScreen)


def status_parts(state: ConsoleState, now: float) -> list[tuple[Cell, ...]]:
    """The status line, the weightiest first."""
    name = Cell("mms", Tone.STRONG)
    match state.link:
        case Link.CONNECTING:
            return [(name, Cell("  \u25cc connecting to the station", Tone.ACCENT))]
        case Link.LOST:
            since = fmt.age(now - (state.lost_at if state.lost_at is not None else now))
            return [
                (name, Cell("  \u2716 station unreachable \u2014 retrying", Tone.BAD)),
                (Cell(f"shown data is {since} old" if state.loaded else "", Tone.MUTED),),
            ]
        case Link.STOPPING:
            return [(name, Cell("  \u2716 station stopped", Tone.BAD))]
        case Link.LIVE:
            pass
    station = state.station
    up = fmt.age(now - station.started_at) if station else ""
    ready = sum(view.state is UpstreamState.READY for view in state.upstreams)
    used = sum(view.state is not UpstreamState.DISABLED for view in state.upstreams)
    parts = [
        (name, Cell(" \u25cf up ", Tone.GOOD), Cell(up)),
        (
            Cell(f"{ready}/{used}", Tone.GOOD if ready == used else Tone.WARN),
            Cell(" upstreams ready"),
        )
        if used
        else (Cell("no upstreams", Tone.MUTED),),
        (Cell(fmt.plural(len(state.hosts), "host")),),
        (Cell(f"{fmt.count(calls_per_minute(state, now))} calls/min"),),
    ]
    if state.running:
        parts.append((Cell(f"{fmt.count(len(state.running))} running", Tone.ACCENT),))
    return parts


def banner(state: ConsoleState) -> tuple[Cell, ...]:
    """What must not be missed, the worst only."""
    if state.link is Link.LOST:
        return (Cell("\u2716 ", Tone.BAD), Cell(state.link_reason or "The station is gone."))
    if state.link is Link.STOPPING:
        return (Cell("\u2716 ", Tone.BAD), Cell(state.link_reason or "The station stopped."))
    if state.rejected_problems:
        text = "settings rejected, the last good ones stay in force: "
        if state.rejected:
            first = state.rejected[0]
            place = first.file.rpartition("/")[2]
            line = f":{first.line}" if first.line is not None else ""
            key = f" {first.key}" if first.key else ""
            more = len(state.rejected) - 1
            text += safe_line(f"{place}{line}{key}: {first.reason}", 200)
            text += f" (+{more} more, 4 shows all)" if more else " (4 shows it)"
        else:
            text += "4 shows what is wrong."
        return (Cell("\u2716 ", Tone.BAD), Cell(text, Tone.BAD))
    if state.unrecorded_calls:
        number = fmt.plural(state.unrecorded_calls, "call was", "calls were")
        return (
            Cell("\u25b2 ", Tone.WARN),
            Cell(f"{number} not recorded (disk full or overload); calls themselves go on."),
        )
    return ()
