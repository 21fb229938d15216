"""The wheel, installed beside distributions that own `config` and `proxy`: both work, nobody is harmed."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("wheel")

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("console", "proxy", "memory", "config")
RUN_SECONDS = 60


@dataclass(frozen=True)
class Environment:
    """A virtual environment with strangers' packages in it and, most of the time, ours."""

    folder: Path
    wheel: Path

    @property
    def site(self) -> Path:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.folder / "lib" / version / "site-packages"

    def program(self, name: str) -> str:
        return str(self.folder / "bin" / name)

    def pip(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "pip", "--python", self.program("python"), *arguments]
        if arguments[0] == "install":
            command += ["--no-index", "--no-deps"]
        subprocess.run(command, check=True, capture_output=True, timeout=RUN_SECONDS)


def run(*command: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )


def stranger(folder: Path, package: str) -> Path:
    """A wheel of somebody else's that owns the top-level ``package`` and a command ``their-PACKAGE``."""
    name = f"their_{package}"
    info = f"{name}-1.0.dist-info"
    files = {
        f"{package}/__init__.py": f"OWNER = 'the owner of {package}'\n",
        f"{package}/settings.py": (
            f"from {package} import OWNER\n\n\ndef main():\n    print(OWNER)\n"
        ),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: their-{package}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": (
            f"[console_scripts]\ntheir-{package} = {package}.settings:main\n"
        ),
    }
    record = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
    wheel = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(file, text)
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=RUN_SECONDS)
    (built,) = folder.glob("mms_console-*.whl")
    return built


def new_environment(folder: Path, wheel: Path) -> Environment:
    """An environment with the strangers' packages, and ours not yet."""
    make = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    subprocess.run(make, check=True, capture_output=True, timeout=RUN_SECONDS)
    made = Environment(folder, wheel)
    # Our dependencies are not what is tested: they are lent by the environment that runs the tests.
    (made.site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    strangers = [str(stranger(folder, package)) for package in ("config", "proxy")]
    made.pip("install", *strangers)
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    environment = new_environment(tmp_path_factory.mktemp("environment"), wheel)
    environment.pip("install", str(wheel))
    return environment


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A person's project, in which hosts start us, with packages named like ours that do not work."""
    folder = tmp_path / "project"
    for package in PACKAGES:
        (folder / package).mkdir(parents=True)
        (folder / package / "__init__.py").write_text(
            "raise RuntimeError('the project, not mms')\n"
        )
    return folder


def digests(site: Path) -> dict[str, str]:
    return {
        str(file.relative_to(site)): hashlib.sha256(file.read_bytes()).hexdigest()
        for package in ("config", "proxy")
        for file in sorted((site / package).glob("*.py"))
    }


def test_the_wheel_holds_all_files_of_the_packages_in_a_private_folder(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    wanted = {
        f"_mms/{file.relative_to(ROOT).as_posix()}"
        for package in PACKAGES
        for suffix in ("py", "tcss")
        for file in (ROOT / package).rglob(f"*.{suffix}")
        if not file.is_relative_to(ROOT / "console" / "launch")
    }
    assert any(name.endswith(".tcss") for name in wanted)
    assert names == wanted | {"mms.py", "_mms/README.txt"}


def test_the_programs_of_others_still_use_their_own_packages(
    installed: Environment, tmp_path: Path
) -> None:
    for package in ("config", "proxy"):
        result = run(installed.program(f"their-{package}"), cwd=tmp_path)
        assert (result.returncode, result.stdout) == (0, f"the owner of {package}\n")


def test_our_program_runs_in_a_project_with_packages_of_the_same_names(
    installed: Environment, project: Path
) -> None:
    by_script = run(installed.program("mms"), "version", cwd=project)
    by_module = run(installed.program("python"), "-m", "mms", "version", cwd=project)
    assert (by_script.returncode, by_script.stderr) == (0, "")
    assert "0.1.0" in by_script.stdout
    assert by_module.stdout == by_script.stdout


def test_pythonpath_of_a_project_does_not_reach_us(installed: Environment, project: Path) -> None:
    result = run(installed.program("mms"), "version", cwd=project, PYTHONPATH=str(project))
    assert (result.returncode, result.stderr) == (0, "")


def test_the_demo_runs_from_the_wheel(installed: Environment, project: Path) -> None:
    result = run(installed.program("mms"), "demo", "--json", cwd=project)
    told = json.loads(result.stdout)
    assert (result.returncode, told["ok"], told["problems"]) == (0, True, [])
    assert told["totals"]["calls"] == 40


def test_the_bridge_starts_a_station_from_the_wheel(
    installed: Environment, project: Path, tmp_path: Path
) -> None:
    home = str(tmp_path / "home")
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "wheel-test", "version": "1"},
        },
    }
    mms = installed.program("mms")
    with subprocess.Popen(
        [mms, "connect"],
        cwd=project,
        env={**os.environ, "MMS_HOME": home},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as bridge:
        try:
            assert bridge.stdin is not None
            assert bridge.stdout is not None
            bridge.stdin.write(json.dumps(hello) + "\n")
            bridge.stdin.flush()
            answer = json.loads(bridge.stdout.readline())
        finally:
            bridge.stdin.close()
            stopped = run(mms, "stop", cwd=project, MMS_HOME=home)
    assert answer["id"] == 1
    assert answer["result"]["protocolVersion"] == "2025-06-18"
    assert stopped.returncode == 0, stopped.stderr


def test_installing_and_uninstalling_touch_nothing_of_others(wheel: Path, tmp_path: Path) -> None:
    environment = new_environment(tmp_path / "environment", wheel)
    before = digests(environment.site)
    others = {path.name for path in environment.site.iterdir()}
    environment.pip("install", str(wheel))
    with_ours = digests(environment.site)
    environment.pip("uninstall", "-y", "mms-console")
    assert len(before) == 4
    assert with_ours == before
    assert digests(environment.site) == before
    assert {path.name for path in environment.site.iterdir()} == others
    for package in ("config", "proxy"):
        assert run(environment.program(f"their-{package}"), cwd=tmp_path).returncode == 0
