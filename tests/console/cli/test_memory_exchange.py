"""``mms memory export`` and ``import``, over real memories; and the process that answers them."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from console.cli import memory_exchange
from memory.api import ListRecords, Resolve
from memory.errors import FaultCode, MemoryFault
from memory.model import Origin, Record
from tests.console.cli.conftest import Instance
from tests.console.cli.memory_port import Port, connect
from tests.memory.opening import AGENT, PERSON, Opened, opened

SECRET = "ghp_" + "R7kQ2mX9vLp4Zt8WcN3bYs6HdJ1fGa5UeT0o"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Opened]:
    with opened(tmp_path / "one") as memory:
        yield memory


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Opened]:
    with opened(tmp_path / "two") as memory:
        memory.wait(1)
        yield memory


@pytest.fixture(autouse=True)
def port(monkeypatch: pytest.MonkeyPatch, memory: Opened) -> Port:
    return connect(monkeypatch, memory)


def records_of(memory: Opened) -> tuple[Record, ...]:
    return memory.ask(ListRecords(states=(), limit=500), PERSON).records


def contents(memory: Opened) -> list[str]:
    return sorted(one.text.content for one in records_of(memory))


def fill(memory: Opened) -> None:
    old = memory.fact("The staging port is 5432.").record
    new = memory.fact("The staging port is 6432.").record
    memory.ask(Resolve(new.id, old.id), PERSON)
    memory.fact("Tea is in the kitchen.\x7f\u2028 名前")


def write(folder: Path, name: str, *lines: Any) -> str:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
    file.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return str(file)


def test_an_export_is_taken_in_by_another_memory_and_adds_nothing_again(
    mms: Instance,
    memory: Opened,
    other: Opened,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(memory)
    file = tmp_path / "out.jsonl"
    ran = mms.run("memory", "export", str(file), "--json")
    assert ran.code == 0, ran.err
    lines = file.read_text("ascii").splitlines()
    assert ran.json == {"file": str(file), "space": "default", "lines": len(lines)}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []
    connect(monkeypatch, other)
    monkeypatch.setattr(memory_exchange, "_PAGE_LINES", 2)
    looked = mms.run("memory", "import", str(file), "--dry-run", "--json").json
    assert (looked["format"], looked["dry_run"], looked["added"]) == ("mms", True, len(lines) - 1)
    assert records_of(other) == ()
    taken = mms.run("memory", "import", str(file))
    assert taken.code == 0, taken.err
    assert taken.out == f"mms: {len(lines) - 1} taken in, 0 were there already, 0 refused.\n"
    assert {one.id for one in records_of(other)} == {one.id for one in records_of(memory)}
    assert contents(other) == contents(memory)
    again = mms.run("memory", "import", str(file), "--json").json
    assert (again["added"], again["repeated"]) == (0, len(lines) - 1)


def test_an_export_to_the_output_is_its_lines_alone(mms: Instance, memory: Opened) -> None:
    fill(memory)
    out = mms.run("memory", "export").out
    assert json.loads(out.splitlines()[0])["format"] == "mms-memory"
    assert all(" " <= character <= "~" or character == "\n" for character in out)
    assert mms.run("memory", "export", "-", "--json").out == out


def test_an_export_that_fails_leaves_the_file_as_it_was(
    mms: Instance, memory: Opened, port: Port, tmp_path: Path
) -> None:
    file = tmp_path / "out.jsonl"
    file.write_text("before")

    def gone(_request: object) -> None:
        raise MemoryFault(FaultCode.UNAVAILABLE, "The memory is away.")

    port.before = gone
    assert mms.run("memory", "export", str(file)).code == 1
    assert file.read_text() == "before"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["one", "out.jsonl", "project"]


def test_an_export_says_when_the_memory_was_changed_meanwhile(
    mms: Instance, memory: Opened, port: Port
) -> None:
    from memory.api import Export

    def change(request: object) -> None:
        if isinstance(request, Export):
            memory.fact("Something new.")

    port.before = change
    assert "was changed meanwhile" in mms.run("memory", "export").err


def test_lines_that_are_refused_are_told_by_their_number_in_the_file(
    mms: Instance,
    memory: Opened,
    other: Opened,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(memory)
    lines = mms.run("memory", "export").out.splitlines()
    file = tmp_path / "in.jsonl"
    parts = [lines[0], "garbage", *lines[1:], "{}"]
    file.write_bytes("\n".join(parts).encode() + b'\n{"record":"\xff"}\n')
    connect(monkeypatch, other)
    monkeypatch.setattr(memory_exchange, "_PAGE_LINES", 2)
    ran = mms.run("memory", "import", str(file), "--format", "mms", "--json")
    assert ran.code == 1
    assert [one.partition(":")[0] for one in ran.json["refused"]] == [
        "line 2",
        f"line {len(parts)}",
        f"line {len(parts) + 1}",
    ]
    assert ran.json["added"] == len(lines) - 1
    dry = mms.run("memory", "import", str(file), "--format", "mms", "--dry-run")
    assert dry.code == 1
    assert "mms: line 2: it is no JSON" in dry.err


def test_an_export_of_a_later_version_is_not_taken(mms: Instance, tmp_path: Path) -> None:
    file = write(tmp_path, "x.jsonl", {"format": "mms-memory", "version": 9})
    ran = mms.run("memory", "import", file)
    assert ran.code == 2
    assert "version 9" in ran.err
    assert mms.run("memory", "import", file, "--quarantine").code == 2


ENTITY = {
    "type": "entity",
    "name": "web-1",
    "entityType": "server",
    "observations": ["runs Debian"],
}


def test_the_reference_servers_file_is_taken_as_an_import(
    mms: Instance, memory: Opened, port: Port, tmp_path: Path
) -> None:
    leak = {**ENTITY, "observations": [f"its token is {SECRET}", "x" * 20_000]}
    file = write(tmp_path, "memory.json", ENTITY, "garbage", leak)
    dry = mms.run("memory", "import", file, "--dry-run")
    assert "mcp-memory: 3 would be taken in" in dry.out
    assert contents(memory) == []
    ran = mms.run("memory", "import", file, "--json")
    assert ran.code == 1
    assert (ran.json["added"], len(ran.json["refused"])) == (1, 3)
    assert SECRET not in ran.out
    (record,) = records_of(memory)
    assert (record.origin, record.trust) == (Origin.IMPORT, 1)
    assert record.source_ref == "memory.json#web-1"
    again = mms.run("memory", "import", file, "--json").json
    assert (again["added"], again["repeated"]) == (0, 1)
    assert records_of(memory) == (record,)


def test_what_is_taken_in_can_wait_for_review(
    mms: Instance, memory: Opened, tmp_path: Path
) -> None:
    file = write(tmp_path, "mem0.json", [{"memory": "Prefers tea"}])
    assert mms.run("memory", "import", file, "--quarantine").code == 0
    assert [one.state.value for one in records_of(memory)] == ["quarantined"]
    assert "let in" in mms.run("memory", "proposals").out


def test_a_folder_of_notes_is_taken_in_and_what_is_hidden_is_not(
    mms: Instance, memory: Opened, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    write(notes, "a.md", "# Servers", "- web-1 runs Debian", "- db-1 runs Alpine")
    write(notes, "sub/b.markdown", "Lunch is at noon.")
    write(notes, ".trash/c.md", "Deleted.")
    (notes / "bad.md").write_bytes(b"\xff")
    ran = mms.run("memory", "import", str(notes), "--json")
    assert (ran.json["format"], ran.json["added"]) == ("markdown", 3)
    assert len(ran.json["refused"]) == 1
    assert "bad.md is not UTF-8" in ran.json["refused"][0]
    assert contents(memory) == [
        "Lunch is at noon.",
        "Servers: db-1 runs Alpine",
        "Servers: web-1 runs Debian",
    ]
    assert mms.run("memory", "import", str(notes), "--format", "mem0").code == 2


def test_what_cannot_be_read_is_told(
    mms: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mms.run("memory", "import", str(tmp_path / "none")).code == 1
    unknown = mms.run("memory", "import", write(tmp_path, "x.txt", "hello"))
    assert unknown.code == 1
    assert "Name one with --format" in unknown.err
    ran = mms.run("memory", "import", write(tmp_path, "y.json", "{}"), "--format", "mem0")
    assert ran.code == 1
    assert "no list of memories" in ran.err
    monkeypatch.setattr(memory_exchange, "_LONGEST_FILE", 3)
    ran = mms.run("memory", "import", write(tmp_path, "z.json", "[]   "), "--format", "mem0")
    assert "3 are possible" in ran.err


def test_many_refused_entries_do_not_flood_the_terminal(mms: Instance, tmp_path: Path) -> None:
    file = write(tmp_path, "m.json", [7] * 50)
    ran = mms.run("memory", "import", file, "--format", "mem0")
    assert len(ran.err.splitlines()) == 21
    assert "and 30 more" in ran.err


def test_an_import_stops_when_the_memory_is_away(mms: Instance, port: Port, tmp_path: Path) -> None:
    def gone(_request: object) -> None:
        raise MemoryFault(FaultCode.UNAVAILABLE, "The memory is away.")

    port.before = gone
    file = write(tmp_path, "memory.json", ENTITY)
    assert mms.run("memory", "import", file).code == 1


def test_serve_is_the_memory_alone_for_the_named_space(
    mms: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[dict[str, Any]] = []

    def main(_environ: object, **options: Any) -> int:
        called.append(options)
        return 0

    monkeypatch.setattr("memory.serve.main", main)
    assert mms.run("memory", "serve", "--space", "team").code == 0
    assert called[0]["space"] == "team"
    assert called[0]["project_directory"] == Path.cwd()


def test_agent_facts_keep_their_agent_in_an_export(mms: Instance, memory: Opened) -> None:
    memory.fact("The staging port is 5432.", AGENT)
    line = json.loads(mms.run("memory", "export").out.splitlines()[1])
    assert (line["record"]["actor"], line["record"]["session"]) == (AGENT.name, AGENT.session)
