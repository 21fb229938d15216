"""Measure surfacing: ``python -m tests.bench.surfacing [--quick] [--only PART]``.

Prints Markdown tables. Fails when a bar is missed: no repeats, the deadline, what is added to an answer.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from config.schema import EmbedderKind
from config.schema_surfacing import SurfacingSettings
from tests.bench.report import Row, Table, as_json, as_markdown
from tests.bench.surfacing import external, latency, replay
from tests.bench.surfacing.figures import Figures, Outcome, by_level, figures, share
from tests.bench.surfacing.station_week import OPEN_GATES, Player, WeekOnStation, settings, station
from tests.bench.surfacing.subject import REPORTED, TUNING, projects
from tests.bench.surfacing.week import DAYS, Week, week

PARTS = ("station", "columns", "external", "tuner", "latency")
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7)
COSINES = tuple(number / 100 for number in range(20, 75, 5))
HASHING = 'memory = { embedder = { provider = "hashing" } }'
TUNER_WEEKS = 3
MOST_ADDED_MS = 10.0
SLACK_MS = 100.0
"""Beyond the deadline: what a busy machine takes to notice it."""


class Report:
    """Tables, and the bars that were missed."""

    def __init__(self) -> None:
        self.tables: list[Table] = []
        self.missed: list[str] = []
        self.skipped: list[str] = []

    async def on_station(self, weeks: Sequence[tuple[str, Week]]) -> None:
        """The weeks on a real station, as shipped."""
        rows: list[Row] = []
        for name, one in weeks:
            note(f"{name} on a station")
            played = (await play([one], {"tuner": "{ enabled = false }"}))[0]
            found = figures(played.outcomes)
            rows.append({"week": name, **_quality(found), **_tokens(found)})
            if found.repeats:
                self.missed.append(f"{found.repeats} memories were repeated in a session of {name}")
            if name.startswith(REPORTED):
                self.tables.append(
                    Table(
                        f"By where the query came from ({name})",
                        [
                            {"query": level.value, "calls": f"{part.calls}", **_quality(part)}
                            for level, part in by_level(played.outcomes).items()
                        ],
                    )
                )
        self.tables.insert(0, Table("Weeks on a station, as shipped", rows))

    def columns(self, tuning: Week, reported: Week) -> None:
        """Baselines: what else could decide."""
        note("baselines")
        model = EmbedderKind.MINILM
        ours, theirs = replay.searched(reported, model), replay.searched(tuning, model)
        words = replay.searched(reported, EmbedderKind.HASHING)
        best = max(
            COSINES, key=lambda at: figures(replay.outcomes(theirs, replay.by_cosine, at)).f1
        )
        default = SurfacingSettings().min_score
        compared: tuple[tuple[str, list[Outcome]], ...] = (
            ("mms, as shipped", replay.outcomes(ours, replay.by_probability, default)),
            ("no threshold: the first three", replay.outcomes(ours, replay.by_rank, 0.0)),
            (
                f"cosine from {best:.2f} on (best in the tuning week)",
                replay.outcomes(ours, replay.by_cosine, best),
            ),
            (
                "mms with the hashing embedder",
                replay.outcomes(words, replay.by_probability, default),
            ),
        )
        rows: list[Row] = [
            {"decided by": name, **_quality(figures(done))} for name, done in compared
        ]
        self.tables.append(Table("What else could decide (reported week)", rows))
        self.tables.append(
            Table(
                "Other thresholds (reported week)",
                [
                    {
                        "min_score": f"{at:g}",
                        **_quality(figures(replay.outcomes(ours, replay.by_probability, at))),
                    }
                    for at in THRESHOLDS
                ],
            )
        )
        needs = found = 0
        for one in ours.looked:
            ids = {ours.keys[hit.record.id] for hit in one.hits}
            needs += len(one.matter)
            found += len(one.matter & ids)
        self.tables.append(
            Table(
                "The most that could be shown (reported week)",
                [
                    {
                        "memories that matter for a call": f"{needs}",
                        "among the hits of its search": share(found / needs),
                    }
                ],
            )
        )

    async def external(self, reported: Week) -> None:
        """The external system as the source."""
        note("the external memory")
        before = Week(external.all_before(reported.memories), reported.sessions)
        try:
            other = await external.searched(before)
        except external.CannotInstall as reason:
            self.skipped.append(f"memtomem cannot be installed here: {reason}")
            return
        default = SurfacingSettings().min_score
        mine = replay.searched(before, EmbedderKind.MINILM)
        rows: list[Row] = [
            {
                "source": "mms's own memory",
                **_quality(figures(replay.outcomes(mine, replay.by_probability, default))),
            },
            {
                "source": "memtomem, scored by mms",
                **_quality(figures(other.outcomes(default))),
            },
            {
                "source": "memtomem, its first three",
                **_quality(figures(other.outcomes(0.0, ranks_alone=True))),
            },
        ]
        self.tables.append(Table(f"Everything stored before the week; {other.about}", rows))

    async def tuner(self, name: str, weeks: Sequence[Week], starts: Sequence[float]) -> None:
        """From bad thresholds to better ones, over three weeks with ratings."""
        rows: list[Row] = []
        for start in starts:
            note(f"tuner from {start:g}")
            played = await play(weeks, {"min_score": f"{start}"})
            for number, one in enumerate(played):
                for first, last in ((0, 2), (3, DAYS - 1)):
                    part = figures(o for o in one.outcomes if first <= o.day <= last)
                    rows.append(
                        {
                            "start": f"{start:g}",
                            "week": f"{number + 1}",
                            "days": f"{first + 1} to {last + 1}",
                            **_quality(part),
                            "thresholds in the evening": _span(one.thresholds[last]),
                        }
                    )
        self.tables.append(Table(f"Tuner: thresholds follow the ratings ({name})", rows))

    async def latency(self, reported: Week) -> None:
        """What is added to an answer."""
        rows: list[Row] = []
        for name, memory, delay in (
            ("the model of mms, an upstream that answers at once", "", 0.0),
            ("the same, an upstream that takes 50 ms", "", 0.05),
            ("hashing, an upstream that answers at once", HASHING, 0.0),
        ):
            note(f"latency: {name}")
            found = await latency.embedded(reported, memory, delay)
            rows.append(
                {
                    "embedder": name,
                    "off p50": found.off_p50,
                    "on p50": found.on_p50,
                    "added p50": found.added_p50,
                    "off p95": found.off_p95,
                    "on p95": found.on_p95,
                }
            )
            if found.added_p50 > MOST_ADDED_MS:
                self.missed.append(f"{found.added_p50:.1f} ms are added (p50) with {name}")
        self.tables.append(Table("Milliseconds until the answer is there", rows))
        note("latency: a source that hangs")
        hung = await latency.hanging(reported)
        self.tables.append(
            Table(
                "The same while the source takes searches and never answers",
                [
                    {
                        "timeout_seconds": f"{hung.timeout / 1000:g}",
                        "calls that waited": f"{hung.waited}",
                        "on p50": hung.on_p50,
                        "on max": hung.on_max,
                        "off p50": hung.off_p50,
                        "off max": hung.off_max,
                    }
                ],
            )
        )
        if hung.on_max > hung.timeout + SLACK_MS + hung.off_max:
            self.missed.append(f"an answer waited {hung.on_max:.0f} ms for a source that hangs")


async def play(weeks: Sequence[Week], surfacing: dict[str, str]) -> list[WeekOnStation]:
    """Weeks one after another on one station."""
    with (
        tempfile.TemporaryDirectory(prefix="mms-bench-") as folder,
        station(Path(folder, "h"), settings(OPEN_GATES | surfacing)) as running,
    ):
        player = Player(running)
        return [await player.play(one) for one in weeks]


def _quality(found: Figures) -> Row:
    return {
        "precision": share(found.precision),
        "recall": share(found.recall),
        "recall per call": share(found.helped),
        "shown": f"{found.shown}",
        "needed": f"{found.needs}",
        "quiet where nothing matters": share(found.quiet),
    }


def _tokens(found: Figures) -> Row:
    return {
        "repeats": f"{found.repeats}",
        "tokens per call": f"{found.tokens_per_call:.0f}",
        "tokens per useful memory": f"{found.tokens_per_useful:.0f}",
    }


def _span(thresholds: dict[str, float]) -> str:
    if not thresholds:
        return "none yet"
    return f"{min(thresholds.values()):.2f} to {max(thresholds.values()):.2f}"


def note(text: str) -> None:
    """Tell whoever waits."""
    print(f"  {text}", file=sys.stderr, flush=True)


async def _measure(parts: Sequence[str], report: Report, quick: bool) -> None:
    tuned, reported = projects(TUNING), projects(REPORTED)
    first = week(reported, 1)
    if "station" in parts:
        weeks = [(f"{REPORTED} 1", first)]
        if not quick:
            weeks += [(f"{REPORTED} 2", week(reported, 2)), (f"{TUNING} 1", week(tuned, 1))]
        await report.on_station(weeks)
    if "columns" in parts:
        report.columns(week(tuned, 1), first)
    if "external" in parts:
        await report.external(first)
    if "tuner" in parts:
        several = [week(reported, 1, later=later) for later in range(1 if quick else TUNER_WEEKS)]
        await report.tuner(REPORTED, several, (0.9, 0.2, 0.05))
    if "latency" in parts:
        await report.latency(first)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.surfacing", description=__doc__)
    parser.add_argument("--only", action="append", choices=PARTS, help="one part; can be repeated")
    parser.add_argument("--quick", action="store_true", help="one week, and one for the tuner")
    parser.add_argument("--json", action="store_true", help="for a script")
    options = parser.parse_args()
    report = Report()
    asyncio.run(_measure(options.only or PARTS, report, options.quick))
    if options.json:
        print(as_json(report.tables))
    else:
        machine = f"Python {platform.python_version()}, {os.cpu_count()} cores"
        print(f"{machine}, load average {os.getloadavg()[0]:.1f}\n")
        for table in report.tables:
            print(as_markdown(table))
    for line in report.skipped:
        print(f"left out: {line}", file=sys.stderr)
    for line in report.missed:
        print(f"MISSED  {line}", file=sys.stderr)
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
