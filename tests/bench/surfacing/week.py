"""A week of work: sessions of agents on five projects, with what is remembered and what matters when.

Everything follows from the projects and a seed. 25 sessions of 16 calls on seven days, 250 memories: two
thirds are stored before the week, the rest on its days. A bit more than half of the calls are about nothing
that anybody remembered.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.bench.surfacing.distractors import distractors
from tests.bench.surfacing.subject import Project, Subject

DAYS = 7
SESSIONS = 25
CALLS = 16
MEMORIES = 250
ABOUT_SOMETHING = 0.45
"""Share of the calls that are about a subject."""
TOLD = 0.15
"""Share of the calls in which the agent says what it looks for."""
BEFORE = 0.67
"""Share of the memories stored before the week."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory."""

    key: int
    text: str
    """As it is stored, with its mark of a kind."""
    day: int
    """-1: before the week; else in the morning of that day."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool, and the memories that matter for it (keys), stored already or not."""

    tool: str
    arguments: dict[str, Any]
    matter: frozenset[int]


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation."""

    day: int
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Week:
    """All of it, days in order."""

    memories: tuple[Memory, ...]
    sessions: tuple[Session, ...]

    def known(self, day: int) -> frozenset[int]:
        """Memories that are stored when the sessions of a day begin."""
        return frozenset(memory.key for memory in self.memories if memory.day <= day)

    def stored_on(self, day: int) -> Iterator[Memory]:
        """What is stored in the morning of a day; -1: before the week."""
        return (memory for memory in self.memories if memory.day == day)


def week(projects: Sequence[Project], seed: int, *, later: int = 0) -> Week:
    """The same for the same seed. ``later``: the so-manieth week after it, with the same memories."""
    chance = random.Random(f"memories {seed}")
    texts: list[str] = []
    about: dict[tuple[str, str], frozenset[int]] = {}
    for project in projects:
        for subject in project.subjects:
            keys = range(len(texts), len(texts) + len(subject.memories))
            about[project.name, subject.folder] = frozenset(keys)
            texts += [*subject.memories, *subject.near]
    names = tuple(project.name for project in projects)
    texts += distractors(names, MEMORIES - len(texts), chance)
    memories = tuple(
        Memory(key, text, -1 if chance.random() < BEFORE else chance.randrange(DAYS))
        for key, text in enumerate(texts)
    )
    if later:
        memories = tuple(replace(memory, day=-1) for memory in memories)
    chance = random.Random(f"sessions {seed} {later}" if later else f"sessions {seed}")
    sessions = [
        Session(number * DAYS // SESSIONS, tuple(_calls(chance.choice(projects), about, chance)))
        for number in range(SESSIONS)
    ]
    return Week(memories, tuple(sessions))


def _calls(
    project: Project, about: dict[tuple[str, str], frozenset[int]], chance: random.Random
) -> Iterator[Call]:
    subjects = chance.sample(project.subjects, 3)
    for _ in range(CALLS):
        if chance.random() < ABOUT_SOMETHING:
            subject = chance.choice(subjects)
            tool, arguments = _about(project, subject, chance)
            yield Call(tool, arguments, about[project.name, subject.folder])
        else:
            tool, arguments = _about_nothing(project, chance)
            yield Call(tool, arguments, frozenset())


def _about(project: Project, subject: Subject, chance: random.Random) -> tuple[str, dict[str, Any]]:
    place = f"~/{project.name}/{subject.folder}"
    file = f"{place}/{chance.choice(subject.files)}"
    tool = chance.choice(("read_file",) * 4 + ("search_code",) * 3 + _RARER)
    arguments: dict[str, Any]
    if tool == "read_file":
        arguments = {"path": file}
    elif tool == "search_code":
        arguments = {"query": chance.choice(subject.symbols), "path": f"~/{project.name}"}
        if chance.random() < 0.5:
            del arguments["path"]
    elif tool == "search_issues":
        arguments = {"query": chance.choice(subject.issues), "repo": project.name, "limit": 20}
    elif tool == "git_log":
        arguments = {"path": chance.choice((place, file)), "max_count": 10}
    elif tool == "run_tests":
        arguments = {"target": file, "verbose": True}
    else:
        arguments = {"path": file, "command": f"grep -n {chance.choice(subject.symbols)!r} {file}"}
    if chance.random() < TOLD:
        arguments["_context_query"] = chance.choice(subject.asks)
    return tool, arguments


_RARER = ("search_issues", "search_issues", "git_log", "run_tests", "run_command")


def _about_nothing(project: Project, chance: random.Random) -> tuple[str, dict[str, Any]]:
    file = f"~/{project.name}/{chance.choice(project.plain_files)}"
    word = chance.choice(project.plain_words)
    choices: tuple[tuple[str, dict[str, Any]], ...] = (
        ("read_file", {"path": file}),
        ("read_file", {"path": file}),
        ("search_code", {"query": word}),
        ("search_code", {"query": word, "path": f"~/{project.name}"}),
        ("search_issues", {"query": word, "repo": project.name, "limit": 20}),
        ("git_log", {"path": f"~/{project.name}", "max_count": chance.randint(5, 30)}),
        ("git_status", {"path": f"~/{project.name}"}),
        ("list_directory", {"path": f"~/{project.name}"}),
        ("run_tests", {"target": f"~/{project.name}/tests/unit"}),
        ("get_issue", {"number": chance.randint(1, 900), "repo": project.name}),
        ("fetch_url", {"url": f"https://docs.example.org/{chance.choice(_PAGES)}"}),
        ("write_file", {"path": file, "content": "one line"}),
    )
    return chance.choice(choices)


_PAGES = ("guide/start.html", "reference/stdlib/strings", "api/errors", "blog/2023/whats-new")
