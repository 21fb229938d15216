"""The vocabulary of COMPRESS: a task, what the text is, how sizes are counted, what came out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from config.schema import Compression


class ContentType(Enum):
    """What a text is, found by parsing it, not by a file's name."""

    JSON_OBJECT = "json object"
    JSON_ARRAY = "json array"
    JSON_LINES = "json lines"
    MARKDOWN = "markdown"
    HTML = "html"
    XML = "xml"
    CODE = "source code"
    DIFF = "diff"
    TABLE = "table"
    """CSV or TSV."""
    LOG = "log"
    TRACE = "stack trace"
    PROSE = "prose"
    MIXED = "mixed"
    """None of the others, or several after each other."""


JSON_TYPES = frozenset({ContentType.JSON_OBJECT, ContentType.JSON_ARRAY, ContentType.JSON_LINES})


class Gauge(Protocol):
    """Measures texts in the unit of the budget: o200k tokens, or characters.

    Both units have these properties, on which strategies rely: a text never measures more than it has
    UTF-8 bytes, the empty text measures 0, and the measure of a whole is close to the sum of its parts
    (for tokens not exactly: verify before you return).
    """

    @property
    def unit(self) -> str:
        """``tokens`` or ``characters``, for announcements."""
        ...

    def size(self, text: str, /) -> int:
        """The measure of one text. About 17 ms per megabyte for tokens."""
        ...

    def sizes(self, texts: Sequence[str], /) -> Sequence[int]:
        """The measure of each text; much cheaper than asking one by one."""
        ...

    def estimate(self, text: str, limit: int, /) -> int | None:
        """About the measure of a long text that measures far more than ``limit``; from then on `size` says
        the same. ``None`` when the text must be measured.
        """
        ...


class CharacterGauge:
    """Counts characters (code points)."""

    unit = "characters"

    def size(self, text: str, /) -> int:
        return min(len(text), len(text.encode("utf-8", "surrogatepass")))

    def sizes(self, texts: Sequence[str], /) -> Sequence[int]:
        return [len(text) for text in texts]

    def estimate(self, text: str, limit: int, /) -> int | None:
        return None


@dataclass(frozen=True, slots=True)
class Task:
    """One text that must become smaller."""

    text: str
    """Any text: lone surrogates, nesting of 10,000, lines of 50 MB. Strategies take linear time."""
    budget: int
    """The most that the output may measure, everything included; may be 0."""
    gauge: Gauge
    query: str = ""
    """What the reader looks for; may be empty."""
    key: str = ""
    """Handle of the held text (16 hexadecimal digits). Empty: announce cuts without a way back."""
    content: ContentType = ContentType.MIXED
    is_error: bool = False
    """The tool reported an error: head and tail matter most."""
    told: bool = False
    """The reader itself said what it looks for; else ``query`` was read from the call and is a hint."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """A text made smaller."""

    text: str
    strategy: Compression
    """What was really done; after a fallback not what was asked for."""
    overhead: int
    """Measure of our own words in ``text``: announcements, legends, tables of contents."""
    complete: bool = False
    """Nothing is missing: the reader can rebuild the original from ``text`` alone (lossless)."""


Reducer = Callable[[Task], Reduction | None]
"""One strategy. ``None``: it does not suit this text, or cannot keep to the budget; never raises for
any text. What it returns measures at most ``task.budget`` and less than the text itself."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a held text that can be fetched by its id."""

    id: str
    """Unique in the text, for example ``lines:40-80``, ``json:/items/3`` or ``install-on-linux``."""
    title: str
    """For a table of contents, one line."""
    start: int
    """First character of the part in the text."""
    end: int
    """One past its last character."""
    level: int = 1
    """Depth, 1 being the outermost."""
