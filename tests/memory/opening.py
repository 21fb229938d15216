"""A real memory on a temporary folder, with a clock that the test turns."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from config.schema import (
    Approval,
    EmbedderKind,
    EmbedderSettings,
    ForgettingBy,
    MemorySettings,
    SecretPolicy,
    VectorIndexKind,
    VectorSettings,
)
from memory.api import AddRecord, Request, Stored
from memory.model import DAY, Actor, Instant, Kind, MemoryText, Origin
from memory.service import MemoryService

R = TypeVar("R")
START: Instant = 1_800_000_000_000_000
PERSON = Actor(Origin.OPERATOR, "console")
AGENT = Actor(Origin.AGENT, "agent", "session-1")
OTHER = Actor(Origin.AGENT, "agent", "session-2")
OUTSIDE = Actor(Origin.EXTERNAL, "web")


class Opened:
    """Asks the service at the time that the test says."""

    def __init__(self, folder: Path, settings: MemorySettings) -> None:
        self.folder = folder
        self.settings = settings
        self.now = START
        self.service = self._open()

    def ask(self, request: Request[R], actor: Actor = AGENT) -> R:
        """The answer, one second later than the one before."""
        self.now += 1_000_000
        return self.service.answer(request, actor)

    def wait(self, days: float) -> None:
        """Time passes."""
        self.now += round(days * DAY)

    def fact(
        self, text: str, actor: Actor = AGENT, *, space: str = "default", importance: float = 0.5
    ) -> Stored:
        """Store a fact."""
        return self.ask(
            AddRecord(Kind.SEMANTIC, MemoryText(text), space, importance=importance), actor
        )

    def procedure(self, text: str, *steps: str) -> Stored:
        """Store a procedure."""
        return self.ask(AddRecord(Kind.PROCEDURAL, MemoryText(text, steps=steps or ("Do it.",))))

    def episode(self, text: str, session: str, turn: int | None = None) -> Stored:
        """Store an episode."""
        return self.ask(
            AddRecord(Kind.EPISODIC, MemoryText(text), session_id=session, turn_number=turn)
        )

    def settle(self) -> None:
        """Let upkeep do all it has to do."""
        for _ in range(1_000):
            if not self.service.upkeep.step():
                return
        raise AssertionError("upkeep never comes to an end")

    def reopen(self, settings: MemorySettings | None = None) -> None:
        """Close it and open it again."""
        self.service.close()
        self.settings = settings or self.settings
        self.service = self._open()

    def _open(self) -> MemoryService:
        return MemoryService.open(
            self.folder, self.settings, {}, clock=lambda: self.now, upkeep=False
        )


def settings(
    *,
    approval: Approval = Approval.OPERATOR,
    forgetting: ForgettingBy = ForgettingBy.AGENT,
    secrets: SecretPolicy = SecretPolicy.REFUSE,
    embedder: EmbedderKind = EmbedderKind.HASHING,
    index: VectorIndexKind = VectorIndexKind.BRUTE,
    url: str = "",
    vectors_url: str = "http://127.0.0.1:8000",
) -> MemorySettings:
    """Settings without a model, unless the test wants one."""
    return MemorySettings(
        approval=approval,
        forgetting=forgetting,
        secrets=secrets,
        embedder=EmbedderSettings(provider=embedder),
        vectors=VectorSettings(index=index, url=vectors_url),
        url=url,
    )


@contextmanager
def opened(folder: Path, with_settings: MemorySettings | None = None) -> Generator[Opened]:
    """An open memory below ``folder``."""
    memory = Opened(folder / "memory", with_settings or settings())
    try:
        yield memory
    finally:
        memory.service.close()
