"""Requests that name no space go to the one that the person looks at."""

from __future__ import annotations

from typing import Any

import pytest

from console.stations.memory_space import SpaceMemory
from memory.api import GetIndexStatus, GetOverview, Search
from memory.model import Actor, Origin

pytestmark = pytest.mark.anyio
PERSON = Actor(Origin.OPERATOR)


class Listening:
    """Keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def ask(self, request: Any, actor: Actor) -> Any:
        self.asked.append(request)


@pytest.mark.parametrize(
    ("given", "space", "passed_on"),
    [
        (Search("x"), "mine", Search("x", "mine")),
        (Search("x"), "default", Search("x")),
        (Search("x", "other"), "mine", Search("x", "other")),
        (GetOverview(), "mine", GetOverview("mine")),
        (GetIndexStatus(), "mine", GetIndexStatus()),
    ],
)
async def test_a_request_gets_the_space_at_hand_unless_it_names_one(
    given: Any, space: str, passed_on: Any
) -> None:
    inner = Listening()
    await SpaceMemory(inner, space).ask(given, PERSON)
    assert inner.asked == [passed_on]
