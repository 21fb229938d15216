"""The beginning word for word, then a table of contents of the rest.

Out of JSON comes JSON: the first members and items as they are, announcements in the place of the others.
"""

from __future__ import annotations

from config.schema import Compression
from proxy.compress.contents import SizeMap, likely, tables
from proxy.compress.contents_json import RICH_TO_BARE, JsonContents, JsonOutline
from proxy.compress.cuts import fit_prefix
from proxy.compress.json_spans import NotJson, quoted
from proxy.compress.lines import count_lines, lines_id
from proxy.compress.model import JSON_TYPES, ContentType, Reduction, Section, Task
from proxy.compress.notices import MARK, footer, json_footer
from proxy.compress.progressive import natural_end
from proxy.compress.sections import sections
from proxy.compress.selective import hint_line, listed
from proxy.compress.titles import one_line

HEAD_SHARES = (0.6, 0.45, 0.3, 0.15)
"""Of the budget, for the beginning; less when the table of contents does not fit beside it."""
_LEAST_HEAD = 8
"""Units. A shorter beginning is worth nothing."""


def hybrid(task: Task) -> Reduction | None:
    """Beginning and table of contents; ``None`` when they do not fit or the text has no parts."""
    if not task.text or task.budget * HEAD_SHARES[-1] < _LEAST_HEAD:
        return None
    sizes = SizeMap(task.text, task.gauge)
    if task.content in JSON_TYPES and task.content is not ContentType.JSON_LINES:
        try:
            return _json(task, sizes)
        except NotJson:
            return None
    parts = listed(sections(task.text, task.content))
    if not parts:
        return None
    for share in HEAD_SHARES:
        found = _text(task, sizes, parts, share)
        if found is not None:
            return found
    return None


def _text(task: Task, sizes: SizeMap, parts: list[Section], share: float) -> Reduction | None:
    text = task.text
    room = int(task.budget * share)
    cut = fit_prefix(text[: room * 16], room, task.gauge)
    if cut >= len(text):
        return None
    cut = (
        _line_end(text, cut)
        if task.content is ContentType.JSON_LINES
        else natural_end(text, 0, cut)
    )
    if cut <= 0:
        return None
    rest = _rest(text, parts, cut)
    hints = likely(text, rest, task.query)
    head = text[:cut].removesuffix("\n")
    shown = task.gauge.size(head)
    end = (task.key, shown, sizes.total, task.gauge.unit, hints[0] if hints else rest[0].id)
    as_json = task.content is ContentType.JSON_LINES
    for table in tables(text, rest, sizes, task):
        if as_json:
            notes = [*([quoted(hint_line(hints))] if hints else []), quoted(json_footer(*end))]
            lines = [head, *table.lines, *notes]
        else:
            heading = f"[{MARK} the rest: section id | {task.gauge.unit} | title]"
            notes = [*([f"[{hint_line(hints)}]"] if hints else []), footer(*end)]
            lines = [head, heading, *table.lines, *notes]
        whole = "\n".join(lines)
        size = task.gauge.size(whole)
        if size <= task.budget and size < sizes.total and len(whole) < len(text):
            return Reduction(whole, Compression.HYBRID, max(0, size - shown))
    return None


def _line_end(text: str, cut: int) -> int:
    """The end of the last whole line before ``cut``; 0 when there is none."""
    return text.rfind("\n", 0, cut) + 1


def _rest(text: str, parts: list[Section], cut: int) -> list[Section]:
    """What comes after the beginning; a section that the cut goes through is listed from there on."""
    found: list[Section] = []
    begun = len(text)
    for part in parts:
        if part.start >= cut:
            begun = min(begun, part.start)
            found.append(part)
    if begun > cut:
        title = one_line(text[cut : cut + 400])
        whole_lines = text[cut - 1] == "\n" and (begun == len(text) or text[begun - 1] == "\n")
        if whole_lines:
            first = count_lines(text[:cut]) + 1
            name = lines_id(first, first + text.count("\n", cut, begun - 1))
        else:
            name = f"chars:{cut}-{begun}"
        level = min((part.level for part in found), default=1)
        found.insert(0, Section(name, title, cut, begun, level))
    return found


def _json(task: Task, sizes: SizeMap) -> Reduction | None:
    def end(contents: JsonContents) -> str:
        return json_footer(
            task.key, contents.inlined, sizes.total, task.gauge.unit, contents.first_hidden
        )

    outline = JsonOutline(task.text)
    window = task.text[: task.budget * 16]
    for share in HEAD_SHARES:
        cut = fit_prefix(window, int(task.budget * share), task.gauge)
        for shape in RICH_TO_BARE[1:]:
            contents = JsonContents(outline, sizes, task.gauge.unit, shape, cut)
            text = contents.write(end)
            if not contents.shown or not contents.first_hidden or len(text) >= len(task.text):
                break
            size = task.gauge.size(text)
            if size <= task.budget and size < sizes.total:
                return Reduction(text, Compression.HYBRID, max(0, size - contents.inlined))
    return None
