"""A private PostgreSQL server for tests: in a temporary folder, on a Unix socket, one database per test."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

_PLACES = ("/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt/postgresql")
_SECONDS = 60
_USER = "mms"


class NoServer(Exception):
    """There is no PostgreSQL server to start here; the text says why."""


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A server that runs."""

    binaries: Path
    socket: Path

    def new_database(self) -> str:
        """The URL of a new, empty database."""
        name = f"test_{secrets.token_hex(6)}"
        self.run(f"CREATE DATABASE {name}", "postgres")
        return f"postgresql://{_USER}@/{name}?host={self.socket}"

    def drop(self, url: str) -> None:
        """Drop a database with whoever is connected to it."""
        name = url.partition("@/")[2].partition("?")[0]
        self.run(f"DROP DATABASE {name} WITH (FORCE)", "postgres")

    def run(self, statement: str, database: str) -> None:
        """Run one statement."""
        import psycopg

        conninfo = f"user={_USER} dbname={database} host={self.socket}"
        with psycopg.connect(conninfo, autocommit=True, connect_timeout=_SECONDS) as connection:
            connection.execute(statement.encode())


@contextmanager
def running_server() -> Generator[PostgresServer]:
    """A new server for the length of the block. Raises `NoServer`."""
    if find_spec("psycopg") is None:
        raise NoServer("psycopg is not installed")
    binaries = _binaries()
    folder = Path(tempfile.mkdtemp(prefix="mms-pg-", dir=fast_folder()))
    try:
        owner = _owner()
        if owner is not None:
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        data = folder / "data"
        settings = (
            f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off "
            "-c synchronous_commit=off -c full_page_writes=off -c shared_buffers=16MB "
            "-c max_connections=60 -c autovacuum=off"
        )
        initdb = [binaries / "initdb", "-D", data, "-U", _USER, "-A", "trust", "-E", "UTF8"]
        _do([*initdb, "--locale=C", "--no-sync"], owner, folder)
        control = [binaries / "pg_ctl", "-D", data, "-w", "-t", str(_SECONDS)]
        try:
            _do([*control, "-o", settings, "-l", folder / "log", "start"], owner, folder)
            yield PostgresServer(binaries, folder)
        finally:
            _do([*control, "-m", "immediate", "stop"], owner, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fast_folder() -> Path | None:
    """A folder in memory, where waiting for the disk is not what is tested; ``None``: there is none."""
    shared = Path("/dev/shm")
    return shared if shared.is_dir() and os.access(shared, os.W_OK) else None


def _binaries() -> Path:
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    for place in _PLACES:
        for initdb in sorted(Path(place).glob("**/bin/initdb"), reverse=True):
            return initdb.parent
    raise NoServer("no PostgreSQL server is installed")


def _owner() -> pwd.struct_passwd | None:
    """Whom the server belongs to: it refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise NoServer("PostgreSQL does not run as root, and there is no other user")


def _do(command: list[Path | str], owner: pwd.struct_passwd | None, folder: Path) -> None:
    with (folder / "commands").open("ab") as said:
        subprocess.run(
            list(map(str, command)),
            check=True,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            timeout=2 * _SECONDS,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"},
            extra_groups=None if owner is None else [],
            user=None if owner is None else owner.pw_uid,
            group=None if owner is None else owner.pw_gid,
        )
