"""Where an instance of mms keeps its files, and the one rule for directories that hold secrets.

The bridge imports this while a host waits for it, so nothing beyond `os` and `pathlib` is loaded
here. That is why `Paths` is frozen by hand: a dataclass would triple the time of the import.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

SOCKET_PATH_LIMIT = 100
"""Bytes. Linux allows 107 and macOS 103 in the address of a Unix socket."""

_OUR_DIRECTORIES = ("mms", "state", "run")


class Paths:
    """All places of one instance. Every path is absolute; none of them needs to exist."""

    __slots__ = ("config_file", "socket", "state_directory")

    config_file: Path
    state_directory: Path
    """One station per state directory: whoever holds the lock file is the station."""
    socket: Path

    def __init__(self, config_file: Path, state_directory: Path, socket: Path) -> None:
        object.__setattr__(self, "config_file", config_file)
        object.__setattr__(self, "state_directory", state_directory)
        object.__setattr__(self, "socket", socket)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"paths do not change: {name}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Paths) and self._all() == other._all()

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return f"Paths({', '.join(repr(str(path)) for path in self._all())})"

    def _all(self) -> tuple[Path, ...]:
        return self.config_file, self.state_directory, self.socket

    @property
    def runtime_directory(self) -> Path:
        """Holds the socket and nothing else."""
        return self.socket.parent

    @property
    def lock_file(self) -> Path:
        """Its holder is the station."""
        return self.state_directory / "station.lock"

    @property
    def log_file(self) -> Path:
        """What a station without a terminal has to say."""
        return self.state_directory / "mms.log"

    @property
    def memory_directory(self) -> Path:
        """The agent's memory: truth, vectors and the lock of the process that owns them."""
        return self.state_directory / "memory"

    @property
    def memory_socket(self) -> Path:
        """Where the memory's process answers."""
        return self.socket.with_name("memory.sock")

    @property
    def http_token_file(self) -> Path:
        """The token of the loopback endpoint."""
        return self.state_directory / "http-token"

    @property
    def calls_database(self) -> Path:
        """The recorded calls."""
        return self.state_directory / "calls.sqlite3"

    @property
    def held_database(self) -> Path:
        """The full texts behind shortened answers."""
        return self.state_directory / "held.sqlite3"

    @property
    def feedback_database(self) -> Path:
        """What agents missed in shortened answers."""
        return self.state_directory / "feedback.sqlite3"

    @property
    def surfacing_database(self) -> Path:
        """The memories that were shown with answers, their ratings, and the tuner's steps."""
        return self.state_directory / "surfacing.sqlite3"

    @property
    def progressive_database(self) -> Path:
        """How answers given in chunks were read on."""
        return self.state_directory / "progressive.sqlite3"

    @property
    def selection_log(self) -> Path:
        """Which tools were called, if ``proxy.selection_telemetry`` says so."""
        return self.state_directory / "selection.jsonl"

    @property
    def catalogue_file(self) -> Path:
        """The last known tools of each upstream."""
        return self.state_directory / "catalogue.json"


class UnsafeDirectoryError(PermissionError):
    """A private directory is open to others. ``str()`` says why and how to mend it."""

    def __init__(self, path: Path, reason: str, fix: str) -> None:
        super().__init__(f"{path}: {reason}. {fix}")
        self.path = path


def paths_for(environ: Mapping[str, str], *, platform: str = sys.platform) -> Paths:
    """Derive every path from the environment; reads no file.

    ``MMS_HOME=DIR`` puts a separate instance under DIR. Otherwise the XDG variables count where
    they hold an absolute path, and the platform's usual places stand in for missing ones.
    """
    own_home = environ.get("MMS_HOME", "")
    if own_home:
        root = Path(_absolute(own_home, environ))
        config = root / "config.toml"
        state = root / "state"
        runtime = root / "run"
    else:
        home = _home(environ)
        mac = home / "Library" / "Application Support"
        is_mac = platform == "darwin"
        config_home = _xdg(environ, "XDG_CONFIG_HOME", mac if is_mac else home / ".config")
        state_home = _xdg(environ, "XDG_STATE_HOME", mac if is_mac else home / ".local" / "state")
        config = config_home / "mms" / "config.toml"
        state = state_home / "mms"
        # Not XDG_RUNTIME_DIR: hosts and terminals of one user often differ in it (ssh, cron, desktop
        # launchers) and would then miss each other's socket.
        runtime = state / "run"
    return Paths(config, state, _short_enough(runtime / "mms.sock"))


def ensure_private_directory(path: Path) -> None:
    """Make sure that ``path`` is a directory which only this user can enter; create it if needed.

    Missing parents are created just as private. A directory of ours that others may only read is
    closed (0700). Raises `UnsafeDirectoryError` when it belongs to somebody else, is a link planted
    by somebody else, or others could already have put files into it.
    """
    _create(path)
    user = os.getuid()
    # The link itself may be foreign even when its target is ours.
    if path.is_symlink() and path.lstat().st_uid != user:
        raise UnsafeDirectoryError(
            path, "it is a link made by another user", f"Remove it: rm {path}"
        )
    found = path.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise UnsafeDirectoryError(
            path, "it is not a directory", f"Move it away: mv {path} {path}.old"
        )
    if found.st_uid != user:
        raise UnsafeDirectoryError(
            path,
            f"it belongs to user {found.st_uid}, not to you (user {user})",
            "Remove it, or choose another place with MMS_HOME",
        )
    mode = stat.S_IMODE(found.st_mode)
    if not mode & 0o077:
        return
    closable = path.name in _OUR_DIRECTORIES or path.name.startswith("mms-")
    if not closable or (mode & 0o022 and any(path.iterdir())):
        raise UnsafeDirectoryError(
            path,
            f"other users can get in (mode {mode:04o})",
            f"Check what is in it, then close it: chmod 700 {path}",
        )
    path.chmod(0o700)


def _create(path: Path) -> None:
    """Create the directory and its missing parents with mode 0700, whatever the umask says."""
    missing: list[Path] = []
    at = path
    while not os.path.lexists(at):
        missing.append(at)
        at = at.parent
    for directory in reversed(missing):
        try:
            directory.mkdir(mode=0o700)
        except FileExistsError:
            continue  # somebody was faster; the checks that follow judge the result
        directory.chmod(0o700)


def _home(environ: Mapping[str, str]) -> Path:
    home = environ.get("HOME", "")
    if os.path.isabs(home):  # noqa: PTH117  # a string comes in
        return Path(home)
    import pwd

    return Path(pwd.getpwuid(os.getuid()).pw_dir)


def _absolute(text: str, environ: Mapping[str, str]) -> str:
    if text == "~" or text.startswith("~/"):
        text = f"{_home(environ)}{text[1:]}"
    return os.path.abspath(text)  # noqa: PTH100  # also removes "..", which Path.absolute keeps


def _xdg(environ: Mapping[str, str], name: str, otherwise: Path) -> Path:
    """The specification says that a relative path counts as unset."""
    value = environ.get(name, "")
    return Path(value) if os.path.isabs(value) else otherwise  # noqa: PTH117  # a string comes in


def _short_enough(socket: Path) -> Path:
    """The same path, or a short one that everybody derives from it.

    The fallback is below ``/tmp`` and not below ``TMPDIR``, because a host and a terminal often
    differ in ``TMPDIR`` and would then miss each other.
    """
    wanted = os.fsencode(socket)
    if len(wanted) <= SOCKET_PATH_LIMIT:
        return socket
    import hashlib

    digest = hashlib.sha256(wanted).hexdigest()[:10]
    return Path("/tmp") / f"mms-{os.getuid()}-{digest}" / "mms.sock"
