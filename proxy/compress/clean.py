"""CLEAN: remove what is noise beyond doubt for the kind of text, and nothing else.

It runs only when an answer is over its budget, or when the operator asks for it, and the original is
held. So the question is not "could this matter?" but "can it be proven that it does not?": colours of a
terminal, states of a progress bar that were overwritten, tags of a real HTML page, invisible white
space. Source code, XML, JSON and tables are never touched; neither is anything inside code fences.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from proxy.compress.html_text import html_to_text, is_document
from proxy.compress.model import JSON_TYPES, ContentType
from proxy.compress.text_lines import is_tidy

_UNTOUCHED = JSON_TYPES | {ContentType.CODE, ContentType.XML, ContentType.TABLE}
_REWRITTEN = frozenset({ContentType.LOG, ContentType.TRACE, ContentType.MIXED, ContentType.PROSE})
"""Where a carriage return inside a line goes back to its beginning."""
_LAID_OUT = frozenset(
    {ContentType.LOG, ContentType.TRACE, ContentType.MIXED, ContentType.PROSE, ContentType.MARKDOWN}
)
_READ_BY_LINES = frozenset({ContentType.MIXED, ContentType.PROSE, ContentType.MARKDOWN})
"""Texts whose lines are asked for again when they are cut."""
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)|[()][0-9A-B]|[=>78cDEHM])"
)
"""Complete control sequences: CSI, OSC, character sets, single functions. An unfinished one stays."""
_COLOURS = re.compile(r"\x1b\[[0-9;:]*+[mK]")
_BLANK_LINES = re.compile(r"\n{4,}|(?:\r\n){4,}")
_FENCE = re.compile(r"\n {0,3}(`{3,}+|~{3,}+)")
"""Begins with a fixed character, which is searched for much faster than the beginning of a line."""
_PROGRESS = re.compile(
    r"[\d\s%#=>.,:;/|\\()\[\]<*_+\u2500-\u259f\u2800-\u28ff-]+|\b(?:[kKMGT]i?)?[Bb](?:ytes)?(?:/s)?\b"
    r"|\b(?:eta|it|s|m|h|ms)\b",
    re.IGNORECASE,
)
"""What changes in a progress bar: numbers, bars, spinners, units."""
_BAR = re.compile(r"%|##|==|[\u2501\u2588-\u258f\u2801-\u28ff]|\d\s?/\s?\d|\d\s?[kKMG]?i?B\b")
"""Without one of these a line is not known to be a progress bar."""


def clean(text: str, content: ContentType) -> str:
    """The text without its noise; the same text when none is proven."""
    if content in _UNTOUCHED:
        return text
    if content is ContentType.HTML:
        return html_to_text(text) if is_document(text) else text
    if "\x1b" in text:
        text = (_COLOURS if content is ContentType.DIFF else _ESCAPES).sub("", text)
    if content in _REWRITTEN and "\r" in text:
        text = _outside_fences(text, _without_rewrites)
    if content in _READ_BY_LINES and is_tidy(text):
        return text
    if content in _LAID_OUT and (_has_white_ends(text) or _has_blank_lines(text)):
        text = _outside_fences(text, _laid_out if content is not ContentType.MARKDOWN else _aired)
    return text


def _laid_out(text: str) -> str:
    return _fewer_blank_lines(_right_stripped(text))


def _aired(text: str) -> str:
    return _fewer_blank_lines(_white_lines_emptied(text))


def _outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Apply ``change`` to everything but fenced code. A fence that is not closed reaches to the end."""
    if ("`" not in text or "```" not in text) and ("~" not in text or "~~~" not in text):
        return change(text)
    out: list[str] = []
    place = 0
    fence = ""
    for found in _FENCE.finditer("\n" + text):
        marks, start, end = found[1], found.start(), found.end() - 1
        if not fence:
            out.append(change(text[place:start]))
            place, fence = start, marks
        elif marks[0] == fence[0] and len(marks) >= len(fence) and _ends_line(text, end):
            out.append(text[place:end])
            place, fence = end, ""
    out.append(text[place:] if fence else change(text[place:]))
    return "".join(out)


def _ends_line(text: str, at: int) -> bool:
    """Nothing but white space follows on this line (a closing fence has no language)."""
    end = text.find("\n", at)
    return not text[at : len(text) if end < 0 else end].strip()


def _without_rewrites(text: str) -> str:
    """Lines that a carriage return began anew keep their last state only."""
    if text.count("\r") == text.count("\r\n"):
        return text
    lines = text.split("\n")
    for index, line in enumerate(lines):
        inner, end = (
            (line[:-1], "\r") if line.endswith("\r") and index < len(lines) - 1 else (line, "")
        )
        if "\r" in inner:
            lines[index] = _last_states(inner) + end
    return "\n".join(lines)


def _last_states(line: str) -> str:
    """Drop a state that is empty, or differs from the next one only in numbers and bars."""
    states = line.split("\r")
    shapes = [_PROGRESS.sub("", state) for state in states]
    kept: list[str] = []
    for at, state in enumerate(states[:-1]):
        following = states[at + 1]
        same = shapes[at] == shapes[at + 1] and _BAR.search(state) is not None
        if state.strip() and (not same or not following.strip()):
            kept.append(state)
    kept.append(states[-1])
    return "\r".join(kept)


def _ends_white(text: str) -> bool:
    """Whether white space stands before a line's end. Most texts have neither tab nor carriage return."""
    tabs, returns = "\t" in text, "\r" in text
    return (
        " \n" in text
        or (tabs and "\t\n" in text)
        or (returns and (" \r\n" in text or (tabs and "\t\r\n" in text)))
    )


def _has_white_ends(text: str) -> bool:
    """Some line ends in a space or a tab. Single characters are found ten times as fast as pairs."""
    if " \n" in text:
        return True
    if "\r" in text:
        return " \r\n" in text or "\t\r\n" in text or "\t\n" in text
    return "\t" in text and "\t\n" in text


def _has_blank_lines(text: str) -> bool:
    """Three or more blank lines follow each other."""
    return "\n\n\n\n" in text or ("\r" in text and "\r\n\r\n\r\n\r\n" in text)


def _right_stripped(text: str) -> str:
    if not _ends_white(text):
        return text
    lines = text.split("\n")
    last = lines.pop()
    stripped = [
        line[:-1].rstrip(" \t") + "\r" if line.endswith("\r") else line.rstrip(" \t")
        for line in lines
    ]
    return "\n".join([*stripped, last])


def _white_lines_emptied(text: str) -> str:
    """Only lines that are nothing but white space: two spaces at a line's end mean something in Markdown."""
    if not _ends_white(text):
        return text
    lines = text.split("\n")
    last = lines.pop()
    emptied = [line if line.strip() else ("\r" if line.endswith("\r") else "") for line in lines]
    return "\n".join([*emptied, last])


def _fewer_blank_lines(text: str) -> str:
    if "\n\n\n\n" not in text and ("\r" not in text or "\r\n\r\n\r\n\r\n" not in text):
        return text
    return _BLANK_LINES.sub(
        lambda found: found[0][:6] if found[0][0] == "\r" else found[0][:3], text
    )
