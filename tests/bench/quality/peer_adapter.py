"""Runs under a peer's own interpreter: one request per line in, one shortened text per line out.

``python peer_adapter.py headroom|memtomem``. Standard library and the peer only. A request is
``{"text", "query", "characters", "share", "kind"}``, an answer ``{"text"}`` or ``{"problem"}``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

Shorten = Callable[[dict[str, Any]], str]


def headroom() -> Shorten:
    """The compressor that its router would take: tables and other JSON, logs, prose."""
    from headroom.transforms.log_compressor import LogCompressor
    from headroom.transforms.smart_crusher import SmartCrusher
    from headroom.transforms.text_crusher import TextCrusher

    crusher, logs, prose = SmartCrusher(), LogCompressor(), TextCrusher()

    def shorten(asked: dict[str, Any]) -> str:
        if asked["kind"] == "json":
            return crusher.crush(asked["text"], query=asked["query"]).compressed
        if asked["kind"] == "log":
            return logs.compress(asked["text"], context=asked["query"]).compressed
        found = prose.compress(asked["text"], context=asked["query"], target_ratio=asked["share"])
        return found.compressed

    return shorten


def memtomem() -> Shorten:
    """The strategy that its ``auto`` picks, with the query where the strategy takes one."""
    from memtomem_stm.proxy.compression import (
        HybridCompressor,
        auto_select_strategy,
        get_compressor,
    )

    def shorten(asked: dict[str, Any]) -> str:
        text, most = asked["text"], asked["characters"]
        strategy = auto_select_strategy(text, max_chars=most)
        compressor: Any = (
            HybridCompressor() if strategy.value == "hybrid" else get_compressor(strategy)
        )
        try:
            return compressor.compress(text, max_chars=most, context_query=asked["query"] or None)
        except TypeError:
            return compressor.compress(text, max_chars=most)

    return shorten


def main() -> None:
    """Serve until the input ends."""
    output = sys.stdout
    sys.stdout = sys.stderr
    shorten = {"headroom": headroom, "memtomem": memtomem}[sys.argv[1]]()
    print(json.dumps({"text": "ready"}), file=output, flush=True)
    for line in sys.stdin:
        try:
            answer = {"text": shorten(json.loads(line))}
        except (
            Exception
        ) as error:  # a peer may fail in any way on one text; the next one counts again
            answer = {"problem": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=output, flush=True)


if __name__ == "__main__":
    main()
