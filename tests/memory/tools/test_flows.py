"""The flows that the tools exist for, over a real memory on disk, at times of the test's choosing."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from config.schema import Approval, EmbedderKind, EmbedderSettings, ForgettingBy, MemorySettings
from memory import api
from memory.model import DAY, Actor, Origin, State
from memory.service import MemoryService
from memory.tools import calls
from tests.memory.support import NOW
from tests.memory.tools.host import Tools

PERSON = Actor(Origin.OPERATOR, "console")


class RealTools(Tools):
    """The tools over a `MemoryService`."""

    def __init__(self, service: MemoryService) -> None:
        super().__init__(lambda request, actor: service.answer(request, actor, self.now))
        self.service = service
        self.now = NOW

    def state(self, id: str) -> State:
        """Of one record."""
        return self.service.answer(api.GetRecord(id), PERSON, self.now).record.state


Open = Callable[..., AbstractContextManager[RealTools]]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    @contextmanager
    def open_(**settings: Any) -> Generator[RealTools]:
        hashing = EmbedderSettings(provider=EmbedderKind.HASHING)
        service = MemoryService.open(
            tmp_path / "memory",
            MemorySettings(embedder=hashing, **settings),
            os.environ,
            upkeep=False,
        )
        try:
            yield RealTools(service)
        finally:
            service.close()

    return open_


def test_all_three_kinds_are_stored_and_found_again_by_another_process(opened: Open) -> None:
    with opened() as tools:
        fact = tools.call("store_semantic", content="The staging database listens on port 6432")
        event = tools.call(
            "store_episodic", text="We moved the staging database", session_id="s1", turn_number=1
        )
        way = tools.call(
            "store_procedural", content="Restart the staging database", steps=["stop", "start"]
        )
        ids = {one["record"]["id"] for one in (fact, event, way)}
    with opened() as tools:
        found = tools.call("query", query="staging database")["results"]
        assert {one["record"]["id"] for one in found} == ids
        scores = [one["final_score"] for one in found]
        assert scores == sorted(scores, reverse=True)
        only = tools.call("query", query="staging database", memory_types=["episodic"], top_k=1)
        assert [one["record"]["id"] for one in only["results"]] == [event["record"]["id"]]


def test_an_agent_judges_a_contradiction_and_its_word_counts_at_once_if_settings_say_so(
    opened: Open,
) -> None:
    with opened(approval=Approval.AUTO) as tools:
        old = tools.call("store_semantic", content="The staging database listens on port 5432")
        new = tools.call("store_semantic", content="The staging database listens on port 6432")
        old_id, new_id = old["record"]["id"], new["record"]["id"]
        (candidate,) = new["potential_contradictions"]
        assert candidate["record"]["id"] == old_id
        assert candidate["class"] == "value_difference"
        assert candidate["evidence"] == {"older_words": ["5432"], "newer_words": ["6432"]}
        resolved = tools.call("resolve_supersession", keep_id=new_id, supersede_id=old_id)
        assert (resolved["status"], resolved["kept_id"]) == ("resolved", new_id)
        found = tools.call("query", query="staging database port")["results"]
        assert [one["record"]["id"] for one in found] == [new_id]
        assert found[0]["record"]["supersedes"] == [old_id]


def test_by_default_the_person_decides_about_a_contradiction(opened: Open) -> None:
    with opened() as tools:
        old = tools.call("store_semantic", content="The staging database listens on port 5432")
        new = tools.call("store_semantic", content="The staging database listens on port 6432")
        old_id, new_id = old["record"]["id"], new["record"]["id"]
        for _ in range(2):
            resolved = tools.call("resolve_supersession", keep_id=new_id, supersede_id=old_id)
            assert resolved["status"] == "proposed"
            assert tools.state(old_id) is State.ACTIVE
        assert tools.call("overview")["pending_decisions"] == 1
        decide = api.Decide(resolved["proposal_id"], api.Decision.APPROVE)
        tools.service.answer(decide, PERSON, tools.now)
        assert tools.state(old_id) is State.SUPERSEDED
        assert tools.call("overview")["pending_decisions"] == 0


def test_outcomes_lead_to_the_procedure_that_works(opened: Open) -> None:
    with opened() as tools:
        bad = tools.call("store_procedural", content="Deploy the site by hand", steps=["copy"])
        good = tools.call("store_procedural", content="Deploy the site by script", steps=["run"])
        bad_id, good_id = bad["record"]["id"], good["record"]["id"]
        untried = tools.call("best_procedures", task="Deploy the site")["results"]
        assert all(one["wilson_score"] == 0.0 for one in untried)
        for _ in range(5):
            tools.call("record_outcome", record_id=bad_id, success=False)
            reported = tools.call("record_outcome", record_id=good_id, success=True)
        assert (reported["record"]["success_count"], reported["record"]["failure_count"]) == (5, 0)
        ranked = tools.call("best_procedures", task="Deploy the site")["results"]
        assert [one["record"]["id"] for one in ranked] == [good_id, bad_id]


def test_a_preview_archives_nothing_and_a_run_archives_what_it_showed(opened: Open) -> None:
    with opened(approval=Approval.AUTO) as tools:
        old = tools.call("store_semantic", content="The staging database listens on port 5432")
        new = tools.call("store_semantic", content="The staging database listens on port 6432")
        old_id, new_id = old["record"]["id"], new["record"]["id"]
        tools.call("resolve_supersession", keep_id=new_id, supersede_id=old_id)
        tools.now += 40 * DAY
        seen = tools.call("forgetting_preview")
        assert (seen["dry_run"], seen["pruned"], seen["faded"]) == (True, 1, 0)
        (decision,) = [one for one in seen["decisions"] if one["action"] == "prune"]
        assert (decision["record_id"], decision["reason"]) == (old_id, "superseded")
        assert (decision["survivor_id"], decision["content"]) == (new_id, old["record"]["content"])
        assert tools.state(old_id) is State.SUPERSEDED
        done = tools.call("forgetting_run", plan_hash=seen["plan_hash"])
        assert (done["status"], done["dry_run"], done["pruned"]) == ("executed", False, 1)
        assert tools.state(old_id) is State.ARCHIVED
        assert tools.state(new_id) is State.ACTIVE
        assert tools.call("forgetting_preview")["pruned"] == 0
        tools.service.answer(api.UndoRun(done["run_id"]), PERSON, tools.now)
        assert tools.state(old_id) is State.SUPERSEDED


def test_a_run_of_nothing_is_no_question_to_the_person(opened: Open) -> None:
    with opened(forgetting=ForgettingBy.OPERATOR) as tools:
        tools.call("store_semantic", content="The staging database listens on port 5432")
        tools.call("forgetting_preview")
        found = tools.call("forgetting_run")
        assert found["status"] == "nothing_to_archive"
        assert tools.call("overview")["pending_decisions"] == 0


def test_a_run_without_a_preview_is_refused(opened: Open) -> None:
    with opened() as tools:
        told = tools.fail("forgetting_run")
        assert told["code"] == "not_found"
        assert "memory_forgetting_preview" in told["error"] + told["hint"]


def test_a_session_is_read_in_its_order_across_pages(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "SESSION_EPISODES", 20)
    with opened() as tools:
        for turn in range(25, 0, -1):
            tools.call("store_episodic", text=f"turn {turn}", session_id="s1", turn_number=turn)
        tools.call("store_episodic", text="elsewhere", session_id="s2")
        first = tools.call("session_episodes", session_id="s1")
        rest = tools.call("session_episodes", session_id="s1", cursor=first["next_cursor"])
        turns = [one["turn_number"] for one in first["records"] + rest["records"]]
        assert turns == list(range(1, 26))
        assert "next_cursor" not in rest
        recent = tools.call("recent_episodes", n=2)["records"]
        assert [one["content"] for one in recent] == ["elsewhere", "turn 1"]


def test_the_overview_tells_counts_sessions_and_events(opened: Open) -> None:
    with opened() as tools:
        tools.call("store_semantic", content="The staging database listens on port 5432")
        tools.call("store_episodic", text="We talked", session_id="s1")
        found = tools.call("overview")
        assert (found["semantic_count"], found["episodic_count"]) == (1, 1)
        assert [one["session_id"] for one in found["recent_sessions"]] == ["s1"]
        assert found["latest_events"][0]["action"] == "stored"
        assert found["latest_events"][0]["actor"] == "test-host"


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("record_outcome", {"record_id": "nothing", "success": True}, "not_found"),
        ("resolve_supersession", {"keep_id": "nothing", "supersede_id": "more"}, "not_found"),
        ("forgetting_run", {"plan_hash": "0" * 64}, "not_found"),
        ("store_semantic", {"content": "x" * 20_000}, "invalid_argument"),
        ("store_semantic", {"content": "nul \x00 in it"}, "invalid_argument"),
        ("store_semantic", {"content": "x", "supersedes": "nothing"}, "not_found"),
    ],
)
def test_what_cannot_be_done_is_told_and_changes_nothing(
    opened: Open, name: str, arguments: dict[str, Any], code: str
) -> None:
    with opened() as tools:
        told = tools.fail(name, **arguments)
        assert told["code"] == code
        assert told["error"]
        position = tools.service.answer(api.GetPosition(), PERSON, tools.now)
        assert position.position == 0


def test_a_record_can_not_supersede_itself(opened: Open) -> None:
    with opened() as tools:
        one = tools.call("store_semantic", content="The staging database listens on port 5432")
        id = one["record"]["id"]
        assert tools.fail("resolve_supersession", keep_id=id, supersede_id=id)["code"] in (
            "refused",
            "invalid_argument",
        )
