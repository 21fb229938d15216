"""Data sets from outside, where they are at hand. None of them is part of the repository."""

from __future__ import annotations

import csv
import json
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

DATA_VARIABLE = "MEMORY_DATA"
SICK_FILES = ("SICK_test_annotated.txt", "sick_SICK_test_annotated.txt")
LOCOMO_FILES = ("locomo10.json", "locomo.json")
CORRECTION_FILES = ("errors.json", "locomo.corrections.json")
SOURCES = {
    SICK_FILES[0]: "github.com/brmson/dataset-sts, data/sts/sick2014 (CC BY-NC-SA 3.0)",
    LOCOMO_FILES[0]: "github.com/snap-research/LoCoMo, data (CC BY-NC 4.0)",
    CORRECTION_FILES[0]: "github.com/dial481/locomo-audit (CC BY-NC 4.0)",
}
_TURN = re.compile(r"D\d+:\d+")
CATEGORIES = {1: "several facts", 2: "times", 3: "open", 4: "one fact"}
"""The fifth has questions without an answer in the conversation."""


class Missing(Exception):
    """A data set is not there; says which file was looked for and where it can be had."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences, and whether they contradict each other."""

    one: str
    other: str
    contradicts: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said."""

    id: str
    session: str
    number: int
    text: str
    at: int
    """Microseconds UTC."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the turns that answer it."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One long conversation in sessions."""

    name: str
    turns: tuple[Turn, ...]
    facts: tuple[str, ...]
    """What the data set's authors had noted down of it, in sentences."""
    questions: tuple[Question, ...]


def data_folder(chosen: str | None) -> Path:
    """``--data``, else the variable, else ``../shared/data/memory`` beside the checkout."""
    given = chosen or os.environ.get(DATA_VARIABLE)
    return Path(given) if given else Path(__file__).parents[4] / "shared" / "data" / "memory"


def sick(folder: Path) -> list[Pair]:
    """The test part of SICK 2014. Raises `Missing`."""
    with _path(folder, SICK_FILES).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Pair(row["sentence_A"], row["sentence_B"], row["entailment_judgment"] == "CONTRADICTION")
        for row in rows
    ]


def locomo(folder: Path) -> list[Conversation]:
    """LoCoMo with corrected evidence, without questions whose evidence is in no turn. Raises `Missing`."""
    conversations: list[Any] = json.loads(_path(folder, LOCOMO_FILES).read_text("utf-8"))
    errors: list[Any] = json.loads(_path(folder, CORRECTION_FILES).read_text("utf-8"))
    corrected = {
        error["question_id"]: _ids(error.get("correct_evidence") or ()) for error in errors
    }
    return [
        _conversation(place, conversation, corrected)
        for place, conversation in enumerate(conversations)
    ]


def _conversation(place: int, found: Any, corrected: dict[str, frozenset[str]]) -> Conversation:
    turns: list[Turn] = []
    facts: list[str] = []
    for number in range(1, 100):
        name = f"session_{number}"
        if name not in found["conversation"]:
            continue
        at = _time(found["conversation"][f"{name}_date_time"])
        for turn, said in enumerate(found["conversation"][name]):
            text = f"{said['speaker']}: {said['text']}"
            turns.append(Turn(said["dia_id"], name, turn, text, at))
        noted: dict[str, Any] = found["observation"].get(f"{name}_observation", {})
        facts += [fact[0] for of_one in noted.values() for fact in of_one]
    known = {turn.id for turn in turns}
    questions: list[Question] = []
    for number, asked in enumerate(found["qa"]):
        evidence = corrected.get(f"locomo_{place}_qa{number}") or _ids(asked.get("evidence") or ())
        evidence &= known
        if asked["category"] in CATEGORIES and evidence:
            questions.append(Question(asked["question"], asked["category"], evidence))
    return Conversation(f"conversation-{place}", tuple(turns), tuple(facts), tuple(questions))


def _ids(evidence: Any) -> frozenset[str]:
    """The ids of turns in a list of texts, some of which hold several."""
    return frozenset(id for text in evidence for id in _TURN.findall(str(text)))


def _time(text: str) -> int:
    """Microseconds of a time like "1:56 pm on 8 May, 2023"."""
    moment = datetime.strptime(text.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    return int(moment.timestamp()) * 1_000_000


def _path(folder: Path, names: tuple[str, ...]) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise Missing(f"{names[0]} is not in {folder}; it can be had from {SOURCES[names[0]]}")
