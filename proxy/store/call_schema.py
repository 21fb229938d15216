"""The schema of the call history, step by step."""

from __future__ import annotations

from proxy.store.database import Migration
from proxy.tokens import ENCODING

MIGRATIONS = (
    Migration(
        "calls and totals per day",
        (
            """CREATE TABLE calls (
                id INTEGER PRIMARY KEY,
                started_at REAL NOT NULL,
                duration_ms REAL NOT NULL,
                host TEXT NOT NULL,
                session INTEGER NOT NULL,
                upstream TEXT NOT NULL,
                tool TEXT NOT NULL,
                outcome TEXT NOT NULL,
                error TEXT NOT NULL,
                arguments_bytes INTEGER NOT NULL,
                arguments_characters INTEGER NOT NULL,
                arguments_tokens INTEGER NOT NULL,
                text_bytes INTEGER NOT NULL,
                text_characters INTEGER NOT NULL,
                text_tokens INTEGER NOT NULL,
                structured_bytes INTEGER NOT NULL,
                structured_characters INTEGER NOT NULL,
                structured_tokens INTEGER NOT NULL,
                other_bytes INTEGER NOT NULL
            )""",
            "CREATE INDEX calls_by_start ON calls (started_at)",
            """CREATE TABLE days (
                day TEXT PRIMARY KEY,
                calls INTEGER NOT NULL,
                errors INTEGER NOT NULL,
                tokens_in INTEGER NOT NULL,
                tokens_out INTEGER NOT NULL,
                bytes_out INTEGER NOT NULL
            )""",
            "CREATE TABLE facts (name TEXT PRIMARY KEY, value NOT NULL)",
            f"INSERT INTO facts VALUES ('tokenizer', '{ENCODING}'), ('last_call_id', 0)",
        ),
    ),
    Migration(
        "how answers were made smaller, and what that saved",
        (
            "ALTER TABLE calls ADD COLUMN strategy TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE calls ADD COLUMN before_bytes INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE calls ADD COLUMN before_characters INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE calls ADD COLUMN before_tokens INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE calls ADD COLUMN overhead_tokens INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE calls ADD COLUMN held_key TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE calls ADD COLUMN fetched_upstream TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE calls ADD COLUMN fetched_tool TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE calls ADD COLUMN cache TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE calls ADD COLUMN cache_age_seconds REAL NOT NULL DEFAULT 0",
            "ALTER TABLE calls ADD COLUMN fault TEXT NOT NULL DEFAULT ''",
            """CREATE TABLE savings (
                day TEXT NOT NULL,
                upstream TEXT NOT NULL,
                tool TEXT NOT NULL,
                calls INTEGER NOT NULL,
                reduced INTEGER NOT NULL,
                before_tokens INTEGER NOT NULL,
                sent_tokens INTEGER NOT NULL,
                fetched_tokens INTEGER NOT NULL,
                notices_tokens INTEGER NOT NULL,
                control_tools_tokens INTEGER NOT NULL,
                cache_hits INTEGER NOT NULL,
                PRIMARY KEY (day, upstream, tool)
            ) WITHOUT ROWID""",
            # What was relayed before there were savings counts as received and sent.
            """INSERT INTO savings
                SELECT coalesce(date(started_at, 'unixepoch', 'localtime'), '1970-01-01'),
                    upstream, tool, count(*), 0, sum(text_tokens + structured_tokens),
                    sum(text_tokens + structured_tokens), 0, 0, 0, 0
                FROM calls WHERE outcome IN ('ok', 'tool_error') GROUP BY 1, 2, 3""",
            "INSERT INTO facts VALUES ('control_tools_tokens', 0)",
        ),
    ),
    Migration(
        "memories shown with answers",
        (
            "ALTER TABLE calls ADD COLUMN surfacing_id TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE calls ADD COLUMN surfaced_tokens INTEGER NOT NULL DEFAULT 0",
        ),
    ),
)
"""The schema's steps. ``days`` and ``savings`` survive retention; ``last_call_id`` keeps ids rising
after it; ``control_tools_tokens`` is what our own tools cost in the last tool list."""
