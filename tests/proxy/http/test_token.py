"""The token's file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from proxy.http.token import UnsafeTokenError, load_or_create_token, read_token


def test_a_missing_token_is_made_for_this_user_only_and_kept(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        token = load_or_create_token(tmp_path / "token")
    finally:
        os.umask(before)
    assert len(token) >= 43
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
    assert load_or_create_token(tmp_path / "token") == token
    assert load_or_create_token(tmp_path / "other") != token


def test_reading_makes_no_token(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_token(tmp_path / "token")
    assert not (tmp_path / "token").exists()


def test_a_file_that_others_can_read_is_not_trusted(tmp_path: Path) -> None:
    load_or_create_token(tmp_path / "token")
    (tmp_path / "token").chmod(0o640)
    with pytest.raises(UnsafeTokenError, match=r"mode 0640.*rm "):
        load_or_create_token(tmp_path / "token")


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    load_or_create_token(tmp_path / "real")
    (tmp_path / "token").symlink_to(tmp_path / "real")
    with pytest.raises(UnsafeTokenError, match="is a link"):
        load_or_create_token(tmp_path / "token")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UnsafeTokenError, match="is a link"):
        load_or_create_token(tmp_path / "dangling")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("content", ["", "short", "x" * 40 + "\n" + "y" * 40, "é" * 50])
def test_a_file_without_a_token_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "token").write_text(content, encoding="utf-8")
    (tmp_path / "token").chmod(0o600)
    with pytest.raises(UnsafeTokenError, match="holds no token"):
        load_or_create_token(tmp_path / "token")


def test_a_pipe_in_its_place_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "token", 0o600)
    with pytest.raises(UnsafeTokenError, match="not a file"):
        load_or_create_token(tmp_path / "token")
