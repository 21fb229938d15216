"""What the engine asks of the worker process, and what comes back. One job, one outcome.

The worker holds the token vocabulary and does everything that takes processor time, so that no call
waits for another one's answer. Jobs are pure functions of their values: a worker that dies is replaced
and nothing is lost.
"""

from __future__ import annotations

import msgspec

from proxy.answer_model import Variant
from proxy.measure import Measured


class HeldPart(msgspec.Struct, frozen=True, array_like=True):
    """A text inside a held answer that has a handle of its own."""

    key: str
    """16 hexadecimal digits of the SHA-256 of the text as UTF-8 (lone surrogates passed)."""
    pointer: str
    """JSON Pointer into the result, for example ``/content/0/text`` or ``/structuredContent``."""


class ReduceJob(msgspec.Struct, frozen=True, tag="reduce"):
    """Make a tool's result smaller, if it is over its budget."""

    body: bytes
    """The ``result`` member as the upstream sent it."""
    strategy: str
    """Name of a `config.schema.Compression`."""
    budget: int
    unit: str = "tokens"
    """``tokens`` or ``characters``."""
    clean: bool = False
    """Remove noise also when it is within the budget."""
    query: str = ""
    told: bool = False
    """The agent said itself what it looks for."""
    handles: bool = True
    """The host's session can see the tools that read held text."""
    output_schema: bytes = b""
    """The tool's declared schema of structured content; empty when it has none."""
    earlier: bytes = b""
    """The result of an identical earlier call of the same session; empty when there is none."""
    summary: str = ""
    """What a language model wrote, for ``llm_summary``; empty when it could not."""


class Reduced(msgspec.Struct, frozen=True, tag="reduced"):
    """Outcome of a `ReduceJob`."""

    body: bytes = b""
    """The new ``result`` member; empty: relay the old one as it is."""
    strategy: str = ""
    """What was really done."""
    key: str = ""
    """Of the whole original; empty when nothing has to be held."""
    parts: tuple[HeldPart, ...] = ()
    before_tokens: int = 0
    sent_tokens: int = 0
    overhead_tokens: int = 0
    fault: str = ""
    before: Measured | None = None
    """The original, measured for the record: here its texts are counted already."""
    after: Measured | None = None
    """What goes out, measured likewise."""
    clean_ms: float = 0.0
    """How long CLEAN took; 0: it had nothing to do."""
    compress_ms: float = 0.0
    """How long COMPRESS took, without CLEAN; 0: the answer was within its budget."""


class ReadJob(msgspec.Struct, frozen=True, tag="read"):
    """``stm_proxy_read_more``: the next chunk of a held text."""

    body: bytes
    pointer: str
    key: str
    offset: int
    limit: int | None
    budget: int
    unit: str = "tokens"


class SelectJob(msgspec.Struct, frozen=True, tag="select"):
    """``stm_proxy_select_chunks``: sections of a held text."""

    body: bytes
    pointer: str
    key: str
    sections: tuple[str, ...]
    budget: int
    unit: str = "tokens"


class Fetched(msgspec.Struct, frozen=True, tag="fetched"):
    """Outcome of a `ReadJob` or `SelectJob`."""

    text: str
    """For the agent: the text, or what is wrong with the arguments and what would be right."""
    is_error: bool = False
    start: int = 0
    """First character served (read_more)."""
    end: int = 0
    total: int = 0
    """Characters of the held text."""


class WhatIfJob(msgspec.Struct, frozen=True, tag="what_if"):
    """The same original under several settings."""

    body: bytes
    strategies: tuple[str, ...]
    budget: int
    query: str = ""
    told: bool = False
    sent: bytes = b""
    """What the host was sent, when still known."""
    sent_strategy: str = ""
    output_schema: bytes = b""


class Compared(msgspec.Struct, frozen=True, tag="compared"):
    """Outcome of a `WhatIfJob`; texts are not yet redacted."""

    content: str
    before_tokens: int
    before_text: str
    sent: Variant | None
    variants: tuple[Variant, ...]


class JobFailed(msgspec.Struct, frozen=True, tag="failed"):
    """The job raised or took too long, or the worker died."""

    reason: str


Job = ReduceJob | ReadJob | SelectJob | WhatIfJob
Outcome = Reduced | Fetched | Compared | JobFailed
