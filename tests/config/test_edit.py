"""Changing the user's file: one thing changes, wrong things are refused, writes are whole."""

from __future__ import annotations

import fcntl
import os
import threading
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import config.edit
from config.edit import (
    EditRefusedError,
    add_upstream,
    remove_upstream,
    set_key,
    set_upstream_enabled,
    unset_key,
)
from config.toml_text import toml_value

_FILE = """\
# My settings

[proxy]
max_in_flight = 5   # five

# about fs
[upstreams.fs]
command = "npx" # c
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with comments."""
    file = tmp_path / "config.toml"
    _write(file, _FILE)
    return file


def _write(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o600)


def _set(file: Path, key: str, text: str) -> object:
    """Set and read back."""
    set_key(file, key, text, environ={})
    value: object = tomllib.loads(file.read_text())
    for name in key.split("."):
        assert isinstance(value, dict)
        value = value[name]
    return value


def test_a_set_key_changes_its_value_and_nothing_else(file: Path) -> None:
    set_key(file, "proxy.max_in_flight", "7", environ={})
    assert file.read_text() == _FILE.replace("= 5 ", "= 7 ")


@pytest.mark.parametrize(
    ("key", "typed", "value"),
    [
        ("proxy.max_in_flight", "7", 7),
        ("proxy.call_timeout_seconds", "7.5", 7.5),
        ("proxy.call_timeout_seconds", "7", 7),
        ("formation.enabled", "true", True),
        ("formation.enabled", "off", False),
        ("console.theme", "dark", "dark"),
        ("console.theme", '"dark blue"', "dark blue"),
        ("console.theme", "5", "5"),
        ("console.theme", "true", "true"),
        ("console.theme", 'say "hi" \\ \n there\x01', 'say "hi" \\ \n there\x01'),
        ("console.keys.quit", "ctrl+q", "ctrl+q"),
        ("upstreams.fs.args", '["-y", "a b"]', ["-y", "a b"]),
        ("upstreams.fs.env.A", "~/x", "~/x"),
        ("upstreams.fs.env", '{ A = "b" }', {"A": "b"}),
        ("upstreams.fs.transport", "stdio", "stdio"),
        ("upstreams.fs.tools.read.enabled", "no", False),
        ("proxy.http.allowed_origins", '["http://a:1"]', ["http://a:1"]),
    ],
)
def test_typed_text_becomes_a_value_of_the_keys_type(
    file: Path, tmp_path: Path, key: str, typed: str, value: object
) -> None:
    if key == "upstreams.fs.env.A":
        set_key(file, key, "gone", environ={})
        set_key(file, key, typed, environ={"HOME": "/h"})
        assert tomllib.loads(file.read_text())["upstreams"]["fs"]["env"] == {"A": value}
        return
    got = _set(file, key, typed)
    assert (got, type(got)) == (value, type(value))


@pytest.mark.parametrize(
    ("key", "typed", "reason"),
    [
        ("proxy.max_in_flight", "many", "proxy.max_in_flight: expected a whole number"),
        ("proxy.max_in_flight", "0", "0 is too small. Allowed are 1 to 4096."),
        ("proxy.max_in_flight", "1\nmax_queued = 5", "expected a whole number"),
        ("proxy.max_inflight", "1", "no such key. Did you mean proxy.max_in_flight?"),
        ("proxy", "1", "proxy is a table, not a key. Its keys: first_list_wait_seconds"),
        ("upstreams.fs", "x", "is a table, not a key. Its keys: prefix, command"),
        ("a b", "1", "a b: no such key. Write it like proxy.max_in_flight."),
        ("", "1", "no such key"),
        ("x = 1\ny", "1", "no such key"),
        ("upstreams.fs.args", "-y pkg", 'Write args = ["-y", "pkg"].'),
        ("upstreams.fs.command", "${NOPE}", "variable NOPE is not set"),
        ("upstreams.fs.url", "http://h", "both command and url are given"),
        ("upstreams.fs.prefix", "a__b", "must not contain __"),
        ("upstreams.git.enabled", "false", "There is no upstream git. There are fs. Add one"),
        ("proxy.http.host", "0.0.0.0", "only this machine may connect"),
        ("console.theme", "\udcff", "not valid text"),
    ],
)
def test_a_wrong_edit_is_refused_with_the_loaders_words_and_nothing_is_written(
    file: Path, key: str, typed: str, reason: str
) -> None:
    before = file.stat()
    with pytest.raises(EditRefusedError) as refusal:
        set_key(file, key, typed, environ={})
    assert reason in str(refusal.value)
    assert file.read_text() == _FILE
    assert file.stat().st_mtime_ns == before.st_mtime_ns


def test_a_problem_that_was_there_before_does_not_block_another_edit(file: Path) -> None:
    _write(file, _FILE + '[upstreams.b]\ncommand = "${NOPE}"\n')
    set_key(file, "proxy.max_in_flight", "7", environ={})
    set_upstream_enabled(file, "b", False, environ={})
    remove_upstream(file, "b", environ={})
    assert file.read_text() == _FILE.replace("= 5 ", "= 7 ")


def test_a_file_with_a_syntax_error_is_not_touched(file: Path) -> None:
    _write(file, "[proxy\n")
    with pytest.raises(EditRefusedError, match=r"config\.toml:1: not valid TOML"):
        set_key(file, "proxy.max_queued", "1", environ={})
    assert file.read_text() == "[proxy\n"


@pytest.mark.parametrize(
    "text",
    [
        "proxy = 1\n",
        "[[proxy]]\na = 1\n",
        "[[x]]\n[proxy]\n[[x]]\n",
        "console.x = { y = 2000-01-01 }\n",
    ],
)
def test_a_layout_that_cannot_be_edited_is_refused(file: Path, text: str) -> None:
    _write(file, text)
    with pytest.raises(EditRefusedError):
        set_key(file, "proxy.max_queued", "1", environ={})
    assert file.read_text() == text


def test_an_edit_that_would_change_anything_else_is_not_written(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def careless(text: str, *_: object, **__: object) -> str:
        return text.replace("5", "7") + "enabled = false\n"

    monkeypatch.setattr(config.edit, "set_value", careless)
    with pytest.raises(EditRefusedError, match="layout is too unusual"):
        set_key(file, "proxy.max_in_flight", "7", environ={})
    assert file.read_text() == _FILE


def test_a_file_that_others_can_write_is_not_touched(file: Path) -> None:
    file.chmod(0o664)
    with pytest.raises(EditRefusedError, match="chmod go-w"):
        set_key(file, "proxy.max_queued", "1", environ={})


def test_unset_takes_the_line_out_and_says_whether_it_was_there(file: Path) -> None:
    assert unset_key(file, "proxy.max_in_flight", environ={})
    assert file.read_text() == _FILE.replace("max_in_flight = 5   # five\n", "")
    assert not unset_key(file, "proxy.max_in_flight", environ={})
    with pytest.raises(EditRefusedError, match="neither command nor url"):
        unset_key(file, "upstreams.fs.command", environ={})


def test_a_key_that_nobody_knows_can_be_taken_out_which_mends_the_file(file: Path) -> None:
    _write(file, "nope = 1\n" + _FILE)
    assert unset_key(file, "nope", environ={})
    assert file.read_text() == _FILE
    with pytest.raises(EditRefusedError, match="nope: no such key"):
        unset_key(file, "nope", environ={})
    with pytest.raises(EditRefusedError, match="is a table, not a key"):
        unset_key(file, "upstreams.fs", environ={})


@pytest.mark.parametrize(
    "env", ['[upstreams.fs.env]\nA = "1"\n', 'env.A = "1"\nenv.B = "2"\n', 'env = { A = "1" }\n']
)
def test_a_whole_table_of_texts_is_replaced_however_it_is_written(file: Path, env: str) -> None:
    _write(file, _FILE + env)
    set_key(file, "upstreams.fs.env", '{ C = "3" }', environ={})
    assert file.read_text() == _FILE + 'env = { C = "3" }\n'


def test_a_missing_file_is_made_private_with_a_header(tmp_path: Path) -> None:
    file = tmp_path / "new" / "mms" / "config.toml"
    add_upstream(
        file,
        "git",
        {"command": "uvx", "args": ("mcp-server-git",), "env": {}, "cwd": None, "prefix": ""},
        environ={},
    )
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    head, blank, *rest = file.read_text().splitlines()
    assert head.startswith("# ")
    assert blank == ""
    assert rest == ["[upstreams.git]", 'command = "uvx"', 'args = ["mcp-server-git"]']


def test_an_added_upstream_is_checked(file: Path) -> None:
    for name, table, reason in (
        ("fs", {"command": "x"}, "upstream fs exists already"),
        ("a b", {"command": "x"}, "not a valid name of an upstream"),
        ("git", {}, "neither command nor url"),
        ("git", {"command": "x", "prefix": "fs"}, "upstream fs already has the prefix fs"),
        ("git", {"comand": "x"}, "upstreams.git.comand: no such key. Did you mean"),
        ("git", {"command": 5}, "expected text in quotes"),
    ):
        with pytest.raises(EditRefusedError, match=reason):
            add_upstream(file, name, table, environ={})
    assert file.read_text() == _FILE


def test_an_added_and_removed_upstream_leaves_the_file_as_it_was(file: Path) -> None:
    add_upstream(file, "git", {"command": "x", "env": {"A": "b"}}, environ={})
    assert file.read_text() == _FILE + '\n[upstreams.git]\ncommand = "x"\nenv = { A = "b" }\n'
    remove_upstream(file, "git", environ={})
    assert file.read_text().rstrip() == _FILE.rstrip()
    with pytest.raises(EditRefusedError, match="There is no upstream git"):
        remove_upstream(file, "git", environ={})


def test_an_upstream_is_switched_off_and_on(file: Path) -> None:
    set_upstream_enabled(file, "fs", False, environ={})
    assert file.read_text() == _FILE + "enabled = false\n"
    set_upstream_enabled(file, "fs", True, environ={})
    assert file.read_text() == _FILE + "enabled = true\n"


def test_the_mode_stays_and_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    file.chmod(0o640)
    link = tmp_path / "elsewhere" / "config.toml"
    link.parent.mkdir()
    link.symlink_to(file)
    set_key(link, "proxy.max_in_flight", "7", environ={})
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert "= 7 " in file.read_text()
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [
        ".config.toml.lock",
        "config.toml",
    ]


def test_a_failed_write_leaves_the_old_file_and_no_rest(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EditRefusedError, match=r"No space left on device\. Nothing was changed"):
        set_key(file, "proxy.max_in_flight", "7", environ={})
    assert file.read_text() == _FILE
    assert not list(file.parent.glob("*.new"))


def test_an_edit_waits_for_another_one_and_gives_up_with_a_reason(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config.edit, "LOCK_SECONDS", 0.05)
    with file.with_name(".config.toml.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(EditRefusedError, match="another mms is changing it"):
            set_key(file, "proxy.max_in_flight", "7", environ={})
    set_key(file, "proxy.max_in_flight", "7", environ={})


def test_a_foreign_editor_in_between_is_not_overwritten(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = config.edit.problems_in
    once = iter([True])

    def meanwhile(*args: object) -> object:
        if next(once, False):
            _write(file, _FILE + "enabled = false\n")
        return real(*args)  # type: ignore[arg-type]  # passed through

    monkeypatch.setattr(config.edit, "problems_in", meanwhile)
    set_key(file, "proxy.max_in_flight", "7", environ={})
    assert file.read_text() == _FILE.replace("= 5 ", "= 7 ") + "enabled = false\n"


def test_edits_from_many_threads_all_arrive(file: Path) -> None:
    names = [f"u{n}" for n in range(8)]
    threads = [
        threading.Thread(target=add_upstream, args=(file, name, {"command": "x"})) for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert sorted(tomllib.loads(file.read_text())["upstreams"]) == ["fs", *names]


_COMMENT = st.sampled_from(["", " # note", "   # [x] = { ", "\t#"])
_GAP = st.sampled_from(["", "\n", "# a comment\n", "\n# about the next\n"])


@st.composite
def _files(draw: st.DrawFn) -> str:
    """A file in some layout that a person could have written."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    parts = [draw(_GAP)]
    if draw(st.booleans()):
        parts.append(f"formation.enabled = true{draw(_COMMENT)}\n")
    sections = [
        draw(
            st.sampled_from(
                [
                    "[proxy]{c}\nmax_queued   =  3{c}\nhttp.port = 1{c}\n",
                    "[proxy]{c}\n  max_queued=3{c}\n[proxy.http]\nport = 1\n",
                    "[proxy.http]\nport = 1{c}\n",
                ]
            )
        ),
        "[upstreams.b] {c}\ncommand = 'x'{c}\nargs = [ # [\n  'a', \"]\",{c}\n]\n",
        '[upstreams.a]\n command = "x" {c}\nenv = {{ A = \'b\', "c d" = "e" }}{c}\n',
        '[upstreams.b.tools."t.x"]\nenabled = true{c}\n',
        '[console]\ntheme = """\n[proxy]\nmax_queued = 9\n"""{c}\n',
    ]
    for section in draw(st.permutations(sections)):
        parts += [draw(_GAP), section.format(c=draw(_COMMENT))]
    return "".join(parts).replace("\n", newline) + draw(_GAP)


_EDITS = st.sampled_from(
    [
        ("proxy.max_queued", "4"),
        ("proxy.max_in_flight", "4"),
        ("proxy.http.enabled", "true"),
        ("proxy.history.max_days", "4"),
        ("formation.enabled", "false"),
        ("advertise_observability_tools", "true"),
        ("console.theme", "y"),
        ("console.keys.quit", "q"),
        ("upstreams.a.env.A", "z"),
        ("upstreams.a.env.NEW", "z"),
        ("upstreams.b.env.NEW", "z"),
        ("upstreams.b.args", '["q"]'),
        ("upstreams.a.tools.t.enabled", "false"),
        ('upstreams.b.tools."t.x".enabled', "false"),
        ("upstreams.b.enabled", "false"),
    ]
)


@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(_files(), _EDITS)
def test_an_edit_keeps_every_other_line_byte_for_byte(
    tmp_path: Path, text: str, edit: tuple[str, str]
) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(text.encode())
    file.chmod(0o600)
    key, value = edit
    set_key(file, key, value, environ={})
    old, new = text.encode().splitlines(True), file.read_bytes().splitlines(True)
    prefix = 0
    while prefix < min(len(old), len(new)) and old[prefix] == new[prefix]:
        prefix += 1
    suffix = 0
    while suffix < min(len(old), len(new)) - prefix and old[-1 - suffix] == new[-1 - suffix]:
        suffix += 1
    gone, added = old[prefix : len(old) - suffix], new[prefix : len(new) - suffix]
    # Four lines is the longest value in these files; a new table needs a header and a gap.
    assert len(gone) <= 4
    assert len(added) <= 3
    # Setting the old value again in the new file and the new value once more changes nothing.
    again = file.read_bytes()
    set_key(file, key, value, environ={})
    assert file.read_bytes() == again


@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(_files(), st.sampled_from(["a", "b"]))
def test_a_removed_upstream_leaves_every_other_line(tmp_path: Path, text: str, name: str) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(text.encode())
    file.chmod(0o600)
    expected = tomllib.loads(text)
    del expected["upstreams"][name]
    remove_upstream(file, name, environ={})
    assert tomllib.loads(file.read_bytes().decode()) == expected
    kept = iter(text.encode().splitlines(True))
    assert all(line in kept for line in file.read_bytes().splitlines(True))


@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.text(max_size=30))
def test_any_text_can_be_stored_and_comes_back(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.toml"
    _write(file, "[console]\ntheme = 'x'\n[proxy]\n")
    set_key(file, "console.theme", toml_value(text), environ={})
    assert tomllib.loads(file.read_bytes().decode())["console"]["theme"] == text
