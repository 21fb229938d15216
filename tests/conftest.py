"""Isolation for every test: the developer's own configuration and environment never leak in."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import settings

# The same examples each time, and no limit of time for one: a slow machine is no fault. To look for new
# examples: MMS_TEST_RANDOM=1 make test
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("random", deadline=None)
settings.load_profile("random" if os.environ.get("MMS_TEST_RANDOM") else "repeatable")

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


def pytest_collection_finish(session: pytest.Session) -> None:
    """Thousands of tests are there to stay: no use to search them for garbage again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, the only loop that the engine uses."""
    return "asyncio"
