"""The settings in force. A bad edit changes nothing; a good one swaps one reference.

A reader takes `SettingsStore.current` once and keeps that value for as long as its work lasts.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from config.diff import SettingsDiff, diff_settings
from config.load import Loaded
from config.problem import Problem, new_errors
from config.schema import Settings


@dataclass(frozen=True, slots=True)
class Applied:
    """New settings are in force."""

    changes: SettingsDiff
    old: Settings
    new: Settings


@dataclass(frozen=True, slots=True)
class Rejected:
    """The last good settings stay in force."""

    problems: tuple[Problem, ...]
    """The errors that the edit brought."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The files say what they said before."""


class SettingsStore:
    """Loads settings and keeps the last good ones. Safe to use from several threads."""

    def __init__(
        self, load: Callable[[], Loaded], *, clock: Callable[[], float] = time.time
    ) -> None:
        self._load = load
        self._clock = clock
        self._reloading = threading.Lock()
        self._loaded = load()
        self._loaded_at = clock()
        self._problems = self._loaded.problems

    @property
    def current(self) -> Settings:
        """The settings in force; the first load takes whatever of the files is valid."""
        return self._loaded.settings

    @property
    def loaded(self) -> Loaded:
        """The settings in force with their provenance."""
        return self._loaded

    @property
    def loaded_at(self) -> float:
        """When the settings in force were read, in seconds since the epoch."""
        return self._loaded_at

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the latest reading complained about; a good one clears it."""
        return self._problems

    def reload(self) -> Applied | Rejected | Unchanged:
        """Read again. An edit that brings a new error is rejected as a whole.

        An error that was there when the settings in force were taken does not block: it is about
        something that is left out already, and other edits must still be possible. A file that went
        away is an error: editors and synchronisation take it away for a moment.
        """
        with self._reloading:
            before = self._loaded
            after = self._load()
            self._problems = after.problems
            if after.user_file_missing and not before.user_file_missing:
                self._problems = (_file_is_gone(after), *after.problems)
            fresh = new_errors(self._problems, before.problems)
            if fresh:
                return Rejected(fresh)
            self._loaded, self._loaded_at = after, self._clock()
            changes = diff_settings(before.settings, after.settings)
            if changes.is_empty:
                return Unchanged()
            return Applied(changes, before.settings, after.settings)


def _file_is_gone(loaded: Loaded) -> Problem:
    return Problem(
        file=str(loaded.files[0]),
        line=None,
        column=None,
        key="",
        reason="the file is gone, so the settings in force stay",
        hint="Put it back, or write an empty one to go on with the defaults.",
    )
