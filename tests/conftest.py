"""Isolation for every test: the developer's own configuration and environment never leak in."""

from __future__ import annotations

import os

import pytest

_OURS = ("MMS_", "MEMTOMEM_STM_", "XDG_", "TEXTUAL")


@pytest.fixture(autouse=True)
def _isolated_environment(  # pyright: ignore[reportUnusedFunction]  # used by pytest
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for name in list(os.environ):
        if name.startswith(_OURS) or name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TZ", "UTC")


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, the only loop that the engine uses."""
    return "asyncio"
