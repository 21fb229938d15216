"""Invented technical prose of a wanted size, the same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

_ACTORS = (
    "the checkout service",
    "the order worker",
    "the search index",
    "the gateway",
    "the ledger",
    "the on-call engineer",
    "the nightly export",
    "the session cache",
)
_VERBS = (
    "retries",
    "writes to",
    "reads from",
    "waits for",
    "hands over to",
    "takes precedence over",
    "is rebuilt from",
    "reports to",
)
_OBJECTS = (
    "the primary database",
    "the event log",
    "the replica in the second zone",
    "the payment provider",
    "the feature-flag service",
    "the message queue",
    "the object store",
    "the rate limiter",
)
_CONDITIONS = (
    "when the queue is longer than {n} messages",
    "once {n} seconds have passed without an answer",
    "unless the flag `strict_{n}` is off",
    "as long as fewer than {n} % of the requests fail",
    "after release 4.{n} is in every zone",
    "while a migration holds the table lock",
    "if the customer's region is not yet known",
    "because idempotency keys live for {n} hours",
)
_HEADINGS = (
    "Overview",
    "Before you start",
    "How it works",
    "Limits",
    "When it goes wrong",
    "Steps",
    "Rollback",
    "Monitoring",
    "Ownership",
    "Decisions so far",
)


def _sentence(dice: Random) -> str:
    condition = dice.choice(_CONDITIONS).format(n=dice.randint(2, 96))
    words = f"{dice.choice(_ACTORS)} {dice.choice(_VERBS)} {dice.choice(_OBJECTS)} {condition}."
    return words[0].upper() + words[1:]


def _block(dice: Random) -> str:
    kind = dice.random()
    if kind < 0.6:
        return " ".join(_sentence(dice) for _ in range(dice.randint(2, 5)))
    if kind < 0.8:
        return "\n".join(f"- {_sentence(dice)}" for _ in range(dice.randint(3, 6)))
    if kind < 0.9:
        rows = "\n".join(
            f"| zone-{row} | {dice.randint(20, 400)} ms | {dice.randint(0, 40) / 10} % |"
            for row in "abcd"[: dice.randint(2, 4)]
        )
        return f"| zone | p95 | errors |\n| --- | --- | --- |\n{rows}"
    return (
        "```\n"
        f"ops queue drain --service checkout --limit {dice.randint(10, 500)}\n"
        f"ops flag set strict_{dice.randint(2, 96)} off --reason incident\n"
        "```"
    )


def _blocks(dice: Random) -> Iterator[str]:
    while True:
        yield f"## {dice.choice(_HEADINGS)}"
        for _ in range(dice.randint(2, 4)):
            yield _block(dice)


def markdown(title: str, size: int, seed: str) -> str:
    """A Markdown text of at most ``size`` bytes, less a sentence at the most. ASCII only."""
    dice = Random(seed)
    text = f"# {title}\n"
    for block in _blocks(dice):
        longer = f"{text}\n{block}\n"
        if len(longer) > size:
            break
        text = longer
    while len(longer := f"{text}\n{_sentence(dice)}\n") <= size:
        text = longer
    return text


def paragraph(sentences: int, seed: str) -> str:
    """So many sentences in one line."""
    dice = Random(seed)
    return " ".join(_sentence(dice) for _ in range(sentences))
