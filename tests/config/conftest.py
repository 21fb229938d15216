"""An instance of its own, with a file that the tests write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from config.load import Loaded, load_settings
from config.paths import Paths, paths_for

Load = Callable[..., Loaded]


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """Paths of a fresh instance; its directory exists, its file does not."""
    home = tmp_path / "instance"
    home.mkdir(mode=0o700)
    return paths_for({"MMS_HOME": str(home)})


@pytest.fixture
def load(paths: Paths) -> Load:
    """Write the text (if any) to the user's file and load, with nothing else around."""

    def run(
        text: str | None = None,
        environ: dict[str, str] | None = None,
        *,
        project: Path | None = None,
        flags: dict[str, str] | None = None,
    ) -> Loaded:
        if text is not None:
            paths.config_file.write_text(text, encoding="utf-8")
            paths.config_file.chmod(0o600)
        return load_settings(
            paths,
            {"HOME": "/home/a"} if environ is None else environ,
            project_directory=project,
            flags=flags or {},
        )

    return run
