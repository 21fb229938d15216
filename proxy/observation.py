"""A finished call as the engine saw it: the raw material of the record and the ledger.

A struct, since a frozen dataclass of so many fields takes 25 times as long to make, in the engine's loop.
"""

from __future__ import annotations

import msgspec

from proxy.measure import Measured
from proxy.model import Outcome


class CallObservation(msgspec.Struct, frozen=True, gc=False):
    """One finished call as the engine saw it."""

    id: int
    """From `Recorder.next_call_id`."""
    started_at: float
    duration_ms: float
    host: str
    session: int
    upstream: str
    tool: str
    outcome: Outcome
    error: str
    """Why it did not end well; empty for ``OK``. Redacted and cut to one line when recorded."""
    arguments: bytes
    """The raw JSON of the arguments; may be empty."""
    result: bytes
    """The raw JSON of the ``result`` or ``error`` member of the answer; empty when there was none."""
    before: bytes = b""
    """The ``result`` as the upstream sent it; empty when it went out as it came."""
    strategy: str = ""
    """How the answer was made smaller; empty when it was not. Goes with ``before``."""
    overhead_tokens: int = 0
    """Tokens of mms's own words in ``result``."""
    held_key: str = ""
    """Of the original in the held texts; empty when nothing is held for this call."""
    fetched_upstream: str = ""
    """A call that read held text: whose."""
    fetched_tool: str = ""
    cache: str = ""
    """``hit``, ``shared`` or empty."""
    cache_age_seconds: float = 0.0
    fault: str = ""
    """Why a stage of the pipeline gave up. Redacted and cut to one line when recorded."""
    query: str = ""
    """What the answer was searched for."""
    query_source: str = ""
    """Where the query came from; see `proxy.model.CallDetail`."""
    surfacing_id: str = ""
    """Of memories shown with the answer."""
    surfaced_tokens: int = 0
    """Of ``result``, what these added, by an upper estimate."""
    measured: Measured | None = None
    """Sizes of ``result``, if somebody has counted it already."""
    measured_before: Measured | None = None
    """Sizes of ``before``, likewise."""
    host_cut_tokens: int = 0
    """Where the host itself cuts answers, by the settings of the call; 0: it does not."""
