"""What hosts are offered, derived from what upstreams offer. Pure.

Each tool is judged on its own: a bad one is withheld with a reason, never its upstream. The same offers
give the same bytes, so that a provider's prompt cache keeps working across restarts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from proxy import wire
from proxy.model import ToolView, WithheldTool
from proxy.query import CONTEXT_QUERY
from proxy.splice import member_spans, with_member, with_value

SEPARATOR = "__"
MAX_NAME = 128
"""Characters of an advertised name; hosts leave out tools with longer ones."""
_NAME = re.compile(r"[A-Za-z0-9_./-]+")
_CONTEXT_QUERY_SCHEMA = (
    b'{"type":"string","description":"What you look for: a long answer is shortened around it"}'
)
_CONTEXT_QUERY_PROPERTIES = b'{"%s":%s}' % (CONTEXT_QUERY.encode(), _CONTEXT_QUERY_SCHEMA)
_RESTRICTING = frozenset(
    (
        *("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if"),
        *("propertyNames", "patternProperties", "maxProperties", "dependentSchemas"),
    )
)
"""With one of these a schema may refuse an argument although its properties name it."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What one upstream offers, each item as the JSON text that the upstream sent."""

    tools: tuple[bytes, ...] = ()
    resources: tuple[bytes, ...] = ()
    templates: tuple[bytes, ...] = ()
    prompts: tuple[bytes, ...] = ()

    def in_known_order(self, known: Offer) -> Offer:
        """This offer, with lists in the known order where they hold the same items.

        Some servers list in a random order; a changed order would re-bill the whole prompt.
        """
        return Offer(
            _in_order(self.tools, known.tools),
            _in_order(self.resources, known.resources),
            _in_order(self.templates, known.templates),
            _in_order(self.prompts, known.prompts),
        )


@dataclass(frozen=True, slots=True)
class OfferedUpstream:
    """An upstream as the catalogue sees it."""

    name: str
    prefix: str
    offer: Offer
    hidden_tools: frozenset[str] = frozenset()
    """Switched off in the settings."""


@dataclass(frozen=True, slots=True)
class Advertised:
    """One item of a list for hosts."""

    upstream: str
    name: str
    """The upstream's own name."""
    text: bytes
    """JSON as hosts see it."""


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
    for upstream in upstreams:
        refused: list[WithheldTool] = []
        for text in upstream.offer.tools:
            item = _advertise_tool(upstream, text, tools, own, looks_secret)
            if isinstance(item, WithheldTool):
                refused.append(item)
            else:
                if context_query:
                    item = _asking_for_query(item)
                tools[upstream.prefix + SEPARATOR + item.name] = item
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
            views.append(
                ToolView(item.name, advertised_as, title, wire.string(members, "description") or "")
            )
    return tuple(views)


def template_fits(template: str, uri: str) -> bool:
    """Whether a URI can come from an RFC 6570 template; expressions match anything, even nothing."""
    literals = re.split(r"\{[^{}]*\}", template)
    pattern = ".*".join(re.escape(part) for part in literals)
    return re.fullmatch(pattern, uri, re.DOTALL) is not None


def _advertise_tool(
    upstream: OfferedUpstream,
    text: bytes,
    taken: Mapping[str, Advertised],
    reserved: Mapping[str, bytes],
    looks_secret: Callable[[str], bool],
) -> Advertised | WithheldTool:
    try:
        members = wire.members_of(text)
    except wire.MalformedMessage as error:
        return WithheldTool("?", f"its description cannot be read: {error.reason}")
    name = wire.string(members, "name")
    if not name:
        return WithheldTool("?", "it has no name")
    reason = _tool_fault(upstream, name, members, taken)
    if reason is None and upstream.prefix + SEPARATOR + name in reserved:
        reason = f"the name {upstream.prefix}{SEPARATOR}{name} is one of mms's own tools"
    if reason is None and looks_secret(text.decode("utf-8", "replace")):
        reason = "its description holds something that looks like a credential"
    if reason is not None:
        return WithheldTool(name, reason)
    members["name"] = wire.raw(upstream.prefix + SEPARATOR + name)
    annotations = members.get("annotations")
    if annotations is not None:
        members["annotations"] = _attributed(upstream.name, annotations)
    return Advertised(upstream.name, name, wire.encode(members))


def _tool_fault(
    upstream: OfferedUpstream,
    name: str,
    members: wire.Members,
    taken: Mapping[str, Advertised],
) -> str | None:
    composed = upstream.prefix + SEPARATOR + name
    if name in upstream.hidden_tools:
        return f"switched off by upstreams.{upstream.name}.tools.{name}.enabled"
    if not _NAME.fullmatch(name):
        return "its name has characters other than letters, digits and _ - . /"
    if len(composed) > MAX_NAME:
        return f"its name with the prefix has {len(composed)} characters; hosts take {MAX_NAME}"
    if composed in taken:
        other = taken[composed].upstream
        where = "twice by this upstream" if other == upstream.name else f"by {other} as well"
        return f"the name {composed} is offered {where}"
    for key in ("description", "title"):
        if key in members and wire.text_of(members[key]) is None and bytes(members[key]) != b"null":
            return f"its {key} is not a text"
    schema = bytes(members.get("inputSchema", b"")).strip()
    if not schema.startswith(b"{"):
        return "it has no input schema" if not schema else "its input schema is not an object"
    try:
        declared = wire.members_of(schema)
    except wire.MalformedMessage as error:
        return f"its input schema cannot be read: {error.reason}"
    if "type" in declared and wire.text_of(declared["type"]) != "object":
        return "its input schema does not describe an object"
    return None


def _asking_for_query(item: Advertised) -> Advertised:
    """The tool with one more argument, unless its schema has it or may refuse it."""
    spans = {span.name: span for span in member_spans(item.text) or ()}
    at = spans["inputSchema"]
    schema = _with_query(item.text[at.value : at.end])
    if schema is None:
        return item
    return Advertised(item.upstream, item.name, with_value(item.text, at, schema))


def _with_query(schema: bytes) -> bytes | None:
    spans = member_spans(schema) or []
    names = [span.name for span in spans]
    if not _RESTRICTING.isdisjoint(names) or names.count("properties") > 1:
        return None
    if "properties" not in names:
        return with_member(schema, "properties", _CONTEXT_QUERY_PROPERTIES)
    at = spans[names.index("properties")]
    declared = schema[at.value : at.end]
    if any(span.name == CONTEXT_QUERY for span in member_spans(declared) or ()):
        return None
    properties = with_member(declared, CONTEXT_QUERY, _CONTEXT_QUERY_SCHEMA)
    return None if properties is None else with_value(schema, at, properties)


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


def _in_order(new: tuple[bytes, ...], known: tuple[bytes, ...]) -> tuple[bytes, ...]:
    return known if new != known and sorted(new) == sorted(known) else new
