"""The outline of a diff: its files with the numbers of changed lines, its hunks, their first changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from proxy.compress import notices
from proxy.compress.line_view import section_id
from proxy.compress.model import Task
from proxy.compress.skeleton_model import Outline, asked_lines

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
_ABOUT = (
    "new file",
    "deleted file",
    "rename ",
    "copy ",
    "similarity",
    "Binary files",
    "GIT binary",
)


@dataclass(slots=True)
class _File:
    """One file of the diff while it is read."""

    first: int
    header: list[int] = field(default_factory=list[int])
    hunks: list[list[int]] = field(default_factory=list[list[int]])
    """Per hunk its header line and the changed lines."""
    added: int = 0
    removed: int = 0
    last: int = 0


def diff_outline(task: Task, lines: Sequence[str]) -> Outline | None:
    """Files and hunks; ``None`` when there is no hunk."""
    files = _files(lines)
    if not any(file.hunks for file in files):
        return None
    notes = {
        file.header[-1]: _changes(file, section_id(task, file.first, file.last))
        for file in files
        if file.header
    }
    return Outline(_ranked(task, lines, files), notes)


def _changes(file: _File, section: str) -> str:
    where = f": {section}" if section else ""
    return f"[{notices.MARK} {file.added:,} lines added, {file.removed:,} removed{where}]"


def _files(lines: Sequence[str]) -> list[_File]:
    files: list[_File] = []
    in_hunk = False
    for index, line in enumerate(lines[:-1] if not lines[-1] else lines):
        mark = line[:1]
        if line.startswith("diff ") or (
            line.startswith("--- ") and _begins_file(lines, index, in_hunk, files)
        ):
            files.append(_File(index, header=[index]))
            in_hunk = False
        elif not files:
            continue
        elif mark == "@" and _HUNK.match(line):
            files[-1].hunks.append([index])
            in_hunk = True
        elif not in_hunk:
            if line.startswith(("--- ", "+++ ", *_ABOUT)):
                files[-1].header.append(index)
        elif mark == "+":
            files[-1].added += 1
            files[-1].hunks[-1].append(index)
        elif mark == "-":
            files[-1].removed += 1
            files[-1].hunks[-1].append(index)
        files[-1].last = index
    return files


def _begins_file(lines: Sequence[str], index: int, in_hunk: bool, files: Sequence[_File]) -> bool:
    """A ``---`` line begins a file unless a ``diff`` line did so already, or it is a removed line."""
    follows = index + 1 < len(lines) and lines[index + 1].startswith("+++ ")
    return follows and (
        in_hunk or not files or any(lines[at].startswith("+++ ") for at in files[-1].header)
    )


def _ranked(task: Task, lines: Sequence[str], files: Sequence[_File]) -> Iterator[int]:
    asked = asked_lines(task.query, lines)
    yield from asked[:20]
    yield from range(min(3, files[0].first))
    for file in files:
        # What is between these two is shown where that is cheaper than to announce it.
        yield file.header[0]
        yield file.header[-1]
    hunks = [hunk for file in files for hunk in file.hunks]
    yield from (hunk[0] for hunk in hunks)
    for file in files:
        yield from file.header
    yield from asked
    longest = max((len(hunk) for hunk in hunks), default=0)
    for step in range(1, min(longest, 400)):
        for hunk in hunks:
            if step < len(hunk):
                yield hunk[step]
    yield from range(len(lines))
