"""What a text is, found in the text itself.

JSON is parsed as a whole. Everything else is judged by a sample: the beginning, a part of the middle
and the end, since every megabyte must be judged in 3 ms.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from proxy.compress.detect_json import json_type
from proxy.compress.model import ContentType

SAMPLE = 24_000
"""Characters that are looked at, two thirds of them at the beginning."""
MAX_LINES = 400
"""Lines of the sample that are judged one by one."""

_FRAME = re.compile(
    r"\s*(?:at [\w$.<>\[\]` /|-]{1,200}[(\w]|File \"[^\"\n]{1,300}\", line \d+|#\d+ +0x|"
    r"goroutine \d+ \[|Caused by: |"
    r"\.{3} \d+ more|\d+: +0x[0-9a-f]+ - |[\w./-]{1,200}\.(?:go|rs|rb|php):\d+|from [^\n:]{1,200}:\d+:in |"
    r"Traceback \(most recent call last\)|thread '[^'\n]{0,100}' (?:\(\d+\) )?panicked at|"
    r"Exception in thread|panic: )"
)
_EXCEPTION = re.compile(r"[\w.$]{0,200}(?:Error|Exception|Panic)\b(?:: |$)")
_STAMP = re.compile(
    r"[\[(<]?(?:\d{4}[-/.]\d\d?[-/.]\d\d?[T ,_]|\d\d?[-/.]\d\d?[-/.]\d{2,4}[ T,]|"
    r"\d\d:\d\d:\d\d|\d{2}/[A-Z][a-z]{2}/\d{4}|"
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)?,? ?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|"
    r"Dec) +\d{1,2} |\d{6} \d{6} |"
    r"1[0-9]{9}(?:\.\d+|\d{3})?[ :\]])"
)
_LEVEL = re.compile(
    r"[\[(<]?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|trace|debug|info|"
    r"warn|warning|error|fatal)\b[\])>:|]"
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL) +\S|[IWEF]\d{4} \d\d:"
)
_ACCESS = re.compile(r"[\d.:a-f]{3,45} \S+ \S+ \[")
_LOGGED = re.compile(f"(?:{_STAMP.pattern})|(?:{_LEVEL.pattern})|(?:{_ACCESS.pattern})")
_LEVEL_NAMES = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
_LATER_STAMP = re.compile(
    r".{0,40}?(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d:\d\d:\d\d).{0,40}?\b(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b"
)
_STAMPED = 100
"""Characters at a line's beginning within which `_LATER_STAMP` ends."""
_HUNK = re.compile(r"^@@+ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)
_DIFF_FILE = re.compile(r"^(?:diff --git |Index: |--- [^\n]+\n\+\+\+ )", re.MULTILINE)
_HTML_START = re.compile(
    r"\s*(?:<!--.{0,2000}?-->\s*)?(?:<!doctype html|<html\b|<head\b|<body\b)",
    re.IGNORECASE | re.DOTALL,
)
_HTML_TAG = re.compile(
    r"</(?:p|div|span|a|li|ul|ol|td|tr|th|table|h[1-6]|body|b|i|em|strong|section|article|code|pre)>",
    re.IGNORECASE,
)
_TAG = re.compile(r"<(/?)([A-Za-z_][\w:.-]*)[^<>]{0,2000}>")
_XML_START = re.compile(r"\s*(?:<\?xml\b|<!DOCTYPE |<!--|<([A-Za-z_][\w:.-]*)[\s/>])")
_HTML_NAMES = frozenset(
    [
        "p",
        "div",
        "span",
        "a",
        "li",
        "ul",
        "ol",
        "td",
        "tr",
        "th",
        "table",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "b",
        "i",
        "em",
        "strong",
        "section",
        "article",
        "br",
        "img",
        "pre",
    ]
)
_CODE_LINE = re.compile(
    r"\s*(?:(?:export |default |public |private |protected |static |final |abstract |async |"
    r"pub(?:\([a-z]+\))? |const |let |var |unsafe )+\S"
    r"|(?:def|class|func|fn|function|interface|struct|enum|impl|trait|namespace|package|"
    r"module|import|from|use|using|#include|#define|#if\w*|#endif|"
    r"return|raise|throw|if|elif|else|for|while|switch|case|try|except|catch|finally|with|"
    r"yield|await|end|begin|local|SELECT|INSERT|UPDATE|CREATE|FROM|WHERE|"
    r"@[A-Za-z_][\w.]*)\b(?=[ (:{;\"'<.\[]|$)|[})\]]+[;,)]*\s*$|[\w.\[\]\"'$>-]{1,80} ?(?::=|"
    r"[-+*/|&]?=)(?!=) ?\S"
    r"|//|/\*|\*/|[\w.]+\([^)\n]{0,200}\)[;,:{]?\s*$|\"\"\"|'''|#!)"
)
_CODE_END = re.compile(r"[;{}](?:\s*//.*)?$|\)\s*:$|^\s*\w.{0,200}[({\[,]$")
_STRONG_CODE = re.compile(
    r"^\s*(?:def \w+\(|class \w+.*[:{]|(?:async )?function\b.*\{|func (?:\([^)]*\) )?\w+\(|"
    r"(?:pub )?fn \w+|import [\w{*.]+|from [\w.]+ import |"
    r"#include [<\"]|package [\w.]+;?$|using [\w.]+;|const \w+ ?=|let \w+ ?=|(?:public|"
    r"private|protected) [\w<>\[\]]+|CREATE (?:TABLE|INDEX|VIEW|FUNCTION))"
)
_CODE_LAST = frozenset(";{}:({[,")
"""A line that `_CODE_END` knows ends with one of these, or in a comment."""
_MD_FENCE = re.compile(r"\s*(?:```|~~~)")
_MD_HEADING = re.compile(r"#{1,6} +\S")
_MD_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)]) +\S")
_MD_LINK = re.compile(r"\[[^\]\n]{1,200}\]\([^)\s]{1,500}\)")
_MD_RULE = re.compile(r"\s*+\|?+\s*+:?-{3,}+:?\s*+\|[\s:|-]*+$")
_MD_UNDERLINE = re.compile(r"(?:={3,}|-{3,})\s*$")
_SENTENCE = re.compile(r"[.!?\u2026\u3002\uff01\uff1f\u0964\u061f\u06d4:;,\"'\u201d)]\s*$")


def detect(text: str) -> ContentType:
    """What ``text`` is. Never raises."""
    begin = _first(text)
    if not begin:
        return ContentType.PROSE
    if begin in "{[":
        found = json_type(text)
        if found is not None:
            return found
    sample = _sample(text)
    lines = [line for line in sample.split("\n") if line and not line.isspace()]
    if len(lines) > MAX_LINES:
        lines = lines[: MAX_LINES * 3 // 4] + lines[-MAX_LINES // 4 :]
    if _is_diff(sample):
        return ContentType.DIFF
    if begin == "<":
        found = _markup(text, sample)
        if found is not None:
            return found
    found = _by_lines(lines, sample)
    if found is not None:
        return found
    if begin == "<" and len(_HTML_TAG.findall(sample)) >= max(6, len(sample) // 400):
        return ContentType.HTML
    return _prose_or_mixed(lines)


def _first(text: str) -> str:
    """The first character that is not white space; empty when there is none."""
    head = text[:200].lstrip() or text.lstrip()
    return head[:1].lstrip("\ufeff") or head[1:2]


def _sample(text: str) -> str:
    if len(text) <= SAMPLE:
        return text
    part = SAMPLE // 6
    middle = len(text) // 2
    pieces = [text[: 4 * part], text[middle : middle + part], text[-part:]]
    whole_lines = [
        piece.partition("\n")[2] if number and "\n" in piece else piece
        for number, piece in enumerate(pieces)
    ]
    return "\n".join(
        piece.rpartition("\n")[0] if number < 2 and "\n" in piece else piece
        for number, piece in enumerate(whole_lines)
    )


def _is_diff(sample: str) -> bool:
    if not _has(sample, "@@ -") or not _HUNK.search(sample):
        return False
    begins = sample.lstrip().startswith("@@") or _DIFF_FILE.search(sample) is not None
    return begins and not _fenced(sample)


def _fenced(sample: str) -> bool:
    """Markdown with a block of code in it."""
    return sample.count("\n```") >= 1 and not sample.lstrip().startswith(("diff ", "---", "Index:"))


def _markup(text: str, sample: str) -> ContentType | None:
    if _HTML_START.match(sample):
        return ContentType.HTML
    start = _XML_START.match(sample)
    if start is None:
        return None
    tags = _TAG.findall(sample[:8000])
    if not tags:
        return None
    if text[:200].lstrip().startswith("<?xml"):
        return ContentType.XML
    end = text[-300:].rstrip()
    name = start.group(1) or next((name for closing, name in tags if not closing), "")
    html = sum(name.lower() in _HTML_NAMES for _, name in tags)
    if html >= max(2, len(tags) // 2):
        return ContentType.HTML
    if end.endswith((f"</{name}>", "/>", "-->")):
        return ContentType.XML
    return None


def _matching(pattern: re.Pattern[str], lines: list[str]) -> int:
    """How many lines begin with ``pattern``."""
    return len(list(filter(pattern.match, lines)))


def _by_lines(lines: list[str], sample: str) -> ContentType | None:
    count = len(lines)
    if not count:
        return None
    frames = _matching(_FRAME, lines)
    stamped = _matching(_LOGGED, lines)
    if (
        frames >= max(2, stamped)
        and frames + stamped >= 0.2 * count
        and (frames >= 0.25 * count or _EXCEPTION.match(lines[-1]) or _EXCEPTION.match(lines[0]))
    ):
        return ContentType.TRACE
    if count >= 3 and stamped + frames >= 0.6 * count and stamped >= 0.3 * count:
        return ContentType.LOG
    if count >= 3 and not stamped and _may_have_levels(lines):
        stamped = _matching(_LATER_STAMP, lines)
        if stamped >= 0.6 * count:
            return ContentType.LOG
    if _is_table(lines):
        return ContentType.TABLE
    fences = _matching(_MD_FENCE, lines) if "`" in sample or "~" in sample else 0
    if fences < 2 and _is_code(lines):
        return ContentType.CODE
    if _is_markdown(lines, fences, sample):
        return ContentType.MARKDOWN
    return None


def _may_have_levels(lines: list[str]) -> bool:
    """Whether the first half has a level's name. If not, most lines have none."""
    begins = "\n".join([line[:_STAMPED] for line in lines[: len(lines) // 2 + 1]])
    return any(name in begins for name in _LEVEL_NAMES)


def _has(sample: str, sign: str) -> bool:
    """Whether ``sign`` is in the sample. One character is found ten times as fast as several."""
    return sign[0] in sample and sign in sample


def _is_table(lines: list[str]) -> bool:
    """Cells by comma, tab or semicolon, equally many in nearly every line."""
    if len(lines) < 3 or lines[0].lstrip().startswith("|"):
        return False
    rows = lines[:200]
    for delimiter in ("\t", ",", ";", "|"):
        if delimiter not in rows[0]:
            continue
        widths = Counter(_cells(row, delimiter) for row in rows)
        width, times = widths.most_common(1)[0]
        if width < 2 or times < 0.9 * len(rows) or _cells(rows[0], delimiter) != width:
            continue
        if delimiter == "\t":
            return True
        spaced = sum(row.count(delimiter + " ") for row in rows)
        total = sum(row.count(delimiter) for row in rows)
        closing = sum(row.rstrip().endswith((delimiter, ";", "{", "(", ".")) for row in rows)
        if closing > 0.3 * len(rows) or any(_CODE_END.search(row) for row in rows[:3]):
            continue
        if delimiter == "|" or spaced <= 0.5 * total:
            return width > 2 or times >= 3
    return False


def _cells(row: str, delimiter: str) -> int:
    if '"' in row:
        row = _QUOTED.sub("", row)
    return row.count(delimiter) + 1


_QUOTED = re.compile(r'"[^"]*+"')


def _is_code(lines: list[str]) -> bool:
    code = strong = prose = 0
    count = min(len(lines), 300)
    most_prose = max(0.3 * count, 1)
    for line in lines[:300]:
        if len(line) > 400:
            continue
        if _STRONG_CODE.match(line):
            strong += 1
            code += 1
        elif _CODE_LINE.match(line) or _ends_like_code(line):
            code += 1
        elif line[:1].isalpha() and line.count(" ") >= 6:
            prose += 1
            if prose > most_prose:
                return False
    if count < 2:
        return bool(strong)
    if strong:
        return code >= 0.3 * count and prose <= 0.3 * count
    return code >= 0.6 * count and code >= 4 and prose <= 0.15 * count


def _ends_like_code(line: str) -> bool:
    # The pattern takes a microsecond for every hundred characters.
    return (line[-1] in _CODE_LAST or "//" in line) and _CODE_END.search(line) is not None


def _is_markdown(lines: list[str], fences: int, sample: str) -> bool:
    """Signs are counted, the strong ones first; most that cannot be there cost one look at the sample."""
    signs = 3 * min(fences // 2, 1)
    if "#" in sample:
        signs += 3 * min(_matching(_MD_HEADING, lines), 2)
    if signs >= 4:
        return True
    signs += 1 if "`" in sample or _has(sample, "**") else 0
    if "|" in sample and _has(sample, "---"):
        signs += 3 * min(_matching(_MD_RULE, lines), 1)
    if _has(sample, "---") or _has(sample, "==="):
        signs += 2 * min(_underlined(lines), 2)
    if _has(sample, "](") and len(_MD_LINK.findall(sample)) >= 2:
        signs += 2
    if _matching(_MD_ITEM, lines) >= max(3, 0.15 * len(lines)):
        signs += 2
    return signs >= 4 or (signs >= 3 and len(lines) <= 60)


def _underlined(lines: list[str]) -> int:
    """How many lines are underlined, as headings are."""
    return sum(
        1
        for above, line in pairwise(lines)
        if line[0] in "=-" and _MD_UNDERLINE.match(line) and above[0].isalnum() and len(above) < 100
    )


def _is_letter(character: str) -> bool:
    """Letters, and the vowel signs of scripts that have them."""
    return character.isalpha() or (character > "\u02ff" and not character.isspace())


_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())


def _letters(text: str) -> int:
    """How many characters are letters."""
    if text.isascii():
        return len(text.encode().translate(None, _NO_LETTERS))
    return sum(times for letter, times in Counter(text).items() if _is_letter(letter))


def _prose_or_mixed(lines: list[str]) -> ContentType:
    """Prose has words in lines that end like sentences, or lines that go on."""
    good = 0
    enough = 0.6 * min(len(lines), 200)
    for line in lines[:200]:
        if good >= enough:
            break
        line = line[:2000]
        if _letters(line[:300]) >= 0.6 * min(len(line), 300) and (
            len(line) >= 60 or _SENTENCE.search(line) or (not line.isascii() and len(line) >= 15)
        ):
            good += 1
    return ContentType.PROSE if good >= enough else ContentType.MIXED
