"""What the original measured on the same machine: figures of an earlier examination, not measured here.

The original is agentic-memory as of 2026-03-29 with its hashing embedder of 768 dimensions; its tools
were called in its own process. Pairs were judged by its rule, a cosine of at least .85; conversations were
ranked by its formula on the same MiniLM vectors. CPU times include its embedder, which takes .1 ms.
"""

from __future__ import annotations

FACTS = {
    1_000: {
        "values lost": "4",
        "contradiction pairs merged": "17 of 43",
        "contradictions found": ".977",
        "bases with a false candidate": ".32-.36",
        "groups reduced": "61 of 93",
        "store ms": "17.0",
        "query ms": "125",
        "preview s": "2.1-2.3",
        "overview ms": "3.0",
    },
    10_000: {
        "values lost": "183",
        "contradiction pairs merged": "268 of 534",
        "contradictions found": ".979",
        "bases with a false candidate": ".32-.36",
        "groups reduced": "659 of 887",
        "store ms": "25.2",
        "query ms": "151",
        "preview s": "24.7-28.1",
        "overview ms": "2.7",
    },
}
"""By number of facts of the outside corpus."""
PAIRS = {"recall": ".194", "precision": ".108"}
"""Of contradictions in the test part of SICK 2014, with MiniLM vectors."""
LOCOMO = {"at 5": ".210", "at 10": ".267"}
"""Share of the evidence found, with MiniLM vectors."""
OPEN_MB = "106"
"""Resident memory when open, without a model in the process."""
