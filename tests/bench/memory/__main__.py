"""Command line: ``python -m tests.bench.memory [--data DIR] [--corpus DIR] [--sizes N,N] [--only PART]``.

Prints tables, with the original's figures beside, and ends with exit code 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from config.schema import EmbedderKind
from memory.model import Kind
from tests.bench.memory import corpus, data, idle, labelled, large, locomo, original, pairs
from tests.bench.memory.bars import BARS, OUTSIDE, OWN, facts_name, missed, unmeasured
from tests.bench.memory.opened import ModelTime, note, peak_mb
from tests.bench.procedures import CHOOSERS, USES, simulate
from tests.bench.quality.bars import Measures
from tests.bench.report import Row, Table, as_json, as_markdown

CORPUS_VARIABLE = "CORPUS"
PARTS = ("facts", "pairs", "conversations", "procedures", "idle")
LARGE = "large"
"""Only when it is asked for: it takes half an hour."""
_SHOWN = 3


class Report:
    """Collects tables, measures and what was left out."""

    def __init__(self) -> None:
        self.measures: Measures = {}
        self.tables: list[Table] = []
        self.skipped: list[str] = []
        self.findings: list[str] = []

    def facts(self, name: str, facts: Sequence[corpus.Fact], embedder: EmbedderKind) -> None:
        """One corpus at one size."""
        size = len(facts)
        found = labelled.measure(facts, embedder)
        theirs = original.FACTS.get(size, {}) if name == OUTSIDE else {}
        measured: dict[str, float] = {
            "values lost": found.values_lost,
            "contradiction pairs merged": found.merged,
            "contradictions found": found.contradictions_found,
            "bases with a false candidate": found.false_bases,
            "twins flagged": found.flagged_twins,
            "duplicates found": found.duplicates_found,
            "groups reduced": found.groups_reduced,
            "of these by a decision": found.groups_guarded,
            "question's fact is first": found.hit_at_1,
            "store ms": found.store_ms,
            "query ms": found.query_ms,
            "preview s": found.preview_s,
            "overview ms": found.overview_ms,
            "the model's ms per text": found.embedding_ms,
            "most memory of the bench, MB": found.peak_mb,
        }
        rows: list[Row] = []
        for measure, value in measured.items():
            row: Row = {"measure": measure, "mms": _number(value)}
            if theirs:
                row["original"] = theirs.get(measure, "")
            rows.append(row)
            self.measures[facts_name(measure, name, size)] = value
        self.tables.append(Table(f"{size:,} labelled facts, {name} corpus", rows))

    def sentence_pairs(self, folder: Path) -> None:
        """Contradictions in SICK."""
        found = pairs.judge(data.sick(folder))
        self.measures |= {"SICK recall": found.recall, "SICK precision": found.precision}
        self.tables.append(
            Table(
                f"{found.contradictions:,} contradictions among {found.pairs:,} pairs (SICK 2014, test)",
                [
                    {
                        "rule": "mms",
                        "recall": f"{found.recall:.3f}",
                        "precision": f"{found.precision:.3f}",
                    },
                    {"rule": "original", **original.PAIRS},
                ],
            )
        )

    def natural_neighbours(self, conversations: Sequence[data.Conversation]) -> None:
        """False flags among facts of LoCoMo."""
        found = pairs.neighbours([one.facts for one in conversations])
        self.measures["false flags among neighbours"] = found.share
        self.findings += [f"flagged: {example}" for example in found.examples[:_SHOWN]]
        row: Row = {
            "facts": f"{found.facts:,}",
            "pairs of neighbours": f"{found.pairs:,}",
            "flagged as contradictions": f"{found.flagged:,}",
            "share": f"{found.share:.4f}",
        }
        self.tables.append(Table("Facts of conversations beside their neighbours (LoCoMo)", [row]))

    def conversations(self, conversations: Sequence[data.Conversation]) -> None:
        """Evidence found in LoCoMo."""
        model, rows = ModelTime(), list[Row]()
        for kind, dated in ((Kind.EPISODIC, False), (Kind.EPISODIC, True), (Kind.SEMANTIC, False)):
            found = locomo.measure(conversations, kind, model, dated=dated)
            rows.append(
                {
                    "turns stored as": found.way,
                    "at 5": f"{found.at_5:.3f}",
                    "at 10": f"{found.at_10:.3f}",
                    **{f"at 10, {data.CATEGORIES[n]}": f"{at:.3f}" for n, at in found.by_category},
                }
            )
            if kind is Kind.EPISODIC and not dated:
                self.measures["LoCoMo recall at 5"] = found.at_5
                self.measures["LoCoMo recall at 10"] = found.at_10
        questions = sum(len(one.questions) for one in conversations)
        turns = sum(len(one.turns) for one in conversations)
        rows.append({"turns stored as": "original's ranking", **original.LOCOMO})
        title = f"Share of the evidence found, {questions:,} questions, {turns:,} turns (LoCoMo)"
        self.tables.append(Table(title, rows))

    def procedures(self, runs: int) -> None:
        """Regret of the order of procedures."""
        for count in (3, 8):
            rows: list[Row] = []
            for name, chooser in CHOOSERS.items():
                found = simulate(chooser, count, runs, seed=7)
                rows.append(
                    {
                        "order": name,
                        "after 20 uses": found.after_20,
                        f"after {USES}": found.after_200,
                        "most used is the best": found.best_most_used,
                    }
                )
                if name == "this order":
                    self.measures[f"regret after {USES} uses, {count} procedures"] = found.after_200
            self.tables.append(Table(f"Regret, {count} procedures, {runs:,} runs", rows))

    def idle(self) -> None:
        """Weight of the memory's process."""
        found = idle.measure(corpus.generated(300))
        self.measures["idle MB"] = found.opened
        row: Row = {
            "just opened": f"{found.opened:.0f}",
            "300 facts stored, model loaded": f"{found.used:.0f}",
            "after its last client left": f"{found.left:.0f}",
            "original, open": original.OPEN_MB,
        }
        self.tables.append(Table("Resident memory of the memory's process, MB", [row]))

    def large(self, size: int) -> None:
        """The preview of a plan over very many facts."""
        found = large.measure(corpus.generated(size))
        self.measures[facts_name("preview s", OWN, size)] = found.preview_s
        row: Row = {
            "preview s": f"{found.preview_s:.2f}",
            "to be archived": f"{found.planned:,}",
            "store ms": f"{found.store_ms:.1f}",
            "most memory of the bench, MB": f"{peak_mb():.0f}",
        }
        self.tables.append(Table(f"{size:,} facts without vectors, {OWN} corpus", [row]))

    def judge(self) -> None:
        """The bars."""
        rows: list[Row] = [
            {
                "bar": bar.measure,
                "limit": f"{'≥' if bar.at_least else '≤'} {bar.limit:g}",
                "measured": f"{self.measures[bar.measure]:.3f}",
                "": "ok" if bar.holds(self.measures[bar.measure]) else "MISSED",
            }
            for bar in BARS
            if bar.measure in self.measures
        ]
        if rows:
            self.tables.append(Table("Bars", rows))


def _number(value: float) -> str:
    return f"{value:g}" if value == int(value) else f"{value:.3f}"


def _measure(options: argparse.Namespace, report: Report) -> None:
    wanted: Sequence[str] = options.only or PARTS
    folder = data.data_folder(options.data)
    sizes = [int(size) for size in options.sizes.split(",") if size]
    if "procedures" in wanted:
        report.procedures(options.runs)
    if "idle" in wanted:
        report.idle()
    if "pairs" in wanted or "conversations" in wanted:
        try:
            conversations = data.locomo(folder)
        except data.Missing as missing:
            report.skipped.append(str(missing))
            conversations = []
        if "pairs" in wanted:
            try:
                report.sentence_pairs(folder)
            except data.Missing as missing:
                report.skipped.append(str(missing))
            if conversations:
                report.natural_neighbours(conversations)
        if "conversations" in wanted and conversations:
            report.conversations(conversations)
    if LARGE in wanted:
        report.large(options.large)
    if "facts" in wanted:
        given = options.corpus or os.environ.get(CORPUS_VARIABLE)
        embedder = EmbedderKind(options.embedder)
        for size in sizes:
            note(f"{size:,} facts, {OWN} corpus")
            report.facts(OWN, corpus.generated(size), embedder)
            if given:
                note(f"{size:,} facts, {OUTSIDE} corpus")
                report.facts(OUTSIDE, corpus.outside(Path(given), size), embedder)
        if not given:
            report.skipped.append("no outside corpus was given (--corpus)")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.memory", description=__doc__)
    parser.add_argument(
        "--data", help=f"folder with SICK and LoCoMo (${data.DATA_VARIABLE}; else ../shared)"
    )
    parser.add_argument(
        "--corpus",
        help=f"folder with a {corpus.OUTSIDE}, which is run (${CORPUS_VARIABLE}); none by default",
    )
    parser.add_argument("--sizes", default="1000,10000", help="numbers of facts (1000,10000)")
    parser.add_argument(
        "--embedder",
        default=EmbedderKind.MINILM.value,
        choices=[EmbedderKind.MINILM.value, EmbedderKind.HASHING.value],
        help="vectors of the facts; hashing needs no model and less time",
    )
    parser.add_argument(
        "--large", type=int, default=100_000, help="facts of --only large (100,000)"
    )
    parser.add_argument("--runs", type=int, default=1_000, help="of the procedures' simulation")
    parser.add_argument(
        "--only", action="append", choices=(*PARTS, LARGE), help="one part; can be repeated"
    )
    parser.add_argument("--json", action="store_true", help="for a script")
    options = parser.parse_args()
    report = Report()
    _measure(options, report)
    report.judge()
    if options.json:
        print(as_json(report.tables))
    else:
        load = os.getloadavg()[0]
        print(
            f"Python {platform.python_version()}, {os.cpu_count()} cores, load average {load:.1f}"
        )
        print("Times are medians of CPU time without the model's.\n")
        for table in report.tables:
            print(as_markdown(table))
    for line in report.findings:
        print(line, file=sys.stderr)
    for line in report.skipped:
        print(f"left out: {line}", file=sys.stderr)
    if not options.only:
        for name in unmeasured(report.measures):
            print(f"not measured: {name}", file=sys.stderr)
    failures = missed(report.measures)
    for failure in failures:
        print(f"MISSED  {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
