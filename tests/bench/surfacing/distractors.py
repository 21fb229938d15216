"""Memories that matter to no call of a week, in the words of its projects. Deterministic."""

from __future__ import annotations

import random

_FORMS = (
    "In {project}, changes of {noun} are reviewed by two people.",
    "The {project} team meets on {day} at {hour}:30 in the room {room}.",
    "{project} keeps its {noun} in a folder of its own since {month}.",
    "Documentation of {noun} in {project} is written in English.",
    "The user prefers short answers when it is about {noun}.",
    "In {month} the budget for {noun} was cut by {number} %.",
    "episode: On {day} the call about {noun} ended early because of a fire drill.",
    "{project} has {number} open tickets that mention {noun}.",
    "The intern who wrote the first {noun} of {project} left in {month}.",
    "Plans for {noun} are discussed in {month}, not before.",
    "A workshop about {noun} takes place every {month}.",
    "Logs of {project} are kept for {number} days.",
)
_NOUNS = (
    *("logging", "naming", "code style", "onboarding", "licences", "translations", "diagrams"),
    *("release notes", "support tickets", "estimates", "interviews", "branch names", "colours"),
    *("tests", "configuration", "dashboards", "error messages", "deployments", "caching"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
_MONTHS = ("January", "March", "April", "June", "September", "November")
_ROOMS = ("Aspen", "Birch", "Cedar", "Elm", "Maple")


def distractors(projects: tuple[str, ...], count: int, chance: random.Random) -> list[str]:
    """So many different ones."""
    found: dict[str, None] = {}
    while len(found) < count:
        found[
            chance.choice(_FORMS).format(
                project=chance.choice(projects),
                noun=chance.choice(_NOUNS),
                day=chance.choice(_DAYS),
                month=chance.choice(_MONTHS),
                room=chance.choice(_ROOMS),
                hour=chance.randint(8, 16),
                number=chance.randint(5, 95),
            )
        ] = None
    return list(found)
