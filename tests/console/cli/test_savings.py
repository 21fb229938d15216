"""What ``stats`` says of savings, and ``calls`` of answers made smaller."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.cli.savings import SavingsReport, SavingsSum, savings_report
from proxy.answer_model import Savings, SavingsLine, SavingsView
from proxy.model import CallRecord, Outcome
from tests.console.cli.conftest import Instance
from tests.support.fake_engine import Engine
from tests.support.sample_answers import SAVINGS
from tests.support.sample_data import CALLS

_NUMBERS = [field.name for field in fields(SavingsSum) if field.name != "name"]

_LINES = st.lists(
    st.builds(
        SavingsLine,
        st.sampled_from(["2026-11-29", "2026-11-30"]),
        st.sampled_from(["docs", "github", "mms"]),
        st.sampled_from(["", "a", "b"]),
        st.builds(Savings, *[st.integers(0, 10**9)] * 8),
    ),
    max_size=12,
)


def parts(report: SavingsReport) -> tuple[tuple[SavingsSum, ...], ...]:
    return report.tools, report.servers, report.by_day


@given(_LINES)
def test_the_lines_of_every_table_add_up_to_the_sum(lines: list[SavingsLine]) -> None:
    report = savings_report(SavingsView(tuple(lines), 412, "o200k_base"), 7)
    for table in parts(report):
        for name in _NUMBERS:
            assert sum(getattr(one, name) for one in table) == getattr(report.total, name)
    for one in (report.total, *report.tools):
        assert one.net == one.before - one.sent - one.fetched - one.control_tools


def test_savings_are_sorted_by_what_they_saved_and_days_by_date() -> None:
    report = savings_report(SAVINGS, 0)
    assert [one.net for one in report.tools] == sorted(
        (one.net for one in report.tools), reverse=True
    )
    days = [one.name for one in report.by_day]
    assert days == sorted(days)


def test_stats_print_net_per_tool_server_and_day_with_a_sum_line(
    mms: Instance, running: Engine
) -> None:
    out = mms.run("stats").out
    assert "counted with o200k_base" in out
    assert "Net = before - sent - fetched back - own tools." in out
    assert out.count("all together") == 3
    assert "github/search_code" in out
    assert "mms's own tools" in out
    assert "Our own tools cost 412 tokens in one tool list" in out
    data = mms.run("stats", "--json").json["savings"]
    assert data["days"] == 7
    assert len(data["by_day"]) == 7
    for table in ("tools", "servers", "by_day"):
        assert sum(one["net"] for one in data[table]) == data["total"]["net"]


def test_stats_of_other_days_and_of_one_upstream(mms: Instance, running: Engine) -> None:
    assert len(mms.run("stats", "--days", "3", "--json").json["savings"]["by_day"]) == 3
    assert len(mms.run("stats", "--days", "0", "--json").json["savings"]["by_day"]) == 14
    docs = mms.run("stats", "--upstream", "docs", "--json").json["savings"]
    assert [one["name"] for one in docs["servers"]] == [["docs"]]
    assert docs["total"]["control_tools"] == 0
    assert mms.run("stats", "--days", "-1").code == 2


def test_savings_without_a_station_are_read_from_the_file(mms: Instance) -> None:
    mms.record(CALLS)
    data = mms.run("stats", "--days", "0", "--json").json
    assert data["station"] is False
    reduced = [one for one in CALLS if one.strategy and one.outcome is Outcome.OK]
    total = data["savings"]["total"]
    assert total["reduced_calls"] == len(reduced)
    assert total["net"] == sum(
        one.before.tokens - one.text.tokens - one.structured.tokens for one in reduced
    )
    assert total["net"] == sum(one["net"] for one in data["savings"]["tools"])


def test_a_loss_is_printed_as_one(mms: Instance, running: Engine) -> None:
    running.fake.savings_value = SavingsView(
        (SavingsLine("2026-11-30", "mms", "", Savings(control_tools=2_884)),), 412, "o200k_base"
    )
    assert mms.run("stats", "--json").json["savings"]["total"]["net"] == -2_884
    assert "-2,884" in mms.run("stats").out


# -- calls ------------------------------------------------------------------------------------


@pytest.fixture
def cut() -> CallRecord:
    """A call whose answer was made smaller, with all that can be said of it."""
    record = next(one for one in CALLS if one.strategy)
    return replace(record, fault="the extract took too long", cache="hit", cache_age_seconds=65.0)


def test_the_log_names_what_was_saved_and_how(mms: Instance, cut: CallRecord) -> None:
    mms.record((cut,))
    heads, row = mms.run("calls").out.splitlines()
    assert heads.split()[-3:] == ["SAVED", "HOW", "ERROR"]
    saved = cut.before.tokens - cut.text.tokens - cut.structured.tokens
    assert f"{saved:,}  {cut.strategy} (fault)" in row


def test_one_call_says_what_became_of_its_answer(
    mms: Instance, running: Engine, cut: CallRecord
) -> None:
    detail = running.fake.call_details[cut.id]
    running.fake.call_details[cut.id] = replace(detail, record=cut)
    out = mms.run("calls", str(cut.id)).out
    for words in (
        f"by {cut.strategy}",
        f"{cut.overhead_tokens} tokens of what was sent",
        "where is the entry point (from _context_query)",
        f"mms held show {cut.held_key}",
        f"mms whatif {cut.id}",
        "cache       hit, 1m old",
        "fault       the extract took too long",
    ):
        assert words in out, words
    data = mms.run("calls", str(cut.id), "--json").json["call"]
    assert data["query_source"] == "_context_query"
    assert data["record"]["strategy"] == cut.strategy
    assert "whole long answer" in data["original"]


def test_a_control_tools_call_names_whose_text_it_read(mms: Instance) -> None:
    record = replace(
        CALLS[0], upstream="mms", fetched_upstream="docs", fetched_tool="search", strategy=""
    )
    mms.record((record,))
    assert "fetched     held text of docs / search" in mms.run("calls", str(record.id)).out


def test_what_agents_missed_is_told_per_tool_and_kind(mms: Instance, running: Engine) -> None:
    told = mms.run("stats").out
    assert "3 reports in 90 days" in told
    assert "docs/read_page" in told
    assert "the table of limits" in told
    missed = mms.run("stats", "--json").json["savings"]["missed"]
    assert [(one["tool"], one["kind"], one["reports"]) for one in missed] == [
        ("read_page", "truncated", 2),
        ("search_code", "wrong_topic", 1),
    ]
    only = mms.run("stats", "--upstream", "docs", "--json").json["savings"]["missed"]
    assert [one["upstream"] for one in only] == ["docs"]
