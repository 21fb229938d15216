"""The one-line bars at the edges: status, navigation, keys; and the banner for what must not be missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from console import scopes
from console.safe import safe_line
from console.widgets.textpane import wrap
from console.widgets.tone import Cell, Tone, Toned, draw


class StatusBar(Toned):
    """What is known of the station, with the time of day at the right edge."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: tuple[tuple[Cell, ...], ...] = ()
        self._right = ""

    def show(self, parts: Sequence[tuple[Cell, ...]], right: str) -> None:
        """Parts come in order of weight: the last ones go when the line is narrow."""
        fresh = tuple(parts)
        if (fresh, right) != (self._parts, self._right):
            self._parts, self._right = fresh, right
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        room = width - len(self._right) - 2
        cells: list[Cell] = [Cell(" ")]
        used = 1
        for part in self._parts:
            length = sum(cell_len(safe_line(cell.text)) for cell in part) + 3
            if used + length > room and len(cells) > 1:
                break
            cells.extend(part)
            cells.append(Cell("   "))
            used += length
        left = draw(self, tuple(cells), room)
        return Strip.join([left, draw(self, (Cell(self._right + " ", Tone.MUTED),), width - room)])


class NavBar(Toned):
    """The main screens with their numbers; the present one in brackets."""

    class Chosen(Message):
        """A screen was clicked."""

        def __init__(self, screen_id: str) -> None:
            super().__init__()
            self.screen_id = screen_id

    def __init__(self, present: str) -> None:
        super().__init__()
        self._present = present
        self._badges: dict[str, Cell] = {}

    def show(self, badges: dict[str, Cell]) -> None:
        """Marks beside the names, for example how many upstreams need a person."""
        if badges != self._badges:
            self._badges = badges
            self.refresh()

    def _entries(self) -> list[_Entry]:
        """All titles if they fit, else short ones, else the numbers of the other screens."""
        width = self.size.width
        roomy = [self._entry(screen, screen.title, gap=True) for screen in scopes.SCREENS]
        if sum(entry.width for entry in roomy) + len(roomy) <= width:
            return roomy
        short = [self._entry(screen, screen.short or screen.title) for screen in scopes.SCREENS]
        if sum(entry.width for entry in short) + 1 <= width:
            return short
        return [
            self._entry(screen, screen.title if screen.id == self._present else "")
            for screen in scopes.SCREENS
        ]

    def _entry(self, screen: scopes.ScreenName, title: str, *, gap: bool = False) -> _Entry:
        present = screen.id == self._present
        badge = self._badges.get(screen.id)
        cells = [Cell(f"{screen.number} {title}".rstrip(), Tone.CHOSEN if present else Tone.MUTED)]
        if badge:
            cells += [Cell(" "), badge] if gap else [badge]
        return _Entry(screen.id, tuple(cells), present, gap)

    def on_click(self, event: events.Click) -> None:
        x = 0
        for entry in self._entries():
            if x <= event.x < x + entry.width + entry.gap:
                self.post_message(self.Chosen(entry.id))
                return
            x += entry.width + entry.gap

    def render_line(self, y: int) -> Strip:
        cells: list[Cell] = []
        space = Cell(" ", Tone.MUTED)
        for entry in self._entries():
            cells += [Cell("[", Tone.CHOSEN) if entry.present else space, *entry.cells]
            if entry.present:
                cells.append(Cell("]", Tone.CHOSEN))
            elif entry.gap:
                cells.append(space)
        return draw(self, tuple(cells), self.size.width)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One screen in the navigation."""

    id: str
    cells: tuple[Cell, ...]
    present: bool
    gap: bool
    """A space stands after it."""

    @property
    def width(self) -> int:
        """Cells that it takes, without the space after it."""
        return 1 + sum(cell_len(cell.text) for cell in self.cells) + (self.present and not self.gap)


@dataclass(frozen=True, slots=True)
class KeyHint:
    """One entry of the footer."""

    key: str
    label: str
    weight: int
    action: str
    on_app: bool
    dim: bool = False


class KeyBar(Toned):
    """The keys that work here. The lighter ones go when the line is narrow."""

    class Pressed(Message):
        """An entry was clicked."""

        def __init__(self, hint: KeyHint) -> None:
            super().__init__()
            self.hint = hint

    def __init__(self) -> None:
        super().__init__()
        self._hints: tuple[KeyHint, ...] = ()

    def show(self, hints: Sequence[KeyHint]) -> None:
        """Show these keys, in this order."""
        fresh = tuple(hints)
        if fresh != self._hints:
            self._hints = fresh
            self.refresh()

    def fitting(self, width: int) -> list[KeyHint]:
        """Those that fit into that many cells."""
        kept = list(self._hints)
        while kept and sum(_length(hint) for hint in kept) + 1 > width:
            kept.remove(min(kept, key=lambda hint: hint.weight))
        return kept

    def on_click(self, event: events.Click) -> None:
        x = 1
        for hint in self.fitting(self.size.width):
            if x <= event.x < x + _length(hint) and not hint.dim:
                self.post_message(self.Pressed(hint))
            x += _length(hint)

    def render_line(self, y: int) -> Strip:
        cells: list[Cell] = [Cell(" ")]
        for hint in self.fitting(self.size.width):
            cells.append(Cell(hint.key, Tone.MUTED if hint.dim else Tone.KEY))
            cells.append(Cell(f" {hint.label}  ", Tone.MUTED if hint.dim else Tone.NORMAL))
        return draw(self, tuple(cells), self.size.width)


def _length(hint: KeyHint) -> int:
    return cell_len(hint.key) + cell_len(hint.label) + 3


class Banner(Toned):
    """Stays until what it says is no longer true; hidden when there is nothing to say."""

    def __init__(self) -> None:
        super().__init__()
        self._cells: tuple[Cell, ...] = ()

    def show(self, cells: tuple[Cell, ...]) -> None:
        """What it says; empty hides it."""
        if cells != self._cells:
            self._cells = cells
            self.set_class(bool(cells), "-shown")
            self.refresh(layout=True)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return min(2, len(wrap(self._cells, width - 2)))

    def render_line(self, y: int) -> Strip:
        pieces = wrap(self._cells, self.size.width - 2)
        if y >= len(pieces):
            return draw(self, (), self.size.width)
        piece = pieces[y]
        if y == 1 and len(pieces) > 2:
            piece = (*piece, Cell(" \u2026"))
        return draw(self, (Cell(" "), *piece), self.size.width)


class TooSmall(Widget):
    """Shown alone when the terminal is smaller than what any screen needs."""

    NEEDS: ClassVar[tuple[int, int]] = (60, 16)

    def render(self) -> Content:
        width, height = self.screen.size
        return Content(f"needs {self.NEEDS[0]}\u00d7{self.NEEDS[1]}, have {width}\u00d7{height}")
