"""How cuts are announced: one grammar for all strategies, so that agents learn it once.

An announcement stands where the cut is, says how much is missing, and names the section that brings it
back. The last line of a shortened text (or a member of shortened JSON) names the handle and the tools.
"""

from __future__ import annotations

MARK = "\u2026"
"""Begins every announcement."""
READ_MORE = "stm_proxy_read_more"
SELECT_CHUNKS = "stm_proxy_select_chunks"
JSON_MARK = "_mms"
"""The member of a shortened JSON object that holds an announcement."""
PROGRESSIVE_FOOTER_TOKEN = "\n---\n[progressive: chars="
"""Where agents split a chunk of a progressive answer from its footer."""


def gap(count: int, unit: str, section: str = "") -> str:
    """Something is missing here: ``[… 34 lines not shown: lines:40-73]``. One line without its end.

    ``unit``: singular; ``section``: the id that fetches it, empty when there is none.
    """
    where = f": {section}" if section else ""
    return f"[{MARK} {plural(count, unit)} not shown{where}]"


def json_gap(count: int, unit: str, section: str = "") -> str:
    """The same as the text of a JSON string: ``… 92 items not shown: json:/items/3-94``."""
    return gap(count, unit, section)[1:-1]


def footer(key: str, shown: int, whole: int, unit: str, example: str = "") -> str:
    """How much of the whole is shown and how to get the rest; one line without its end.

    ``shown`` and ``whole`` in ``unit`` (``tokens`` or ``characters``). ``example``: a section id worth
    trying first. Without ``key`` nothing can be fetched.
    """
    share = f"{MARK} {shown:,} of {whole:,} {unit} shown"
    if not key:
        return f"[{share}]"
    section = example or "grep:TEXT"
    return (
        f'[{share}. Rest: {SELECT_CHUNKS}(key="{key}", sections=["{section}"]) '
        f'or {READ_MORE}(key="{key}")]'
    )


def json_footer(key: str, shown: int, whole: int, unit: str, example: str = "") -> str:
    """`footer` as the text of a JSON string."""
    return footer(key, shown, whole, unit, example)[1:-1]


def progressive_footer(start: int, end: int, total: int, key: str, titles: str = "") -> str:
    """The end of one chunk, in characters of the held text. ``titles``: what comes after it, or empty."""
    more = end < total
    text = f"{PROGRESSIVE_FOOTER_TOKEN}{start}-{end}/{total} | remaining={total - end} | has_more={more}]"
    if more and titles:
        text += f"\n[Remaining: {titles}]"
    if more and key:
        text += f'\n[-> {READ_MORE}(key="{key}", offset={end})]'
    return text


def plural(count: int, unit: str) -> str:
    """``1 line``, ``1,200 lines``, ``2 entries``."""
    if count == 1:
        return f"1 {unit}"
    plural_unit = unit[:-1] + "ies" if unit.endswith("y") else unit + "s"
    return f"{count:,} {plural_unit}"
