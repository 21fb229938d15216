"""A repeated call: say what changed since the earlier answer, when that is clearly less.

An unchanged answer becomes one line. A changed one becomes a unified diff of its lines; JSON is laid out
for that, and its hunks name the pointer of the place. Both full texts are named by their handles.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from config.schema import Compression
from proxy.compress.json_sections import pointer_to
from proxy.compress.json_spans import NotJson, children, root, skip_space
from proxy.compress.line_diff import Hunk, line_diff
from proxy.compress.lines import start_of_line
from proxy.compress.model import JSON_TYPES, ContentType, Reduction, Task
from proxy.compress.notices import MARK, READ_MORE, SELECT_CHUNKS
from proxy.loose_json import indented

CONTEXT = 2
"""Unchanged lines before and after a change."""
LARGEST = 8 * 1024 * 1024
"""Characters of either text."""
_BUDGET_SHARE = 0.6
_TEXT_SHARE = 0.5
"""A diff is worth sending when it takes at most one of these shares of the budget or of the new text."""
_DEEPEST_PLACE = 40
"""Levels of JSON to which places are named."""
_MOST_CHANGED = 4_000
"""Changed lines above which a diff says less than the text."""


def delta(old: str, new: str, task: Task) -> Reduction | None:
    """What to send instead of ``new``, which is ``task.text``; ``old`` was the earlier answer.

    ``None`` when nothing can be fetched (no key), or when a diff would not be clearly smaller.
    """
    if not task.key:
        return None
    if old == new:
        return _short(
            f'[{MARK} unchanged since your earlier identical call; full text: {READ_MORE}(key="{task.key}")]',
            task,
        )
    if max(len(old), len(new)) > LARGEST:
        return None
    as_json = task.content in JSON_TYPES and task.content is not ContentType.JSON_LINES
    was, now = (_laid_out(old), _laid_out(new)) if as_json else (old, new)
    before, after = _lines(was, as_json=as_json), _lines(now, as_json=as_json)
    old_key = _key(old)
    hunks = line_diff(before, after)
    if not hunks:
        return _short(
            f"[{MARK} unchanged since your earlier identical call but for white space; full text: "
            f'{READ_MORE}(key="{task.key}"), earlier: {READ_MORE}(key="{old_key}")]',
            task,
        )
    if (
        sum(hunk.old_end - hunk.old_start + hunk.new_end - hunk.new_start for hunk in hunks)
        > _MOST_CHANGED
    ):
        return None
    places = _places(now, [hunk.new_start for hunk in hunks]) if as_json else ()
    changed = f"{len(hunks):,} places" if len(hunks) > 1 else "1 place"
    head = (
        f"[{MARK} {changed} changed since your earlier identical call, as a diff. "
        f'Full text: {SELECT_CHUNKS}(key="{task.key}", sections=["lines:1-80"]) '
        f'or {READ_MORE}(key="{task.key}")]'
    )
    names = f"--- {old_key} (earlier)\n+++ {task.key} (now)"
    body = "\n".join(_unified(before, after, hunks, places))
    text = f"{head}\n{names}\n{body}"
    if len(text.encode("utf-8", "surrogatepass")) > 40 * task.budget:
        return None
    size = task.gauge.size(text)
    whole = task.gauge.size(new)
    if size > task.budget or size >= whole:
        return None
    if size > _BUDGET_SHARE * task.budget and size > _TEXT_SHARE * whole:
        return None
    return Reduction(text, Compression.DELTA, task.gauge.size(f"{head}\n{names}\n"))


def _short(text: str, task: Task) -> Reduction | None:
    size = task.gauge.size(text)
    if size > task.budget or size >= task.gauge.size(task.text):
        return None
    return Reduction(text, Compression.DELTA, size)


def _key(text: str) -> str:
    """The handle under which a text is held."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _laid_out(text: str) -> str:
    return indented(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


def _lines(laid_out: str, *, as_json: bool) -> list[str]:
    """The lines that are compared; of JSON without the commas that only say that more follows."""
    if not as_json:
        return laid_out.split("\n")
    return laid_out.replace(",\n", "\n").split("\n")


def _unified(
    before: Sequence[str], after: Sequence[str], hunks: Sequence[Hunk], places: Sequence[str]
) -> list[str]:
    """The lines of a unified diff; changes that are near each other stand in one hunk."""
    found: list[str] = []
    groups: list[list[int]] = []
    for index, hunk in enumerate(hunks):
        if groups and hunk.new_start - hunks[groups[-1][-1]].new_end <= 2 * CONTEXT:
            groups[-1].append(index)
        else:
            groups.append([index])
    for group in groups:
        first, last = hunks[group[0]], hunks[group[-1]]
        lead = min(CONTEXT, first.new_start)
        trail = min(CONTEXT, len(after) - last.new_end)
        old_from, old_to = first.old_start - lead, last.old_end + trail
        new_from, new_to = first.new_start - lead, last.new_end + trail
        where = f" {places[group[0]]}" if places else ""
        found.append(f"@@ -{_range(old_from, old_to)} +{_range(new_from, new_to)} @@{where}")
        at = new_from
        for index in group:
            hunk = hunks[index]
            found += [f" {line}" for line in after[at : hunk.new_start]]
            found += [f"-{line}" for line in before[hunk.old_start : hunk.old_end]]
            found += [f"+{line}" for line in after[hunk.new_start : hunk.new_end]]
            at = hunk.new_end
        found += [f" {line}" for line in after[at:new_to]]
    return found


def _range(start: int, end: int) -> str:
    """Lines of one side as a unified diff counts them."""
    count = end - start
    first = start + 1 if count else start
    return f"{first}" if count == 1 else f"{first},{count}"


def _places(laid_out: str, lines: Sequence[int]) -> list[str]:
    """For lines of JSON laid out, by rising index: the id of the container that each stands in."""
    offsets: list[int] = []
    at = line = 0
    for wanted in lines:
        at = start_of_line(laid_out, wanted - line + 1, at)
        line = wanted
        offsets.append(skip_space(laid_out, at))
    found = ["json:"] * len(offsets)
    try:
        waiting = [(*root(laid_out), "", range(len(offsets)))]
        while waiting:
            start, end, pointer, inside = waiting.pop()
            if pointer.count("/") >= _DEEPEST_PLACE:
                continue
            is_array = laid_out[start] == "["
            index = inside.start
            for place, child in enumerate(children(laid_out, start, end)):
                while index < inside.stop and offsets[index] <= child.start:
                    index += 1
                begun = index
                while index < inside.stop and offsets[index] < child.end:
                    index += 1
                if index > begun and laid_out[child.start] in "[{":
                    name = pointer_to(pointer, child.key, place, is_array)
                    found[begun:index] = [f"json:{name}"] * (index - begun)
                    if "#" not in name:
                        waiting.append((child.start, child.end, name, range(begun, index)))
                if index == inside.stop:
                    break
    except NotJson:
        return found
    return found
