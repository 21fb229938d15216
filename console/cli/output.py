"""The only place of the command line that writes: lines and tables for people, JSON for programs.

Every text passes `console.safe`, since most of it comes from upstreams and hosts. JSON is pure ASCII,
so it cannot act on a terminal either.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Sequence
from typing import Any, TextIO

from console.safe import safe, safe_line

_GAP = "  "
_NARROWEST = 8
"""Cells below which a column is not cut."""


class Output:
    """Writes to one stream. ``as_json`` says which of the two kinds the verb should choose."""

    def __init__(self, stream: TextIO, *, as_json: bool) -> None:
        self._stream = stream
        self.as_json = as_json

    def line(self, text: str = "") -> None:
        """One line, or several, for a person."""
        if not self.as_json:
            self._stream.write(safe(text) + "\n")

    def json(self, value: Any, *, one_line: bool = False) -> None:
        """A value of dataclasses, enums, mappings and plain values as one JSON document."""
        self._stream.write(as_json(value, one_line=one_line) + "\n")
        if one_line:
            # Lines are for whoever follows: each must arrive when it is written.
            self._stream.flush()

    def raw(self, text: str) -> None:
        """A line that is for programs in either case, and ASCII without control characters."""
        self._stream.write(text + "\n")

    def table(
        self,
        heads: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        right: Collection[str] = (),
    ) -> None:
        """Columns under their heads; ``right`` names those that are aligned to the right.

        On a terminal the widest column is cut so that a row is one line; elsewhere nothing is cut.
        """
        if self.as_json:
            return
        width = shutil.get_terminal_size().columns if self._stream.isatty() else None
        for line in table_lines(heads, rows, right=right, width=width):
            self._stream.write(line + "\n")

    @property
    def is_terminal(self) -> bool:
        """Whether a person watches."""
        return self._stream.isatty()

    def flush(self) -> None:
        """Let a reader see what was written."""
        self._stream.flush()


def complain(text: str) -> None:
    """A sentence on the error output."""
    sys.stderr.write(f"mms: {safe(text)}\n")


def note(text: str) -> None:
    """Something worth knowing that is no part of the result, on the error output."""
    sys.stderr.write(f"{safe(text)}\n")


def as_json(value: Any, *, one_line: bool = False) -> str:
    """JSON in ASCII; indented, or on one line."""
    import json

    import msgspec

    plain = msgspec.to_builtins(value)
    if one_line:
        return json.dumps(plain, separators=(",", ":"))
    return json.dumps(plain, indent=2)


def table_lines(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Collection[str] = (),
    width: int | None = None,
) -> list[str]:
    """The lines of a table. ``width`` is in terminal cells; ``None`` means as wide as needed."""
    from rich.cells import cell_len

    from console.format import fit

    texts = [list(heads), *([safe_line(cell) for cell in row] for row in rows)]
    columns = range(len(heads))
    widths = [max(cell_len(row[column]) for row in texts) for column in columns]
    if width is not None:
        room = width - len(_GAP) * (len(heads) - 1)
        while sum(widths) > room:
            widest = max(columns, key=lambda column: widths[column])
            if widths[widest] <= _NARROWEST:
                break
            widths[widest] -= 1
    return [
        _GAP.join(
            fit(cell, widths[column], right=heads[column] in right)
            for column, cell in enumerate(row)
        ).rstrip()
        for row in texts
    ]
