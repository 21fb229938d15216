"""Sizes of spans of a JSON document in the unit of the budget."""

from __future__ import annotations

from collections.abc import Iterable

from proxy.compress.json_tree import Document
from proxy.compress.model import Gauge

LONGEST = 40_000
"""Bytes of a span that are counted; the size of a longer one is estimated."""
_SAMPLE = 2000
_PLACES = 3


class Sizes:
    """Measures parts of one document."""

    def __init__(self, document: Document, gauge: Gauge) -> None:
        self._document = document
        self._gauge = gauge
        raw = document.raw
        step = max(1, (len(raw) - _SAMPLE) // _PLACES)
        starts = range(0, max(1, len(raw) - _SAMPLE + 1), step)
        parts = [raw[at : at + _SAMPLE] for at in starts]
        counted = sum(gauge.sizes([part.decode("utf-8", "replace") for part in parts]))
        self.density = max(0.05, counted / max(1, sum(map(len, parts))))
        """Units per byte, from some places of the document."""
        self._known: dict[tuple[int, int], int] = {}
        self.is_tokens = gauge.unit == "tokens"

    def of(self, data: bytes) -> int:
        """The size of new JSON."""
        return self._gauge.size(data.decode("utf-8", "surrogatepass"))

    def text(self, text: str) -> int:
        """The size of a text."""
        return self._gauge.size(text)

    def spans(self, spans: Iterable[tuple[int, int]]) -> list[int]:
        """The size of each span; of long ones about. Measured once, however often it is asked for."""
        places = list(spans)
        known = self._known
        new = [place for place in places if place not in known]
        raw = self._document.raw
        long = [place for place in new if place[1] - place[0] > LONGEST]
        if long:
            new = [place for place in new if place[1] - place[0] <= LONGEST]
            known.update((place, int((place[1] - place[0]) * self.density) + 1) for place in long)
        if new:
            texts = [raw[start:end].decode("utf-8", "surrogatepass") for start, end in new]
            known.update(zip(new, self._gauge.sizes(texts), strict=True))
        return [known[place] for place in places]
