"""Measurements as text tables or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

Row = dict[str, str | float]


@dataclass(frozen=True)
class Table:
    """One question and its answers, the reference first."""

    title: str
    rows: Sequence[Row]


def as_markdown(table: Table) -> str:
    """A table that can be pasted into a document."""
    names = list(table.rows[0])
    for row in table.rows:
        names += [name for name in row if name not in names]
    lines = [f"### {table.title}", "", _line(names), _line(["---"] + ["---:"] * (len(names) - 1))]
    lines += [_line([_text(row.get(name, "")) for name in names]) for row in table.rows]
    return "\n".join(lines) + "\n"


def as_json(tables: Sequence[Table]) -> str:
    """All tables for a script."""
    return json.dumps([{"title": t.title, "rows": list(t.rows)} for t in tables], indent=2)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _text(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"
