"""What the weeks are made of: projects, and matters in them that somebody once remembered something about.

``tuning.toml`` holds the projects on which constants may be tuned, ``reported.toml`` those whose figures are
published.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

TUNING, REPORTED = "tuning", "reported"


@dataclass(frozen=True, slots=True)
class Subject:
    """One matter of a project, and what there is to know about it.

    A call about it reads one of its files, or searches by one of its words. ``memories`` matter then.
    ``near`` shares words with it and does not matter. A memory that begins with ``episode:`` or
    ``procedure:`` is one, what follows ``;`` are a procedure's steps; all others are facts.
    """

    folder: str
    files: tuple[str, ...]
    symbols: tuple[str, ...]
    """What a search of the code is for."""
    issues: tuple[str, ...]
    """What a search of issues is for."""
    asks: tuple[str, ...]
    """What an agent says it looks for (``_context_query``)."""
    memories: tuple[str, ...]
    near: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Project:
    """One repository."""

    name: str
    subjects: tuple[Subject, ...]
    plain_files: tuple[str, ...]
    """Files about which nothing is remembered."""
    plain_words: tuple[str, ...]
    """Searches for which nothing is remembered."""


def projects(name: str) -> tuple[Project, ...]:
    """Those of a file, `TUNING` or `REPORTED`."""
    text = Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8")
    return tuple(
        Project(
            one["name"],
            tuple(
                Subject(
                    part["folder"],
                    tuple(part["files"]),
                    tuple(part["symbols"]),
                    tuple(part["issues"]),
                    tuple(part["asks"]),
                    tuple(part["memories"]),
                    tuple(part["near"]),
                )
                for part in one["subject"]
            ),
            tuple(one["plain_files"]),
            tuple(one["plain_words"]),
        )
        for one in tomllib.loads(text)["project"]
    )
