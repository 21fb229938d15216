"""Facts whose relations are known: the same in other words, contrary, or only alike."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from random import Random
from typing import Any

OUTSIDE = "corpus.py"
"""The file of an outside corpus: it has ``facts(n)``, a list of objects with key, text, kind and of."""


class FactKind(Enum):
    """What a fact has to do with the earlier fact that it belongs to."""

    BASE = "base"
    """Nothing: it belongs to none."""
    EXACT = "exact_dup"
    NEAR = "near_dup"
    """The same value, a little other words."""
    CONTRADICTION = "contradiction"
    """The same thing and attribute, another value."""
    TWIN = "twin"
    """The same attribute and value of another thing."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One labelled text."""

    key: int
    text: str
    kind: FactKind
    of: int | None = None

    @property
    def root(self) -> int:
        """Key of the base that says the same value, itself included; only for bases and repeats."""
        return self.key if self.of is None else self.of

    @property
    def repeats(self) -> bool:
        """Whether it says what its base says."""
        return self.kind in (FactKind.EXACT, FactKind.NEAR)


_Value = Callable[[Random], str]
_PLACES = (
    "harbour", "valley", "northern", "garden", "castle", "island", "market", "forest", "museum", "river",
    "central", "upper", "lower", "eastern", "western", "old", "new", "summer", "winter", "mountain",
)  # fmt: skip
_THINGS = (
    "telescope", "greenhouse", "workshop", "ferry", "printing press", "archive", "observatory", "kiln",
    "turbine", "elevator", "reading room", "weather station", "boiler", "tram", "pump",
)  # fmt: skip
_NAMES = (
    "amber", "basalt", "cobalt", "delta", "ember", "falcon", "granite", "heron", "iris", "juniper", "kestrel",
    "lotus", "maple", "nimbus", "onyx", "pelican", "quartz", "raven", "saffron", "tulip", "umber", "violet",
    "willow", "zephyr",
)  # fmt: skip
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_COLOURS = ("red", "blue", "green", "white", "grey", "yellow", "black", "orange", "brown", "purple")
_OFFICES = ("carpentry", "electrics", "gardening", "logistics", "transport", "visitors", "security")
_ATTRIBUTES: tuple[tuple[str, _Value], ...] = (
    ("opens every morning at", lambda r: f"{r.randrange(5, 12)}:{r.choice(('00', '15', '30', '45'))}"),
    (
        "is insured until",
        lambda r: f"{r.randrange(1, 29)} {r.choice(_MONTHS)} {r.randrange(2027, 2060)}",
    ),
    ("weighs exactly", lambda r: f"{r.randrange(90, 9_000)} kg"),
    ("is painted", lambda r: r.choice(_COLOURS)),
    ("is looked after by the department of", lambda r: f"{r.choice(_OFFICES)} {r.randrange(1, 40)}"),
    ("is locked with the code", lambda r: str(r.randrange(1_000, 10_000))),
    ("was last inspected in the year", lambda r: str(r.randrange(1990, 2027))),
    ("runs on a voltage of", lambda r: f"{r.randrange(12, 900)} volts"),
    ("is limited to", lambda r: f"{r.randrange(2, 600)} visitors"),
)  # fmt: skip
_FORMS = (
    "The {thing} {says}.",
    "According to the caretaker, the {thing} {says}.",
    "Note from the last inspection: the {thing} {says}, and nobody has objected since.",
)
_REWORDINGS = (
    ("nobody", "no one"),
    ("According to the caretaker", "Per the caretaker"),
    ("The ", "Our "),
)
_SHARE = 0.05
"""Of each kind but bases."""


@dataclass(frozen=True, slots=True)
class _Base:
    fact: Fact
    thing: str
    attribute: int
    form: int
    value: str


def generated(count: int, seed: int = 5) -> list[Fact]:
    """``count`` facts, the same for every run; a fifth of them belong to an earlier one."""
    random = Random(seed)
    facts: list[Fact] = []
    bases: list[_Base] = []
    used: set[tuple[str, int]] = set()
    kinds = (FactKind.EXACT, FactKind.NEAR, FactKind.CONTRADICTION, FactKind.TWIN)
    while len(facts) < count:
        lot = random.random()
        if bases and lot < _SHARE * len(kinds):
            base = random.choice(bases)
            kind = kinds[int(lot / _SHARE)]
            facts.append(Fact(len(facts), _related(base, kind, random), kind, base.fact.key))
            continue
        thing, attribute = _thing(random), random.randrange(len(_ATTRIBUTES))
        if (thing, attribute) in used:
            continue
        used.add((thing, attribute))
        form, value = random.randrange(len(_FORMS)), _ATTRIBUTES[attribute][1](random)
        fact = Fact(len(facts), _text(thing, attribute, form, value), FactKind.BASE)
        facts.append(fact)
        bases.append(_Base(fact, thing, attribute, form, value))
    return facts


def outside(folder: Path, count: int) -> list[Fact]:
    """``count`` facts of the program ``corpus.py`` in ``folder``, which is run. Raises `OSError`."""
    path = folder / OUTSIDE
    if not path.is_file():
        raise FileNotFoundError(f"{OUTSIDE} is not in {folder}")
    spec = importlib.util.spec_from_file_location("outside_corpus", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [
        Fact(fact["key"], fact["text"], FactKind(fact["kind"]), fact["of"])
        for fact in module.facts(count)
    ]


def questions(facts: list[Fact], count: int = 60, seed: int = 11) -> list[tuple[str, int]]:
    """(a base's words without its last one, its key)."""
    random = Random(seed)
    bases = [fact for fact in facts if fact.kind is FactKind.BASE]
    chosen = [random.choice(bases) for _ in range(count)]
    return [(f"which value {' '.join(fact.text.split()[:-1])}", fact.key) for fact in chosen]


def _thing(random: Random) -> str:
    names = " ".join(random.choice(_NAMES) for _ in range(2))
    return f"{random.choice(_PLACES)} {random.choice(_THINGS)} {names}"


def _text(thing: str, attribute: int, form: int, value: str) -> str:
    return _FORMS[form].format(thing=thing, says=f"{_ATTRIBUTES[attribute][0]} {value}")


def _related(base: _Base, kind: FactKind, random: Random) -> str:
    thing, value = base.thing, base.value
    if kind is FactKind.EXACT:
        return base.fact.text
    if kind is FactKind.NEAR:
        return _reworded(base.fact.text)
    while kind is FactKind.CONTRADICTION and value == base.value:
        value = _ATTRIBUTES[base.attribute][1](random)
    while kind is FactKind.TWIN and thing == base.thing:
        thing = _thing(random)
    return _text(thing, base.attribute, base.form, value)


def _reworded(text: str) -> str:
    for old, new in _REWORDINGS:
        if old in text:
            return text.replace(old, new, 1)
    return text
