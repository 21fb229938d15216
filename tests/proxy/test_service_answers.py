"""What operators see and do about answers, through the service."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import cast

import pytest

from proxy.answer_model import (
    FeedbackReport,
    HeldDetail,
    HeldList,
    SavingsView,
    WhatIf,
    WhatIfQuery,
)
from proxy.commands import ClearCache, CommandResult, DropHeld
from proxy.engine import Engine
from proxy.service import EngineService, SettingsEditor
from tests.support.sample_answers import HELD, HELD_DETAILS, SAVINGS, what_if
from tests.support.sample_data import CALLS

KEY = HELD.answers[0].key


class Answers:
    """Holds the sample answers, and remembers what it was asked to clear."""

    def __init__(self) -> None:
        self.limits: list[int] = []
        self.cleared: list[tuple[str, str]] = []
        self.kept = 3

    async def held(self, limit: int) -> HeldList:
        self.limits.append(limit)
        return HELD

    async def held_answer(self, key: str) -> HeldDetail | None:
        return HELD_DETAILS.get(key)

    async def what_if(self, query: WhatIfQuery) -> WhatIf:
        return what_if(query)

    def clear_cache(self, upstream: str, tool: str) -> int:
        self.cleared.append((upstream, tool))
        return self.kept

    async def drop_held(self, key: str) -> bool:
        return key == KEY


class Recorder:
    def savings(self, days: int) -> SavingsView:
        return SAVINGS if days == 0 else SavingsView((), days, "o200k_base")


def service_of(answers: Answers) -> EngineService:
    parts = SimpleNamespace(
        recorder=Recorder(),
        router=SimpleNamespace(upstreams={"files": object()}),
        answers=answers,
        feedback=SimpleNamespace(counts=lambda: FeedbackReport(SAVINGS.missed)),
    )
    return EngineService(cast("Engine", parts), cast("SettingsEditor", None))


def test_the_ledger_held_answers_and_trials_pass_through() -> None:
    async def run() -> None:
        answers = Answers()
        service = service_of(answers)
        assert await service.savings(0) == SAVINGS
        assert (await service.savings(3)).control_tools_tokens == 3
        for limit in (-1, 5, 10**9):
            assert await service.held(limit) == HELD
        assert answers.limits == [1, 5, 10_000]
        assert await service.held_answer(KEY) == HELD_DETAILS[KEY]
        assert await service.held_answer("x") is None
        query = WhatIfQuery(CALLS[0].id)
        assert await service.what_if(query) == what_if(query)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("kept", "command", "message"),
    [
        (3, ClearCache(), "3 kept answers were forgotten"),
        (1, ClearCache("files"), "1 kept answer of files was forgotten"),
        (0, ClearCache("files", "read"), "no kept answer of files/read was forgotten"),
        (1_200, ClearCache("", "read"), "1,200 kept answers of read were forgotten"),
    ],
)
def test_clearing_says_how_much_it_cleared(kept: int, command: ClearCache, message: str) -> None:
    answers = Answers()
    answers.kept = kept
    result = asyncio.run(service_of(answers).execute(command))
    assert result == CommandResult(True, message)
    assert answers.cleared == [(command.upstream, command.tool)]


def test_what_does_not_exist_is_refused() -> None:
    answers = Answers()
    service = service_of(answers)
    assert not asyncio.run(service.execute(ClearCache("nobody"))).ok
    assert answers.cleared == []
    assert asyncio.run(service.execute(DropHeld(KEY))).ok
    refused = asyncio.run(service.execute(DropHeld("0" * 16)))
    assert not refused.ok
    assert "mms held" in refused.message
