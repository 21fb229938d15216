"""Running ``mms …`` inside the test, on an instance of its own, with or without a station."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from config.paths import Paths, ensure_private_directory, paths_for
from console.cli import main
from proxy.ledger import entry_of, summed
from proxy.model import CallRecord
from proxy.store.call_schema import MIGRATIONS
from proxy.store.calls import add_to_days, insert_calls
from proxy.store.database import close_writer, open_for_writing, transaction
from proxy.store.savings import add_to_ledger
from proxy.sums import totals_by_day, totals_by_minute
from tests.support.fake_engine import Engine


@dataclass(frozen=True)
class Ran:
    """What a command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The output as JSON."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Instance:
    """An instance of mms in a directory of its own."""

    home: Path
    paths: Paths
    run: Callable[..., Ran]

    def write(self, config: str) -> None:
        """Write the user's file."""
        self.paths.config_file.parent.mkdir(parents=True, exist_ok=True)
        self.paths.config_file.write_text(config)
        self.paths.config_file.chmod(0o600)

    @property
    def config(self) -> str:
        """The user's file."""
        return self.paths.config_file.read_text()

    def record(self, records: tuple[CallRecord, ...]) -> None:
        """Leave recorded calls behind, as a station that ran before."""
        ensure_private_directory(self.paths.state_directory)
        opened = open_for_writing(self.paths.calls_database, MIGRATIONS)
        with transaction(opened.connection):
            insert_calls(opened.connection, records)
            add_to_days(opened.connection, totals_by_day(totals_by_minute(records)))
            entries = [entry for record in records if (entry := entry_of(record)) is not None]
            add_to_ledger(opened.connection, summed(entries))
        close_writer(self.paths.calls_database, opened.connection)


@pytest.fixture
def mms(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Iterator[Instance]:
    """An empty instance. Its path is short, since it holds a socket."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    with tempfile.TemporaryDirectory(prefix="mms-") as directory:
        monkeypatch.setenv("MMS_HOME", directory)

        def run(*words: str) -> Ran:
            capsys.readouterr()
            code = main(words)
            told = capsys.readouterr()
            return Ran(code, told.out, told.err)

        yield Instance(Path(directory), paths_for({"MMS_HOME": directory}), run)


@pytest.fixture
def running(mms: Instance) -> Iterator[Engine]:
    """A fake station that runs for the instance."""
    ensure_private_directory(mms.paths.runtime_directory)
    engine = Engine(mms.paths.socket)
    engine.start()
    yield engine
    engine.stop()
