"""A program that writes to a memory until it has done its share, or is killed. Prints what it committed.

Arguments: URL, name, number of transactions.
"""

from __future__ import annotations

import sys

from memory.model import Actor, Kind, Origin, State
from memory.store.database import Store
from memory.store.writing import RecordPatch
from tests.memory.store.making import SPACE, START, edit, new


def main(url: str, name: str, count: int) -> None:
    store = Store.open(url, busy_seconds=60)
    actor = Actor(Origin.AGENT, name, name)
    for number in range(count):
        with store.writing(actor, SPACE, START + number) as writing:
            record = writing.add(new(f"{name} says {number}", Kind.PROCEDURAL))
            writing.put_vectors("m", [(record.num, record.content_hash, b"v" * 64)])
            writing.outcome(record.id, success=number % 2 == 0)
            if number % 3 == 0:
                archived = RecordPatch(state=State.ARCHIVED)
                edit(writing, writing.change(record.id, "archived", archived), "changed " + name)
            first = writing.by_nums([1])[1]
            writing.outcome(first.id, success=True, key=f"{name}-{number}")
            position = writing.position
        sys.stdout.write(f"{position}\n")
        sys.stdout.flush()
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
