"""Where the files of an instance are, and who may enter its directories."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.paths import (
    SOCKET_PATH_LIMIT,
    UnsafeDirectoryError,
    ensure_private_directory,
    paths_for,
)

ROOT = Path(__file__).parents[2]


def test_mms_home_holds_everything_of_a_separate_instance() -> None:
    paths = paths_for({"MMS_HOME": "/srv/trial", "XDG_CONFIG_HOME": "/elsewhere"})
    assert paths.config_file == Path("/srv/trial/config.toml")
    assert paths.socket == Path("/srv/trial/run/mms.sock")
    names = [name for name in dir(paths) if not name.startswith("_")]
    assert len(names) == 16
    assert all(getattr(paths, name).is_relative_to("/srv/trial") for name in names)


def test_paths_are_values_that_do_not_change() -> None:
    one, same, other = (paths_for({"MMS_HOME": home}) for home in ("/a", "/a", "/b"))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert repr(one) == "Paths('/a/config.toml', '/a/state', '/a/run/mms.sock')"
    with pytest.raises(AttributeError):
        one.socket = other.socket


def test_a_relative_mms_home_is_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert paths_for({"MMS_HOME": "trial/../here"}).config_file == tmp_path / "here/config.toml"
    assert paths_for({"MMS_HOME": "~/x", "HOME": "/h"}).config_file == Path("/h/x/config.toml")


def test_xdg_directories_are_used_when_they_are_set() -> None:
    paths = paths_for(
        {
            "HOME": "/home/a",
            "XDG_CONFIG_HOME": "/c",
            "XDG_STATE_HOME": "/s",
        },
        platform="linux",
    )
    assert paths.config_file == Path("/c/mms/config.toml")
    assert paths.state_directory == Path("/s/mms")
    assert paths.socket == Path("/s/mms/run/mms.sock")


def test_a_relative_xdg_value_counts_as_unset() -> None:
    paths = paths_for({"HOME": "/h", "XDG_CONFIG_HOME": "c"}, platform="linux")
    assert paths.config_file == Path("/h/.config/mms/config.toml")


def test_a_session_directory_does_not_move_the_socket(tmp_path: Path) -> None:
    """A host and a terminal of the same user often differ in it."""
    there = paths_for({"HOME": "/h", "XDG_RUNTIME_DIR": str(tmp_path)}, platform="linux")
    elsewhere = paths_for({"HOME": "/h"}, platform="linux")
    assert there.socket == elsewhere.socket == Path("/h/.local/state/mms/run/mms.sock")


def test_a_mac_keeps_both_in_application_support() -> None:
    paths = paths_for({"HOME": "/Users/a"}, platform="darwin")
    support = Path("/Users/a/Library/Application Support/mms")
    assert paths.config_file == support / "config.toml"
    assert paths.state_directory == support


def test_without_home_the_password_database_is_asked() -> None:
    import pwd

    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert paths_for({}, platform="linux").config_file == home / ".config/mms/config.toml"


@settings(deadline=None)
@given(st.text(alphabet="aü/", min_size=1, max_size=200))
def test_a_socket_path_is_never_too_long_and_always_the_same(tail: str) -> None:
    environ = {"MMS_HOME": f"/x/{tail}"}
    socket = paths_for(environ).socket
    assert len(os.fsencode(socket)) <= SOCKET_PATH_LIMIT
    assert socket == paths_for({**environ, "TMPDIR": "/other"}).socket


def test_two_long_homes_get_two_sockets() -> None:
    one = paths_for({"MMS_HOME": "/x" * 80 + "1"})
    two = paths_for({"MMS_HOME": "/x" * 80 + "2"})
    assert one.socket != two.socket
    assert one.runtime_directory == one.socket.parent


def test_a_new_directory_is_private_whatever_the_umask_says(tmp_path: Path) -> None:
    for umask in (0o000, 0o022, 0o777):
        before = os.umask(umask)
        try:
            ensure_private_directory(tmp_path / f"{umask}" / "mms")
        finally:
            os.umask(before)
        assert (tmp_path / f"{umask}" / "mms").stat().st_mode & 0o777 == 0o700
        assert (tmp_path / f"{umask}").stat().st_mode & 0o777 == 0o700


def test_an_own_directory_that_others_can_read_is_closed(tmp_path: Path) -> None:
    directory = tmp_path / "state"
    directory.mkdir()
    directory.chmod(0o755)
    (directory / "file").touch()
    ensure_private_directory(directory)
    assert directory.stat().st_mode & 0o777 == 0o700


def test_a_directory_that_others_could_have_filled_is_refused_with_the_fix(tmp_path: Path) -> None:
    directory = tmp_path / "state"
    directory.mkdir()
    directory.chmod(0o777)
    (directory / "planted").touch()
    with pytest.raises(UnsafeDirectoryError, match=f"mode 0777.*chmod 700 {directory}"):
        ensure_private_directory(directory)
    assert directory.stat().st_mode & 0o777 == 0o777


def test_a_directory_that_is_not_ours_by_name_is_never_changed(tmp_path: Path) -> None:
    directory = tmp_path / "Documents"
    directory.mkdir()
    directory.chmod(0o755)
    with pytest.raises(UnsafeDirectoryError):
        ensure_private_directory(directory)
    assert directory.stat().st_mode & 0o777 == 0o755


def test_a_file_in_the_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mms").touch()
    with pytest.raises(UnsafeDirectoryError, match="not a directory"):
        ensure_private_directory(tmp_path / "mms")


def test_a_directory_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "mms"
    directory.mkdir(mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: directory.stat().st_uid + 1)
    with pytest.raises(UnsafeDirectoryError, match="belongs to user"):
        ensure_private_directory(directory)


def test_a_link_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "mms").symlink_to(tmp_path / "real")
    ensure_private_directory(tmp_path / "mms")
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(UnsafeDirectoryError, match="link made by another user"):
        ensure_private_directory(tmp_path / "mms")


def test_importing_the_paths_loads_nothing_heavy() -> None:
    program = (
        "import sys, pathlib; before = set(sys.modules); import config.paths; "
        "print('\\n'.join(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "config" in loaded
    heavy = {
        "typing",
        "dataclasses",
        "tomllib",
        "msgspec",
        "tomlkit",
        "watchfiles",
        "pydantic",
        "tempfile",
    }
    assert not loaded & heavy
    assert len(loaded) < 5, loaded
