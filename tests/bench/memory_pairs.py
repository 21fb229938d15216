"""How well `memory.compare` tells contradictions and duplicates, on data from outside the repository.

``python -m tests.bench.memory_pairs [--sick FILE ...] [--facts MODULE.py] [--talks FILE] [--words] [--json]``

``--sick``: tab-separated sentence pairs with an ``entailment_judgment`` (SICK 2014). ``--facts``: a module
whose ``facts(n)`` gives labelled texts (base, exact_dup, near_dup, contradiction, twin). ``--talks``:
conversations with extracted facts (LoCoMo), whose neighbours are natural pairs: next to none contradicts.
Similarities come from the MiniLM model; with ``--words`` there are none. Ends with exit code 1 when a bar is
missed.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memory.compare import compare
from memory.embedding.minilm import MiniLmEmbedder
from memory.model import PairEvidence
from memory.words.contradiction import SHOWN_FROM
from tests.bench.report import Row, Table, as_json, as_markdown

_NEIGHBOURS = 5
_NEAR = 0.40
_FACTS = 3_000

BARS: dict[str, tuple[float, bool]] = {
    # Each: limit, and whether it is the least (else the most).
    "recall": (0.75, True),
    "precision": (0.80, True),
    "false flags": (0.01, False),
    "flagged neighbours": (0.01, False),
    "contradictions found": (0.95, True),
    "contradictions merged": (0.0, False),
    "duplicates found": (0.95, True),
    "base facts with a false candidate": (0.05, False),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts and the cosine of their vectors."""

    older: str
    newer: str
    similarity: float | None


class Vectors:
    """Vectors of texts, each made once; none with ``words``."""

    def __init__(self, words: bool) -> None:
        self._embedder = None if words else MiniLmEmbedder()

    def of(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]] | None:
        """One row per text, of length 1."""
        return None if self._embedder is None else self._embedder.embed_documents(list(texts))


def flagged(evidence: PairEvidence) -> bool:
    """Whether a person would be asked about it."""
    return evidence.contradicts and evidence.score >= SHOWN_FROM


def sentence_pairs(file: Path, vectors: Vectors) -> Row:
    """Recall and precision of contradictions, false flags among all other pairs, microseconds for a pair."""
    with file.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    olders, newers = [row["sentence_A"] for row in rows], [row["sentence_B"] for row in rows]
    first, second = vectors.of(olders), vectors.of(newers)
    similarities = (
        [None] * len(rows)
        if first is None or second is None
        else [float(one) for one in np.einsum("nd,nd->n", first, second)]
    )
    started = time.process_time()
    flags = [
        flagged(compare(older, newer, similarity))
        for older, newer, similarity in zip(olders, newers, similarities, strict=True)
    ]
    spent = time.process_time() - started
    truth = [row["entailment_judgment"] == "CONTRADICTION" for row in rows]
    right = sum(flag and real for flag, real in zip(flags, truth, strict=True))
    wrong = sum(flags) - right
    return {
        "data": file.stem,
        "pairs": len(rows),
        "recall": right / max(1, sum(truth)),
        "precision": right / max(1, right + wrong),
        "false flags": wrong / max(1, len(rows) - sum(truth)),
        "CPU µs a pair": 1e6 * spent / len(rows),
    }


def natural_neighbours(file: Path, vectors: Vectors) -> Row:
    """Share of natural neighbours that are flagged, and of facts that have such a neighbour."""
    pairs: list[Pair] = []
    for talk in json.loads(file.read_text(encoding="utf-8")):
        texts = list(dict.fromkeys(_extracted(talk.get("observation", {}))))
        pairs += _neighbours(texts, vectors)
    flags = [pair for pair in pairs if flagged(compare(pair.older, pair.newer, pair.similarity))]
    return {
        "data": file.stem,
        "pairs": len(pairs),
        "flagged neighbours": len(flags) / max(1, len(pairs)),
        "facts with one": len({pair.newer for pair in flags})
        / max(1, len({pair.newer for pair in pairs})),
    }


def labelled_facts(module: Path, vectors: Vectors) -> Row:
    """What becomes of labelled facts: each against its nearest earlier ones and the one it is made of."""
    facts: list[dict[str, Any]] = _loaded(module).facts(_FACTS)
    texts = [str(fact["text"]) for fact in facts]
    matrix = vectors.of(texts)
    found = {"exact_dup": 0, "near_dup": 0, "contradiction": 0}
    merged = false_base = 0
    for place, fact in enumerate(facts):
        near = _nearest(texts, matrix, place)
        if fact["of"] is not None and fact["of"] not in near:
            near.append(fact["of"])
        for other in near:
            evidence = compare(texts[other], texts[place], _similarity(matrix, other, place))
            if fact["kind"] == "base" and flagged(evidence):
                false_base += 1
                break
            if other == fact["of"]:
                merged += fact["kind"] in ("contradiction", "twin") and evidence.duplicates
                good = flagged(evidence) if fact["kind"] == "contradiction" else evidence.duplicates
                if fact["kind"] in found:
                    found[fact["kind"]] += good
    counts = {kind: sum(fact["kind"] == kind for fact in facts) for kind in (*found, "base")}
    return {
        "data": module.stem,
        "facts": len(facts),
        "contradictions found": found["contradiction"] / max(1, counts["contradiction"]),
        "contradictions merged": merged,
        "duplicates found": (found["exact_dup"] + found["near_dup"])
        / max(1, counts["exact_dup"] + counts["near_dup"]),
        "base facts with a false candidate": false_base / max(1, counts["base"]),
    }


def missed(rows: Sequence[Row]) -> list[str]:
    """Every bar that a row does not hold, in words."""
    return [
        f"{row['data']}: {name} is {value:.4f}, {'at least' if least else 'at most'} {limit}"
        for row in rows
        for name, (limit, least) in BARS.items()
        if isinstance(value := row.get(name), int | float)
        and (value < limit if least else value > limit)
    ]


def _extracted(node: object) -> Iterator[str]:
    """The texts of nested lists and objects of ``[text, source]``."""
    if isinstance(node, list) and node and isinstance(node[0], str):
        yield node[0]
    elif isinstance(node, list):
        for one in node:
            yield from _extracted(one)
    elif isinstance(node, dict):
        for one in node.values():
            yield from _extracted(one)


def _neighbours(texts: list[str], vectors: Vectors) -> Iterator[Pair]:
    matrix = vectors.of(texts)
    for place in range(len(texts)):
        for other in _nearest(texts, matrix, place):
            similarity = _similarity(matrix, other, place)
            if similarity is None or similarity >= _NEAR:
                yield Pair(texts[other], texts[place], similarity)


def _nearest(texts: list[str], matrix: np.ndarray[Any, Any] | None, place: int) -> list[int]:
    """Places of the nearest earlier texts: by vector, else by shared words."""
    if not place:
        return []
    if matrix is not None:
        scores = matrix[:place] @ matrix[place]
    else:
        words = set(texts[place].split())
        scores = np.array([len(words & set(text.split())) for text in texts[:place]])
    return [int(one) for one in np.argsort(-scores, kind="stable")[:_NEIGHBOURS]]


def _similarity(matrix: np.ndarray[Any, Any] | None, one: int, other: int) -> float | None:
    return None if matrix is None else float(matrix[one] @ matrix[other])


def _loaded(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location("labelled_facts", file)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{file} is no Python module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what was given, print it, and compare it with the bars."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.memory_pairs", description=__doc__)
    parser.add_argument("--sick", type=Path, nargs="*", default=[], metavar="FILE")
    parser.add_argument("--facts", type=Path, metavar="MODULE")
    parser.add_argument("--talks", type=Path, metavar="FILE")
    parser.add_argument("--words", action="store_true", help="no vectors")
    parser.add_argument("--json", action="store_true", help="for a script")
    options = parser.parse_args(arguments)
    vectors = Vectors(options.words)
    tables = [Table("Contradictions", [sentence_pairs(one, vectors)]) for one in options.sick]
    if options.talks:
        tables.append(Table("Natural neighbours", [natural_neighbours(options.talks, vectors)]))
    if options.facts:
        tables.append(Table("Labelled facts", [labelled_facts(options.facts, vectors)]))
    if not tables:
        parser.error("name data to measure on")
    print(as_json(tables) if options.json else "\n".join(map(as_markdown, tables)))
    problems = missed([row for table in tables for row in table.rows])
    for problem in problems:
        print(f"missed: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
