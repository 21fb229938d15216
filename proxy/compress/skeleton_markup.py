"""The outline of HTML and XML: a tree of elements, alike ones counted, with a sample of their text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from config.schema import Compression
from proxy.compress import notices
from proxy.compress.lines import lines_id
from proxy.compress.model import ContentType, Reduction, Task

_TAG = re.compile(
    r"""<(?:(/?)([a-zA-Z_][\w:.-]*+)((?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+)>|!--|!\[CDATA\[|[!?][^<>]*+>)"""
)
_NAMES = re.compile(r"([\w:.-]+)\s*=")
_VOID_NAMES = "area base br col embed hr img input link meta param source track wbr"
_VOID = frozenset(_VOID_NAMES.split())
_SELF_ENDING = frozenset({"li", "p", "tr", "td", "th", "option", "dt", "dd"})
"""HTML elements that end where the next of their kind begins."""
_DEEPEST = 48
"""Deeper elements are counted to their ancestor at this depth."""
_SAMPLE = 60
"""Characters of an element's text that are shown."""
_MOST_NAMES = 8
_MOST_KINDS = 200
"""Kinds of children of one element that are told apart."""
_FORGIVEN = 64
"""How far back an element that was not closed is looked for."""
_LEAST_LINES = 8
"""Texts of fewer lines cannot be addressed by line."""


@dataclass(slots=True)
class _Node:
    name: str
    start: int
    end: int = 0
    count: int = 1
    attributes: list[str] = field(default_factory=list[str])
    text: str = ""
    children: dict[str, _Node] = field(default_factory=dict["str", "_Node"])


@dataclass(frozen=True, slots=True)
class _Entry:
    depth: int
    line: str


def markup_outline(task: Task) -> Reduction | None:
    """The tree within the budget, its outer levels first; ``None`` when there are no elements."""
    root = _tree(task.text, html=task.content is ContentType.HTML)
    if not root.children:
        return None
    entries = _entries(task, root)
    gauge = task.gauge
    whole = gauge.size(task.text)
    sizes = gauge.sizes([entry.line + "\n" for entry in entries])
    footer = gauge.size(notices.footer(task.key, whole, whole, gauge.unit))
    room = task.budget - footer - 2
    for _ in range(12):
        shown = _outer_levels(entries, sizes, room)
        if not shown:
            return None
        body = "\n".join(entry.line for entry in shown)
        size = gauge.size(body)
        answer = f"{body}\n{notices.footer(task.key, size, whole, gauge.unit)}"
        total = gauge.size(answer)
        if total <= task.budget:
            return Reduction(answer, Compression.SKELETON, total - size) if total < whole else None
        room -= max(1, total - task.budget)
    return None


def _outer_levels(entries: Sequence[_Entry], sizes: Sequence[int], room: int) -> list[_Entry]:
    """As many whole levels as fit, and of the next one the first elements."""
    chosen: set[int] = set()
    for level in range(_DEEPEST + 1):
        members = [at for at, entry in enumerate(entries) if entry.depth == level]
        if not members:
            break
        for at in members:
            room -= sizes[at]
            if room < 0:
                break
            chosen.add(at)
        if room < 0:
            break
    return [entry for at, entry in enumerate(entries) if at in chosen]


def _tree(text: str, *, html: bool) -> _Node:
    """Elements by their path, in the order in which each path first appears. Takes linear time."""
    root = _Node("", 0, len(text))
    stack = [root]
    names = [""]
    text_from = -1
    skip_to = 0
    unclosed: set[str] = set()
    for tag in _TAG.finditer(text):
        at = tag.start()
        if at < skip_to:
            continue
        if text_from >= 0 and not stack[-1].text:
            stack[-1].text = text[text_from : min(at, text_from + 400)].strip()[: _SAMPLE + 1]
        text_from = -1
        name = tag[2]
        if name is None:
            end = _END_OF.get(tag[0], "")
            if end and end not in unclosed:
                found = text.find(end, at)
                if found < 0:
                    unclosed.add(end)
                else:
                    skip_to = found + len(end)
            continue
        if html:
            name = name.lower()
        if tag[1]:
            _close(stack, names, name, tag.end())
            continue
        if html and name == names[-1] and name in _SELF_ENDING:
            _close(stack, names, name, tag.start())
        attributes = tag[3]
        node = stack[-1]
        if len(names) <= _DEEPEST:
            node = _child(stack[-1], name, tag, attributes)
        if attributes.endswith("/") or (html and name in _VOID):
            node.end = max(node.end, tag.end())
            continue
        stack.append(node)
        names.append(name)
        text_from = tag.end()
        if html and name in ("script", "style") and name not in unclosed:
            closing = _CLOSING[name].search(text, tag.end())
            if closing is None:
                unclosed.add(name)
            else:
                skip_to = closing.start()
                text_from = -1
    return root


_END_OF = {"<!--": "-->", "<![CDATA[": "]]>"}
_CLOSING = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style")}


def _child(parent: _Node, name: str, tag: re.Match[str], attributes: str) -> _Node:
    node = parent.children.get(name)
    if node is None:
        if len(parent.children) >= _MOST_KINDS:
            name = "\u2026"
            node = parent.children.get(name)
        if node is None:
            node = parent.children[name] = _Node(name, tag.start(), tag.end(), count=0)
    node.count += 1
    if node.count <= 3 and attributes:
        node.attributes.extend(
            one
            for one in _NAMES.findall(attributes[:1000])
            if one not in node.attributes and len(one) < 40
        )
    return node


def _close(stack: list[_Node], names: list[str], name: str, end: int) -> None:
    """Leave the innermost element of that name, if one of the last few is open."""
    for back in range(1, min(len(names), _FORGIVEN) + 1):
        if names[-back] == name and len(names) > back:
            for node in stack[-back:]:
                node.end = max(node.end, end)
            del stack[-back:], names[-back:]
            return


def _entries(task: Task, root: _Node) -> list[_Entry]:
    """The tree as lines, parents before their children."""
    text = task.text
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    located = bool(task.key) and len(starts) >= _LEAST_LINES
    found: list[_Entry] = []
    waiting = [(0, node) for node in reversed(root.children.values())]
    while waiting:
        depth, node = waiting.pop()
        parts = ["  " * depth + node.name]
        if node.attributes:
            parts.append("(" + " ".join(node.attributes[:_MOST_NAMES]) + ")")
        if node.count > 1:
            parts.append(f"\u00d7{node.count:,}")
        if node.text:
            sample = " ".join(node.text.split())
            parts.append(
                ": " + (sample if len(sample) <= _SAMPLE else sample[:_SAMPLE] + notices.MARK)
            )
        if located and (node.children or node.count > 1):
            parts.append(
                f"[{lines_id(bisect_right(starts, node.start), bisect_right(starts, node.end - 1))}]"
            )
        found.append(_Entry(depth, " ".join(parts)))
        waiting.extend((depth + 1, child) for child in reversed(node.children.values()))
    return found
