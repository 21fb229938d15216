"""Edits of TOML text that leave every other byte alone. Pure; rendered values come in as text.

Edits go by offsets and not through a TOML document model, because those hang a comment to the table
before it: adding a key, or removing a table, then takes the comment away from the table below that
it speaks about. A comment directly above a header stays with that header here. The caller checks
the outcome with `tomllib`, so an unusual layout leads to a refusal and never to a damaged file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from config.locate import Entry, scan_entries
from config.toml_text import KeyPath, dotted

_COMMENTS_BELOW = re.compile(r"(?:[ \t]*#[^\n]*\n)+(?=[ \t]*\r?\n|\Z)")
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)+")


def set_value(text: str, path: KeyPath, rendered: str, *, in_table_of_texts: bool = False) -> str:
    """Give the key at ``path`` a value; make the key, and its table, where they are missing.

    ``in_table_of_texts``: the last two names belong together (``env.TOKEN``), so that no header is
    made for the first of them when its own table has one.
    """
    entries = scan_entries(text)
    for entry in entries:
        if entry.path == path and not entry.is_header:
            return text[: entry.value_start] + rendered + text[entry.end :]
    if any(entry.path[: len(path)] == path for entry in entries):
        # The table is there as a header or as dotted keys; the value comes instead.
        text = remove(text, path)
        entries = scan_entries(text)
    inline = _inline_table_above(text, entries, path)
    if inline is not None:
        return _into_inline_table(text, entries, inline, path, rendered)
    if len(path) == 1:
        return _into_root(text, entries, f"{dotted(path)} = {rendered}")
    sibling = _dotted_sibling(entries, path)
    if sibling is not None:
        line = f"{dotted(path[len(sibling.table) :])} = {rendered}"
        return _insert_line(text, sibling.end, line)
    for names in (1, 2) if in_table_of_texts else (1,):
        header = _last_header(entries, path[:-names])
        if header is not None:
            line = f"{dotted(path[-names:])} = {rendered}"
            return _insert_line(text, _end_of_section(entries, header), line)
    return append_table(text, path[:-1], {path[-1]: rendered})


def append_table(text: str, path: KeyPath, rendered: Mapping[str, str]) -> str:
    """Add a table with its keys at the end, or in the inline table that holds its siblings."""
    entries = scan_entries(text)
    inline = _inline_table_above(text, entries, path)
    if inline is not None:
        inside = ", ".join(f"{dotted((name,))} = {value}" for name, value in rendered.items())
        return _into_inline_table(text, entries, inline, path, f"{{ {inside} }}")
    newline = _newline(text)
    lines = [f"[{dotted(path)}]"]
    lines += (f"{dotted((name,))} = {value}" for name, value in rendered.items())
    before = text if not text or text.endswith("\n") else text + newline
    if before.strip() and not before.endswith(("\n\n", "\n\r\n")):
        before += newline
    return before + newline.join(lines) + newline


def remove(text: str, path: KeyPath) -> str:
    """Take out the key or the table at ``path`` with all below it and its own comments."""
    entries = scan_entries(text)
    size = len(path)
    for entry in entries:
        if entry.path == path and entry.inside is not None:
            return _out_of_inline_table(text, entries, entry)
    spans: list[tuple[int, int]] = []
    for entry in entries:
        if entry.path[:size] != path:
            continue
        if entry.is_header:
            spans.append(_section_span(text, entries, entry))
        elif len(entry.table) < size and entry.inside is None:
            spans.append((_line_start(text, entry.start), _line_end(text, entry.end)))
    return _without(text, spans)


def _inline_table_above(text: str, entries: Iterable[Entry], path: KeyPath) -> Entry | None:
    """The innermost assignment of an inline table that ``path`` lies in."""
    found: Entry | None = None
    for entry in entries:
        is_above = len(entry.path) < len(path) and entry.path == path[: len(entry.path)]
        is_table = not entry.is_header and text.startswith("{", entry.value_start)
        if is_above and is_table and (found is None or len(entry.path) > len(found.path)):
            found = entry
    return found


def _into_inline_table(
    text: str, entries: Iterable[Entry], table: Entry, path: KeyPath, rendered: str
) -> str:
    item = f"{dotted(path[len(table.path) :])} = {rendered}"
    inside = [entry for entry in entries if entry.inside == table.value_start]
    if not inside:
        return f"{text[: table.value_start]}{{ {item} }}{text[table.end :]}"
    at = inside[-1].end
    return f"{text[:at]}, {item}{text[at:]}"


def _out_of_inline_table(text: str, entries: Iterable[Entry], gone: Entry) -> str:
    """Remove one item together with the comma on one side of it."""
    items = [entry for entry in entries if entry.inside == gone.inside]
    at = items.index(gone)
    if at > 0:
        start, end = items[at - 1].end, gone.end
    elif len(items) > 1:
        start, end = gone.start, items[1].start
    else:
        start, end = gone.start, gone.end
        while text[end : end + 1] == " " and text[start - 1 : start] == " ":
            end += 1
    return text[:start] + text[end:]


def _dotted_sibling(entries: Iterable[Entry], path: KeyPath) -> Entry | None:
    """An assignment whose dotted key made a table that ``path`` lies in; no header may reopen it."""
    found: Entry | None = None
    depth = 0
    for entry in entries:
        if entry.is_header or entry.inside is not None:
            continue
        common = _common(entry.path[:-1], path[:-1])
        if common > len(entry.table) and common >= depth:
            found, depth = entry, common
    return found


def _common(one: KeyPath, other: KeyPath) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _last_header(entries: Iterable[Entry], path: KeyPath) -> Entry | None:
    found = [entry for entry in entries if entry.is_header and entry.path == path]
    return found[-1] if found else None


def _into_root(text: str, entries: tuple[Entry, ...], line: str) -> str:
    """A key of the top goes behind its siblings, or before the first table and its comment."""
    own: list[Entry] = []
    for entry in entries:
        if entry.is_header:
            break
        own.append(entry)
    if own:
        return _insert_line(text, max(entry.end for entry in own), line)
    newline = _newline(text)
    if not entries:
        before = text if not text or text.endswith("\n") else text + newline
        return f"{before}{line}{newline}"
    at = _comment_start(text, entries[0].start)
    return f"{text[:at]}{line}{newline}{newline}{text[at:]}"


def _insert_line(text: str, behind: int, line: str) -> str:
    """A new line below the one in which the offset ``behind`` lies."""
    at = _line_end(text, behind)
    newline = _newline(text)
    gap = "" if text[:at].endswith("\n") else newline
    return f"{text[:at]}{gap}{line}{newline}{text[at:]}"


def _end_of_section(entries: Iterable[Entry], header: Entry) -> int:
    """The end of the last key below a header, or of the header itself."""
    end = header.end
    for entry in entries:
        if entry.start > header.start:
            if entry.is_header:
                break
            end = max(end, entry.end)
    return end


def _section_span(text: str, entries: Iterable[Entry], header: Entry) -> tuple[int, int]:
    """A header with the comment right above it, its keys, and comments that end with them."""
    start = _comment_start(text, header.start)
    if start == 0:
        start = _line_start(text, header.start)  # the comment at the top is about the file
    end = _line_end(text, _end_of_section(entries, header))
    below = _COMMENTS_BELOW.match(text, end)
    return start, below.end() if below else end


def _comment_start(text: str, offset: int) -> int:
    """The start of the unbroken block of comment lines right above the line of ``offset``."""
    start = _line_start(text, offset)
    while start > 0:
        above = _line_start(text, start - 1)
        if not text[above:start].lstrip(" \t").startswith("#"):
            break
        start = above
    return start


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """Cut the spans out; where blank lines were on both sides, those behind go too."""
    for start, end in sorted(spans, reverse=True):
        blank = _BLANK_LINES.match(text, end)
        is_after_gap = start == 0 or text[:start].endswith(("\n\n", "\n\r\n"))
        if blank and is_after_gap:
            end = blank.end()
        text = text[:start] + text[end:]
    return text


def _line_start(text: str, offset: int) -> int:
    return text.rfind("\n", 0, offset) + 1


def _line_end(text: str, offset: int) -> int:
    """Behind the line break, or the end of the text."""
    at = text.find("\n", offset)
    return len(text) if at < 0 else at + 1


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
