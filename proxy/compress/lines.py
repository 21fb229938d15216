"""Lines of a text by number. A line ends with its line feed; only line feeds end lines.

Numbers begin at 1, as editors count and as ``lines:40-80`` says.
"""

from __future__ import annotations


def count_lines(text: str) -> int:
    """How many lines there are; the last one need not end with a line feed. 0 for an empty text."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def start_of_line(text: str, number: int, at: int = 0) -> int:
    """The offset of the ``number``-th line counted from ``at``, 1 being the one at ``at`` itself.

    The text's length when there are fewer lines.
    """
    for _ in range(number - 1):
        at = text.find("\n", at) + 1
        if at == 0:
            return len(text)
    return at


def lines_id(first: int, last: int) -> str:
    """The section id of the lines from ``first`` to ``last``, both included."""
    return f"lines:{first}-{last}" if last > first else f"lines:{first}"
