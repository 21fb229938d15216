"""The memory does the same on every database with every index of vectors.

The databases are files and a real PostgreSQL server, the indexes ours, a real Chroma folder and a real
Chroma server. ``auto`` takes the folder into use in the middle of a test.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Generator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from config.schema import EmbedderKind, MemorySettings, VectorIndexKind
from memory import semantic_index
from memory.api import (
    Decide,
    Decision,
    ExpungeRecord,
    GetIndexStatus,
    GetPosition,
    GetRecord,
    ListProposals,
    ListRuns,
    PreviewForgetting,
    Resolve,
    RunForgetting,
    Search,
    UndoRun,
    Verify,
)
from memory.embedding.hashing import PROFILE
from memory.embedding.json_http import JsonClient
from memory.model import Hit, PairClass, ProposalState, Reason, Record, State
from memory.vectors.auto import AutoIndex, Large
from memory.vectors.chroma import ChromaIndex
from memory.vectors.chroma_http import ChromaHttpIndex, ChromaServer
from memory.vectors.port import IndexUnavailable
from tests.memory.erasure import files_with, vector_bytes
from tests.memory.opening import OTHER, PERSON, Opened, opened, settings
from tests.memory.vectors.conftest import start_server, stop_server
from tests.support.postgres import NoServer, PostgresServer, running_server

OLD = "The staging database listens on port 5432."
NEW = "The staging database listens on port 6432."
OTHERS = (
    "Anna prefers tabs over spaces.",
    "The deploy runs every Monday at nine.",
    "Invoices are sent by the billing service.",
)
_THRESHOLD = 4
"""Vectors from which on ``auto`` uses its folder here."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory keeps what it has."""

    database: str
    index: VectorIndexKind

    @property
    def name(self) -> str:
        """For the test's id."""
        return f"{self.database}-{self.index.value}"

    @property
    def keeps_vectors_in_a_folder(self) -> bool:
        """A Chroma folder lies beside the database."""
        return self.index in (VectorIndexKind.CHROMA, VectorIndexKind.AUTO)


SQLITE = [Place("sqlite", kind) for kind in VectorIndexKind]
POSTGRES = [Place("postgresql", kind) for kind in VectorIndexKind]
_ALONE = pytest.mark.xdist_group("memory_servers")
"""All tests that need a server run in one worker, which starts each server once."""


def _places(*places: Place) -> list[object]:
    return [
        pytest.param(
            place,
            id=place.name,
            marks=[_ALONE]
            if place.database == "postgresql" or place.index is VectorIndexKind.CHROMA_HTTP
            else [],
        )
        for place in places
    ]


@pytest.fixture(scope="module")
def postgres() -> Generator[PostgresServer]:
    try:
        with running_server() as server:
            yield server
    except NoServer as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    process = start_server(tmp_path_factory.mktemp("chroma-server"), port)
    yield f"http://127.0.0.1:{port}"
    stop_server(process)


@pytest.fixture
def chosen(
    place: Place, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Generator[MemorySettings]:
    """The settings of one place; servers that it needs are there."""
    if place.index is not VectorIndexKind.BRUTE and find_spec("chromadb") is None:
        pytest.skip("chromadb is not installed")
    monkeypatch.setattr(semantic_index, "THRESHOLD", _THRESHOLD)
    found = settings(index=place.index)
    if place.index is VectorIndexKind.CHROMA_HTTP:
        found = settings(index=place.index, vectors_url=request.getfixturevalue("chroma_server"))
    if place.database == "sqlite":
        yield found
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    url = server.new_database()
    yield replace(found, url=url)
    server.drop(url)


@pytest.fixture
def memory(chosen: MemorySettings, tmp_path: Path) -> Generator[Opened]:
    with opened(tmp_path, chosen) as found:
        yield found


def hits(memory: Opened, query: str, **more: object) -> list[Hit]:
    return list(memory.ask(Search(query, top_k=20, **more)).hits)  # type: ignore[arg-type]


def texts(memory: Opened, query: str, **more: object) -> set[str]:
    return {hit.record.text.content for hit in hits(memory, query, **more)}


def about_staging(memory: Opened, **more: object) -> set[str]:
    return texts(memory, "staging database port", **more) & {OLD, NEW}


def record(memory: Opened, id: str) -> Record:
    return memory.ask(GetRecord(id)).record


def filled(memory: Opened) -> None:
    for text in OTHERS:
        memory.fact(text)
    memory.settle()


def assert_sound(memory: Opened, *found: str) -> None:
    """Journal, records and indexes agree, and each of these texts is what its own words find first."""
    hits(memory, "anything")  # an index is opened with the first question
    memory.settle()
    assert memory.ask(Verify()).problems == ()
    status = memory.ask(GetIndexStatus())
    assert (status.pending, status.problem) == (0, "")
    for text in found:
        best = hits(memory, text)[0]
        assert best.record.text.content == text
        assert best.parts.raw_similarity > 0.99
    searched = memory.service._core.index._searched
    assert searched is not None
    if isinstance(searched.index, AutoIndex) and status.vectors >= _THRESHOLD:
        assert searched.index.state is Large.READY
        assert searched.index._large.count() == status.vectors


@pytest.mark.parametrize("place", _places(*SQLITE, *POSTGRES))
def test_a_contradiction_is_judged_taken_back_and_judged_again(memory: Opened) -> None:
    filled(memory)
    old = memory.fact(OLD)
    again = memory.fact(OLD.upper(), OTHER)
    assert (again.repeated, again.record.id, again.record.support) == (True, old.record.id, 2)
    then = memory.now
    memory.wait(10)
    new = memory.fact(NEW)
    (candidate,) = new.contradictions
    assert candidate.record.id == old.record.id
    assert candidate.evidence.klass is PairClass.VALUE
    assert candidate.similarity > 0.5
    wish = memory.ask(Resolve(new.record.id, old.record.id))
    assert wish.status == "proposed"
    assert wish.proposal_id == candidate.proposal_id
    assert_sound(memory, OLD, NEW)
    for _ in range(2):
        memory.ask(Decide(wish.proposal_id, Decision.APPROVE), PERSON)
        assert record(memory, old.record.id).state is State.SUPERSEDED
        assert about_staging(memory) == {NEW}
        assert about_staging(memory, as_of=then) == {OLD}
        assert about_staging(memory, as_known_at=then) == {OLD}
        assert about_staging(memory, include_superseded=True) == {OLD, NEW}
        assert_sound(memory, NEW)
        undone = memory.ask(Decide(wish.proposal_id, Decision.UNDO), PERSON)
        assert undone.proposal.state is ProposalState.OPEN
        assert about_staging(memory) == {OLD, NEW}
        assert_sound(memory, OLD, NEW)
    memory.ask(Decide(wish.proposal_id, Decision.APPROVE), PERSON)
    before = memory.ask(GetPosition())
    memory.reopen()
    assert memory.ask(GetPosition()) == before
    assert memory.ask(ListProposals()).open == 0
    assert about_staging(memory) == {NEW}
    assert about_staging(memory, as_of=then) == {OLD}
    assert_sound(memory, NEW, *OTHERS)


@pytest.mark.parametrize("place", _places(*SQLITE, *POSTGRES))
def test_what_a_preview_shows_is_what_runs_and_can_be_undone(memory: Opened) -> None:
    filled(memory)
    first = memory.fact("The parser is built by the night job.").record
    second = memory.fact("The parser is built by the night job!").record
    memory.wait(30)
    plan = memory.ask(PreviewForgetting())
    (item,) = plan.items
    assert (item.decision.id, item.decision.reason) == (second.id, Reason.DUPLICATE)
    assert item.decision.survivor == first.id
    both = {first.text.content, second.text.content}
    run = memory.ask(RunForgetting(plan.plan.hash)).run
    assert run is not None
    assert run.archived == 1
    assert texts(memory, "night job parser") & both == {first.text.content}
    assert_sound(memory, first.text.content)
    assert memory.ask(UndoRun(run.id), PERSON).restored == (second.id,)
    assert record(memory, second.id).state is State.ACTIVE
    assert memory.ask(ListRuns()).runs[0].undone_at is not None
    memory.reopen()
    assert memory.ask(UndoRun(run.id), PERSON).run.undone_at is None
    assert record(memory, second.id).state is State.ARCHIVED
    assert_sound(memory, *OTHERS)


@pytest.mark.parametrize("place", _places(*SQLITE, *POSTGRES))
def test_what_is_erased_is_gone_from_every_index(
    memory: Opened, place: Place, chosen: MemorySettings
) -> None:
    filled(memory)
    words = "zyzzyva-quokka-4711"
    text = f"The passphrase hint is {words}."
    stored = memory.fact(text).record
    assert_sound(memory, text)
    traces = vector_bytes(stored)
    chroma = memory.folder / "chroma"
    if place.keeps_vectors_in_a_folder:
        assert files_with(chroma, traces), "otherwise this test sees nothing"
    receipt = memory.ask(ExpungeRecord(stored.id, "asked to"), PERSON)
    server = chosen.vectors.url
    at_server = place.index is VectorIndexKind.CHROMA_HTTP
    about_chroma = [problem for problem in receipt.problems if "Chroma" in problem]
    assert [server in problem for problem in about_chroma] == [True] * at_server
    if place.database == "sqlite":
        assert receipt.problems == tuple(about_chroma)
    for reopened in (False, True):
        memory.settle()
        # This process has had the vector, and Chroma writes what it finds in memory into its files.
        if not (reopened and place.keeps_vectors_in_a_folder):
            assert files_with(memory.folder, [*traces, words.encode()]) == []
        if at_server:
            assert stored.num not in nums_at(server, memory)
        assert record(memory, stored.id).state is State.EXPUNGED
        assert words not in " ".join(texts(memory, text))
        assert_sound(memory, *OTHERS)
        memory.reopen()


@pytest.mark.parametrize("place", _places(*SQLITE, *POSTGRES))
def test_another_model_takes_over_and_what_is_erased_then_is_gone_from_the_old_one_too(
    memory: Opened, place: Place, chosen: MemorySettings
) -> None:
    filled(memory)
    stored = memory.fact(OLD).record
    assert_sound(memory, OLD)
    old = memory.ask(GetIndexStatus()).model
    memory.reopen(replace(chosen, embedder=settings(embedder=EmbedderKind.MINILM).embedder))
    assert memory.ask(Search("staging port")).model == old
    memory.settle()
    assert memory.ask(GetIndexStatus()).model != old
    assert_sound(memory, OLD, *OTHERS)
    meant = hits(memory, "which whitespace does she like")[0]
    assert meant.record.text.content == OTHERS[0]
    memory.ask(ExpungeRecord(stored.id, "asked to"), PERSON)
    assert files_with(memory.folder, [*vector_bytes(stored), OLD.encode()]) == []
    if place.index is VectorIndexKind.CHROMA_HTTP:
        assert stored.num not in nums_at(chosen.vectors.url, memory)
    assert_sound(memory, *OTHERS)


@pytest.mark.parametrize("place", _places(*SQLITE))
def test_what_is_erased_is_gone_from_an_index_that_is_not_used_any_more(
    memory: Opened, place: Place, chosen: MemorySettings
) -> None:
    filled(memory)
    stored = memory.fact(OLD).record
    assert_sound(memory, OLD)
    memory.reopen(settings(index=VectorIndexKind.BRUTE))
    receipt = memory.ask(ExpungeRecord(stored.id, "asked to"), PERSON)
    assert files_with(memory.folder, [*vector_bytes(stored), OLD.encode()]) == []
    assert receipt.problems == ()
    assert_sound(memory, *OTHERS)


@pytest.mark.parametrize("place", _places(*SQLITE))
def test_what_was_not_erased_before_the_end_is_erased_after_the_next_start(
    memory: Opened, place: Place, chosen: MemorySettings
) -> None:
    filled(memory)
    stored = memory.fact(OLD).record
    assert_sound(memory, OLD)
    with memory.service._core.store.writing(PERSON, stored.space, memory.now) as writing:
        writing.expunge(stored.id, "and then the power went out")
    chroma = memory.folder / "chroma"
    if place.keeps_vectors_in_a_folder:
        assert files_with(chroma, vector_bytes(stored)), "otherwise this test sees nothing"
    memory.reopen()
    memory.settle()
    assert files_with(memory.folder, [*vector_bytes(stored), OLD.encode()]) == []
    if place.index is VectorIndexKind.CHROMA_HTTP:
        assert stored.num not in nums_at(chosen.vectors.url, memory)
    assert not memory.service._core.store.vectors_due
    assert_sound(memory, *OTHERS)


def test_what_a_store_of_vectors_could_not_erase_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path, settings(index=VectorIndexKind.CHROMA)) as memory:
        filled(memory)
        stored = memory.fact(OLD).record
        away = IndexUnavailable("it is away.")

        def fail(*_: object) -> None:
            raise away

        with monkeypatch.context() as patched:
            patched.setattr(AutoIndex, "erase", fail)
            patched.setattr(ChromaIndex, "erase", fail)
            receipt = memory.ask(ExpungeRecord(stored.id, "asked to"), PERSON)
            assert [("tried again" in problem) for problem in receipt.problems] == [True, True]
            memory.settle()
        assert memory.service._core.store.vectors_due
        assert files_with(memory.folder, vector_bytes(stored)), "otherwise this test sees nothing"
        memory.settle()
        assert memory.service._core.store.vectors_due, "too soon after the last try"
        memory.service.upkeep._erase_at = 0.0
        memory.settle()
        assert not memory.service._core.store.vectors_due
        assert files_with(memory.folder, vector_bytes(stored)) == []


def nums_at(url: str, memory: Opened) -> set[int]:
    """Every number that the Chroma server has for this memory, by the models of these tests."""
    searched = memory.ask(GetIndexStatus()).model
    namespace = memory.service._core.store.identity
    ours = ChromaHttpIndex(ChromaServer(url, namespace=namespace))
    names = {ours._name(model) for model in (PROFILE.id, searched)}
    client = JsonClient(url, {})
    base = "/api/v2/tenants/default_tenant/databases/default_database/collections"
    found: set[int] = set()
    try:
        for one in json.loads(client.ask("GET", f"{base}?limit=1000", None, 30).body):
            if one["name"] in names:
                got = client.ask("POST", f"{base}/{one['id']}/get", b'{"include": []}', 30)
                found |= {int(id) for id in json.loads(got.body)["ids"]}
    finally:
        client.close()
    return found
