"""What the import contracts in pyproject.toml cannot see: what is loaded at run time, and the folders."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("console", "proxy", "memory", "config")
HEAVY = frozenset(
    {
        "chromadb",
        "mcp",
        "mcp_types",
        "pydantic",
        "rich",
        "textual",
        "tomlkit",
        "toktok",
        "uvicorn",
        "watchfiles",
    }
)
"""What takes too long to import for something that a host or a person at a prompt waits for."""
LONGEST_FILE = 600
"""Lines. Long before that a file holds more than one concept."""


def loaded_by(module: str) -> set[str]:
    """All modules that a fresh interpreter has loaded after importing ``module``, less its own."""
    program = (
        "import sys; before = set(sys.modules); "
        f"import {module}; print(*sorted(set(sys.modules) - before))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    return set(result.stdout.split())


def test_the_bridge_loads_the_standard_library_only_and_no_event_loop() -> None:
    loaded = {name.partition(".")[0] for name in loaded_by("proxy.bridge")}
    ours = loaded - sys.stdlib_module_names
    assert "proxy" in ours
    assert ours <= {"proxy", "config"}
    assert not loaded & {"asyncio", "json", "logging", "subprocess", "dataclasses", "inspect"}


@pytest.mark.parametrize(
    "module",
    [
        "console.cli",
        "console.wiring",
        "console.demo",
        "proxy.engine",
        "config.load",
        "config.watch",
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_needed(module: str) -> None:
    loaded = {name.partition(".")[0] for name in loaded_by(module)}
    assert module.partition(".")[0] in loaded
    assert not loaded & HEAVY


def test_what_the_console_shows_is_computed_without_the_screen_library() -> None:
    for module in ("console.state", "console.safe", "console.stations.attached", "proxy.model"):
        assert not {name.partition(".")[0] for name in loaded_by(module)} & (HEAVY - {"rich"})


def test_every_folder_with_tests_is_a_package() -> None:
    # Without it, pytest would put tests/proxy where `import proxy` looks first.
    folders = {file.parent for file in (ROOT / "tests").rglob("*.py")}
    assert not [folder for folder in sorted(folders) if not (folder / "__init__.py").exists()]


def test_every_folder_of_the_packages_is_a_package() -> None:
    launch = ROOT / "console" / "launch"  # one module, which the wheel puts elsewhere
    folders = {file.parent for name in PACKAGES for file in (ROOT / name).rglob("*.py")}
    assert not [
        folder for folder in sorted(folders - {launch}) if not (folder / "__init__.py").exists()
    ]


def test_no_file_of_the_product_grows_beyond_one_concept() -> None:
    lengths = {
        str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines())
        for name in PACKAGES
        for file in (ROOT / name).rglob("*.py")
    }
    assert not {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE}


def test_the_pins_name_versions_and_no_registry() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert len(pins) > 50
    assert all("==" in pin and "/" not in pin for pin in pins)
