"""One result that is being made smaller: who gets which share of the budget, what is held, what is sent.

Texts and structured content are made smaller on their own and put back in their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from config.schema import Compression
from proxy import wire
from proxy.answer import (
    CLEANED,
    STRUCTURED,
    ParsedAnswer,
    TextBlock,
    held_text,
    key_of,
    key_of_bytes,
    rebuild,
)
from proxy.answer_sizes import AnswerSizes
from proxy.compress.delta import delta
from proxy.compress.detect import detect
from proxy.compress.model import (
    JSON_TYPES,
    ContentType,
    Gauge,
    Reduction,
    Task,
)
from proxy.compress.notices import MARK, READ_MORE, footer
from proxy.compress.reduce import cleaned, cleaning_notice, reduce_text
from proxy.compress.structured import reduce_structured
from proxy.compress.truncate import truncate
from proxy.jobs import (
    HeldPart,
    ReduceJob,
)
from proxy.loose_json import compact
from proxy.stage_clock import StageClock

_ATTEMPTS = 4
"""How often a share is lowered, when a text takes more room as a JSON string than was expected."""
LEAST_SHARE = 40
"""A text with a smaller share of the budget is better left out and announced than cut to shreds."""


@dataclass(slots=True)
class AnswerDraft:
    """A result that is being made smaller."""

    job: ReduceJob
    answer: ParsedAnswer
    before: AnswerSizes
    gauge: Gauge
    clock: StageClock = field(default_factory=StageClock)
    texts: dict[int, str] = field(default_factory=dict[int, str])
    structured: str | None = None
    added: list[str] = field(default_factory=list[str])
    parts: list[HeldPart] = field(default_factory=list[HeldPart])
    overhead: int = 0
    strategy: Compression = Compression.AUTO
    key: str = ""
    """The handle of the whole result."""
    _largest: int = -1

    def __post_init__(self) -> None:
        self.structured = self.answer.structured
        self.strategy = Compression(self.job.strategy)
        self.key = key_of_bytes(self.job.body)

    def body(self) -> bytes:
        """The result as it stands."""
        about: dict[str, object] = {"strategy": self.strategy.value}
        if self.job.handles:
            about["key"] = self.key
        return rebuild(
            self.answer, self.texts, structured=self.structured, added=self.added, about=about
        )

    def difference(self) -> bool:
        """Say only what changed since the same call was answered before, if that is less."""
        if not self.job.earlier or not self.job.handles:
            return False
        new = self._main_text()
        if new is None:
            return False
        wrapper = self._wrapper() if self.job.output_schema else None
        if self.structured is not None and self.job.output_schema and wrapper is None:
            return False  # a difference would not be what the schema promises
        try:
            old = held_text(self.job.earlier, new.pointer)
        except wire.MalformedMessage:
            return False
        task = self._task(new.text, self.job.budget, self._hold(new.text, new.pointer))
        found = delta(old, new.text, task)
        if found is None or self.gauge.size(found.text) > self.job.budget:
            self.parts.clear()
            return False
        if new.pointer == STRUCTURED:
            self.added.append(found.text)
        self.texts = {block.index: "" for block in self.answer.blocks}
        if new.pointer != STRUCTURED:
            self.texts[self.answer.blocks[0].index] = found.text
        if wrapper is None:
            self._drop_structured(announce=False)
        else:
            self._wrap(wrapper, found.text)
        self._note(Compression.DELTA, found.overhead, len(new.text))
        return True

    def shares(self) -> None:
        """Give each text its share of the budget and make it smaller."""
        budget = self.job.budget
        wrapper = self._wrapper()
        if wrapper is not None and self.job.output_schema:
            self._shrink_twice(wrapper)
            return
        doubled = wrapper is not None or self._structured_repeats_text()
        if self.structured is not None and doubled and not self.job.output_schema:
            self._drop_structured(announce=False)
            doubled = False
        sizes = [*self.before.blocks, self.before.structured if self.structured else 0]
        granted = [budget // 2, budget - budget // 2] if doubled else allocate(sizes, budget)
        if self.structured is not None and sizes[-1] > granted[-1]:
            kept = self._shrink_structured(granted[-1])
            if not kept:
                granted = allocate([*sizes[:-1], 0], max(0, budget - self.overhead))
        for block, size, share in zip(self.answer.blocks, sizes, granted, strict=False):
            if size > share:
                self._shrink(block, size, share)
        self._announce_left_out()

    def last_resort(self) -> None:
        """All texts as one, cut to the budget: whatever the stages did, this fits."""
        self.added.clear()
        self._drop_structured(announce=False)
        blocks = self.answer.blocks
        self.texts = {block.index: "" for block in blocks}
        text = "\n\n".join(block.text for block in blocks) or (self.answer.structured or "")
        pointer = blocks[0].pointer if len(blocks) == 1 else ""
        whole = self.job.body.decode("utf-8", "replace") if not pointer else text
        task = self._task(text, self.job.budget, self._hold(whole, pointer))
        cut = truncate(replace(task, content=ContentType.MIXED))
        if blocks:
            self.texts[blocks[0].index] = cut.text
        elif cut.text:
            self.added.append(cut.text)
        self.strategy = Compression.TRUNCATE
        self.overhead = cut.overhead

    # helpers

    def _main_text(self) -> TextBlock | None:
        """The one text that the answer consists of."""
        blocks = self.answer.blocks
        repeats = self._wrapper() is not None or self._structured_repeats_text()
        if len(blocks) == 1 and (self.structured is None or repeats):
            return blocks[0]
        if not blocks and self.structured is not None:
            return TextBlock(-1, self.structured, STRUCTURED)
        return None

    def _shrink(self, block: TextBlock, size: int, share: int) -> None:
        if share < min(LEAST_SHARE, size):
            self.texts[block.index] = ""
            self._hold(block.text, block.pointer)
            return
        key = self._hold(block.text, block.pointer)
        task = self._task(block.text, share, key)
        summary = self._summary(task, size)
        found = summary or self._cleaned(task, block) or reduce_text(task, self._asked)
        self.texts[block.index] = found.text
        self._note(found.strategy, found.overhead, size)

    def _cleaned(self, task: Task, block: TextBlock) -> Reduction | None:
        """CLEAN first, with a handle of its own, so that section ids fit what the reader sees."""
        if task.content in JSON_TYPES or task.is_error:
            return None
        with self.clock.cleaning():
            text = cleaned(task)
        if text is None:
            return None
        notice = cleaning_notice(task.key)
        cost = self.gauge.size(notice) + 2
        if cost >= task.budget // 2:
            return None
        key = self._hold(text, CLEANED + block.pointer)
        small = replace(task, text=text, budget=task.budget - cost, key=key, content=detect(text))
        if self.gauge.size(text) <= small.budget:
            found = Reduction(text, Compression.EXTRACT, 0)
        else:
            found = reduce_text(small, self._asked)
        return replace(
            found,
            text=f"{found.text}\n{notice}" if found.text else notice,
            overhead=found.overhead + cost,
            complete=False,
        )

    def _summary(self, task: Task, size: int) -> Reduction | None:
        if not self.job.summary or len(self.answer.blocks) != 1:
            return None
        last = footer(task.key, self.gauge.size(self.job.summary), size, self.gauge.unit)
        text = f"{self.job.summary.strip()}\n{last}"
        if self.gauge.size(text) > task.budget:
            return None
        return Reduction(text, Compression.LLM_SUMMARY, self.gauge.size(last))

    def _shrink_structured(self, share: int) -> bool:
        """Make structured content smaller; False when it had to go behind the handle."""
        text = self.answer.structured
        assert text is not None
        key = self._hold(text, STRUCTURED)
        task = replace(self._task(text, share, key), is_error=False)
        smaller: str | None
        if self.job.output_schema:
            schema = self.job.output_schema.decode("utf-8", "replace")
            smaller = reduce_structured(text, schema, task)
            strategy = Compression.EXTRACT
        else:
            found = reduce_text(task, self._asked)
            smaller, strategy = found.text, found.strategy
            if not _is_object(smaller):
                smaller = None  # the protocol wants an object there
        if smaller is None or self.gauge.size(smaller) > share:
            self._drop_structured(announce=True)
            return False
        self.structured = smaller
        self._note(strategy, 0, self.before.structured)
        return True

    def _shrink_twice(self, wrapper: str) -> None:
        """The same shorter text in both places, which share the budget."""
        (block,) = self.answer.blocks
        size = self.before.blocks[0]
        share = self.job.budget * size // max(1, size + self.before.structured)
        for _ in range(_ATTEMPTS):
            self.overhead, self._largest = 0, -1
            self._shrink(block, size, share)
            text = self.texts[block.index]
            self._wrap(wrapper, text)
            if self.gauge.size(text) + self.gauge.size(self.structured or "") <= self.job.budget:
                return
            share = share * 9 // 10

    def _wrap(self, wrapper: str, text: str) -> None:
        assert self.answer.structured is not None
        self._hold(self.answer.structured, STRUCTURED)
        self.structured = bytes(wire.raw({wrapper: text})).decode()

    def _wrapper(self) -> str | None:
        """The name under which structured content holds the answer's one text, and nothing else.

        Servers wrap plain texts like this to have structured content at all.
        """
        if self.answer.structured is None or len(self.answer.blocks) != 1:
            return None
        try:
            members = wire.members_of(self.answer.structured.encode("utf-8", "surrogatepass"))
        except wire.MalformedMessage:
            return None
        if len(members) != 1:
            return None
        ((name, value),) = members.items()
        return name if wire.text_of(value) == self.answer.blocks[0].text else None

    def _drop_structured(self, *, announce: bool) -> None:
        """Structured content goes behind the handle as a whole."""
        if self.structured is None or self.answer.structured is None:
            return
        key = self._hold(self.answer.structured, STRUCTURED)
        self.structured = None
        if announce:
            amount = f"structured content of {self.before.structured:,} {self.gauge.unit}"
            where = f': {READ_MORE}(key="{key}")' if key else ""
            text = f"[{MARK} {amount} not shown{where}]"
            self.added.append(text)
            self.overhead += self.gauge.size(text)

    def _announce_left_out(self) -> None:
        left_out = [block for block in self.answer.blocks if self.texts.get(block.index) == ""]
        if not left_out:
            return
        size = sum(self.before.blocks[self.answer.blocks.index(block)] for block in left_out)
        key = self.key if self.job.handles else ""
        where = f': {READ_MORE}(key="{key}")' if key else ""
        count = "1 text block" if len(left_out) == 1 else f"{len(left_out):,} text blocks"
        text = f"[{MARK} {count} of {size:,} {self.gauge.unit} not shown{where}]"
        self.added.append(text)
        self.overhead += self.gauge.size(text)

    def _structured_repeats_text(self) -> bool:
        """The only text is the structured content once more, as the protocol recommends."""
        if self.answer.structured is None or len(self.answer.blocks) != 1:
            return False
        text = self.answer.blocks[0].text.encode("utf-8", "surrogatepass")
        return same_json(text, self.answer.structured.encode("utf-8", "surrogatepass"))

    @property
    def _asked(self) -> Compression:
        return Compression(self.job.strategy)

    def _task(self, text: str, budget: int, key: str) -> Task:
        return Task(
            text,
            budget,
            self.gauge,
            self.job.query,
            key,
            detect(text),
            self.answer.is_error,
            self.job.told,
        )

    def _hold(self, text: str, pointer: str) -> str:
        """Give the text a handle; the empty one when the host could not use it."""
        key = key_of(text)
        part = HeldPart(key, pointer)
        if part not in self.parts:
            self.parts.append(part)
        return key if self.job.handles else ""

    def _note(self, strategy: Compression, overhead: int, size: int) -> None:
        """The answer's strategy is the one of its largest text."""
        self.overhead += overhead
        if size > self._largest:
            self._largest = size
            self.strategy = strategy


def allocate(sizes: Sequence[int], budget: int) -> list[int]:
    """Shares of the budget: small texts are kept whole, what is left goes to the large ones alike.

    When too many large ones remain, only as many as get `LEAST_SHARE` each, from the first on.
    """
    shares = [0] * len(sizes)
    rest = budget
    open_ones = sorted(range(len(sizes)), key=lambda index: sizes[index])
    while open_ones:
        share = rest // len(open_ones)
        index = open_ones[0]
        if sizes[index] > share:
            break
        shares[index] = sizes[index]
        rest -= sizes[index]
        open_ones.pop(0)
    if not open_ones:
        return shares
    open_ones.sort()
    most = max(1, rest // LEAST_SHARE)
    announced = LEAST_SHARE if len(open_ones) > most else 0
    chosen = open_ones[:most]
    share = max(0, rest - announced) // len(chosen)
    for index in chosen:
        shares[index] = min(share, sizes[index])
    return shares


def same_json(one: bytes, other: bytes) -> bool:
    """The same JSON text but for white space and how strings are escaped."""
    if one[:1] not in (b"{", b"[") and one.lstrip()[:1] not in (b"{", b"["):
        return False
    if compact(one) == compact(other):
        return True
    try:
        return wire.value_of(one) == wire.value_of(other)
    except wire.MalformedMessage:
        return False


def _is_object(text: str) -> bool:
    try:
        wire.members_of(text.encode("utf-8", "surrogatepass"))
    except wire.MalformedMessage:
        return False
    return True
