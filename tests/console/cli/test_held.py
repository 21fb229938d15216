"""``mms held`` and ``mms cache``: with a station and from the file."""

from __future__ import annotations

from pathlib import Path

from config.paths import ensure_private_directory
from proxy.commands import ClearCache, CommandResult, DropHeld
from proxy.store.held import HeldStore, key_of
from tests.console.cli.conftest import Instance
from tests.support.fake_engine import Engine
from tests.support.sample_answers import HELD

BODY = b'{"content":[{"type":"text","text":"one\\npassword: hunter2hunter2\\nthree"}]}'
KEY = key_of(BODY)


def hold(mms: Instance) -> None:
    """Leave a held answer behind, as a station that ran before."""
    ensure_private_directory(mms.paths.state_directory)
    store = HeldStore(Path(mms.paths.held_database), 10_000_000)
    store.start()
    store.put(KEY, BODY, (), upstream="docs", tool="read")
    assert store.stop(5)


def test_held_lists_the_answers_and_how_full_the_store_is(mms: Instance, running: Engine) -> None:
    ran = mms.run("held")
    assert ran.code == 0
    first = HELD.answers[0]
    assert first.key in ran.out
    assert f"{len(HELD.answers)} answers" in ran.out
    assert "of 268 MB, 3 evicted" in ran.out
    data = mms.run("held", "--json").json
    assert data["station"] is True
    assert data["held"][0]["key"] == first.key
    assert data["totals"]["answers"] == len(HELD.answers)
    assert mms.run("held", "list", "--json").json == data
    assert len(mms.run("held", "list", "--limit", "3", "--json").json["held"]) == 3
    assert mms.run("held", "list", "--limit", "0").code == 2


def test_held_shows_one_answer_with_its_text(mms: Instance, running: Engine) -> None:
    first = HELD.answers[0]
    out = mms.run("held", "show", first.key).out
    assert f"{first.upstream} / {first.tool}" in out
    assert "40: a line of" in out
    assert "(cut to what a screen can show)" in out
    data = mms.run("held", "show", first.key, "--json").json
    assert data["held"]["view"]["key"] == first.key
    ran = mms.run("held", "show", "0" * 16)
    assert ran.code == 1
    assert "No answer is held under" in ran.err
    assert "mms held" in ran.err


def test_held_works_without_a_station_and_hides_secrets(mms: Instance) -> None:
    assert "Nothing is held." in mms.run("held").out
    hold(mms)
    assert KEY in mms.run("held").out
    data = mms.run("held", "--json").json
    assert data["station"] is False
    assert data["totals"]["capacity_bytes"] == 256 * 1024 * 1024
    out = mms.run("held", "show", KEY).out
    assert "one\n" in out
    assert "three" in out
    assert "hunter2" not in out


def test_dropping_needs_a_station_and_says_what_became_of_it(
    mms: Instance, running: Engine
) -> None:
    key = HELD.answers[0].key
    ran = mms.run("held", "drop", key)
    assert ran.code == 0
    assert key in ran.out
    assert running.fake.executed == [DropHeld(key)]
    again = mms.run("held", "drop", key, "--json")
    assert again.code == 1
    assert "No answer is held" in again.json["error"]
    running.stop()
    assert mms.run("held", "drop", key).code == 3


def test_the_cache_is_cleared_whole_or_by_server_and_tool(mms: Instance, running: Engine) -> None:
    assert mms.run("cache", "clear").code == 0
    data = mms.run("cache", "clear", "--server", "docs", "--tool", "search", "--json").json
    assert data["ok"] is True
    assert "docs/search" in data["message"]
    assert running.fake.executed == [ClearCache(), ClearCache("docs", "search")]
    running.fake.answer = lambda _: CommandResult(ok=False, message="there is no upstream x")
    refused = mms.run("cache", "clear", "--server", "x")
    assert refused.code == 1
    assert "there is no upstream x" in refused.err


def test_the_cache_needs_a_station_and_an_action(mms: Instance) -> None:
    assert mms.run("cache", "clear").code == 3
    assert mms.run("cache").code == 2
