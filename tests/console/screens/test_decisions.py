"""Decisions: both texts with what differs, every verdict and its undo, and that no key decides twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC

import pytest

from console.screens.decisions import DecisionsScreen
from console.screens.decisions_text import impact, proposal_lines, row_cells, title
from console.screens.dialogs import ChoiceDialog
from console.screens.memory_edit import EditTextDialog
from console.screens.memory_record import RecordScreen
from memory.api import Decide, Decision, EditRecord, GetPosition, ListProposals, ProposalView
from memory.errors import FaultCode, MemoryFault
from memory.model import MemoryText, Origin, ProposalKind, ProposalState, State
from tests.console.driving import console, picture, press, screen_of, settle, until, write
from tests.support.fake_memory import FakeMemory
from tests.support.fake_station import NOW, FakeStation
from tests.support.sample_memory import PROPOSALS, RECORDS

still = pytest.mark.usefixtures("still")
PORT, LINT, QUARANTINE, RUN = PROPOSALS[:4]
BY_ID = {one.id: one for one in RECORDS}


def view_of(number: int) -> ProposalView:
    one = PROPOSALS[number]
    return ProposalView(
        one, tuple(BY_ID[name] for name in one.keep), tuple(BY_ID[name] for name in one.replace)
    )


def words(view: ProposalView, keep: str = "") -> str:
    lines = proposal_lines(view, keep, NOW, UTC)
    return "\n".join("".join(cell.text for cell in line) for line in lines)


# -- words ------------------------------------------------------------------------------------


def test_both_texts_are_whole_and_what_differs_is_marked_without_colour() -> None:
    text = words(view_of(0))
    assert "listens on port [-8080-] and is deployed to [-eu-west-1-] by [-Jenkins-]." in text
    assert "listens on port {+9090+} and is deployed to {+eu-central-1+} by {+Argo CD+}." in text
    assert "another value in the same statement (8080 eu-west-1 \u2192 9090 eu-central-1)" in text
    assert "sure 0.86  alike 0.91" in text
    assert "says: supersede" in text


def test_provenance_of_both_says_who_when_and_how_it_is_used() -> None:
    text = words(view_of(0))
    assert "an agent (claude-code), session s-2291, 2026-07-12 14:03 (141d 0h ago)" in text
    assert "used 14\u00d7, last 3d 0h ago  stored 2\u00d7" in text
    assert "session s-3107, 2026-11-30 12:03 (2h 0m ago)" in text


def test_another_survivor_turns_the_texts_around() -> None:
    text = words(view_of(0), keep=PORT.replace[0])
    assert "listens on port [-9090-]" in text
    assert "listens on port {+8080+}" in text
    assert text.index(PORT.keep[0]) < text.index(PORT.replace[0])


def test_a_duplicate_group_shows_every_member_and_how_many_go() -> None:
    text = words(view_of(1))
    assert all(name in text for name in (*LINT.keep, *LINT.replace))
    assert "2 records marked \u2212 archived" in text
    assert impact(view_of(1)) == "3 records"


def test_a_suspicious_text_is_flagged_above_its_words() -> None:
    text = words(view_of(2))
    assert text.index("reads like an instruction") < text.index("Ignore earlier instructions")


URL = (
    "https://github.com/acme/gateway/blob/4be7d1c29a50/docs/deploy/"
    + "runbook-" * 8
    + "staging.md#L40"
)


def proposed() -> ProposalView:
    """As ``stm_memory_propose`` files it."""
    record = replace(
        BY_ID[QUARANTINE.keep[0]],
        text=MemoryText("Staging deploys run from the release branch."),
        origin=Origin.AGENT,
        actor="claude-code",
        source_ref=URL,
        flags=(),
        state_reason="waits for review",
    )
    return ProposalView(replace(QUARANTINE, proposer="claude-code"), (record,), ())


def test_what_an_agent_proposes_is_shown_in_full_with_its_channel_and_source() -> None:
    view = proposed()
    text = words(view)
    for part in (
        "+ proposed  ",
        "Staging deploys run from the release branch.",
        f"source  {URL}",
        "by claude-code with stm_memory_propose, 5h 0m ago",
        "from an agent (claude-code), session s-3107",
        "a: agents find it from now on. x: archived, never found. u takes either back.",
    ):
        assert part in text, part
    assert title(view) == "an agent proposes to remember this"
    assert impact(view) == "proposed"
    assert (title(view_of(2)), impact(view_of(2))) == ("a record is kept back", "kept back")


@still
def test_what_an_agent_proposes_is_edited_approved_and_rejected_and_either_is_undone() -> None:
    station = FakeStation()
    memory = station.memory
    view = proposed()
    record = view.keep[0]
    memory.records[record.id] = record
    memory.proposals[QUARANTINE.id] = view.proposal

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "7", "j", "j")
            shown = picture(app)
            assert "an agent proposes to remember" in shown
            assert "source  https://github.com" in shown
            await press(pilot, "e")
            assert isinstance(app.screen, EditTextDialog)
            await press(pilot, "escape", "a")
            assert memory.records[record.id].state is State.ACTIVE
            await press(pilot, "u")
            assert memory.records[record.id].state is State.QUARANTINED
            await press(pilot, "x")
            assert memory.proposals[QUARANTINE.id].state is ProposalState.REJECTED
            await press(pilot, "u")
            assert memory.proposals[QUARANTINE.id].state is ProposalState.OPEN
            sent = [one.decision for one in memory.requests(Decide)]
            assert sent == [Decision.APPROVE, Decision.UNDO, Decision.REJECT, Decision.UNDO]

    asyncio.run(run())


def test_the_wish_to_run_a_plan_names_the_plan() -> None:
    text = words(view_of(3))
    assert f"the plan {RUN.plan_hash[:12]} runs and archives 2 records" in text


@pytest.mark.parametrize("number", range(len(PROPOSALS)))
@pytest.mark.parametrize("state", list(ProposalState))
def test_every_kind_in_every_state_has_a_row_and_a_text(number: int, state: ProposalState) -> None:
    view = view_of(number)
    view = replace(view, proposal=replace(view.proposal, state=state))
    cells = row_cells(view, NOW)
    assert len(cells) == 5
    assert all(cell.text for cell in cells)
    text = words(view)
    assert ("effect" in text) is (state is ProposalState.OPEN)


def test_a_proposal_without_records_still_has_words() -> None:
    empty = replace(view_of(0), keep=(), replace=())
    assert row_cells(empty, NOW)[2].text == "(no record)"
    assert words(empty)


# -- the screen -------------------------------------------------------------------------------


@still
@pytest.mark.parametrize(
    ("key", "decision", "word"),
    [
        ("a", Decision.APPROVE, "approved"),
        ("x", Decision.REJECT, "rejected"),
        ("b", Decision.KEEP_BOTH, "kept both"),
    ],
)
def test_a_verdict_is_sent_once_stays_in_sight_and_is_undone_by_key(
    key: str, decision: Decision, word: str
) -> None:
    station = FakeStation()
    memory = station.memory

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "7", key, key, key)
            assert memory.requests(Decide) == [Decide(PORT.id, decision)]
            assert all(
                actor.origin is Origin.OPERATOR and actor.name == "console"
                for _, actor in memory.asked
            )
            shown = picture(app)
            assert word in shown
            assert "waiting 3" in shown
            assert "7 Decisions \u25c63" in shown
            assert "u takes it back." in shown
            await press(pilot, "u")
            assert memory.requests(Decide)[1] == Decide(PORT.id, Decision.UNDO)
            shown = picture(app)
            assert memory.proposals[PORT.id].state is ProposalState.OPEN
            assert "waiting 4" in shown

    asyncio.run(run())


@still
def test_approving_a_replacement_supersedes_the_old_text_and_undo_restores_it() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "7", "a")
            assert station.memory.records[PORT.replace[0]].state is State.SUPERSEDED
            await press(pilot, "u")
            assert station.memory.records[PORT.replace[0]].state is State.ACTIVE

    asyncio.run(run())


@still
def test_running_an_agents_plan_asks_first_and_names_it() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "7", "G", "a")
            assert isinstance(app.screen, ChoiceDialog)
            assert RUN.plan_hash[:12] in picture(app)
            await press(pilot, "n")
            assert station.memory.requests(Decide) == []
            await press(pilot, "a", "y")
            assert station.memory.requests(Decide) == [Decide(RUN.id, Decision.APPROVE)]
            assert "Forgetting (8) takes the run back." in picture(app)
            await press(pilot, "u")
            assert len(station.memory.requests(Decide)) == 1

    asyncio.run(run())


@still
def test_a_group_has_keep_both_and_another_survivor_but_a_kept_back_record_has_not() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            await press(pilot, "7", "j", "s")
            assert isinstance(app.screen, ChoiceDialog)
            await press(pilot, "2")
            await press(pilot, "a")
            assert station.memory.requests(Decide) == [
                Decide(LINT.id, Decision.APPROVE, keep=LINT.replace[0])
            ]
            assert station.memory.records[LINT.keep[0]].state is State.ARCHIVED
            await press(pilot, "j", "b")
            assert len(station.memory.requests(Decide)) == 1
            assert "Keep both" not in picture(app)

    asyncio.run(run())


@still
def test_editing_a_text_keeps_the_proposal_and_sends_the_version_that_was_seen() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "7", "e", "1")
            assert isinstance(app.screen, EditTextDialog)
            await press(pilot, "X")
            await press(pilot, "escape")
            assert "Esc again throws them away" in picture(app)
            await press(pilot, "f2")
            old = BY_ID[PORT.keep[0]]
            text = MemoryText("X" + old.text.content)
            assert station.memory.requests(EditRecord) == [EditRecord(old.id, 1, text=text)]
            assert "{+XThe+}" in picture(app)
            assert station.memory.requests(Decide) == []

    asyncio.run(run())


@still
def test_what_changed_elsewhere_is_said_and_the_list_is_read_again() -> None:
    station = FakeStation()
    memory = station.memory

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "7")
            memory.proposals[PORT.id] = replace(PORT, state=ProposalState.STALE)
            await press(pilot, "a")
            assert f"Proposal {PORT.id} is stale. Reload the list." in picture(app)
            assert "waiting 3" in picture(app)

    asyncio.run(run())


@still
def test_the_list_follows_the_memory_but_not_while_paused_or_unseen() -> None:
    station = FakeStation()
    memory = station.memory

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "7")
            screen = screen_of(pilot)
            assert isinstance(screen, DecisionsScreen)
            await press(pilot, "p")
            asked = len(memory.requests(GetPosition))
            screen.poll()
            await settle(pilot)
            assert len(memory.requests(GetPosition)) == asked
            assert "PAUSED" in picture(app)
            memory.proposals[RUN.id] = replace(RUN, state=ProposalState.WITHDRAWN)
            await press(pilot, "p")
            screen.poll()
            await until(pilot, lambda: "waiting 3" in picture(app))
            lists = len(memory.requests(ListProposals))
            screen.poll()
            await settle(pilot)
            assert len(memory.requests(ListProposals)) == lists
            await press(pilot, "1")
            asked = len(memory.requests(GetPosition))
            screen.poll()
            await settle(pilot)
            assert len(memory.requests(GetPosition)) == asked

    asyncio.run(run())


@still
def test_a_decided_row_goes_after_ten_seconds_unless_the_cursor_is_on_it() -> None:
    station = FakeStation()
    now = [NOW]

    async def run() -> None:
        app = console(station, clock=lambda: now[0])
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            await press(pilot, "7", "x")
            screen = screen_of(pilot)
            assert isinstance(screen, DecisionsScreen)
            now[0] += 30
            screen.poll()
            await settle(pilot)
            assert "rejected" in picture(app)
            await press(pilot, "j")
            screen.poll()
            await settle(pilot)
            assert "rejected" not in picture(app)

    asyncio.run(run())


@still
def test_on_a_narrow_screen_nobody_decides_about_texts_that_are_not_shown() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(62, 20)) as pilot:
            await settle(pilot)
            await press(pilot, "7", "a")
            assert station.memory.requests(Decide) == []
            await press(pilot, "enter")
            assert "{+9090+}" in picture(app)
            await press(pilot, "a")
            assert len(station.memory.requests(Decide)) == 1
            await press(pilot, "escape")
            assert "approved" in picture(app)

    asyncio.run(run())


@still
def test_filter_decided_ones_record_pages_and_further_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    station = FakeStation()
    monkeypatch.setattr("console.screens.decisions.PAGE", 2)

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            await press(pilot, "7")
            assert "m: more" in picture(app)
            await press(pilot, "m")
            assert "forget     claude-code" in picture(app)
            await press(pilot, "slash")
            await write(pilot, "linter commit")
            assert "waiting 1/4" in picture(app)
            await press(pilot, "enter", "o", "2")
            assert isinstance(app.screen, RecordScreen)
            assert LINT.replace[0] in picture(app)
            await press(pilot, "escape", "escape", "v")
            assert "decided 1" in picture(app)
            assert "on-call rota" in picture(app)

    asyncio.run(run())


@still
def test_a_memory_that_cannot_be_reached_is_told_in_place_and_asked_again_by_key() -> None:
    station = FakeStation()
    station.memory.fault = MemoryFault(
        FaultCode.UNAVAILABLE, "The memory is not running.", "mms memory serve starts it."
    )

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            await press(pilot, "7")
            shown = picture(app)
            assert "\u2716 The memory is not running." in shown
            assert "mms memory serve starts it." in shown
            station.memory.fault = None
            await press(pilot, "r")
            assert "waiting 4" in picture(app)
            station.memory.fault = MemoryFault(FaultCode.BUSY, "Another process writes.")
            await press(pilot, "r")
            shown = picture(app)
            assert "(stale)" in shown
            assert "Another process writes." in shown
            assert "{+9090+}" in shown

    asyncio.run(run())


@still
def test_while_the_memory_thinks_the_screen_says_so_and_can_be_left() -> None:
    station = FakeStation()

    async def run() -> None:
        station.memory.hold = asyncio.Event()
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            await pilot.press("7")
            await until(pilot, lambda: "asking the memory" in picture(app))
            await pilot.press("1")
            await until(pilot, lambda: "[1 Home]" in picture(app))
            station.memory.hold.set()
            await settle(pilot)

    asyncio.run(run())


@still
def test_an_empty_queue_says_what_would_come_here() -> None:
    async def run() -> None:
        app = console(FakeStation.empty())
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "7")
            assert "Nothing waits for you." in picture(app)

    asyncio.run(run())


def test_the_fake_knows_every_kind_of_proposal() -> None:
    memory = FakeMemory()
    kinds = {one.kind for one in memory.proposals.values()}
    assert kinds == set(ProposalKind)


def test_a_line_of_20_kilobytes_is_shown_whole_with_its_one_difference_marked() -> None:
    old, new = (f"{'a word ' * 2900}{value} and the end" for value in ("8080", "9090"))
    view = view_of(0)
    view = replace(
        view,
        keep=(replace(view.keep[0], text=MemoryText(new)),),
        replace=(replace(view.replace[0], text=MemoryText(old)),),
    )
    text = words(view)
    assert f"{'a word ' * 2900}[-8080-] and the end" in text
    assert f"{'a word ' * 2900}{{+9090+}} and the end" in text
