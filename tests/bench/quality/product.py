"""mms itself, through the function that makes real answers, with everything it promises checked."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass

from proxy.answer import held_text, key_of_bytes
from proxy.compress.model import Gauge
from proxy.jobs import Fetched, ReadJob, ReduceJob, SelectJob
from proxy.pipeline import reduce_answer, run

FETCH_BUDGET = 4_000
"""Of one step of reading on."""
WIDE = 10_000_000
"""So that a section comes whole, however large."""
SECTIONS = 6
"""Announced sections that are fetched per answer."""
_HANDLE = re.compile(r'key=\\?"([0-9a-f]{16})\\?"')
_READER = re.compile(r'select_chunks\(key=\\?"([0-9a-f]{16})\\?"')
_SECTION = re.compile(r"(?:not shown: |sections=\[\\?\")((?:lines|json):[^\]\"\s\\]+)")
_LINES = re.compile(r"lines:(\d+)(?:-(\d+))?")
_FOOTER = "\n---\n[progressive: chars="


@dataclass(frozen=True)
class Output:
    """One answer made smaller."""

    text: str
    """Of all its text blocks."""
    tokens: int
    before: int
    strategy: str
    milliseconds: float
    body: bytes
    original: bytes
    parts: tuple[tuple[str, str], ...]
    """Handles and where they lead to; the whole's first."""
    fault: str


class Product:
    """Shortens texts and fetches back what was cut."""

    def __init__(self, gauge: Gauge) -> None:
        self._gauge = gauge

    def reduce(
        self, text: str, query: str, budget: int, strategy: str = "auto", *, told: bool = True
    ) -> Output:
        """One text as a tool's result."""
        original = json.dumps({"content": [{"type": "text", "text": text}]}).encode()
        job = ReduceJob(original, strategy, budget, query=query, told=told)
        started = time.perf_counter()
        found = reduce_answer(job, self._gauge)
        milliseconds = (time.perf_counter() - started) * 1000
        body = found.body or original
        sent = texts_of(body)
        parts = [(found.key, "")] if found.key else []
        parts += [(part.key, part.pointer) for part in found.parts]
        return Output(
            "\n".join(sent),
            sum(self._gauge.sizes(sent)),
            self._gauge.size(text),
            found.strategy,
            milliseconds,
            body,
            original,
            tuple(parts),
            found.fault,
        )

    def recovers(self, output: Output) -> str:
        """Why not everything comes back byte for byte; empty when it does."""
        if output.body == output.original:
            return ""
        if output.fault:
            return output.fault
        known = dict(output.parts)
        shown = set(_HANDLE.findall(output.text))
        if unknown := shown - known.keys():
            return f"the handle {min(unknown)} was given out but is not held"
        if output.parts and output.parts[0][0] != key_of_bytes(output.original):
            return "the whole is held under another key than that of its bytes"
        if not shown and output.strategy != "lossless":
            return "something was cut and no handle is given"
        if shown and all(_made(known[key]) for key in shown):
            return "only the cleaned text can be read back, not what the upstream sent"
        for key in sorted(shown):
            pointer = known[key]
            wanted = held_text(output.original, pointer) if not _made(pointer) else None
            problem = self._read_all(output.original, pointer, key, wanted)
            if problem:
                return problem
        return self._wrong_section(output)

    def finds(self, output: Output, wanted: str) -> int | None:
        """Tokens of the announced section that holds ``wanted``; ``None`` when none does."""
        for section in self._announced(output):
            text = self._fetch(output, section)
            if text is not None and wanted in text:
                return self._gauge.size(text)
        return None

    def _announced(self, output: Output) -> list[str]:
        return list(dict.fromkeys(_SECTION.findall(output.text)))

    def _reader(self, output: Output) -> tuple[str, str]:
        """The handle that section ids belong to, and where it leads."""
        known = dict(output.parts)
        for key in (*_READER.findall(output.text), *_HANDLE.findall(output.text)):
            if key in known:
                return key, known[key]
        return output.parts[-1]

    def _fetch(self, output: Output, section: str) -> str | None:
        key, pointer = self._reader(output)
        job = SelectJob(output.original, pointer, key, (section,), WIDE)
        fetched = run(job, self._gauge)
        return fetched.text if isinstance(fetched, Fetched) and not fetched.is_error else None

    def _wrong_section(self, output: Output) -> str:
        """An announced section that cannot be fetched or is not what was announced."""
        sections = self._announced(output)[:SECTIONS]
        if not sections:
            return ""
        _, pointer = self._reader(output)
        held = None if _made(pointer) else held_text(output.original, pointer)
        lines = [] if held is None else held.split("\n")
        for section in sections:
            text = self._fetch(output, section)
            if text is None:
                return f"the announced section {section} cannot be fetched"
            span = _LINES.fullmatch(section)
            if held is not None and span is not None:
                first, last = int(span[1]), int(span[2] or span[1])
                wanted = "\n".join(lines[first - 1 : last])
                if text.rstrip("\n") != wanted.rstrip("\n"):
                    return f"the announced section {section} is something else"
            elif held is not None and text not in held:
                return f"the announced section {section} does not stand in the original"
        return ""

    def _read_all(self, body: bytes, pointer: str, key: str, wanted: str | None) -> str:
        pieces: list[str] = []
        offset = 0
        while True:
            job = ReadJob(body, pointer, key, offset, None, FETCH_BUDGET)
            fetched = run(job, self._gauge)
            if not isinstance(fetched, Fetched) or fetched.is_error:
                return f"reading {key} at {offset} failed: {getattr(fetched, 'text', fetched)}"[
                    :200
                ]
            if self._gauge.size(fetched.text) > FETCH_BUDGET:
                return f"reading {key} at {offset} was over the budget"
            pieces.append(fetched.text.rpartition(_FOOTER)[0])
            if fetched.end >= fetched.total:
                break
            if fetched.end <= offset:
                return f"reading {key} does not get on at {offset}"
            offset = fetched.end
        whole = "".join(pieces)
        if wanted is not None and whole != wanted:
            at = next(
                (n for n, (a, b) in enumerate(zip(whole, wanted, strict=False)) if a != b),
                min(len(whole), len(wanted)),
            )
            return f"{key} came back otherwise from character {at} on"
        return ""


def texts_of(body: bytes) -> list[str]:
    """Texts and structured content of a result, read without the product's own parser."""
    result = json.loads(body)
    texts = [block["text"] for block in result.get("content", ()) if block.get("type") == "text"]
    if result.get("structuredContent") is not None:
        texts.append(json.dumps(result["structuredContent"], ensure_ascii=False))
    return texts


def _made(pointer: str) -> bool:
    return pointer.startswith("clean:")
