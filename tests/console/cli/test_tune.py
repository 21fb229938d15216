"""``mms tune``: advice as a diff; applied with a backup, undone only when nobody edited since."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.commands import ReloadSettings, RevertAdjustment
from proxy.surface.model import TuningReport
from tests.console.cli.conftest import Instance
from tests.support.fake_engine import Engine
from tests.support.sample_surfacing import TUNING

CONFIG = """\
# my servers
[upstreams.github]
command = "sh"  # the shell
[upstreams.github.tools.search_code]
max_result_tokens = 4000  # enough?
"""
ADVICE = TUNING.recommendations[0]
MISSING = replace(ADVICE, upstream="jira", key="upstreams.jira.tools.search_code.max_result_tokens")


@pytest.fixture
def advised(mms: Instance, running: Engine) -> Instance:
    """A station with two recommendations, one of them for an upstream that the file does not have."""
    mms.write(CONFIG)
    running.fake.tuning_value = TuningReport(24.0, (ADVICE, MISSING), 6)
    return mms


def backups(mms: Instance) -> list[Path]:
    return sorted(mms.paths.config_file.parent.glob("*.bak"))


def test_advice_is_shown_with_its_reason_and_as_a_diff_and_changes_nothing(
    advised: Instance, running: Engine
) -> None:
    out = advised.run("tune").out
    for words in (
        "2 recommendations, by 6 tools with calls in the last 24 h:",
        "4000 \u2192 6000  (high confidence, 60 samples)",
        ADVICE.reason,
        "-max_result_tokens = 4000  # enough?",
        "+max_result_tokens = 6000  # enough?",
        "upstreams.jira.tools.search_code.max_result_tokens cannot be written to",
        "To write it: mms tune --apply",
    ):
        assert words in out, words
    assert advised.config == CONFIG
    assert backups(advised) == []
    data = advised.run("tune", "--tool", "nothing", "--since-hours", "2", "--json").json
    assert data == {
        "tuning": {"since_hours": 2.0, "recommendations": [], "tools_seen": 6, "problem": ""},
        "diff": "",
        "refused": [],
        "applied": None,
    }
    assert advised.run("tune", "--since-hours", "0").code == 2


def test_it_asks_applies_with_a_backup_and_puts_back_only_what_nobody_edited_since(
    advised: Instance, running: Engine
) -> None:
    ran = advised.run("tune", "--apply")
    assert ran.code == 1
    assert "no one can be asked here; add --yes" in ran.err
    assert advised.config == CONFIG

    ran = advised.run("tune", "--apply", "-y")
    assert ran.code == 0, ran.err
    tuned = CONFIG.replace("4000", "6000")
    assert advised.config == tuned
    (backup,) = backups(advised)
    assert backup.read_text() == CONFIG
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert f"To take it back: mms tune --undo {backup}" in ran.out
    assert running.fake.executed == [ReloadSettings()]

    advised.write(tuned + "# mine\n")
    ran = advised.run("tune", "--undo", str(backup))
    assert ran.code == 1
    assert "was changed after the backup was made" in ran.err
    assert advised.config == tuned + "# mine\n"

    advised.write(tuned)
    ran = advised.run("tune", "--undo", str(backup))
    assert ran.code == 0, ran.err
    assert "The running station has taken it over." in ran.out
    assert advised.config == CONFIG
    ran = advised.run("tune", "--undo", str(backup))
    assert "is already as in the backup" in ran.err

    # Within a second or not: the same change again needs the same backup.
    applied = advised.run("tune", "--apply", "--yes", "--json").json["applied"]
    assert applied["settings"] == {ADVICE.key: "6000"}
    assert applied["undo"] == f"mms tune --undo {applied['backup']}"
    assert advised.config == tuned


def test_what_is_no_backup_of_this_file_is_refused(advised: Instance) -> None:
    stranger = advised.paths.config_file.with_name("config.toml.bak")
    stranger.write_text("")
    ran = advised.run("tune", "--undo", str(stranger))
    assert ran.code == 1
    assert "is no backup of config.toml" in ran.err
    gone = advised.paths.config_file.with_name("config.toml.20261201T124500-3f2a9c1d04be.bak")
    assert "cannot be read: No such file" in advised.run("tune", "--undo", str(gone)).err
    assert advised.config == CONFIG


def test_a_step_of_the_tuner_is_taken_back_by_the_station(mms: Instance, running: Engine) -> None:
    ran = mms.run("tune", "--revert", "2")
    assert (ran.code, ran.out) == (0, "Adjustment 2 is taken back.\n")
    assert mms.run("tune", "--revert", "9", "--json").code == 1
    assert running.fake.executed == [RevertAdjustment(2), RevertAdjustment(9)]


def test_without_a_station_advice_comes_from_the_files(mms: Instance) -> None:
    ran = mms.run("tune")
    assert ran.code == 0, ran.err
    assert "Nothing would serve better: 0 tools with calls in the last 24 h" in ran.out
    assert mms.run("tune", "--revert", "1").code == 3
