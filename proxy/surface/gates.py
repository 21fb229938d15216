"""Calls whose answers are left alone: by their tool, once and for all, and by what a session had already.

Pure: times are passed in, in seconds of any one clock. A clock that jumps closes no gate for longer than
the gate's own time.
"""

from __future__ import annotations

import fnmatch
import re
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from config.schema_surfacing import SurfacingSettings
from proxy.answer_cache import hints_of
from proxy.query import name_words
from proxy.surface.conversation import Conversation
from proxy.surface.model import Decision
from proxy.tool_traits import ToolTraits

MINUTE = 60.0
SAME_QUERY = 0.95
"""Two queries are nearly alike when they share a larger part of all their words than this (Jaccard)."""
REMEMBERED_QUERIES = 50
"""Of one tool, the latest ones."""
REMEMBERED_TOOLS = 200
"""Of one session, those searched for last."""

_READING = frozenset(
    (
        *("get", "list", "read", "search", "find", "show", "view", "fetch", "query", "lookup"),
        *("look", "describe", "browse", "inspect", "explain", "check", "count", "preview", "diff"),
        *("compare", "retrieve", "summarize", "analyze", "is", "has", "can", "ls", "cat", "grep"),
    )
)
"""A name that begins so tells of a tool that reads."""
_JOINED = frozenset(("and", "or", "then"))
_WORDS = re.compile(r"\w+")
_WILD = re.compile(r"[*?\[]")


def tool_gate(
    settings: SurfacingSettings, upstream: str, tool: str, traits: ToolTraits
) -> Decision | None:
    """Why answers of a tool are left alone; ``None``: they are not.

    What a tool says of itself counts for more than its name: ``destructiveHint: true`` and
    ``readOnlyHint: false`` make it a writing one, else ``readOnlyHint: true`` a reading one.
    """
    if is_excluded(settings.exclude_tools, upstream, tool):
        return Decision.EXCLUDED_TOOL
    hints = hints_of(traits.annotations)
    if hints.destructive is True or hints.read_only is False:
        return Decision.WRITE_TOOL
    if hints.read_only is None and is_named_like_writing(settings.write_tools, upstream, tool):
        return Decision.WRITE_TOOL
    return None


def is_excluded(patterns: Sequence[str], upstream: str, tool: str) -> bool:
    """Whether a pattern over ``UPSTREAM/TOOL`` matches; case does not matter."""
    name = f"{upstream}/{tool}".casefold()
    return any(fnmatch.fnmatchcase(name, pattern.casefold()) for pattern in patterns)


def is_named_like_writing(patterns: Sequence[str], upstream: str, tool: str) -> bool:
    """Whether a tool's name says that it changes something.

    A pattern ``*word*`` wants the whole word: ``recent_updates`` is no ``*update*``. Any other pattern is
    held against the name as it is and with its words joined by ``_``. A name that begins with a verb of
    reading (behind the upstream's own name) never counts, as ``get_updates``, ``list_edits``; unless it
    goes on to do more: ``find_and_delete``.
    """
    words = [word.casefold() for word in name_words(tool)]
    own = [word.casefold() for word in name_words(upstream)]
    if len(words) > len(own) and words[: len(own)] == own:
        words = words[len(own) :]
    if words[:1] == ["api"]:
        words = words[1:]
    if words and words[0] in _READING:
        more = next((place for place, word in enumerate(words) if word in _JOINED), len(words))
        words = words[more + 1 :]
        return bool(words) and _matches(patterns, words, "_".join(words))
    return _matches(patterns, words, tool.casefold())


def _matches(patterns: Sequence[str], words: Sequence[str], name: str) -> bool:
    joined = "_".join(words)
    for pattern in patterns:
        folded = pattern.casefold()
        bare = folded.strip("*")
        if folded == f"*{bare}*" and bare and not _WILD.search(bare):
            wanted = "_".join(word.casefold() for word in name_words(bare)) or bare
            if f"_{wanted}_" in f"_{joined}_":
                return True
        elif fnmatch.fnmatchcase(name, folded) or fnmatch.fnmatchcase(joined, folded):
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Query:
    tool: str
    text: str
    words: frozenset[str]
    at: float


class SessionGate:
    """How often one session may search. Holds what it admitted; limits come with every call."""

    def __init__(self) -> None:
        """Nothing has been searched."""
        self._slots: deque[_Query] = deque()
        self._queries: OrderedDict[str, deque[_Query]] = OrderedDict()

    def admit(
        self,
        settings: SurfacingSettings,
        tool: str,
        query: str,
        conversation: Conversation,
        now: float,
    ) -> Decision | None:
        """``None``: search; one of the minute's searches is used up. Else why not, and nothing is."""
        spent = self.spent(settings, conversation, now)
        if spent is not None:
            return spent
        asked = _Query(tool, query, frozenset(_WORDS.findall(query.casefold())), now)
        if any(
            abs(now - earlier.at) < settings.cooldown_seconds and _alike(asked, earlier)
            for earlier in self._queries.get(tool, ())
        ):
            return Decision.COOLDOWN
        self._slots.append(asked)
        self._queries.setdefault(tool, deque(maxlen=REMEMBERED_QUERIES)).append(asked)
        self._queries.move_to_end(tool)
        while len(self._queries) > REMEMBERED_TOOLS:
            self._queries.popitem(last=False)
        return None

    def spent(
        self, settings: SurfacingSettings, conversation: Conversation, now: float
    ) -> Decision | None:
        """Why nothing may be searched whatever the query is; ``None``: that depends on the query."""
        if conversation.shown >= settings.max_per_session:
            return Decision.SESSION_BUDGET
        slots = self._slots
        while slots and abs(now - slots[0].at) >= MINUTE:
            slots.popleft()
        if len(slots) >= settings.max_per_minute:
            self._slots = slots = deque(one for one in slots if abs(now - one.at) < MINUTE)
        return Decision.RATE_LIMIT if len(slots) >= settings.max_per_minute else None

    def refund(self, tool: str | None = None, query: str | None = None) -> None:
        """A search that was admitted was not made: its slot is free, and its query may come again.

        Without arguments the latest one is meant; where several are under way, name which.
        """
        for slot in reversed(self._slots):
            if (tool is None or slot.tool == tool) and (query is None or slot.text == query):
                self._slots.remove(slot)
                queries = self._queries.get(slot.tool)
                if queries is not None and slot in queries:
                    queries.remove(slot)
                return


def _alike(one: _Query, other: _Query) -> bool:
    if one.text == other.text:
        return True
    both = len(one.words | other.words)
    return both > 0 and len(one.words & other.words) / both > SAME_QUERY
