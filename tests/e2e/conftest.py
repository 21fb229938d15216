"""What the end-to-end tests share: a short directory for an instance."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place for one instance, short enough for a socket's address."""
    return tmp_path_factory.mktemp("h")
