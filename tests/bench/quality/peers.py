"""Other products, each in its own interpreter and process."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import subprocess
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, cast

from proxy.compress.model import Gauge

NAMES = ("headroom", "memtomem")
_START_SECONDS = 60.0
_ANSWER_SECONDS = 30.0
_TRIES = 4
_LONG = 300_000
"""Characters; a peer needs seconds for such a text."""

PACKAGES = ("headroom-ai==0.42.0", "memtomem-stm==0.6.9")
"""Pinned, so that figures of another day compare."""
FOLDER = Path(".venv/peers")
"""Under the checkout; goes with the environment it lies in."""
_INTERPRETERS = ("python3.12", "python3.13")
_INSTALL_SECONDS = 900.0


class PeerProblem(Exception):
    """A peer cannot be measured; says why."""


def interpreter(chosen: str, root: Path) -> str:
    """The interpreter with the peers: the chosen one, else one that is made on first use.

    Raises `PeerProblem` when there is no suitable Python or the packages do not install.
    """
    if chosen:
        return chosen
    python = root / FOLDER / "bin" / "python"
    ready = root / FOLDER / "ready"
    if ready.is_file() and ready.read_text("utf-8").split() == list(PACKAGES):
        return str(python)
    base = next(filter(_usable, _candidates()), None)
    if base is None:
        raise PeerProblem(
            f"memtomem-stm needs one of {', '.join(_INTERPRETERS)} and none runs; "
            "name an interpreter that has the peers with --peer-python"
        )
    for command in (
        [base, "-m", "venv", "--clear", str(root / FOLDER)],
        [str(python), "-m", "pip", "install", "-q", *PACKAGES],
    ):
        try:
            subprocess.run(
                command, check=True, capture_output=True, text=True, timeout=_INSTALL_SECONDS
            )
        except subprocess.CalledProcessError as error:
            last = error.stderr.strip().rpartition("\n")[2]
            raise PeerProblem(f"{' '.join(PACKAGES)} did not install: {last[:200]}") from error
        except subprocess.TimeoutExpired as error:
            raise PeerProblem(f"installing took longer than {_INSTALL_SECONDS:g} s") from error
    ready.write_text("\n".join(PACKAGES), "utf-8")
    return str(python)


def _candidates() -> list[str]:
    """On the path, else where pyenv keeps what it does not put there."""
    found = [path for name in _INTERPRETERS if (path := shutil.which(name)) is not None]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for version in ("3.12", "3.13"):
        found += [str(path) for path in sorted(pyenv.glob(f"{version}.*/bin/python"))]
    return found


def _usable(path: str) -> bool:
    """A version manager's shim may be there for a version that is not."""
    found = subprocess.run([path, "-c", "import venv, ensurepip"], capture_output=True, check=False)
    return found.returncode == 0


class Peer(AbstractContextManager["Peer"]):
    """A method that is a process. Raises `PeerProblem` when it does not start."""

    def __init__(self, name: str, python: str, gauge: Gauge) -> None:
        self._name = name
        self._gauge = gauge
        adapter = Path(__file__).with_name("peer_adapter.py")
        try:
            self._child = subprocess.Popen(
                [python, "-I", str(adapter), name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
            )
        except OSError as error:
            raise PeerProblem(f"{python} does not start: {error.strerror}") from error
        try:
            self._answer(_START_SECONDS)
        except PeerProblem:
            self.close()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._child.kill()
        for stream in (self._child.stdin, self._child.stdout):
            if stream is not None:
                stream.close()
        self._child.wait()

    def __call__(self, text: str, query: str, budget: int) -> str | None:
        """Peers count characters: asked for less until the result is within the budget in tokens."""
        tokens = max(1, self._gauge.size(text))
        share = budget / tokens
        found: str | None = None
        for _ in range(_TRIES if len(text) < _LONG else 2):
            found = self._ask(text, query, share)
            size = 0 if found is None else self._gauge.size(found)
            if found is None or size <= budget:
                break
            share *= 0.97 * budget / size
        return found

    def _ask(self, text: str, query: str, share: float) -> str | None:
        request = {
            "text": text,
            "query": query,
            "characters": max(1, int(len(text) * share)),
            "share": share,
            "kind": _kind(text),
        }
        to_child = cast("IO[str]", self._child.stdin)
        try:
            print(json.dumps(request), file=to_child, flush=True)
        except BrokenPipeError as error:
            raise PeerProblem(f"{self._name} ended") from error
        return self._answer(_ANSWER_SECONDS).get("text")

    def _answer(self, seconds: float) -> dict[str, Any]:
        from_child = cast("IO[str]", self._child.stdout)
        with selectors.DefaultSelector() as waiting:
            waiting.register(from_child, selectors.EVENT_READ)
            if not waiting.select(seconds):
                raise PeerProblem(f"{self._name} took longer than {seconds:g} s")
        line = from_child.readline()
        if not line:
            raise PeerProblem(f"{self._name} is not installed there, or ended")
        return json.loads(line)


def _kind(text: str) -> str:
    first = text.lstrip()[:1]
    if first in {"{", "["} and "\n{" not in text[:20_000]:
        return "json"
    lines = text[:20_000].splitlines()
    dated = sum(line[:2].isdigit() or line[:3] in {"Mar", '{"t'} for line in lines)
    return "log" if len(lines) > 5 and dated > len(lines) // 2 else "text"
