"""The console: follows one station, keeps what it knows in one value, and lets the screen draw it.

`Following` folds what the station tells into one `ConsoleState`; the shown screen draws it at most
`PAINTS_PER_SECOND` times a second. Whatever a person asks for runs in a worker, and a failure becomes
a notice: nothing that a station does can end the console.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, tzinfo
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

from textual import events
from textual.app import App, ScreenStackError
from textual.binding import BindingType
from textual.screen import ModalScreen, Screen
from textual.worker import Worker, WorkerState

from config.schema import ConsoleSettings
from console import format as fmt
from console import keys, scopes, terminal_guard, theme
from console.first_steps import FirstSteps
from console.following import Following
from console.memory_desk import MemoryDesk
from console.palette import ActionCommands
from console.safe import safe, safe_line
from console.screens.base import MainScreen
from console.state import SAVINGS_DAYS, ConsoleState, News, SavingsTaken
from console.station import Station, StationUnavailable
from console.widgets.tone import COMPONENTS
from memory.model import DEFAULT_SPACE
from proxy.commands import Command, CommandResult, ReconnectUpstream
from proxy.events import SettingsApplied, StationStopping
from proxy.model import CallRecord

PAINTS_PER_SECOND = 8.0
SAVINGS_REST_SECONDS = 5.0
"""The ledger is asked for again after so long, while a screen shows it."""
T = TypeVar("T")

log = logging.getLogger(__name__)


class QuitChoice(Enum):
    """What leaving the screen means for the station."""

    LEAVE = "leave"
    """The station is another process; it is not concerned."""
    KEEP = "keep"
    """Our station goes on without a screen."""
    STOP = "stop"
    """Our station stops."""


def _overview() -> Screen[None]:
    from console.screens.overview import OverviewScreen

    return OverviewScreen()


def _upstreams() -> Screen[None]:
    from console.screens.upstreams import UpstreamsScreen

    return UpstreamsScreen()


def _calls() -> Screen[None]:
    from console.screens.calls import CallsScreen

    return CallsScreen()


def _config() -> Screen[None]:
    from console.screens.config import ConfigScreen

    return ConfigScreen()


def _savings() -> Screen[None]:
    from console.screens.savings import SavingsScreen

    return SavingsScreen()


def _memory() -> Screen[None]:
    from console.screens.memory import MemoryScreen

    return MemoryScreen()


def _decisions() -> Screen[None]:
    from console.screens.decisions import DecisionsScreen

    return DecisionsScreen()


def _forgetting() -> Screen[None]:
    from console.screens.forgetting import ForgettingScreen

    return ForgettingScreen()


def _surfacing() -> Screen[None]:
    from console.screens.surfacing import SurfacingScreen

    return SurfacingScreen()


def _local_zone() -> tzinfo:
    zone = datetime.now().astimezone().tzinfo
    assert zone is not None
    return zone


class ConsoleApp(App[QuitChoice]):
    """See the module's text. `run` returns what the person chose when leaving.

    ``on_quit`` is called with the same choice before the screen closes. ``first_steps`` serves the
    welcome panel and "add"; without it these are not offered.
    """

    TITLE = "mms"
    CSS_PATH = Path(__file__).with_name("app.tcss")
    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+underscore"
    """Replaced by our own binding; this one is only what Textual insists on."""
    COMMANDS: ClassVar = {ActionCommands}
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings(scopes.EVERYWHERE)
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012  # Textual declares it so that ClassVar is refused
        (0, "-tiny"),
        (60, "-narrow"),
        (76, "-mid"),
        (110, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012  # as above
        (0, "-low"),
        (16, "-short"),
        (30, "-tall"),
    ]
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {
        scopes.OVERVIEW: _overview,
        scopes.UPSTREAMS: _upstreams,
        scopes.CALLS: _calls,
        scopes.CONFIG: _config,
        scopes.SAVINGS: _savings,
        scopes.MEMORY: _memory,
        scopes.DECISIONS: _decisions,
        scopes.FORGETTING: _forgetting,
        scopes.SURFACING: _surfacing,
    }
    DEFAULT_MODE = scopes.OVERVIEW

    def __init__(
        self,
        station: Station,
        *,
        clock: Callable[[], float] = time.time,
        tz: tzinfo | None = None,
        on_quit: Callable[[QuitChoice], None] | None = None,
        first_steps: FirstSteps | None = None,
        settings: ConsoleSettings | None = None,
        connect_hint: str = "mms connect --print claude-code",
        log_file: Path | None = None,
        memory_space: str = DEFAULT_SPACE,
    ) -> None:
        """``memory_space``: what the memory's screens show at first."""
        super().__init__()
        self.station = station
        self.first_steps = first_steps
        self.connect_hint = connect_hint
        """The command that prints how a host is pointed here."""
        self.now = clock
        """Seconds since the epoch."""
        self.tz: tzinfo = tz if tz is not None else _local_zone()
        self._on_quit = on_quit
        self._log_file = log_file
        self._settings = settings if settings is not None else ConsoleSettings()
        self.keymap = keys.keymap(self._settings.keys)
        self._paint_due = False
        self._painted_at = 0.0
        self.following = Following(station, clock, self._heard)
        self.memory = MemoryDesk(self, memory_space)
        self.wanted_upstream: str | None = None
        """The Upstreams screen puts its cursor there and clears this."""
        self.wanted_filter: str | None = None
        """The Calls screen takes this filter over and clears this."""
        self._leaving = False
        self._savings_asked_at: float | None = None
        for one in (theme.DARK, theme.LIGHT):
            self.register_theme(one)
        chosen, self._theme_problem = theme.choose(self._settings.theme, self.available_themes)
        self.theme = chosen

    # -- life ---------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.set_keymap(dict(self.keymap.remapped))
        self._guard_terminal()
        self.set_interval(1.0, self._tick)
        self.run_worker(self.following.listen, group="listen", exit_on_error=False)
        self.run_worker(self.following.sample, group="sample", exit_on_error=False)
        for problem in (*self.keymap.problems, self._theme_problem):
            if problem:
                self.say(problem, bad=True)

    def _guard_terminal(self) -> None:
        if not self.is_headless:
            terminal_guard.end_on_signals(self._end)
            self.set_interval(terminal_guard.CHECK_SECONDS, self._check_terminal)

    def _check_terminal(self) -> None:
        if not terminal_guard.terminal_is_there():
            self._end("the terminal is gone")

    def _end(self, reason: str) -> None:
        """Nobody can be asked any more: our own station stops, another one is not concerned."""
        log.info("console ends: %s", reason)
        self._leave(QuitChoice.LEAVE if self.station.attached else QuitChoice.STOP)

    async def on_event(self, event: events.Event) -> None:
        """Pasted text is foreign too: a field would show its control characters to the terminal."""
        if isinstance(event, events.Paste):
            event.text = safe(event.text.expandtabs(1))
        await super().on_event(event)

    def _tick(self) -> None:
        """The clock and the ages move although nothing happened."""
        screen = self._shown()
        if screen is not None and not self._paint_due:
            screen.tick()

    def _fatal_error(self) -> None:
        """Textual would print a traceback with local variables, that is with secrets."""
        error = self._exception
        log.error("console failed", exc_info=error)
        where = f" Details are in {self._log_file}." if self._log_file else ""
        kind = type(error).__name__ if error is not None else "unknown error"
        self._exit_renderables.append(f"mms: the console failed ({kind}).{where}")
        self._close_messages_no_wait()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            worker = cast("Worker[object]", event.worker)  # pyright: ignore[reportUnknownMemberType]  # Textual leaves it open
            error = worker.error
            log.error("a task of the console failed: %s", worker.name, exc_info=error)
            self.say(f"Internal error ({type(error).__name__}); the log has details.", bad=True)

    # -- following the station ----------------------------------------------------------------

    @property
    def state(self) -> ConsoleState:
        """All that is known of the station."""
        return self.following.state

    def learn(self, news: News) -> None:
        """Fold news into the state and have it drawn soon."""
        self.following.learn(news)

    def _heard(self, news: News) -> None:
        self._announce(news)
        self.paint_soon()

    def _announce(self, news: News) -> None:
        match news:
            case SettingsApplied(_, changes, needs_restart):
                what = "; ".join(changes[:4]) or "nothing that concerns this station"
                if len(changes) > 4:
                    what += f"; and {len(changes) - 4} more"
                waits = (
                    f" Waits for a restart: {', '.join(needs_restart)}." if needs_restart else ""
                )
                self.say(f"{what}.{waits}", title="Settings applied")
            case StationStopping() if not self.station.attached:
                self._leave(QuitChoice.STOP)
            case _:
                pass

    def paint_soon(self) -> None:
        """Draw at once if nothing was drawn lately, else when it is time."""
        if self._paint_due or not self.is_running:
            return
        self._paint_due = True
        wait = self._painted_at + 1 / PAINTS_PER_SECOND - time.monotonic()
        if wait > 0:
            self.set_timer(wait, self._paint)
        else:
            self.call_later(self._paint)

    def _paint(self) -> None:
        self._paint_due = False
        self._painted_at = time.monotonic()
        screen = self._shown()
        if screen is not None:
            screen.redraw()

    def _shown(self) -> MainScreen | None:
        """The main screen that is seen, also behind a dialog."""
        try:
            stack = self.screen_stack
        except ScreenStackError:
            return None
        return next((one for one in reversed(stack) if isinstance(one, MainScreen)), None)

    # -- what screens use ---------------------------------------------------------------------

    def fetch(
        self, ask: Callable[[], Awaitable[T]], got: Callable[[T], None], *, group: str
    ) -> None:
        """Ask the station in a worker; a newer question of the same group replaces an older one."""

        async def work() -> None:
            try:
                value = await ask()
            except StationUnavailable as error:
                self.following.lost(error)
                return
            got(value)

        self.run_worker(work, group=group, exclusive=True, exit_on_error=False)

    def carry_out(
        self, command: Command, then: Callable[[CommandResult], None] | None = None
    ) -> None:
        """Send a command; its result becomes a notice unless ``then`` takes it."""
        self.perform(lambda: self.station.execute(command), then)

    def perform(
        self,
        deed: Callable[[], Awaitable[CommandResult]],
        then: Callable[[CommandResult], None] | None = None,
    ) -> None:
        """Do something that gives a result; several may run at once."""

        async def work() -> None:
            try:
                result = await deed()
            except StationUnavailable as error:
                self.following.lost(error)
                result = CommandResult(ok=False, message=f"Not done: {error}")
            self.following.snapshot_soon()
            if then is not None:
                then(result)
            else:
                self.say(result.message, bad=not result.ok)

        self.run_worker(work, group="deeds", exit_on_error=False)

    def want_savings(self) -> None:
        """A screen shows the ledger: ask for it unless it was asked for lately."""
        asked = self._savings_asked_at
        now = self.now()
        if self.state.stale or (asked is not None and now - asked < SAVINGS_REST_SECONDS):
            return
        self._savings_asked_at = now
        self.fetch(
            lambda: self.station.savings(SAVINGS_DAYS),
            lambda view: self.learn(SavingsTaken(view)),
            group="savings",
        )

    def say(self, text: str, *, title: str = "", bad: bool = False) -> None:
        """A notice that goes away by itself; an error stays longer."""
        self.notify(
            safe(text, 400),
            title=safe_line(title),
            severity="error" if bad else "information",
            timeout=12 if bad else 6,
            markup=False,
        )

    def open_upstream(self, name: str) -> None:
        """Show one upstream on its screen."""
        self.wanted_upstream = name
        self._go_and_draw(scopes.UPSTREAMS)

    def open_calls(self, words: str) -> None:
        """Show calls that match these filter words."""
        self.wanted_filter = words
        self._go_and_draw(scopes.CALLS)

    def open_held(self) -> None:
        """Browse the held texts."""
        from console.screens.held import HeldScreen

        if self.current_mode != scopes.SAVINGS:
            self.action_go(scopes.SAVINGS)
        if not isinstance(self.screen, HeldScreen):
            self.push_screen(HeldScreen())

    def open_held_text(self, key: str) -> None:
        """Show one held text, on top of the present screen."""
        from console.screens.held_text import HeldTextScreen

        if not isinstance(self.screen, HeldTextScreen):
            self.push_screen(HeldTextScreen(key))

    def open_what_if(self, record: CallRecord) -> None:
        """Try other settings on one call's answer, on top of the present screen."""
        from console.screens.what_if import WhatIfScreen

        if not isinstance(self.screen, WhatIfScreen):
            self.push_screen(WhatIfScreen(record))

    def open_record(self, record_id: str) -> None:
        """Show one record of the memory, on top of the present screen."""
        from console.screens.memory_record import RecordScreen

        if not isinstance(self.screen, RecordScreen):
            self.push_screen(RecordScreen(record_id))

    def open_runs(self) -> None:
        """Show the runs of forgetting."""
        from console.screens.forgetting_runs import RunsScreen

        if self.current_mode != scopes.FORGETTING:
            self.action_go(scopes.FORGETTING)
        if not isinstance(self.screen, RunsScreen):
            self.push_screen(RunsScreen())

    def open_surfacing_figures(self) -> None:
        """Show how well surfacing does."""
        from console.screens.surfacing_figures import FiguresScreen

        self._open_below(scopes.SURFACING, FiguresScreen)

    def open_tuning(self) -> None:
        """Show the tuner's steps and what would serve better."""
        from console.screens.surfacing_tuning import TuningScreen

        self._open_below(scopes.SURFACING, TuningScreen)

    def _open_below(self, screen_id: str, kind: Callable[[], MainScreen]) -> None:
        if self.current_mode != screen_id:
            self.action_go(screen_id)
        if type(self.screen) is not kind:
            self.push_screen(kind())

    def _go_and_draw(self, screen_id: str) -> None:
        self.action_go(screen_id)
        self.paint_soon()

    def reconnect(self, name: str) -> None:
        """Reconnect an upstream; asks first while calls are in flight."""
        from console.screens.dialogs import confirm

        view = self.state.upstream(name)
        if view is None:
            self.say(f"There is no upstream {name} any more.", bad=True)
            return
        if view.in_flight == 0:
            self.carry_out(ReconnectUpstream(name))
            return
        calls = fmt.plural(view.in_flight, "call is", "calls are")
        confirm(
            self,
            f"Reconnect {name}?",
            f"{calls} in flight and will fail. The program is stopped and started again.",
            "Reconnect",
            lambda: self.carry_out(ReconnectUpstream(name)),
        )

    # -- actions ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "step_back":
            screen = self._shown()
            return screen is not None and screen.can_go_back()
        return True

    def action_go(self, screen_id: str) -> None:
        """Show a main screen; once more goes back to its first page."""
        if self.current_mode != screen_id:
            self.switch_mode(screen_id)
            return
        while len(self.screen_stack) > 1:
            self.pop_screen()

    def action_step_back(self) -> None:
        """Filter, detail, main screen, Overview: one step."""
        screen = self._shown()
        if screen is None or screen.go_back():
            return
        if len(self.screen_stack) > 1:
            self.pop_screen()
        elif self.current_mode != scopes.OVERVIEW:
            self.switch_mode(scopes.OVERVIEW)

    def action_show_help(self) -> None:
        from console.screens.help import HelpScreen

        screen = self._shown()
        if not isinstance(self.screen, ModalScreen):
            self.push_screen(HelpScreen(screen.SCOPE if screen else scopes.OVERVIEW))

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, ModalScreen):
            super().action_command_palette()

    async def action_quit(self) -> None:
        """Leave; ask first when leaving would cut hosts off."""
        from console.screens.dialogs import Choice, ChoiceDialog

        if isinstance(self.screen, ChoiceDialog):
            return
        if self.station.attached:
            self._leave(QuitChoice.LEAVE)
            return
        hosts = self.state.hosts
        if not hosts:
            self._leave(QuitChoice.STOP)
            return
        names = ", ".join(sorted({safe_line(host.name, 40) for host in hosts})[:5])
        number = "1 host is" if len(hosts) == 1 else f"{len(hosts)} hosts are"
        self.push_screen(
            ChoiceDialog(
                "Leave the console",
                f"{number} connected: {names}.\nWhat becomes of the proxy?",
                (
                    Choice("keep", "k", "Keep it running without a screen"),
                    Choice("stop", "s", "Stop it; the hosts lose their tools", danger=True),
                    Choice("cancel", "c", "Stay here"),
                ),
            ),
            self._quit_chosen,
        )

    def _quit_chosen(self, choice: str | None) -> None:
        if choice in ("keep", "stop"):
            self._leave(QuitChoice(choice))

    def leave_for_demo(self) -> None:
        """Close the screen so that the demo can open its own."""
        self._leave(QuitChoice.LEAVE if self.station.attached else QuitChoice.STOP)

    def _leave(self, choice: QuitChoice) -> None:
        if self._leaving:
            return
        self._leaving = True
        if self._on_quit is not None:
            self._on_quit(choice)
        self.exit(choice)
