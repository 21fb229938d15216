"""``extract`` for logs: what is rare, what failed and what was asked for, in the order it happened.

Lines are grouped by template. A template with few lines is shown whole, a frequent one as its first and
last line with the number between. Errors come with their stack frames and neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from config.schema import Compression
from proxy.compress import log_templates, notices
from proxy.compress.line_view import section_id, show_lines
from proxy.compress.model import Reduction, Task
from proxy.compress.ranking import MAX_QUERY, scores
from proxy.compress.word_search import containing
from proxy.compress.words import query_terms

_ALARM_WORDS = """
err fail exception fatal panic critical traceback abort refused denied timeout timed unreachable
corrupt killed severe oom segfault fehler ошибк 錯誤 错误 失败 エラー 오류
"""
_ALARMS = tuple(word.encode() for word in _ALARM_WORDS.split())
"""Quick to look for. A line with one of these is read to know whether something bad happened."""
_GRAVE = re.compile(
    r"\b(?:FATAL|[Ff]atal|PANIC|panic|CRITICAL|EMERG|Traceback|SEVERE|segfault|[Oo]ut of memory|OOM)\b"
)
_SERIOUS = re.compile(
    r"\b(?:[Ee]rror|ERROR|ERR|[Ff]ailed|FAILED|[Ff]ailure|FAIL|[A-Za-z]*(?:Exception|Error))\b|\bE/|^E\d{4} "
    r"|ошибк|錯誤|错误|失败|エラー|오류|Fehler|[Ee]rr(?:eur|ore)",
)
_DOUBTFUL = re.compile(
    r"\b(?:refused|denied|time-?out|timed out|unreachable|corrupt|killed|abort|fail|oom)",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"\b(?:0|no|zero|without|any|ignoring|ignored|recovered from) (?:[a-z]+ )?"
    r"(?:errors?|failures?|exceptions?|failed|timeouts?)\b"
    r"|\b(?:errors?|failures?|failed|exceptions?|timeouts?|(?:errors?|fail(?:ures?|ed)?)_?(?:count|total|rate)?)"
    r"[\"']?\s*[=:]\s*[\"']?(?:0|none|null|false|nil|no)\b",
    re.IGNORECASE,
)
_COUNTED = ("error", "fail", "exception", "timeout")
_NONE = ("0 ", "no ", "zero ", "without ", "any ", "ignor", "recovered ")
_COUNT_OF_NONE = re.compile(r"(?:error|fail|exception|timeout)[a-z_]*[\"']?\s*[=:]\s*[\"']?[0nf]")
"""In lower case, one of `_COUNTED`, and one of `_NONE` or this, stand in what is harmless; they are looked
for in a fraction of the time."""
_GRAVE_HINTS = (
    *(b"fatal", b"panic", b"critical", b"emerg", b"traceback"),
    *(b"severe", b"segfault", b"out of memory", b"oom"),
)
"""One of these stands in what is grave."""
_FRAME = re.compile(
    r"^(?:\s+\S|Caused by\b|Traceback \(|Suppressed:|\.\.\. \d+ more|goroutine \d+"
    r"|[\w.$]{1,200}(?:Error|Exception)\b)"
)
_START = 400
"""Characters at the beginning of a line that tell whether it is a stack frame."""
_READ = 1000
"""Characters of a line that are read to know how bad it is."""
_MOST_FRAMES = 40
_RARE = 2
"""Templates with so many lines or fewer are shown whole."""
_LEAST_LINES = 4
_CHECKED = 6
"""Lines of one template that are read to know whether it reports something bad."""
_MOST_TRACES = 4
_MOST_FIRST = 120
"""Lines of each kind that come first."""
_FEW = 40
"""A word of the query in so few lines is telling in any case."""
_COMMON_TERM = 0.02
"""A word of the query in more than this share of the lines says nothing about which."""


@dataclass(frozen=True, slots=True)
class _Findings:
    """Lines worth showing, each list the most important first."""

    asked: Sequence[int]
    alarms: Sequence[int]
    """One line per template of errors."""
    more_alarms: Sequence[int]
    odd: Sequence[int]
    """A value that the line's template does not usually have."""
    rare: Sequence[int]
    """Of templates with very few lines."""
    frequent: Sequence[int]
    """First and last line of the other templates."""


def extract_log(task: Task) -> Reduction | None:
    """The lines that matter within the budget; ``None`` when there are too few to choose from."""
    lines = task.text.split("\n")
    if len(lines) < _LEAST_LINES:
        return None
    groups = log_templates.group(task.text, lines, _ALARMS)
    frequent = [members for members in groups.templates if len(members) > _RARE]
    frequent.sort(key=lambda members: (-len(members), members[0]))
    rare = [index for members in groups.templates if len(members) <= _RARE for index in members]
    alarms, more_alarms = _alarms(lines, groups.suspects)
    findings = _Findings(
        asked=_asked(task.query, task.text, lines),
        alarms=alarms,
        more_alarms=more_alarms,
        odd=_odd(groups),
        rare=_telling_first([index for index in rare if lines[index].strip()], groups),
        frequent=[members[end] for end in (0, -1) for members in frequent],
    )
    notes = {
        members[0]: _similar(len(members), section_id(task, members[0], members[-1]))
        for members in frequent
        if len(members) > _RARE + 2 and _FRAME.match(lines[members[0]][:_START]) is None
    }
    return show_lines(task, lines, _ranked(lines, findings), Compression.EXTRACT, notes)


def _similar(count: int, section: str) -> str:
    """How often a template occurs, and where."""
    where = f": {section}" if section else ""
    return f"[{notices.MARK} {count:,} lines like this{where}]"


def _ranked(lines: Sequence[str], found: _Findings) -> Iterator[int]:
    """Lines by importance, with what belongs to them; all of them in the end."""
    last = len(lines) - 1
    while last > 0 and not lines[last].strip():
        last -= 1
    yield 0
    yield last
    traced = 0
    first = ((found.asked, 2), (found.alarms, 3), (found.odd, 2), (found.rare, 2))
    for source, line in _in_turns(
        [(islice(lines_, _MOST_FIRST), turns) for lines_, turns in first]
    ):
        yield line
        if source <= 1 and traced < _MOST_TRACES:
            frames = _frames(lines, line)
            traced += bool(frames)
            yield from frames
    yield from found.frequent[:80]
    close = [
        *islice(found.asked, 12),
        *islice(found.alarms, 12),
        *islice(found.odd, 6),
        *islice(found.rare, 6),
    ]
    for step in (1, -1, 2, -2):
        yield from (line + step for line in close if 0 <= line + step <= last)
    yield from found.more_alarms
    yield from found.asked[_MOST_FIRST:400]
    yield from found.rare[_MOST_FIRST:400]
    yield from found.frequent[80:]
    for step in range(last + 1):
        if step > last - step:
            return
        yield step
        yield last - step


def _in_turns(sources: Sequence[tuple[Iterator[int], int]]) -> Iterator[tuple[int, int]]:
    """So many lines of each source in turn, with the source's number, until all are exhausted."""
    left = list(enumerate(sources))
    while left:
        rest: list[tuple[int, tuple[Iterator[int], int]]] = []
        for number, (source, turns) in left:
            taken = list(islice(source, turns))
            yield from ((number, line) for line in taken)
            if len(taken) == turns:
                rest.append((number, (source, turns)))
        left = rest


def _frames(lines: Sequence[str], line: int) -> list[int]:
    """The stack frames after a line."""
    found: list[int] = []
    for index in range(line + 1, min(len(lines), line + 1 + _MOST_FRAMES)):
        if _FRAME.match(lines[index][:_START]) is None:
            break
        found.append(index)
    return found


def _odd(groups: log_templates.Groups) -> list[int]:
    """Unusual words in a column, far numbers, words of a line's own, in turns: they are not comparable."""
    found = sorted(groups.unusual, key=lambda one: (-one.surprise, one.line))
    words = [one.line for one in found if one.surprise < 1]
    numbers = [one.line for one in found if one.surprise >= 1]
    turns = [(iter(source), 1) for source in (words, groups.strange, numbers)]
    return [line for _, line in _in_turns(turns)]


def _telling_first(rare: list[int], groups: log_templates.Groups) -> list[int]:
    """Rare lines: unlike all others first, then with words of their own, then those that stand alone.

    One rare line among frequent ones says more than one of a block, as at a program's start.
    """
    known = set(rare)
    rank = dict.fromkeys(groups.strange, 2)
    rank |= {line: rank.get(line, 3) - 2 for line in groups.lone}
    return sorted(
        rare, key=lambda line: (rank.get(line, 3), (line - 1 in known) + (line + 1 in known), line)
    )


def _alarms(lines: Sequence[str], suspects: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Lines that report something bad: one per form, the grave first; then the others, spread.

    Of lines that stand alone no more are read than are shown.
    """
    # All lines of a form say the same but for numbers, so a few tell how bad it is.
    checked = [[lines[index][:_READ] for index in members[:_CHECKED]] for members in suspects]
    texts = ["\n".join(heads).encode("utf-8", "surrogatepass") for heads in checked]
    hinted = containing(texts, _GRAVE_HINTS)
    alarming: list[tuple[int, int, Sequence[int]]] = []
    enough = _MOST_FIRST
    order = sorted(
        range(len(suspects)), key=lambda at: (at not in hinted, len(suspects[at]), suspects[at][0])
    )
    for at in order:
        members, may_be_grave = suspects[at], at in hinted
        if enough <= 0 and len(members) == 1:
            continue  # all that was found is as grave at least, and comes first
        worst = max([_gravity(head, may_be_grave=may_be_grave) for head in checked[at]])
        if worst:
            alarming.append((-worst, len(members), members))
        if worst == (3 if may_be_grave else 2):
            enough -= 1
    alarming.sort()
    first = [members[0] for _, _, members in alarming]
    others = [index for _, _, members in alarming for index in _spread(members[1:], 24)]
    return first, others


def _gravity(head: str, *, may_be_grave: bool) -> int:
    """0: nothing happened; 1: perhaps something; 2: an error; 3: the end of something."""
    low = head.lower()
    if any(map(low.__contains__, _COUNTED)) and (
        any(map(low.__contains__, _NONE)) or _COUNT_OF_NONE.search(low) is not None
    ):
        head = _HARMLESS.sub("", head)
    if may_be_grave and _GRAVE.search(head) is not None:
        return 3
    if _SERIOUS.search(head) is not None:
        return 2
    return 1 if _DOUBTFUL.search(head) is not None else 0


def _spread(lines: Sequence[int], most: int) -> Sequence[int]:
    """At most so many of the lines, the last one first, the others evenly between."""
    if len(lines) <= most:
        return lines[::-1]
    step = len(lines) / most
    return [lines[-1 - int(number * step)] for number in range(most)]


def _asked(query: str, text: str, lines: Sequence[str]) -> list[int]:
    """Lines that answer the query, the best first."""
    terms = query_terms(query[:MAX_QUERY])
    if not terms:
        return []
    folded = text.lower()
    counts = {term: folded.count(term) for term in terms}
    telling = [term for term in terms if counts[term] <= max(_FEW, len(lines) * _COMMON_TERM)]
    if not any(counts[term] for term in telling):
        least = min((count for count in counts.values() if count), default=0)
        telling += [term for term in terms if 0 < counts[term] == least <= len(lines) // 4]
    if not telling:
        return []
    values = scores(" ".join(telling), lines)
    found = [index for index, value in enumerate(values) if value > 0]
    found.sort(key=lambda index: (-values[index], index))
    return found
