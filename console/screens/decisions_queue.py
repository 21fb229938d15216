"""The queue of decisions as a screen holds it: pages put together, decided rows kept in their place. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from console.screens.decisions_text import haystack
from console.screens.memory_text import seconds
from memory.api import ProposalPage, ProposalView

STAY_SECONDS = 10.0
"""So long a decided row stays where it was."""


class DecisionQueue:
    """What is known of the queue. A decided row keeps its place until it is old or the list starts anew."""

    def __init__(self) -> None:
        self.views: list[ProposalView] | None = None
        """``None`` until the memory answered."""
        self.open = 0
        """All open ones, also those that are not loaded."""
        self.next = ""
        """Cursor of the next page; empty: all is loaded."""
        self._decided: dict[str, ProposalView] = {}

    def start_anew(self) -> None:
        """Another list is wanted."""
        self.views, self.next = None, ""
        self._decided.clear()

    def let_go(self) -> None:
        """Decided rows need not stay any longer."""
        self._decided.clear()

    def take(self, page: ProposalPage, *, more: bool) -> None:
        """A page from the beginning, or (``more``) the next one."""
        self.open, self.next = page.open, page.next
        if more and self.views is not None:
            known = {view.proposal.id for view in self.views}
            self.views = [
                *self.views,
                *(view for view in page.items if view.proposal.id not in known),
            ]
            return
        fresh = [view for view in page.items if view.proposal.id not in self._decided]
        for place, old in enumerate(self.views or ()):
            decided = self._decided.get(old.proposal.id)
            if decided is not None:
                fresh.insert(min(place, len(fresh)), decided)
        self.views = fresh

    def put(self, view: ProposalView, *, decided: bool) -> None:
        """A decision was made or taken back; the row shows it where it stands."""
        name = view.proposal.id
        if decided:
            self._decided[name] = view
        else:
            self._decided.pop(name, None)
        self.views = [view if one.proposal.id == name else one for one in self.views or ()]

    def drop_old(self, now: float, current: str) -> bool:
        """Take decided rows away that are old enough, but not ``current``; whether any went."""
        old = {
            name
            for name, view in self._decided.items()
            if now - seconds(view.proposal.decided_at or 0) > STAY_SECONDS and name != current
        }
        for name in old:
            del self._decided[name]
        if old and self.views is not None:
            self.views = [view for view in self.views if view.proposal.id not in old]
        return bool(old)

    def matching(self, words: Sequence[str]) -> list[ProposalView]:
        """The rows that have all these words (in lower case) somewhere."""
        views = self.views or []
        if not words:
            return list(views)
        return [view for view in views if all(word in haystack(view) for word in words)]
