"""Run every method on every case and count what survived."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from proxy.compress import lossless_json
from proxy.compress.lossless_log import unfold_log
from proxy.compress.model import Gauge
from proxy.loose_json import compact
from tests.bench.quality.baselines import SEEDS, Baselines, Method
from tests.bench.quality.cases import Case, is_json, kept
from tests.bench.quality.peers import Peer, PeerProblem
from tests.bench.quality.product import Output, Product

DEFAULT_BUDGET = 4_000
RERUN_EVERY = 5
"""Every so many cases are run twice and read back whole."""
PRODUCT = "mms"


@dataclass(frozen=True)
class Budget:
    """A share of a text's tokens, or a number of tokens."""

    share: float = 0.0
    tokens: int = DEFAULT_BUDGET

    def of(self, size: int) -> int:
        return max(1, int(size * self.share)) if self.share else self.tokens

    def __str__(self) -> str:
        return f"{self.share * 100:.0f} %" if self.share else f"{self.tokens:,}"


SHARES = tuple(Budget(share) for share in (0.1, 0.2, 0.3, 0.5))
DEFAULT = Budget()


@dataclass
class Tally:
    """What was seen of mms on the cases of one shape at one budget."""

    kept: int = 0
    cases: int = 0
    recoverable: int = 0
    """Lost, but an announced section or the handle brings it back."""
    fetched: list[int] = field(default_factory=list)
    """Tokens of the section that brought a lost answer back."""
    shares: list[float] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    json: int = 0
    json_cases: int = 0
    over: list[str] = field(default_factory=list)
    grown: list[str] = field(default_factory=list)
    unstable: list[str] = field(default_factory=list)
    unrecovered: list[str] = field(default_factory=list)
    broken_json: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    strategies: dict[str, int] = field(default_factory=dict)


class Bench:
    """All columns side by side."""

    def __init__(
        self,
        gauge: Gauge,
        peers: Mapping[str, Peer],
        product: Product | None,
        *,
        baselines: bool = True,
        others: int = 100,
    ) -> None:
        """``others``: the other columns get only the first so many cases of a shape."""
        self.gauge = gauge
        self.product = product
        self.others = others
        self._chance = Baselines(gauge).chance
        self._baselines = Baselines(gauge).methods() if baselines else {}
        self._peers = dict(peers)
        self.problems: dict[str, str] = {}
        """Why a peer's column ends."""

    @property
    def columns(self) -> list[str]:
        """Names of the methods, mms first."""
        first = [PRODUCT] if self.product else []
        return [*first, *self._baselines, *self._peers]

    def retained(self, cases: Sequence[Case], budget: Budget) -> tuple[dict[str, float], Tally]:
        """Per column the share of answers that survived; and everything about mms."""
        tally = Tally()
        hits: dict[str, float] = dict.fromkeys(self.columns, 0.0)
        for number, case in enumerate(cases):
            tokens = budget.of(self.gauge.size(case.text))
            if self.product:
                hits[PRODUCT] += self._ours(self.product, case, tokens, tally, number)
            if number < self.others:
                for name, method in self._others():
                    hits[name] += self._theirs(name, method, case, tokens)
        others = max(1, min(self.others, len(cases)))
        counts = {name: len(cases) if name == PRODUCT else others for name in hits}
        return {name: hits[name] / max(1, counts[name]) for name in hits}, tally

    def single(self, case: Case, tokens: int) -> dict[str, bool]:
        """One case, all columns; `adversarial` cases are shown one by one."""
        found = {}
        if self.product:
            output = self.product.reduce(case.text, case.question, tokens)
            found[PRODUCT] = output.tokens <= tokens and kept(case, readable(output))
        for name, method in self._others():
            found[name] = self._theirs(name, method, case, tokens, seeds=SEEDS[:1]) == 1
        return found

    def _others(self) -> Iterable[tuple[str, Method]]:
        return [
            *self._baselines.items(),
            *((name, peer) for name, peer in self._peers.items() if name not in self.problems),
        ]

    def _theirs(
        self, name: str, method: Method, case: Case, tokens: int, seeds: Sequence[int] = SEEDS
    ) -> float:
        methods = [self._chance(seed) for seed in seeds] if name == "random" else [method]
        hits = 0
        for one in methods:
            try:
                sent = one(case.text, case.question, tokens)
            except PeerProblem as problem:
                self.problems[name] = str(problem)
                return 0.0
            if sent is not None and self.gauge.size(sent) <= tokens and kept(case, sent):
                hits += 1
        return hits / len(methods)

    def _ours(self, product: Product, case: Case, tokens: int, tally: Tally, number: int) -> int:
        output = product.reduce(case.text, case.question, tokens, told=case.told)
        what = f"{case.shape} #{number} {case.name} at {tokens} tokens"
        tally.cases += 1
        tally.strategies[output.strategy] = tally.strategies.get(output.strategy, 0) + 1
        tally.shares.append(output.tokens / max(1, output.before))
        tally.milliseconds.append(output.milliseconds)
        if output.fault:
            tally.faults.append(f"{what}: {output.fault}")
        if output.tokens > tokens:
            tally.over.append(f"{what}: {output.tokens}")
        if output.tokens > output.before:
            tally.grown.append(f"{what}: {output.before} to {output.tokens}")
        if case.json:
            tally.json_cases += 1
            if is_json(output.text):
                tally.json += 1
            else:
                tally.broken_json.append(f"{what} ({output.strategy})")
        again = number % RERUN_EVERY == 0
        if again:
            second = product.reduce(case.text, case.question, tokens, told=case.told)
            if second.body != output.body:
                tally.unstable.append(what)
        survived = output.tokens <= tokens and kept(case, readable(output))
        problem = product.recovers(output) if again or not survived else ""
        if problem:
            tally.unrecovered.append(f"{what}: {problem}")
        if survived:
            tally.kept += 1
        else:
            tally.lost.append(
                f"{what} ({output.strategy}): {case.question[:80]} -> {case.answers[:1]}"
            )
            if not problem:
                tally.recoverable += 1
                wanted = case.answers[0] if case.answers else ""
                fetched = product.finds(output, wanted) if len(tally.fetched) < 20 else None
                if fetched is not None:
                    tally.fetched.append(fetched)
        return int(survived)


def readable(output: Output) -> str:
    """What a reader of the answer can know: a lossless form decoded."""
    if output.strategy != "lossless":
        return output.text
    if output.text.lstrip()[:1] not in {"{", "["}:
        return unfold_log(output.text)
    if not lossless_json.legend(output.text):
        return output.text  # only the white space is gone
    return lossless_json.decode(output.text).decode("utf-8", "surrogatepass")


def minified(text: str) -> str:
    """The JSON text without white space, everything else as written."""
    return compact(text.encode()).decode()


def lossless_share(product: Product, gauge: Gauge, text: str) -> tuple[int, int, Output]:
    """Tokens of the minified text and of the lossless form."""
    small = gauge.size(minified(text))
    output = product.reduce(text, "", gauge.size(text) - 1, "lossless")
    return small, output.tokens, output


def same_value(one: str, other: str) -> bool:
    """Equal JSON, numbers compared as they are written and members in order."""

    def pairs(found: list[tuple[str, object]]) -> list[tuple[str, object]]:
        return [("{}", None), *found]

    def value(text: str) -> object:
        return json.loads(text, object_pairs_hook=pairs, parse_int=str, parse_float=str)

    return value(one) == value(other)


def percentile(values: Sequence[float], share: float) -> float:
    """The value that so much of them do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else 0.0


def note(text: str) -> None:
    """Progress, beside the report."""
    print(text, file=sys.stderr, flush=True)
