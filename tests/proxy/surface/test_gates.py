"""Which calls are never searched for: by their tool, by haste, by repetition, by the session's budget."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.schema_surfacing import SurfacingSettings
from proxy.surface.conversation import Conversation
from proxy.surface.gates import SessionGate, is_named_like_writing, tool_gate
from proxy.surface.model import Decision
from proxy.tool_traits import NO_TRAITS, ToolTraits

SETTINGS = SurfacingSettings()
PATTERNS = SETTINGS.write_tools


@pytest.mark.parametrize(
    "tool",
    [
        *("write_file", "create_issue", "deleteRepo", "remove-label", "git_push", "send_message"),
        *("update", "API-update-page", "issue_update", "editFile", "push", "github_create_branch"),
        *("find_and_delete", "get_or_create_issue", "readThenWrite", "batch_update_rows"),
    ],
)
def test_names_with_a_verb_of_writing_are_left_alone(tool: str) -> None:
    assert is_named_like_writing(PATTERNS, "github", tool)


@pytest.mark.parametrize(
    "tool",
    [
        *("get_updates", "list_edits", "read_file", "search_created_issues", "recent_updates"),
        *("getUpdate", "github_get_update", "github-list-edit", "API-get-update", "overwritten"),
        *("credited", "editor_state", "sender_address", "writer", "show_push_history", "", "___"),
        *("find_updates_and_edits",),
    ],
)
def test_names_of_reading_tools_are_not(tool: str) -> None:
    assert not is_named_like_writing(PATTERNS, "github", tool)


def test_other_patterns_are_held_against_the_whole_name() -> None:
    assert is_named_like_writing(("put_*",), "x", "PutObject")
    assert is_named_like_writing(("*_now",), "x", "deploy_now")
    assert is_named_like_writing(("*bulk_load*",), "x", "table_bulk_load_rows")
    assert not is_named_like_writing(("put_*",), "x", "input_text")
    assert not is_named_like_writing(("*bulk_load*",), "x", "bulk_reload")
    assert not is_named_like_writing((), "x", "delete_all")


@pytest.mark.parametrize(
    ("annotations", "tool", "decision"),
    [
        (b'{"readOnlyHint":true}', "update_view", None),
        (b'{"readOnlyHint":true,"destructiveHint":true}', "get_x", Decision.WRITE_TOOL),
        (b'{"destructiveHint":true}', "get_x", Decision.WRITE_TOOL),
        (b'{"readOnlyHint":false}', "get_x", Decision.WRITE_TOOL),
        (b'{"destructiveHint":false}', "get_x", None),
        (b'{"destructiveHint":false}', "send_x", Decision.WRITE_TOOL),
        (b'{"title":"Send"}', "get_x", None),
        (b"", "delete_x", Decision.WRITE_TOOL),
        (b"", "get_x", None),
        (b"[odd", "get_x", Decision.WRITE_TOOL),
    ],
)
def test_what_a_tool_says_of_itself_counts_for_more_than_its_name(
    annotations: bytes, tool: str, decision: Decision | None
) -> None:
    assert tool_gate(SETTINGS, "up", tool, ToolTraits(annotations)) is decision


def test_excluded_tools_are_named_by_upstream_and_tool_in_any_case() -> None:
    settings = dataclasses.replace(SETTINGS, exclude_tools=("Git/*", "*/get_Secret"))
    assert tool_gate(settings, "git", "log", NO_TRAITS) is Decision.EXCLUDED_TOOL
    assert tool_gate(settings, "GIT", "Log", NO_TRAITS) is Decision.EXCLUDED_TOOL
    assert tool_gate(settings, "vault", "get_secret", NO_TRAITS) is Decision.EXCLUDED_TOOL
    assert tool_gate(settings, "github", "log", NO_TRAITS) is None
    assert tool_gate(settings, "vault", "get_secrets", NO_TRAITS) is None


@given(st.text(max_size=30), st.text(max_size=12), st.binary(max_size=30))
def test_any_name_and_any_annotations_get_a_decision(
    tool: str, upstream: str, annotations: bytes
) -> None:
    settings = dataclasses.replace(SETTINGS, exclude_tools=("[", "*[a-", upstream))
    decision = tool_gate(settings, upstream, tool, ToolTraits(annotations))
    assert decision in (None, Decision.WRITE_TOOL, Decision.EXCLUDED_TOOL)


def _admit(gate: SessionGate, query: str, now: float, **changes: float) -> Decision | None:
    settings = dataclasses.replace(SETTINGS, **changes)  # pyright: ignore[reportArgumentType]
    return gate.admit(settings, "read_file", query, Conversation(), now)


def test_a_minute_has_so_many_searches_and_then_room_again() -> None:
    gate = SessionGate()
    for second in range(3):
        assert _admit(gate, f"topic number {second}", float(second), max_per_minute=3) is None
    assert _admit(gate, "one more", 59.9, max_per_minute=3) is Decision.RATE_LIMIT
    assert _admit(gate, "one more", 60.0, max_per_minute=3) is None
    assert _admit(gate, "and another", 60.5, max_per_minute=3) is Decision.RATE_LIMIT


def test_a_query_nearly_like_an_earlier_one_cools_down() -> None:
    gate = SessionGate()
    long = " ".join(f"word{number}" for number in range(40))
    assert _admit(gate, long, 0.0) is None
    assert _admit(gate, "something else", 1.0) is None
    assert _admit(gate, long.upper() + " more", 4.9) is Decision.COOLDOWN
    assert _admit(gate, long + " four words too many here", 4.9) is None
    assert _admit(gate, long, 10.0) is None
    assert _admit(gate, "\U0001f680", 11.0) is None
    assert _admit(gate, "\U0001f680", 12.0) is Decision.COOLDOWN
    assert _admit(gate, "\U0001f680", 12.0, cooldown_seconds=0) is None


def test_another_tool_may_ask_the_same() -> None:
    gate = SessionGate()
    assert _admit(gate, "staging deploy", 0.0) is None
    assert gate.admit(SETTINGS, "grep", "staging deploy", Conversation(), 0.0) is None


def test_a_spent_session_searches_no_more() -> None:
    gate, talk = SessionGate(), Conversation()
    settings = dataclasses.replace(SETTINGS, max_per_session=2)
    talk.showed(("a",), 0.0)
    assert gate.admit(settings, "t", "staging deploy", talk, 0.0) is None
    talk.showed(("b",), 0.0)
    assert gate.admit(settings, "t", "billing rules", talk, 9.0) is Decision.SESSION_BUDGET


def test_a_search_that_was_not_made_gives_its_slot_and_its_query_back() -> None:
    gate = SessionGate()
    gate.refund()  # nothing to give back
    assert _admit(gate, "first topic", 0.0, max_per_minute=2) is None
    assert _admit(gate, "second topic", 0.0, max_per_minute=2) is None
    gate.refund("read_file", "first topic")
    assert _admit(gate, "second topic", 0.0, max_per_minute=2) is Decision.COOLDOWN
    assert _admit(gate, "first topic", 0.0, max_per_minute=2) is None
    gate.refund()
    assert _admit(gate, "first topic", 0.0, max_per_minute=2) is None
    gate.refund("read_file", "never asked")
    assert _admit(gate, "third topic", 0.0, max_per_minute=2) is Decision.RATE_LIMIT


def test_a_clock_that_jumps_back_closes_no_gate() -> None:
    gate = SessionGate()
    assert _admit(gate, "staging deploy", 1e6, max_per_minute=1) is None
    assert _admit(gate, "staging deploy", 5.0, max_per_minute=1) is None


@given(
    st.lists(st.tuples(st.floats(0, 30), st.booleans()), max_size=60),
    st.integers(1, 6),
)
def test_no_minute_ever_has_more_searches_than_the_limit(
    steps: list[tuple[float, bool]], limit: int
) -> None:
    gate, now, made = SessionGate(), 0.0, list[float]()
    for number, (wait, refunded) in enumerate(steps):
        now += wait
        if _admit(gate, f"topic{number} {number}", now, max_per_minute=limit) is None:
            made.append(now)
            if refunded:
                gate.refund()
                made.pop()
        assert len([at for at in made if now - at < 60]) <= limit
