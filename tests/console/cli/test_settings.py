"""``mms config``."""

from __future__ import annotations

import json

import pytest

from tests.console.cli.conftest import Instance
from tests.support.fake_engine import Engine
from tests.support.sample_data import SETTINGS

BROKEN = "[proxy]\nmax_in_flight = 1\nmax_in_flihgt = 2\n"


def test_show_without_a_station_reads_the_files(mms: Instance) -> None:
    mms.write('[proxy]\nmax_queued = 7\n[upstreams.x]\ncommand = "sh"\nenv = { A = "secret1" }\n')
    ran = mms.run("config", "show", "--changed")
    assert ran.code == 0
    assert "proxy.max_queued" in ran.out
    assert "proxy.max_in_flight" not in ran.out
    assert "secret1" not in ran.out
    rows = {one["key"]: one for one in mms.run("config", "show", "--json").json["settings"]}
    assert rows["proxy.max_queued"]["value"] == "7"
    assert rows["proxy.max_queued"]["source"] == "user file"
    assert rows["proxy.max_queued"]["where"].endswith("config.toml:2")
    assert rows["proxy.max_in_flight"]["source"] == "default"


def test_show_with_a_station_shows_what_is_in_force_there(mms: Instance, running: Engine) -> None:
    data = mms.run("config", "show", "--json").json
    assert data["station"] is True
    assert [row["key"] for row in data["settings"]] == [row.key for row in SETTINGS.rows]
    assert mms.run("config", "get", "proxy.call_timeout_seconds").out == "45.0\n"


@pytest.mark.parametrize(
    ("pattern", "count"), [("proxy.http", 4), ("*timeout*", 7), ("proxy.max_queued", 1), ("x", 0)]
)
def test_show_can_be_narrowed(mms: Instance, pattern: str, count: int) -> None:
    assert len(mms.run("config", "show", pattern, "--json").json["settings"]) == count
    assert mms.run("config", "show", pattern).code == 0


def test_show_with_the_meanings(mms: Instance) -> None:
    assert "further ones queue" in mms.run("config", "show", "proxy", "--help-text").out


def test_get_prints_only_the_value(mms: Instance) -> None:
    assert mms.run("config", "get", "proxy.max_queued").out == "256\n"
    data = mms.run("config", "get", "proxy.max_queued", "--json").json
    assert data["source"] == "default"
    assert data["live"] is True


def test_get_of_an_unknown_key_suggests_the_nearest(mms: Instance) -> None:
    ran = mms.run("config", "get", "proxy.max_queud")
    assert ran.code == 1
    assert "proxy.max_queued" in ran.err


def test_set_and_unset_keep_comments(mms: Instance) -> None:
    mms.write("# top\n[proxy] # here\nmax_queued = 7\n")
    assert mms.run("config", "set", "proxy.max_queued", "9").code == 0
    assert mms.config == "# top\n[proxy] # here\nmax_queued = 9\n"
    assert mms.run("config", "unset", "proxy.max_queued").code == 0
    assert "max_queued" not in mms.config
    assert "# top" in mms.config
    ran = mms.run("config", "unset", "proxy.max_queued")
    assert ran.code == 1
    assert "is not set in" in ran.err


@pytest.mark.parametrize("value", ["many", "-1", "true"])
def test_set_of_a_wrong_value_is_exit_code_4_and_changes_nothing(mms: Instance, value: str) -> None:
    mms.write("[proxy]\nmax_queued = 7\n")
    ran = mms.run("config", "set", "proxy.max_queued", value)
    assert ran.code in (2, 4) if value == "-1" else ran.code == 4
    assert mms.config == "[proxy]\nmax_queued = 7\n"


def test_set_says_when_something_stronger_hides_it(
    mms: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTOMEM_STM_PROXY__MAX_QUEUED", "5")
    ran = mms.run("config", "set", "proxy.max_queued", "9")
    assert ran.code == 0
    assert "It stays 5: MEMTOMEM_STM_PROXY__MAX_QUEUED (environment) is stronger." in ran.out


def test_set_says_when_the_running_station_has_something_stronger(
    mms: Instance, running: Engine
) -> None:
    ran = mms.run("config", "set", "proxy.history.max_days", "9")
    assert ran.code == 0
    assert "It stays 30: --set proxy.history.max_days (flag) is stronger." in ran.out
    ran = mms.run("config", "set", "proxy.http.port", "7400")
    assert "It takes effect when a station starts." in ran.out


def test_set_says_when_the_station_could_not_be_told(mms: Instance, running: Engine) -> None:
    running.fake.unavailable = "It hangs."
    ran = mms.run("config", "set", "proxy.max_queued", "9")
    assert ran.code == 0
    assert "The running station could not be told: It hangs." in ran.out
    assert mms.run("config", "set", "proxy.max_queued", "8", "--json").json["station"] == (
        "unreachable"
    )


def test_path_prints_the_file_and_with_json_the_other_places(mms: Instance) -> None:
    assert mms.run("config", "path").out == f"{mms.paths.config_file}\n"
    data = mms.run("config", "path", "--json").json
    assert data["socket"] == str(mms.paths.socket)


def test_validate_names_file_line_key_and_the_nearest_key(mms: Instance) -> None:
    mms.write(BROKEN)
    ran = mms.run("config", "validate")
    assert ran.code == 4
    assert "config.toml:3" in ran.out
    assert "proxy.max_in_flight" in ran.out
    data = mms.run("config", "validate", "--json").json
    assert data["valid"] is False
    assert data["problems"][0]["line"] == 3
    assert data["problems"][0]["key"] == "proxy.max_in_flihgt"
    assert data["problems"][0]["severity"] == "error"


def test_validate_of_a_good_or_missing_file_is_exit_code_0(mms: Instance) -> None:
    assert mms.run("config", "validate").code == 0
    mms.write("[proxy]\nmax_queued = 7\n")
    ran = mms.run("config", "validate")
    assert ran.code == 0
    assert "valid" in ran.out
    assert mms.run("config", "validate", "--json").json == {"valid": True, "problems": []}


def test_a_warning_is_shown_but_valid(mms: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTOMEM_STM_PROXI__X", "1")
    ran = mms.run("config", "validate")
    assert ran.code == 0
    assert ran.out.startswith("warning: ")
    assert "MEMTOMEM_STM_PROXI__X" in ran.out


def test_another_file_can_be_validated(mms: Instance) -> None:
    other = mms.home / "other.toml"
    other.write_text("oops = = 1\n")
    ran = mms.run("config", "validate", str(other))
    assert ran.code == 4
    assert "other.toml:1" in ran.out
    other.write_bytes(b"\xff\xfe")
    assert mms.run("config", "validate", str(other)).code == 4
    other.unlink()
    ran = mms.run("config", "validate", str(other))
    assert ran.code == 1
    assert "other.toml" in ran.err


def test_the_schema_is_json(mms: Instance) -> None:
    schema = json.loads(mms.run("config", "schema").out)
    assert "proxy" in schema["properties"]


def test_an_action_is_needed(mms: Instance) -> None:
    assert mms.run("config").code == 2
