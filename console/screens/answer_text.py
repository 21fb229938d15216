"""What became of an answer between the upstream and the agent, in lines. Pure.

`compare` marks which lines of the original did not reach the agent, and which lines are mms's own.
"""

from __future__ import annotations

from collections.abc import Sequence

from console import format as fmt
from console.filters import saved_tokens
from console.safe import safe_line
from console.widgets.textpane import TextLine, lines_of
from console.widgets.tone import Cell, Tone
from proxy.model import CallDetail, CallRecord, Outcome

_QUERY_CHARACTERS = 300
"""Of a query that are shown."""


def sent_tokens(record: CallRecord) -> int:
    """Tokens that the agent was sent."""
    return record.text.tokens + record.structured.tokens


def saved_cell(record: CallRecord) -> Cell:
    """For a column: tokens saved; a dash when the answer was relayed as it came, or is an error."""
    if not record.strategy or record.outcome is not Outcome.OK:
        return Cell(fmt.NONE, Tone.MUTED)
    saved = saved_tokens(record)
    return Cell(fmt.count(saved), Tone.GOOD if saved > 0 else Tone.BAD if saved < 0 else Tone.MUTED)


def how_cell(record: CallRecord) -> Cell:
    """How a call ended well: its strategy, that it came from the cache, that a stage gave up, ok."""
    if record.fault:
        return Cell(f"{record.strategy or 'as it came'} \u25b2", Tone.WARN)
    if record.strategy:
        return Cell(record.strategy, Tone.ACCENT)
    if record.cache:
        return Cell(f"cache {record.cache}", Tone.MUTED)
    return Cell("read held" if record.fetched_upstream else "ok", Tone.MUTED)


def before_after(record: CallRecord) -> str:
    """``48,120 \u2192 3,998 tokens``."""
    return f"{fmt.tokens(record.before.tokens)} \u2192 {fmt.tokens(sent_tokens(record))} tokens"


def saved_line(record: CallRecord) -> TextLine:
    """One line on what was saved; empty when the answer was relayed as it came."""
    if not record.strategy:
        return ()
    saved = saved_tokens(record)
    share = fmt.percent(saved, record.before.tokens)
    return (
        Cell("saved  ", Tone.MUTED),
        Cell(f"{fmt.tokens(saved)} ({share})", Tone.GOOD if saved > 0 else Tone.WARN),
        Cell(f"  {before_after(record)}", Tone.NORMAL),
        Cell(f"   by {safe_line(record.strategy, 40)}", Tone.ACCENT),
    )


def detail_lines(detail: CallDetail) -> list[TextLine]:
    """Query, own words, held text, cache, fetched text, fault: what there is of them."""
    record = detail.record
    lines: list[TextLine] = []
    if detail.query:
        source = f"  from {safe_line(detail.query_source, 40)}" if detail.query_source else ""
        query = safe_line(detail.query, _QUERY_CHARACTERS)
        lines.append(_pair("query", query, source))
    if record.overhead_tokens:
        words = fmt.plural(record.overhead_tokens, "token")
        lines.append(_pair("of it", words, " are mms's own words"))
    if record.held_key:
        lines.append(_pair("held", safe_line(record.held_key, 64), "  h opens it, w tries others"))
    if record.cache:
        lines.append(_pair("cache", cache_words(record)))
    if record.fetched_upstream:
        what = f"{record.fetched_upstream}.{record.fetched_tool}"
        lines.append(_pair("fetched", f"held text of {safe_line(what, 120)}"))
    if record.fault:
        fault = safe_line(record.fault, 400)
        lines.append((Cell("\u25b2 fault  ", Tone.WARN), Cell(fault)))
    return lines


def cache_words(record: CallRecord) -> str:
    """Where an answer came from that the upstream was not asked for."""
    if record.cache == "hit":
        return f"kept from {fmt.age(record.cache_age_seconds)} before; the upstream was not asked"
    if record.cache == "shared":
        return "shared with an identical call at the same time"
    return safe_line(record.cache, 40)


def _pair(label: str, text: str, more: str = "") -> TextLine:
    return (
        Cell(f"{label:<7}", Tone.MUTED),
        Cell(text),
        *((Cell(more, Tone.MUTED),) if more else ()),
    )


def compare(before: str, after: str) -> tuple[list[TextLine], list[TextLine]]:
    """Both texts line by line, each with a mark: ``-`` did not reach the agent, ``+`` is mms's.

    A line is the same when it stands in the other text too, whatever its indent and the comma at
    its end. So moved lines count as kept, and the marks cost linear time.
    """
    old, new = _lines(before), _lines(after)
    in_old, in_new = {_bare(line) for line in old}, {_bare(line) for line in new}
    return _marked(old, in_new, "-", Tone.MUTED), _marked(new, in_old, "+", Tone.ACCENT)


def _lines(text: str) -> list[str]:
    return [line[0].text for line in lines_of(text)]


def _bare(line: str) -> str:
    return line.strip().rstrip(",")


def _marked(lines: Sequence[str], other: set[str], mark: str, tone: Tone) -> list[TextLine]:
    marked: list[TextLine] = []
    for line in lines:
        bare = _bare(line)
        if not bare or bare in other:
            marked.append((Cell("  " + line),))
        else:
            marked.append((Cell(f"{mark} ", tone), Cell(line, tone)))
    return marked
