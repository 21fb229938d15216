"""Command line: ``python -m tests.bench.quality [--data DIR] [--peers] [--n N] [--json]``.

Prints tables and ends with exit code 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import platform
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from proxy.compress.model import Gauge
from proxy.token_gauge import TokenGauge
from tests.bench.quality import data, generated
from tests.bench.quality.bars import BARS, Measures, missed, unmeasured
from tests.bench.quality.cases import Case
from tests.bench.quality.measure import (
    DEFAULT,
    DEFAULT_BUDGET,
    PRODUCT,
    SHARES,
    Bench,
    Budget,
    Tally,
    lossless_share,
    mean,
    note,
    percentile,
    readable,
    same_value,
)
from tests.bench.quality.peers import NAMES, Peer, PeerProblem, interpreter
from tests.bench.quality.product import Product
from tests.bench.report import Row, Table, as_json, as_markdown

_ROOT = Path(__file__).parents[3]
_WORD = re.compile(r"\w+")
_COMMON = frozenset(
    _WORD.findall(
        "a an and are as at be by did do does for from had has have how in is it many much of on or that "
        "the to was were what when where which who whom whose why will with"
    )
)


class Report:
    """Collects tables, measures and what went wrong."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.measures: Measures = {}
        self.tables: list[Table] = []
        self.skipped: list[str] = []
        self._kept: list[Row] = []
        self._ours: list[Row] = []
        self._tallies: list[Tally] = []

    def shape(self, cases: Sequence[Case], budgets: Iterable[Budget]) -> None:
        """Measure one shape at some budgets."""
        if not cases:
            return
        shape = cases[0].shape
        for budget in budgets:
            started = time.perf_counter()
            found, tally = self.bench.retained(cases, budget)
            took = time.perf_counter() - started
            note(f"{shape} at {budget}: {len(cases)} cases in {took:.1f} s")
            where = f"{shape} at {budget}"
            self._kept.append({"shape": where, "n": self._counts(cases), **_shares(found)})
            if self.bench.product:
                self._tallies.append(tally)
                self._ours.append(_ours(where, tally))
                self.measures[f"{shape} kept at {budget}"] = found[PRODUCT]
                if tally.json_cases:
                    self.measures[f"{shape} valid JSON at {budget}"] = tally.json / tally.json_cases

    def _counts(self, cases: Sequence[Case]) -> str:
        """Cases of mms and, when fewer, of the others."""
        others = min(len(cases), self.bench.others)
        return str(len(cases)) if others == len(cases) else f"{len(cases)}, {others}"

    def adversarial(self, cases: Sequence[Case]) -> None:
        """One row per case at the default budget."""
        rows: list[Row] = []
        for case in cases:
            found = self.bench.single(case, DEFAULT_BUDGET)
            rows.append({"case": case.name} | {name: _mark(hit) for name, hit in found.items()})
        self.tables.append(Table(f"Hard on purpose, {DEFAULT_BUDGET:,} tokens", rows))
        self.shape(cases, [DEFAULT, Budget(0.05)])

    def ablation(self, cases: Sequence[Case], budget: Budget) -> None:
        """The same cases with less and less to go by."""
        if not cases:
            return
        rows: list[Row] = []
        for name, change in _QUERIES.items():
            told = change is not _arguments
            changed = [replace(case, question=change(case.question), told=told) for case in cases]
            found, _ = self.bench.retained(changed, budget)
            rows.append({"query": name, **_shares(found)})
        title = f"Shape {cases[0].shape} at {budget} by what is known of the question"
        self.tables.append(Table(title, rows))

    def lossless(self, files: dict[str, str], gauge: Gauge) -> None:
        """The lossless form of each JSON file against its minified text."""
        product = self.bench.product
        if product is None:
            return
        rows: list[Row] = []
        for name, text in files.items():
            small, tokens, output = lossless_share(product, gauge, text)
            exact = output.strategy == "lossless" and same_value(readable(output), text)
            share = tokens / small - 1
            rows.append(
                {
                    "file": name,
                    "minified": f"{small:,}",
                    "lossless": f"{tokens:,}",
                    "change": f"{share * 100:+.1f} %",
                    "form": output.strategy,
                    "same value": _mark(exact),
                    "ms": f"{output.milliseconds:.0f}",
                }
            )
            self.measures[f"lossless {name}"] = share if exact else 0.0
        self.tables.append(Table("Lossless against minified JSON, tokens", rows))

    def finish(self) -> None:
        """Sum up, in the order in which it is read."""
        tables = [Table("Answers retained", self._kept)]
        if self._ours:
            tables.append(Table("mms in detail", self._ours))
            self._sum_up()
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
            tables.append(Table("Bars", rows))
        self.tables = tables + self.tables

    def _sum_up(self) -> None:
        tallies = self._tallies
        json_cases = sum(tally.json_cases for tally in tallies)
        if json_cases:
            self.measures["valid JSON"] = sum(tally.json for tally in tallies) / json_cases
        cases = sum(tally.cases for tally in tallies)
        self.measures["recoverable"] = 1 - sum(len(t.unrecovered) for t in tallies) / cases
        self.measures["over budget"] = sum(len(tally.over) for tally in tallies)
        self.measures["grown"] = sum(len(tally.grown) for tally in tallies)
        self.measures["faults"] = sum(len(tally.faults) for tally in tallies)
        unstable = sum(len(tally.unstable) for tally in tallies)
        self.measures["not deterministic"] = unstable + self.measures.get("not deterministic", 0)

    def findings(self) -> list[str]:
        """Single cases that broke a promise."""
        found: list[str] = []
        for tally in self._tallies:
            for title, cases in (
                ("fault", tally.faults),
                ("over budget", tally.over),
                ("grown", tally.grown),
                ("not deterministic", tally.unstable),
                ("not recovered", tally.unrecovered),
                ("broken JSON", tally.broken_json),
            ):
                found += [f"{title}: {case}" for case in cases[:3]]
        return found

    def losses(self) -> list[str]:
        """Answers that did not survive."""
        return [case for tally in self._tallies for case in tally.lost]


def _ours(where: str, tally: Tally) -> Row:
    cases = max(1, tally.cases)
    strategies = sorted(tally.strategies.items(), key=lambda item: (-item[1], item[0]))
    return {
        "shape": where,
        "retained": _share(tally.kept / cases),
        "recoverable": _share(tally.recoverable / cases),
        "lost": _share((cases - tally.kept - tally.recoverable) / cases),
        "fetched tokens": f"{mean(tally.fetched):,.0f}" if tally.fetched else "",
        "sent mean": f"{mean(tally.shares) * 100:.1f} %",
        "sent max": f"{max(tally.shares, default=0) * 100:.1f} %",
        "valid JSON": _share(tally.json / tally.json_cases) if tally.json_cases else "",
        "p50 ms": f"{percentile(tally.milliseconds, 0.5):.1f}",
        "p95 ms": f"{percentile(tally.milliseconds, 0.95):.1f}",
        "over": str(len(tally.over)),
        "strategy": ", ".join(f"{name or 'none'} {count}" for name, count in strategies),
    }


def _shares(found: dict[str, float]) -> dict[str, str]:
    return {name: _share(value) for name, value in found.items()}


def _share(value: float) -> str:
    return f"{value:.3f}"


def _mark(hit: bool) -> str:
    return "yes" if hit else "no"


def _content_words(question: str) -> list[str]:
    return [word for word in _WORD.findall(question) if word.lower() not in _COMMON]


def _arguments(question: str) -> str:
    """Two longest words, as they might stand in a tool's arguments."""
    words = sorted(dict.fromkeys(_content_words(question)), key=lambda word: (-len(word), word))
    return " ".join(words[:2])


def _half(question: str) -> str:
    words = _content_words(question)
    return " ".join(random.Random(question).sample(words, (len(words) + 1) // 2))


_QUERIES: dict[str, Callable[[str], str]] = {
    "the question": lambda question: question,
    "half of its words": _half,
    "two words, as arguments": _arguments,
    "none": lambda _: "",
}


def _measure(options: argparse.Namespace, report: Report, gauge: Gauge) -> None:
    folder = data.data_folder(options.data)
    count = options.n

    def sets(load: Callable[[], list[Case]]) -> list[Case]:
        try:
            return load()
        except data.Missing as missing:
            report.skipped.append(str(missing))
            return []

    def wanted(shape: str) -> bool:
        return not options.only or shape in options.only

    if wanted("A"):
        english = sets(lambda: data.xquad(folder, "en", count))
        report.shape(english, SHARES)
        report.ablation(english[: max(1, count // 3)], SHARES[1])
        for language in ("es", "hi"):
            cases = sets(lambda language=language: data.xquad(folder, language, max(1, count // 3)))
            report.shape(cases, SHARES[1:2])
    if wanted("B"):
        questions = sets(lambda: data.natural_questions(folder, count))
        report.shape(questions, SHARES)
        report.ablation(questions[: max(1, count // 3)], SHARES[1])
    if wanted("C"):
        report.shape(sets(lambda: data.papers(folder, max(1, count // 2))), SHARES[:3])
    if wanted("D"):
        report.shape(sets(lambda: data.key_values(folder, max(1, count // 2))), SHARES[:2])
        report.shape(generated.key_values(max(1, count // 6)), SHARES[:2])
    if wanted("E"):
        report.shape(generated.tables(max(1, count // 4)), SHARES[:2])
        report.shape(sets(lambda: data.json_rows(folder, max(1, count // 30))), SHARES[:1])
    if wanted("F"):
        for query in (True, False):
            no = "" if query else ", no query"
            report.shape(
                generated.logs(200_000, query=query, shape=f"F 2,000 lines{no}"), [DEFAULT]
            )
            report.shape(generated.logs(1_000_000, query=query, shape=f"F 1 MB{no}"), [DEFAULT])
    if wanted("adversarial"):
        report.adversarial(generated.adversarial())
    if wanted("lossless"):
        try:
            report.lossless(data.json_files(folder), gauge)
        except data.Missing as missing:
            report.skipped.append(str(missing))
    if report.bench.product and wanted("hash"):
        digests = {digest_with_seed(seed) for seed in ("1", "2")}
        report.measures["not deterministic"] = float(len(digests) - 1)


def digest(product: Product) -> str:
    """Of what becomes of the generated cases; equal in every process."""
    total = hashlib.sha256()
    cases = [
        *generated.key_values(2),
        *generated.tables(2),
        *generated.logs(100_000, query=True, shape="F"),
        *generated.adversarial(),
    ]
    for case in cases:
        for budget in (400, DEFAULT_BUDGET):
            total.update(product.reduce(case.text, case.question, budget).body)
    return total.hexdigest()


def digest_with_seed(seed: str) -> str:
    """`digest` in a process of its own, with this order of sets."""
    found = subprocess.run(
        [sys.executable, "-m", "tests.bench.quality", "--digest"],
        env={**os.environ, "PYTHONHASHSEED": seed},
        cwd=_ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return found.stdout.strip()


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.quality", description=__doc__)
    parser.add_argument("--data", help=f"folder of the data sets (${data.DATA_VARIABLE})")
    parser.add_argument("--peers", action="store_true", help="also measure other products")
    parser.add_argument(
        "--peer-python",
        default="",
        metavar="PATH",
        help="an interpreter that has the peers; by default one is made under .venv/peers",
    )
    parser.add_argument("--n", type=int, default=300, help="questions of the larger sets (300)")
    parser.add_argument(
        "--others", type=int, default=100, help="of these for the other columns (100)"
    )
    parser.add_argument(
        "--only", action="append", help="one shape: A B C D E F adversarial lossless"
    )
    parser.add_argument("--losses", action="store_true", help="list answers that did not survive")
    parser.add_argument("--json", action="store_true", help="for a script")
    parser.add_argument("--digest", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    gauge = TokenGauge()
    if options.digest:
        print(digest(Product(gauge)))
        return 0
    with contextlib.ExitStack() as stack:
        peers: dict[str, Peer] = {}
        absent: list[str] = []
        for name in NAMES if options.peers else ():
            try:
                python = interpreter(options.peer_python, _ROOT)
                peers[name] = stack.enter_context(Peer(name, python, gauge))
            except PeerProblem as problem:
                absent.append(f"{name} is not measured: {problem}")
        bench = Bench(gauge, peers, Product(gauge), others=options.others)
        report = Report(bench)
        _measure(options, report, gauge)
        report.finish()
        absent += [f"{name} stopped: {problem}" for name, problem in bench.problems.items()]
    if options.json:
        print(as_json(report.tables))
    else:
        load = os.getloadavg()[0]
        print(
            f"Python {platform.python_version()}, {os.cpu_count()} cores, load average {load:.1f}\n"
        )
        for table in report.tables:
            if table.rows:
                print(as_markdown(table))
    notes = absent + [f"Skipped: {reason}." for reason in report.skipped]
    notes += [f"Not judged, no data: {name}." for name in unmeasured(report.measures)]
    notes += report.findings() + (report.losses() if options.losses else [])
    for line in notes:
        print(line, file=sys.stderr if options.json else sys.stdout)
    failed = missed(report.measures)
    for line in failed:
        print(f"Missed: {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
