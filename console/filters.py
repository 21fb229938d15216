"""The words that filter the list of calls: ``err slow>500 up:github tool:x* host:claude text``.

All words must match; ``-word`` means "does not". A parsed filter is a predicate over records and also
the query that fetches matching calls from the store (a query that may return more, never less).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from proxy.model import CallQuery, CallRecord, Outcome

HELP: tuple[tuple[str, str], ...] = (
    ("err", "calls that failed (a cancelled call did not)"),
    ("ok", "calls that ended well"),
    ("slow>500", "longer than 500 ms (slow alone: 1,000)"),
    ("out>2000", "answers of more than 2,000 tokens (also in>)"),
    ("saved>1000", "answers made smaller by more than 1,000 tokens"),
    ("strategy:extract", "how answers were made smaller; with * the whole name must fit"),
    ("cache:hit", "answers kept from before (cache:shared: an identical call's)"),
    ("up:git", "upstream contains git; with * the whole name must fit"),
    ("tool:search*", "the same for the tool"),
    ("host:claude", "the same for the host"),
    ("word", "anywhere in upstream, tool, host or error"),
    ("-word", "not; works with every form, for example -up:time"),
    ('"two words"', "quotes keep spaces and colons"),
)
"""Each form with what it means, for the help screen."""

_NAMES = {
    "up": "upstream",
    "upstream": "upstream",
    "tool": "tool",
    "host": "host",
    "strategy": "strategy",
    "cache": "cache",
}
_NUMBERS = {"slow": "ms", "in": "tokens", "out": "tokens", "saved": "tokens"}
_ENDED_BADLY = (Outcome.TOOL_ERROR, Outcome.ERROR, Outcome.TIMEOUT, Outcome.UPSTREAM_LOST)
_SPLIT = re.compile(r'(-?)(?:([a-z]+)([:>]))?(?:"([^"]*)"?|(\S+))?\s*')


class FilterError(ValueError):
    """A word that cannot be understood; ``str()`` says which one and what would be right."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a filter."""

    kind: str
    """``err``, ``ok``, ``slow``, ``in``, ``out``, ``saved``, ``upstream``, ``tool``, ``host``,
    ``strategy``, ``cache`` or ``text``."""
    value: str = ""
    number: float = 0.0
    negated: bool = False

    def matches(self, record: CallRecord) -> bool:
        """Whether the record satisfies this word."""
        return self._holds(record) is not self.negated

    def _holds(self, record: CallRecord) -> bool:
        match self.kind:
            case "err":
                return record.outcome in _ENDED_BADLY
            case "ok":
                return record.outcome is Outcome.OK
            case "slow":
                return record.duration_ms > self.number
            case "in":
                return record.arguments.tokens > self.number
            case "out":
                return record.text.tokens + record.structured.tokens > self.number
            case "saved":
                return saved_tokens(record) > self.number
            case "strategy":
                return bool(record.strategy) and _name_matches(record.strategy, self.value)
            case "cache":
                return bool(record.cache) and _name_matches(record.cache, self.value)
            case "upstream":
                return _name_matches(record.upstream, self.value)
            case "tool":
                return _name_matches(record.tool, self.value)
            case "host":
                return _name_matches(record.host, self.value)
            case _:
                fields = (record.upstream, record.tool, record.host, record.error)
                return any(self.value in field.lower() for field in fields)


@dataclass(frozen=True, slots=True)
class CallFilter:
    """A parsed filter; an empty one matches everything."""

    words: tuple[Word, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words)

    def matches(self, record: CallRecord) -> bool:
        """Whether every word matches."""
        return all(word.matches(record) for word in self.words)

    def query(self, *, limit: int, before_id: int | None = None) -> CallQuery:
        """A query whose result contains every match; filter it again with `matches`."""
        positive = [word for word in self.words if not word.negated]
        tools = [word.value for word in positive if word.kind == "tool" and "*" in word.value]
        texts = [
            word.value
            for word in positive
            if word.kind in ("text", "upstream", "tool", "host") and "*" not in word.value
        ]
        slow = [word.number for word in positive if word.kind == "slow"]
        return CallQuery(
            limit=limit,
            before_id=before_id,
            tool=max(tools, key=len, default=""),
            errors_only=any(word.kind == "err" for word in positive),
            slower_than_ms=max(slow, default=0.0),
            text=max(texts, key=len, default=""),
        )


def saved_tokens(record: CallRecord) -> int:
    """How many tokens the answer lost on its way; 0 when it was relayed as it came, or is an error."""
    if not record.strategy or record.outcome is not Outcome.OK:
        return 0
    return record.before.tokens - record.text.tokens - record.structured.tokens


def parse_filter(text: str) -> CallFilter:
    """Parse what a person typed. Raises `FilterError`."""
    words: list[Word] = []
    rest = text.strip()
    while rest:
        found = _SPLIT.match(rest)
        if found is None or found.end() == 0:
            raise FilterError(f"cannot read {rest!r}")
        minus, name, mark, quoted, bare = found.groups()
        value = (quoted if quoted is not None else bare) or ""
        rest = rest[found.end() :]
        if minus and not name and quoted is None and not bare:
            raise FilterError("- needs a word after it, as in -err")
        words.append(_word(bool(minus), name or "", mark or "", value, quoted is not None))
    return CallFilter(tuple(words))


def _word(negated: bool, name: str, mark: str, value: str, quoted: bool) -> Word:
    if not name:
        if not quoted and value in ("err", "ok"):
            return Word(value, negated=negated)
        if not quoted and value == "slow":
            return Word("slow", number=1000.0, negated=negated)
        return Word("text", value.lower(), negated=negated)
    if mark == ">":
        if name not in _NUMBERS:
            raise FilterError(f"no {name}> here; slow> in> out> saved>")
        try:
            number = float(value.replace(",", ""))
        except ValueError:
            number = -1.0
        if not 0 <= number < 1e12:
            raise FilterError(f"{name}> needs a number ({_NUMBERS[name]}): {name}>500")
        return Word(name, number=number, negated=negated)
    if name not in _NAMES:
        raise FilterError(
            f'no {name}: here; up: tool: host: strategy: cache: (or quote "{name}:{value}")'
        )
    if not value:
        raise FilterError(f"{name}: needs a name after it")
    return Word(_NAMES[name], value.lower(), negated=negated)


def _name_matches(name: str, pattern: str) -> bool:
    """``*`` is the only wildcard, so that ``[`` and ``?`` in a name are just characters."""
    lowered = name.lower()
    if "*" not in pattern:
        return pattern in lowered
    literal = pattern.replace("[", "[[]").replace("?", "[?]")
    return fnmatchcase(lowered, literal)
