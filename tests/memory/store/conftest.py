"""A store in both kinds of database: a test that takes ``store`` is a contract that both have to keep."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from memory.store.database import Store
from tests.support.postgres import NoServer, PostgresServer, fast_folder, running_server

POSTGRES = pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))


@pytest.fixture(scope="session")
def postgres_server() -> Generator[PostgresServer]:
    try:
        with running_server() as server:
            yield server
    except NoServer as reason:
        pytest.skip(str(reason))


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Generator[str]:
    url = postgres_server.new_database()
    yield url
    postgres_server.drop(url)


@pytest.fixture
def folder() -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="mms-", dir=fast_folder()) as found:
        yield Path(found)


@pytest.fixture(params=["sqlite", POSTGRES])
def url(request: pytest.FixtureRequest, folder: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{folder / 'memory.db'}"
    found: str = request.getfixturevalue("postgres_url")
    return found


@pytest.fixture
def store(url: str) -> Generator[Store]:
    opened = Store.open(url)
    yield opened
    opened.close()


@pytest.fixture
def sqlite_store(folder: Path) -> Generator[Store]:
    opened = Store.open(f"sqlite:///{folder / 'memory.db'}")
    yield opened
    opened.close()
