"""What hosts are offered, derived from what upstreams offer. Pure.

Each tool is judged on its own: a bad one is withheld with a reason, never its upstream. The same offers
give the same bytes, so that a provider's prompt cache keeps working across restarts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from config.schema import Compression
from proxy import wire
from proxy.descriptions import DESCRIBE_TOOL, described
from proxy.eligibility import SEPARATOR, Names, Offering, judge, own_name
from proxy.model import ToolView, WithheldCount, WithheldTool
from proxy.offer import Offer, OfferedUpstream
from proxy.query_argument import with_query_argument

__all__ = [
    "Advertised",
    "Catalogue",
    "Offer",
    "OfferedUpstream",
    "build",
    "template_fits",
    "tool_views",
]


@dataclass(frozen=True, slots=True)
class Advertised:
    """One item of a list for hosts."""

    upstream: str
    name: str
    """The upstream's own name."""
    text: bytes
    """JSON as hosts see it."""
    source: bytes = b""
    """Of a tool: its definition as the upstream sent it."""
    override: str = ""
    """Of a tool: the description that replaces the upstream's; empty: none does."""
    changes: tuple[str, ...] = ()
    """Of a tool: what was changed about its description, one clause each."""
    compression: Compression = Compression.AUTO
    """Of a tool: how its long answers become smaller."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything that hosts are offered, and where each name leads."""

    tools: Mapping[str, Advertised] = field(default_factory=dict[str, Advertised])
    """By advertised name, in order."""
    prompts: Mapping[str, Advertised] = field(default_factory=dict[str, Advertised])
    resources: tuple[Advertised, ...] = ()
    """``name`` is the URI. An URI offered twice leads to the first upstream."""
    templates: tuple[Advertised, ...] = ()
    """``name`` is the URI template."""
    withheld: Mapping[str, tuple[WithheldTool, ...]] = field(
        default_factory=dict[str, tuple[WithheldTool, ...]]
    )
    """By upstream."""
    prefixes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Prefix to upstream."""
    own_tools: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """Our own tools by name, as hosts see them; listed last."""

    @property
    def own(self) -> frozenset[str]:
        """Names of our own tools."""
        return frozenset(self.own_tools)

    def list_result(self, kind: str) -> bytes:
        """The whole result of ``{kind}/list`` as JSON text."""
        items: Sequence[Advertised]
        ours: Sequence[bytes] = ()
        if kind == "tools":
            items, ours = tuple(self.tools.values()), tuple(self.own_tools.values())
        elif kind == "prompts":
            items = tuple(self.prompts.values())
        elif kind == "resources":
            items = self.resources
        else:
            items, kind = self.templates, "resourceTemplates"
        body = b",".join((*(item.text for item in items), *ours))
        return b'{"' + kind.encode() + b'":[' + body + b"]}"

    def find_tool(self, name: str) -> tuple[str, str] | None:
        """Upstream and own name of the tool that a host calls ``name``.

        A name that is not advertised still leads to the upstream of its prefix, since tools can come and
        go between two lists; that upstream answers for itself. A bare name leads to the one tool that
        has it. A withheld tool leads nowhere, and a tool of ours to no upstream.
        """
        if name in self.own_tools:
            return None
        return self._find(name, self.tools, withheld=True)

    def find_prompt(self, name: str) -> tuple[str, str] | None:
        """Upstream and own name of a prompt, by the same rules."""
        return self._find(name, self.prompts, withheld=False)

    def _find(
        self, name: str, advertised: Mapping[str, Advertised], *, withheld: bool
    ) -> tuple[str, str] | None:
        known = advertised.get(name)
        if known is not None:
            return known.upstream, known.name
        prefix, separator, rest = name.partition(SEPARATOR)
        upstream = self.prefixes.get(prefix)
        if separator and upstream is not None:
            if withheld and any(tool.name == rest for tool in self.withheld.get(upstream, ())):
                return None
            return upstream, rest
        bare = [item for item in advertised.values() if item.name == name]
        return (bare[0].upstream, bare[0].name) if len(bare) == 1 else None

    def withheld_reason(self, name: str) -> str | None:
        """Why a tool that a host called is not offered; ``None`` if it is simply unknown."""
        prefix, _, rest = name.partition(SEPARATOR)
        for tool in self.withheld.get(self.prefixes.get(prefix, ""), ()):
            if tool.name == rest:
                return tool.reason
        return None

    def withheld_counts(self, upstream: str) -> tuple[WithheldCount, ...]:
        """How many tools of one upstream are withheld for which reason, the most frequent first."""
        counts = Counter(tool.code for tool in self.withheld.get(upstream, ()))
        return tuple(WithheldCount(code, count) for code, count in counts.most_common())

    def reject_reasons(self) -> dict[str, int]:
        """How many tools of all upstreams are withheld, by reason code."""
        tools = (tool for withheld in self.withheld.values() for tool in withheld)
        return dict(Counter(tool.code.value for tool in tools))

    def upstreams_of_uri(self, uri: str) -> tuple[str, ...]:
        """Upstreams that list this resource, else those with a template that fits it."""
        listed = tuple(item.upstream for item in self.resources if item.name == uri)
        if listed:
            return listed[:1]
        fitting = (item.upstream for item in self.templates if template_fits(item.name, uri))
        return tuple(dict.fromkeys(fitting))


def build(
    upstreams: Sequence[OfferedUpstream],
    looks_secret: Callable[[str], bool],
    *,
    context_query: bool = False,
    own_tools: Sequence[bytes] = (),
) -> Catalogue:
    """Merge offers, in the given order of upstreams.

    ``looks_secret`` tells whether a text holds something that looks like a credential: such a tool's
    metadata would carry it to every model provider. ``context_query``: offer the argument that tells
    what is looked for. ``own_tools``: definitions of our own tools; their names are ours.
    """
    own = {wire.string(wire.members_of(text), "name") or "": text for text in own_tools}
    tools: dict[str, Advertised] = {}
    prompts: dict[str, Advertised] = {}
    resources: dict[str, Advertised] = {}
    templates: dict[str, Advertised] = {}
    withheld: dict[str, tuple[WithheldTool, ...]] = {}
    names = Names(own, _owners(upstreams), tools)
    for upstream in upstreams:
        refused: list[WithheldTool] = []
        offering = Offering(
            upstream.name,
            upstream.prefix,
            upstream.hidden_tools,
            upstream.runs_tasks,
            upstream.failing,
        )
        for text in upstream.offer.tools:
            members = judge(offering, text, names, looks_secret)
            if isinstance(members, WithheldTool):
                refused.append(members)
            else:
                name = own_name(text)
                item = _advertise_tool(
                    upstream, name, text, members, DESCRIBE_TOOL in own, context_query
                )
                tools[upstream.prefix + SEPARATOR + name] = item
        withheld[upstream.name] = tuple(refused)
        for text in upstream.offer.prompts:
            item = _advertise_prompt(upstream, text)
            if item is not None:
                prompts.setdefault(upstream.prefix + SEPARATOR + item.name, item)
        _collect(upstream.name, upstream.offer.resources, "uri", resources)
        _collect(upstream.name, upstream.offer.templates, "uriTemplate", templates)
    return Catalogue(
        tools,
        prompts,
        tuple(resources.values()),
        tuple(templates.values()),
        withheld,
        {upstream.prefix: upstream.name for upstream in upstreams},
        own,
    )


def tool_views(catalogue: Catalogue, upstream: str) -> tuple[ToolView, ...]:
    """The advertised tools of one upstream, for a screen."""
    views: list[ToolView] = []
    for advertised_as, item in catalogue.tools.items():
        if item.upstream == upstream:
            members = wire.members_of(item.text)
            title = wire.string(members, "title") or ""
            description = wire.string(members, "description") or ""
            views.append(ToolView(item.name, advertised_as, title, description, item.changes))
    return tuple(views)


def template_fits(template: str, uri: str) -> bool:
    """Whether a URI can come from an RFC 6570 template; expressions match anything, even nothing."""
    literals = re.split(r"\{[^{}]*\}", template)
    pattern = ".*".join(re.escape(part) for part in literals)
    return re.fullmatch(pattern, uri, re.DOTALL) is not None


def _advertise_tool(
    upstream: OfferedUpstream,
    name: str,
    source: bytes,
    members: wire.Members,
    recoverable: bool,
    context_query: bool,
) -> Advertised:
    rules = upstream.descriptions.of(name)
    told = described(members, rules, recoverable=recoverable)
    members = dict(told.members)
    members["name"] = wire.raw(upstream.prefix + SEPARATOR + name)
    annotations = members.get("annotations")
    if annotations is not None:
        members["annotations"] = _attributed(upstream.name, annotations)
    text = wire.encode(members)
    return Advertised(
        upstream.name,
        name,
        with_query_argument(text) if context_query else text,
        source,
        rules.override,
        told.changes,
        upstream.compression_of(name),
    )


def _owners(upstreams: Sequence[OfferedUpstream]) -> dict[str, set[tuple[str, str]]]:
    """Who wants which advertised name. ``a`` + ``b__c`` and ``a__b`` + ``c`` want the same one."""
    owners: dict[str, set[tuple[str, str]]] = {}
    for upstream in upstreams:
        for text in upstream.offer.tools:
            name = own_name(text)
            if name and name not in upstream.hidden_tools:
                composed = upstream.prefix + SEPARATOR + name
                owners.setdefault(composed, set()).add((upstream.name, name))
    return owners


def _attributed(upstream: str, annotations: wire.Raw) -> wire.Raw:
    """Tool pickers show this title: say which upstream it comes from."""
    try:
        members = wire.members_of(annotations)
    except wire.MalformedMessage:
        return annotations
    title = wire.string(members, "title")
    if title is None:
        return annotations
    members["title"] = wire.raw(f"[{upstream}] {title}")
    return wire.Raw(wire.encode(members))


def _advertise_prompt(upstream: OfferedUpstream, text: bytes) -> Advertised | None:
    try:
        members = wire.members_of(text)
    except wire.MalformedMessage:
        return None
    name = wire.string(members, "name")
    if not name:
        return None
    members["name"] = wire.raw(upstream.prefix + SEPARATOR + name)
    return Advertised(upstream.name, name, wire.encode(members))


def _collect(upstream: str, texts: Sequence[bytes], key: str, into: dict[str, Advertised]) -> None:
    for text in texts:
        try:
            members = wire.members_of(text)
        except wire.MalformedMessage:
            continue
        name = wire.text_of(members[key]) if key in members else None
        if name is not None:
            into.setdefault(name, Advertised(upstream, name, text))
