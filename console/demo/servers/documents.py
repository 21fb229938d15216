"""A document store: a team's handbook, runbooks and decisions, 200 bytes to 100 KB each."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from console.demo.servers.prose import markdown
from console.demo.servers.serving import (
    Answer,
    DemoServer,
    DemoTool,
    ToolRefused,
    count_argument,
    serve,
    text_argument,
)

_SHELF = (
    ("handbook/glossary", "Glossary", 300),
    ("handbook/on-call", "Being on call", 6_000),
    ("handbook/releases", "How we release", 9_500),
    ("handbook/incident-roles", "Roles in an incident", 3_200),
    ("runbooks/checkout-latency", "Checkout is slow", 14_000),
    ("runbooks/queue-backlog", "The order queue grows", 11_000),
    ("runbooks/search-reindex", "Rebuilding the search index", 22_000),
    ("runbooks/certificate-renewal", "Renewing certificates", 4_800),
    ("runbooks/database-failover", "Failing over the primary database", 31_000),
    ("decisions/0007-idempotency-keys", "Decision 7: idempotency keys", 5_400),
    ("decisions/0012-event-log", "Decision 12: one event log", 7_700),
    ("decisions/0019-rate-limits", "Decision 19: rate limits per customer", 6_900),
    ("reference/api", "The public API", 100_000),
    ("reference/configuration", "Every configuration key", 64_000),
    ("reference/database-schema", "The database schema", 48_000),
    ("postmortems/2026-03-payment-timeouts", "Payment timeouts in March", 18_000),
    ("postmortems/2026-08-cache-stampede", "The cache stampede of August", 16_500),
    ("postmortems/2026-10-slow-checkout", "Slow checkout in October", 19_500),
)
"""Name, title and size in bytes of each document."""

_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Document:
    """One document."""

    name: str
    title: str
    text: str


@cache
def documents() -> Mapping[str, Document]:
    """All documents by name."""
    return {
        name: Document(name, title, markdown(title, size, seed=name))
        for name, title, size in _SHELF
    }


def _document(arguments: Mapping[str, Any]) -> Document:
    name = text_argument(arguments, "name")
    found = documents().get(name)
    if found is None:
        raise ToolRefused(f"no document is called {name!r}; search finds the names")
    return found


def _read(arguments: Mapping[str, Any]) -> Answer:
    return Answer(_document(arguments).text)


def _outline(arguments: Mapping[str, Any]) -> Answer:
    lines = _document(arguments).text.splitlines()
    return Answer(
        "\n".join(f"{number}: {line}" for number, line in enumerate(lines, 1) if line[:1] == "#")
    )


def _search(arguments: Mapping[str, Any]) -> Answer:
    words = set(_WORD.findall(text_argument(arguments, "query").lower()))
    limit = count_argument(arguments, "limit", default=5, largest=50)
    if not words:
        raise ToolRefused("the query holds no word")
    hits: list[tuple[int, str, str]] = []
    for document in documents().values():
        titled = words & set(_WORD.findall(f"{document.name} {document.title}".lower()))
        lines = [
            line
            for line in document.text.splitlines()
            if words & set(_WORD.findall(line.lower())) and line[:1] != "#"
        ]
        if titled or lines:
            snippet = "\n".join(f"  {line}" for line in lines[:3])
            score = 20 * len(titled) + min(len(lines), 20)
            hits.append((score, document.name, f"{document.name}: {document.title}\n{snippet}"))
    hits.sort(key=lambda hit: (-hit[0], hit[1]))
    if not hits:
        return Answer("nothing found")
    return Answer("\n\n".join(text for _, _, text in hits[:limit]))


_NAME = {"name": {"type": "string", "description": "Name of the document, as search lists it."}}

SERVER = DemoServer(
    name="demo-documents",
    instructions="The team's handbook, runbooks, decisions and postmortems. Search before reading.",
    tools=(
        DemoTool(
            name="search",
            title="Search documents",
            description="Find documents by words; lists their names with the lines that match.",
            properties={
                "query": {"type": "string", "description": "Words to look for."},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5},
            },
            required=("query",),
            run=_search,
        ),
        DemoTool(
            name="read",
            title="Read a document",
            description="The whole text of one document, as Markdown.",
            properties=_NAME,
            required=("name",),
            run=_read,
        ),
        DemoTool(
            name="outline",
            title="Outline of a document",
            description="The headings of one document with their line numbers.",
            properties=_NAME,
            required=("name",),
            run=_outline,
        ),
    ),
)


def main() -> int:
    """Serve on standard input and output."""
    return serve(SERVER)


if __name__ == "__main__":
    sys.exit(main())
