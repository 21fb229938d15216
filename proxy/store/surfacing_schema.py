"""The schema of the record of surfacing, step by step."""

from __future__ import annotations

from proxy.store.database import Migration

WHAT = "record of surfacing"

MIGRATIONS = (
    Migration(
        "events, ratings, opportunities, and the tuner's steps",
        (
            """CREATE TABLE events (
                number INTEGER PRIMARY KEY,
                id TEXT NOT NULL UNIQUE,
                at REAL NOT NULL,
                conversation TEXT NOT NULL,
                host TEXT NOT NULL,
                call_id INTEGER NOT NULL,
                upstream TEXT NOT NULL,
                tool TEXT NOT NULL,
                query TEXT NOT NULL,
                level TEXT NOT NULL,
                arm TEXT NOT NULL,
                source TEXT NOT NULL,
                threshold REAL NOT NULL,
                tokens INTEGER NOT NULL,
                search_ms REAL NOT NULL,
                cached INTEGER NOT NULL,
                memories INTEGER NOT NULL DEFAULT 0,
                helpful INTEGER NOT NULL DEFAULT 0,
                partially_helpful INTEGER NOT NULL DEFAULT 0,
                not_relevant INTEGER NOT NULL DEFAULT 0,
                already_known INTEGER NOT NULL DEFAULT 0
            )""",
            # With all that sums need, so that they leave the wide rows alone.
            """CREATE INDEX events_by_time ON events (at, arm, upstream, tool, tokens, memories,
                helpful, partially_helpful, not_relevant, already_known)""",
            """CREATE INDEX events_by_tool ON events (upstream, tool, arm, at, tokens, memories,
                helpful, partially_helpful, not_relevant, already_known)""",
            """CREATE TABLE shown (
                event INTEGER NOT NULL REFERENCES events (number) ON DELETE CASCADE,
                memory_id TEXT NOT NULL,
                position INTEGER NOT NULL,
                score REAL NOT NULL,
                why TEXT NOT NULL,
                preview TEXT NOT NULL,
                PRIMARY KEY (event, memory_id)
            ) WITHOUT ROWID""",
            """CREATE TABLE ratings (
                event INTEGER NOT NULL REFERENCES events (number) ON DELETE CASCADE,
                memory_id TEXT NOT NULL,
                rater TEXT NOT NULL,
                rating TEXT NOT NULL,
                at REAL NOT NULL,
                PRIMARY KEY (event, memory_id, rater)
            ) WITHOUT ROWID""",
            # What counts: the person's word, else the agent's.
            """CREATE TABLE verdicts (
                event INTEGER NOT NULL REFERENCES events (number) ON DELETE CASCADE,
                memory_id TEXT NOT NULL,
                rating TEXT NOT NULL,
                at REAL NOT NULL,
                PRIMARY KEY (event, memory_id)
            ) WITHOUT ROWID""",
            """CREATE TABLE opportunities (
                id INTEGER PRIMARY KEY,
                at REAL NOT NULL,
                upstream TEXT NOT NULL,
                tool TEXT NOT NULL,
                decision TEXT NOT NULL,
                level TEXT NOT NULL,
                answer_chars INTEGER NOT NULL,
                best_score REAL,
                threshold REAL NOT NULL,
                waited_ms REAL NOT NULL
            )""",
            "CREATE INDEX opportunities_by_time ON opportunities (at)",
            "CREATE INDEX opportunities_by_decision ON opportunities (decision, tool, upstream, at)",
            "CREATE INDEX opportunities_by_tool ON opportunities (upstream, tool, id, best_score)",
            """CREATE TABLE adjustments (
                id INTEGER PRIMARY KEY,
                at REAL NOT NULL,
                upstream TEXT NOT NULL,
                tool TEXT NOT NULL,
                before REAL NOT NULL,
                after REAL NOT NULL,
                reason TEXT NOT NULL,
                ratings INTEGER NOT NULL,
                reverted_at REAL,
                reverts INTEGER,
                configured REAL
            )""",
        ),
    ),
)
