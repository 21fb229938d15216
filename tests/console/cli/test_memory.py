"""``mms memory``: storing, searching, looking, deciding and forgetting, over a real memory."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory.api import ArchiveRecord, Resolve
from memory.errors import FaultCode, MemoryFault
from memory.model import Origin
from tests.console.cli.conftest import Instance
from tests.console.cli.memory_port import Port, connect
from tests.memory.opening import AGENT, PERSON, Opened, opened

OLD, NEW = "The staging port is 5432.", "The staging port is 6432."
ISO = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Opened]:
    with opened(tmp_path) as memory:
        yield memory


@pytest.fixture(autouse=True)
def port(monkeypatch: pytest.MonkeyPatch, memory: Opened) -> Port:
    return connect(monkeypatch, memory)


class Typed(io.StringIO):
    """A terminal at which somebody types."""

    def isatty(self) -> bool:
        return True


def proposal_of(mms: Instance) -> str:
    """The only proposal, made by a contradiction."""
    mms.run("memory", "add", OLD)
    mms.run("memory", "add", NEW)
    return mms.run("memory", "proposals", "--json").json["items"][0]["proposal"]["id"]


def test_add_stores_as_the_person_and_says_what_it_contradicts(mms: Instance, port: Port) -> None:
    first = mms.run("memory", "add", OLD)
    assert first.code == 0, first.err
    assert first.out.startswith("Stored: ")
    assert port.asked[0][1].origin is Origin.OPERATOR
    second = mms.run("memory", "add", NEW)
    assert "contradicts" in second.out
    assert OLD in second.out
    assert "mms memory approve " in second.out
    assert mms.run("memory", "add", NEW).out.startswith("Was there already: ")


def test_add_takes_all_that_a_memory_has(mms: Instance) -> None:
    ran = mms.run(
        "memory", "add", "Release the app", "--kind", "procedural", "--step", "Tag it.",
        "--step", "Push the tag.", "--precondition", "Tests pass.", "--importance", "0.9",
        "--category", "work", "--domain", "releases", "--pin", "--valid-from", "2026-01-02T00:00Z",
        "--json",
    )  # fmt: skip
    record = ran.json["record"]
    assert record["text"]["steps"] == ["Tag it.", "Push the tag."]
    assert record["text"]["preconditions"] == ["Tests pass."]
    assert (record["kind"], record["importance"], record["pinned"]) == ("procedural", 0.9, True)
    assert (record["category"], record["domain"]) == ("work", "releases")
    assert record["valid_from"] == "2026-01-02T00:00:00.000000Z"
    assert ISO.fullmatch(record["recorded_at"])
    assert ran.json["contradictions"] == []


def test_add_reads_an_episode_from_standard_input(
    mms: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"We met Ada.\n")))
    ran = mms.run(
        "memory", "add", "-", "--kind", "episodic", "--session", "s1", "--turn", "3", "--json"
    )
    record = ran.json["record"]
    assert record["text"]["content"] == "We met Ada."
    assert (record["session_id"], record["turn_number"]) == ("s1", 3)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    assert mms.run("memory", "add", "-").code == 2


@pytest.mark.parametrize(
    "words",
    [
        ("add", ""),
        ("add", "x", "--importance", "7"),
        ("add", "x", "--valid-to", "tomorrow"),
        ("add", "x", "--kind", "odd"),
        ("query", "x", "-k", "0"),
        ("list", "--limit", "0"),
        ("list", "--state", "odd"),
        ("list", "--after", "x"),
        ("preview", "--at", "then"),
        (),
    ],
)
def test_a_line_that_makes_no_sense_ends_with_code_2(mms: Instance, words: tuple[str, ...]) -> None:
    assert mms.run("memory", *words).code == 2


def test_query_shows_the_parts_of_each_score(mms: Instance) -> None:
    mms.run("memory", "add", "The build takes four minutes.")
    mms.run("memory", "add", "Tea is in the kitchen.\x1b[31m")
    out = mms.run("memory", "query", "how long does the build take", "-k", "1").out
    assert re.match(r"ID +SCORE +MEANING +WORDS +RECENCY +WEIGHT +KIND +TEXT\n", out)
    assert "The build takes four minutes." in out
    assert "kitchen" not in out
    data = mms.run("memory", "query", "tea", "--json").json
    assert data["hits"][0]["parts"]["final_score"] > 0
    assert "\x1b" not in mms.run("memory", "query", "tea").out
    assert "Nothing was found." in mms.run("memory", "query", "zzz", "--kind", "episodic").out


def test_query_looks_into_the_past_when_asked(mms: Instance, memory: Opened) -> None:
    mms.run("memory", "approve", proposal_of(mms))
    now = mms.run("memory", "query", "staging port", "--json").json["hits"]
    assert [hit["record"]["text"]["content"] for hit in now] == [NEW]
    everything = mms.run("memory", "query", "staging port", "--include-superseded", "--json")
    assert len(everything.json["hits"]) == 2
    before = mms.run("memory", "query", "staging port", "--as-known-at", "2026-01-01", "--json")
    assert before.json["hits"] == []


def test_list_pages_and_filters(mms: Instance, memory: Opened) -> None:
    ids = [memory.fact(f"Fact number {n} is {n * 7}.").record.id for n in range(3)]
    memory.ask(ArchiveRecord(ids[0]), PERSON)
    page = mms.run("memory", "list", "-n", "1", "--json").json
    assert [one["id"] for one in page["records"]] == [ids[2]]
    rest = mms.run("memory", "list", "-n", "1", "--after", page["next"], "--json").json
    assert [one["id"] for one in rest["records"]] == [ids[1]]
    assert "More: --after" in mms.run("memory", "list", "-n", "1").out
    assert ids[0] not in mms.run("memory", "list").out
    assert ids[0] in mms.run("memory", "list", "--state", "archived").out
    assert len(mms.run("memory", "list", "--state", "all", "--json").json["records"]) == 3
    assert "There are no such memories." in mms.run("memory", "list", "--kind", "episodic").out
    assert "There are no such memories." in mms.run("memory", "list", "--space", "other").out


def test_show_tells_everything_of_a_memory_by_the_beginning_of_its_id(
    mms: Instance, memory: Opened
) -> None:
    record = memory.procedure("Release the app", "Tag it.", "Push it.").record
    ran = mms.run("memory", "show", record.id[:24].lower())
    assert ran.code == 0, ran.err
    assert f"{record.id}  procedural, active, version 1" in ran.out
    assert "1. Tag it.\n2. Push it." in ran.out
    assert "Last change: stored." in ran.out
    data = mms.run("memory", "show", record.id, "--json").json
    assert set(data) == {"record", "history", "outcomes", "neighbours", "proposals", "chain"}
    assert data["history"][0]["patch"]["state"] == "active"
    assert ISO.fullmatch(data["history"][0]["patch"]["recorded_at"])
    missing = mms.run("memory", "show", "01ZZZZZZZZ", "--json")
    assert missing.code == 1
    assert "There is no memory" in missing.json["error"]


def test_show_draws_the_chain_and_what_is_alike(mms: Instance, memory: Opened) -> None:
    old, new = memory.fact(OLD).record, memory.fact(NEW).record
    memory.ask(Resolve(new.id, old.id), PERSON)
    out = mms.run("memory", "show", new.id).out
    assert f"  {old.id}  superseded: {OLD}" in out
    assert f"* {new.id}  active" in out
    assert "value difference" in out
    assert "supersede, applied" in out


def test_history_is_newest_first_with_what_changed(mms: Instance, memory: Opened) -> None:
    id = memory.fact(OLD).record.id
    mms.run("memory", "archive", id, "--reason", "moved house")
    ran = mms.run("memory", "history", id)
    lines = ran.out.splitlines()
    assert "archived" in lines[1]
    assert "state_reason = moved house" in lines[1]
    assert "stored" in lines[2]
    data = mms.run("memory", "history", id, "--json").json
    assert [one["action"] for one in data["history"]] == ["archived", "stored"]
    assert data["id"] == id


def test_archive_and_restore_go_back_and_forth(mms: Instance, memory: Opened) -> None:
    id = memory.fact(OLD).record.id
    assert mms.run("memory", "archive", id[:24]).out == f"{id} is archived.\n"
    ran = mms.run("memory", "restore", id, "--json")
    assert ran.json["record"]["state"] == "active"
    assert mms.run("memory", "archive", "01ZZZZZZZZ").code == 1


def test_expunge_asks_for_the_end_of_the_id(
    mms: Instance, memory: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = memory.fact(OLD).record.id
    refused = mms.run("memory", "expunge", id)
    assert refused.code == 1
    assert "add --yes" in refused.err
    monkeypatch.setattr("sys.stdin", Typed("no\n"))
    assert mms.run("memory", "expunge", id).code == 1
    assert OLD in mms.run("memory", "show", id).out
    monkeypatch.setattr("sys.stdin", Typed(f"{id[-6:]}\n"))
    ran = mms.run("memory", "expunge", id)
    assert ran.code == 0, ran.err
    assert OLD in ran.err
    assert f"Erased: {id}." in ran.out
    assert "Texts: 1 versions." in ran.out
    assert "(erased)" in mms.run("memory", "show", id).out
    other = memory.fact(NEW).record.id
    data = mms.run("memory", "expunge", other, "--yes", "--json").json
    assert data["id"] == other
    assert data["places"]


def test_proposals_show_the_words_that_differ(mms: Instance) -> None:
    assert "Nothing waits for a decision." in mms.run("memory", "proposals").out
    id = proposal_of(mms)
    out = mms.run("memory", "proposals").out
    assert f"{id}  supersede, value difference" in out
    assert "The staging port is [-5432-]." in out
    assert "The staging port is {+6432+}." in out
    data = mms.run("memory", "proposals", "--json").json
    assert data["open"] == 1
    assert data["items"][0]["replace"][0]["text"]["content"] == OLD


def test_approve_and_undo(mms: Instance) -> None:
    id = proposal_of(mms)
    ran = mms.run("memory", "approve", id[:24], "--reason", "checked")
    assert ran.code == 0, ran.err
    assert f"{id}: applied." in ran.out
    assert f"is superseded: {OLD}" in ran.out
    applied = mms.run("memory", "proposals", "--state", "applied").out
    assert "applied by mms" in applied
    assert ": checked" in applied
    undone = mms.run("memory", "undo", id, "--json").json
    assert undone["proposal"]["state"] == "open"
    assert {one["state"] for one in undone["keep"] + undone["replace"]} == {"active"}


def test_approve_can_keep_the_other_one(mms: Instance) -> None:
    id = proposal_of(mms)
    old = mms.run("memory", "proposals", "--json").json["items"][0]["replace"][0]["id"]
    data = mms.run(
        "memory",
        "approve",
        id,
        "--keep",
        old,
        "--valid-to",
        "2027-03-01Z".replace("Z", ""),
        "--json",
    ).json
    assert data["proposal"]["keep"] == [old]


@pytest.mark.parametrize(
    ("words", "state"),
    [
        (("reject",), "rejected"),
        (("reject", "--keep-both"), "kept_both"),
        (("keep-both",), "kept_both"),
    ],
)
def test_reject_leaves_both(mms: Instance, words: tuple[str, ...], state: str) -> None:
    id = proposal_of(mms)
    data = mms.run("memory", words[0], id, *words[1:], "--reason", "two hosts", "--json").json
    assert data["proposal"]["state"] == state
    assert data["proposal"]["reason"] == "two hosts"
    assert {one["state"] for one in data["keep"] + data["replace"]} == {"active"}
    again = mms.run("memory", "approve", id)
    assert again.code == 1
    assert "already" in again.err


def test_a_proposal_that_is_not_there_is_told(mms: Instance) -> None:
    for id in ("01ZZZZZZZZ", "x"):
        ran = mms.run("memory", "approve", id)
        assert ran.code == 1
        assert "mms memory proposals" in ran.err


def test_what_came_from_outside_is_let_in(mms: Instance, memory: Opened) -> None:
    from memory.model import Actor

    memory.fact("A page said so.", Actor(Origin.EXTERNAL, "web"))
    out = mms.run("memory", "proposals").out
    assert "let in" in out
    assert "(from external): A page said so." in out


def forgettable(memory: Opened) -> None:
    """Records of which a plan archives one."""
    old, new = memory.fact(OLD).record, memory.fact(NEW).record
    memory.ask(Resolve(new.id, old.id), PERSON)
    memory.wait(40)


def test_preview_is_grouped_by_reason_and_run_archives_it(
    mms: Instance, memory: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgettable(memory)
    ran = mms.run("memory", "preview")
    assert ran.code == 0, ran.err
    assert "1 of 2 would be archived." in ran.out
    assert "Superseded: 1 archived" in ran.out
    assert f": {OLD}  [need " in ran.out
    (plan,) = re.findall(r"mms memory run --plan (\w+)", ran.out)
    refused = mms.run("memory", "run", "--plan", plan)
    assert refused.code == 1
    assert "add --yes" in refused.err
    monkeypatch.setattr("sys.stdin", Typed("yes\n"))
    assert mms.run("memory", "run").code == 1
    monkeypatch.setattr("sys.stdin", Typed(f"{plan[:8]}\n"))
    done = mms.run("memory", "run")
    assert done.code == 0, done.err
    assert "1 archived by run " in done.out
    assert "Superseded: 1" in done.out
    (run,) = re.findall(r"mms memory undo (\w+)", done.out)
    runs = mms.run("memory", "runs")
    assert run in runs.out
    assert "superseded 1" in runs.out
    undone = mms.run("memory", "undo", run)
    assert f"The run {run} is undone: 1 came back." in undone.out
    again = mms.run("memory", "undo", run)
    assert again.code == 1
    assert "was undone" in again.err


def test_forgetting_has_json_and_a_look_ahead(mms: Instance, memory: Opened) -> None:
    forgettable(memory)
    ahead = mms.run("memory", "preview", "--at", "2027-09-01", "--json").json
    assert ahead["items"][0]["decision"]["reason"] == "superseded"
    assert ISO.fullmatch(ahead["plan"]["now"])
    assert "can't be run" in mms.run("memory", "preview", "--at", "2027-09-01").out
    assert mms.run("memory", "run", "--yes").code == 1
    plan = mms.run("memory", "preview", "--json").json["plan"]["hash"]
    done = mms.run("memory", "run", "--plan", plan, "--yes", "--json").json
    assert done["run"]["archived"] == 1
    assert mms.run("memory", "runs", "--json").json["runs"] == [done["run"]]
    undone = mms.run("memory", "undo", done["run"]["id"], "--json").json
    assert len(undone["restored"]) == 1
    assert undone["conflicts"] == []


def test_no_runs_yet(mms: Instance) -> None:
    assert "Nothing was ever forgotten" in mms.run("memory", "runs").out


def test_stats_count_by_kind_and_state(mms: Instance, memory: Opened) -> None:
    assert "Nothing is remembered here yet." in mms.run("memory", "stats").out
    forgettable(memory)
    mms.run("memory", "preview")
    mms.run("memory", "run", "--yes")
    out = mms.run("memory", "stats").out
    assert re.search(r"KIND +ACTIVE +ARCHIVED\nsemantic +1 +1\n", out)
    assert "0 decisions to make." in out
    assert "Last forgetting run: " in out
    data: dict[str, Any] = mms.run("memory", "stats", "--json").json
    assert data["space"] == "default"
    assert data["index"]["vectors"] == 2


def test_the_space_of_the_settings_counts_unless_the_line_names_one(
    mms: Instance, memory: Opened
) -> None:
    mms.write('[memory]\nspace = "team"\n')
    assert mms.run("memory", "add", "x is y", "--json").json["record"]["space"] == "team"
    there = mms.run("memory", "add", "x is y", "--space", "own", "--json")
    assert there.json["record"]["space"] == "own"


def test_reindex_waits_until_all_vectors_are_made(
    mms: Instance, memory: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    from console.cli import memory_upkeep

    monkeypatch.setattr(memory_upkeep, "POLL_SECONDS", 0)
    memory.fact(OLD)
    ran = mms.run("memory", "reindex", "--from-scratch")
    assert ran.code == 0, ran.err
    assert "1 vector of " in ran.out
    data = mms.run("memory", "reindex", "--json").json
    assert (data["index"]["vectors"], data["index"]["pending"]) == (1, 0)


def test_reindex_says_so_when_no_vector_comes(
    mms: Instance, memory: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    from console.cli import memory_upkeep

    monkeypatch.setattr(memory_upkeep, "POLL_SECONDS", 0)
    monkeypatch.setattr(memory_upkeep, "PATIENCE_SECONDS", 0)
    monkeypatch.setattr(memory, "settle", lambda: None)
    memory.fact(OLD)
    ran = mms.run("memory", "reindex", "--from-scratch")
    assert ran.code == 1
    assert "1 vectors are still to be made" in ran.err


def test_verify_tells_what_differs(mms: Instance, memory: Opened) -> None:
    memory.fact(OLD)
    assert "All is well: 1 journal entries checked." in mms.run("memory", "verify").out
    data = mms.run("memory", "verify", "--json").json
    assert data == {"entries": 1, "problems": []}


def test_a_fault_of_the_memory_is_a_sentence_and_code_1(mms: Instance, port: Port) -> None:
    def gone(_request: object) -> None:
        raise MemoryFault(FaultCode.UNAVAILABLE, "The memory is away.", "Try again.")

    port.before = gone
    ran = mms.run("memory", "stats", "--json")
    assert (ran.code, ran.err) == (1, "mms: The memory is away. Try again.\n")
    assert ran.json == {"error": "The memory is away. Try again.", "exit_code": 1}


def test_agents_are_named_in_lists(mms: Instance, memory: Opened) -> None:
    memory.fact(OLD, AGENT)
    assert re.search(rf"{AGENT.name} +0 +{re.escape(OLD)}", mms.run("memory", "list").out)
