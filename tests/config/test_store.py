"""The settings in force: good edits apply, bad ones change nothing."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

import pytest

from config.diff import KeyChange, SettingsDiff, diff_settings
from config.paths import Paths
from config.schema import Settings
from config.secrets import SECRET_MARK
from config.store import Applied, Rejected, SettingsStore, Unchanged

from .conftest import Load

_ONE = '[upstreams.a]\ncommand = "x"\n'


@pytest.fixture
def store(load: Load) -> SettingsStore:
    """A store over a file with one upstream."""
    load(_ONE)
    return SettingsStore(load, clock=itertools.count().__next__)


def _write(paths: Paths, text: str) -> None:
    paths.config_file.write_text(text)


def test_the_same_text_is_no_change(store: SettingsStore, paths: Paths) -> None:
    assert store.reload() == Unchanged()
    _write(paths, "# only a comment\n" + _ONE)
    before = store.current
    assert store.reload() == Unchanged()
    assert store.current == before
    assert store.loaded.provenance["upstreams.a.command"].where.endswith(":3")


def test_a_good_edit_is_applied_and_described(store: SettingsStore, paths: Paths) -> None:
    old = store.current
    _write(
        paths,
        '[proxy]\nmax_queued = 5\n[upstreams.a]\ncommand = "y"\n[upstreams.b]\ncommand = "z"\n',
    )
    outcome = store.reload()
    assert isinstance(outcome, Applied)
    assert outcome.changes.upstreams_added == ("b",)
    assert outcome.changes.upstreams_changed == ("a",)
    assert outcome.changes.sentences() == (
        "upstream b added",
        "proxy.max_queued is now 5",
        'upstreams.a.command is now "y"',
    )
    assert (outcome.old, outcome.new) == (old, store.current)
    assert old.upstreams["a"].command == "x", "a call keeps the settings it began with"


@pytest.mark.parametrize(
    "broken",
    [
        '[upstreams.a\ncommand = "x"\n',
        _ONE + "[proxy]\nmax_queued = -1\n",
        _ONE + '[upstreams.b]\ncommand = "${NOPE}"\n',
        '[upstreams.a]\ncomand = "x"\n',
    ],
)
def test_a_broken_edit_keeps_the_last_good_settings(
    store: SettingsStore, paths: Paths, broken: str
) -> None:
    before = store.loaded
    _write(paths, broken)
    outcome = store.reload()
    assert isinstance(outcome, Rejected)
    assert outcome.problems
    assert outcome.problems[0].line is not None
    assert store.loaded is before
    assert store.problems == outcome.problems
    _write(paths, _ONE)
    assert store.reload() == Unchanged()
    assert store.problems == ()


def test_a_file_that_became_writable_for_others_changes_nothing(
    store: SettingsStore, paths: Paths
) -> None:
    paths.config_file.chmod(0o666)
    assert isinstance(store.reload(), Rejected)
    assert list(store.current.upstreams) == ["a"]


def test_the_first_load_takes_what_is_valid_and_old_errors_do_not_block_other_edits(
    load: Load, paths: Paths
) -> None:
    broken = '[upstreams.b]\ncommand = "${NOPE}"\n'
    load(broken + _ONE)
    store = SettingsStore(load)
    assert list(store.current.upstreams) == ["a"]
    assert len(store.problems) == 1
    _write(paths, "# a line more\n" + broken + '[upstreams.c]\ncommand = "z"\n' + _ONE)
    outcome = store.reload()
    assert isinstance(outcome, Applied)
    assert outcome.changes.upstreams_added == ("c",)
    assert len(store.problems) == 1


def test_a_file_that_went_away_changes_nothing_and_an_empty_one_does(
    store: SettingsStore, paths: Paths
) -> None:
    paths.config_file.unlink()
    for _ in range(2):
        outcome = store.reload()
        assert isinstance(outcome, Rejected)
        assert "the file is gone" in str(outcome.problems[0])
        assert list(store.current.upstreams) == ["a"]
    paths.config_file.touch(mode=0o600)
    outcome = store.reload()
    assert isinstance(outcome, Applied)
    assert outcome.changes.upstreams_removed == ("a",)
    assert store.problems == ()


def test_a_file_that_never_was_is_no_problem(load: Load) -> None:
    store = SettingsStore(load)
    assert store.reload() == Unchanged()


def test_a_storm_of_edits_never_shows_half_a_file_and_ends_with_the_last_one(
    store: SettingsStore, paths: Paths
) -> None:
    seen: list[Settings] = []
    done = threading.Event()

    def read() -> None:
        while not done.wait(0.0005):
            seen.append(store.current)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    applied = rejected = 0
    try:
        for n in range(200):
            bad = n % 5 == 4
            text = f'[proxy]\nmax_queued = {n}\n[upstreams.a]\ncommand = "x{n}"\n'
            _write(paths, text + ("[proxy\n" if bad else ""))
            outcome = store.reload()
            applied += isinstance(outcome, Applied)
            rejected += isinstance(outcome, Rejected)
    finally:
        done.set()
        for reader in readers:
            reader.join(timeout=5)
    assert (applied, rejected) == (160, 40)
    assert store.current.proxy.max_queued == 198
    for settings in {id(settings): settings for settings in seen}.values():
        command = settings.upstreams["a"].command
        assert command in ("x", f"x{settings.proxy.max_queued}")


def test_reloading_from_several_threads_is_serialised(store: SettingsStore, paths: Paths) -> None:
    _write(paths, '[upstreams.a]\ncommand = "new"\n')
    outcomes: list[object] = []
    threads = [threading.Thread(target=lambda: outcomes.append(store.reload())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=5)
    assert sum(isinstance(outcome, Applied) for outcome in outcomes) == 1


def test_a_changed_secret_is_reported_without_its_value(load: Load) -> None:
    old = load('[upstreams.a]\ncommand = "x"\nenv = { T = "canary-1" }\n').settings
    new = load('[upstreams.a]\ncommand = "x"\nenv = { T = "canary-2" }\n').settings
    diff = diff_settings(old, new)
    assert diff.sentences() == ("upstreams.a.env changed",)
    assert diff.keys_changed[0].new == f'{{ T = "{SECRET_MARK}" }}'
    assert "canary" not in repr(diff)


def test_a_changed_tool_is_told_by_its_key(load: Load) -> None:
    old = load('[upstreams.a]\ncommand = "x"\n').settings
    new = load('[upstreams.a]\ncommand = "x"\ntools.t.enabled = false\n').settings
    assert diff_settings(old, new).sentences() == ("upstreams.a.tools.t.enabled is now false",)
    assert diff_settings(new, old).sentences() == ("upstreams.a.tools.t.enabled is now true",)


def test_keys_that_wait_for_the_next_start_are_listed_and_said() -> None:
    change = KeyChange("some.key", "1", "2", live=False)
    diff = SettingsDiff(keys_changed=(change,))
    assert diff.needs_restart == ("some.key",)
    assert diff.sentences() == ("some.key is now 2 (in force after the next start)",)


def test_a_value_that_is_taken_back_is_not_set(load: Load) -> None:
    old = load('[upstreams.a]\ncommand = "x"\nmax_in_flight = 5\n').settings
    new = load('[upstreams.a]\ncommand = "x"\n').settings
    assert diff_settings(old, new).sentences() == ("upstreams.a.max_in_flight is now not set",)


def test_the_time_of_loading_moves_only_with_settings_that_were_taken(
    store: SettingsStore, paths: Paths, tmp_path: Path
) -> None:
    assert store.loaded_at == 0
    _write(paths, "broken")
    store.reload()
    assert store.loaded_at == 0
    _write(paths, _ONE)
    store.reload()
    assert store.loaded_at == 1
