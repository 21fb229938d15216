"""Cases from public data sets, where they are at hand. None of them is part of the repository."""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.quality.cases import Case, Check

DATA_VARIABLE = "QUALITY_DATA"
PARAGRAPHS = 41
DOCUMENTS = 20


class Missing(Exception):
    """A data set is not there; says which file was looked for."""


def data_folder(chosen: str | None) -> Path:
    """``--data``, else the variable, else ``../shared/data`` beside the checkout."""
    given = chosen or os.environ.get(DATA_VARIABLE)
    return Path(given) if given else Path(__file__).parents[4] / "shared" / "data"


def xquad(folder: Path, language: str, count: int) -> list[Case]:
    """Shape A: the asked paragraph among 40 others, shuffled."""
    paragraphs = [
        paragraph
        for article in _json(folder / "compress" / f"xquad.{language}.json")["data"]
        for paragraph in article["paragraphs"]
    ]
    questions = [
        (place, question)
        for place, paragraph in enumerate(paragraphs)
        for question in paragraph["qas"]
    ]
    rng = random.Random(11)
    shape = "A" if language == "en" else f"A {language}"
    cases: list[Case] = []
    for place, question in _some(questions, count, rng):
        others = [other for other in range(len(paragraphs)) if other != place]
        chosen = [place, *rng.sample(others, PARAGRAPHS - 1)]
        rng.shuffle(chosen)
        text = "\n\n".join(paragraphs[index]["context"] for index in chosen)
        answers = tuple(answer["text"] for answer in question["answers"])
        cases.append(Case(shape, text, question["question"], answers))
    return cases


def natural_questions(folder: Path, count: int) -> list[Case]:
    """Shape B: the passage that answers among 19 passages of other questions, with titles."""
    records = list(_lines(folder / "compress" / "nq-open-oracle.first-half.jsonl.gz"))
    rng = random.Random(12)
    cases: list[Case] = []
    for record in _some(records, count, rng):
        gold = record["ctxs"][0]
        seen = {gold["text"]}
        documents = [gold]
        while len(documents) < DOCUMENTS:
            other = rng.choice(records)["ctxs"][0]
            if other["text"] not in seen:
                seen.add(other["text"])
                documents.append(other)
        rng.shuffle(documents)
        text = "\n\n".join(
            f"Document [{number}](Title: {document['title']}) {document['text']}"
            for number, document in enumerate(documents, 1)
        )
        cases.append(Case("B", text, record["question"], tuple(record["answers"])))
    return cases


def papers(folder: Path, count: int) -> list[Case]:
    """Shape C: one whole paper (COVID-QA's SQuAD-like file as ``compress/covid-qa.json``)."""
    questions = [
        (paragraph["context"], question)
        for article in _json(folder / "compress" / "covid-qa.json")["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]
    return [
        Case("C", text, question["question"], tuple(a["text"] for a in question["answers"]))
        for text, question in _some(questions, count, random.Random(13))
    ]


def key_values(folder: Path, count: int) -> list[Case]:
    """Shape D: one of 75 keys of an object."""
    rng = random.Random(14)
    cases: list[Case] = []
    for record in _some(
        list(_lines(folder / "compress" / "kv-75.first-half.jsonl.gz")), count, rng
    ):
        pairs = dict(record["ordered_kv_records"])
        key = record.get("key") or rng.choice(list(pairs))
        question = f"What is the value of key {key}?"
        text = json.dumps(pairs, indent=1)
        members = ((key, pairs[key]),)
        cases.append(Case("D", text, question, (pairs[key],), Check.MEMBER, members, json=True))
    return cases


def json_files(folder: Path) -> dict[str, str]:
    """The JSON files by name."""
    found = {
        path.name: path.read_text("utf-8")
        for path in sorted((folder / "compress" / "json").glob("*.json"))
    }
    if not found:
        raise Missing(f"{folder / 'compress' / 'json'} holds no JSON files")
    return found


def json_rows(folder: Path, count: int) -> list[Case]:
    """Shape E2: a value of a row that a text and another value tell from all other rows."""
    cases: list[Case] = []
    for name, text in json_files(folder).items():
        rows = _rows(json.loads(text))
        if not rows:
            continue
        tells: dict[tuple[str, str, str, str], int] = {}
        for row in rows:
            for pair in _pairs(row):
                tells[pair] = tells.get(pair, 0) + 1
        rng = random.Random(15)
        found: list[Case] = []
        for row in rng.sample(rows, len(rows)):
            unique = [pair for pair in _pairs(row) if tells[pair] == 1]
            if len(found) == count:
                break
            if not unique:
                continue
            one, value, two, other = rng.choice(unique)
            asked = [
                name
                for name, inner in row.items()
                if name not in {one, two} and isinstance(inner, str | int | float)
            ]
            if not asked:
                continue
            field = rng.choice(asked)
            question = f"What is {field} where {one} is {value} and {two} is {other}?"
            members = ((one, row[one]), (two, row[two]), (field, row[field]))
            found.append(
                Case(
                    "E2",
                    text,
                    question,
                    (str(row[field]),),
                    Check.ROW,
                    members,
                    json=True,
                    name=name,
                )
            )
        cases += found
    return cases


def _rows(value: Any) -> list[dict[str, Any]]:
    """The longest array of objects, at the top or one or two levels down."""
    best: list[dict[str, Any]] = []
    level = [value]
    for _ in range(3):
        for inner in level:
            if isinstance(inner, list) and len(inner) > len(best):
                objects = [row for row in inner if isinstance(row, dict)]
                if len(objects) == len(inner):
                    best = objects
        level = [
            child
            for inner in level
            if isinstance(inner, dict | list)
            for child in (inner.values() if isinstance(inner, dict) else inner[:3])
        ]
    return best


def _pairs(row: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    texts = [(k, v) for k, v in row.items() if isinstance(v, str) and 2 < len(v) < 80][:4]
    others = [(k, v) for k, v in row.items() if isinstance(v, str | int | float) and v != ""][:8]
    for one, value in texts:
        for two, other in others:
            if one != two and not isinstance(other, bool):
                yield one, value, two, str(other)


def _some(items: list[Any], count: int, rng: random.Random) -> list[Any]:
    return rng.sample(items, min(count, len(items)))


def _json(path: Path) -> Any:
    if not path.is_file():
        raise Missing(f"{path.name} is not in {path.parent}")
    return json.loads(path.read_text("utf-8"))


def _lines(path: Path) -> Iterator[Any]:
    if not path.is_file():
        raise Missing(f"{path.name} is not in {path.parent}")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
