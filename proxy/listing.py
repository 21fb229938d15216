"""Ask an upstream for everything it offers, following its pages, within bounds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from proxy import wire
from proxy.catalogue import Offer
from proxy.exchange import Answer, Failure

MAX_PAGES = 100
MAX_ITEMS = 10_000

Ask = Callable[[str, wire.Members | None], Awaitable[Answer]]
"""Send a request of mms's own and wait for the answer."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What was listed, and what was wrong with it."""

    offer: Offer
    faults: tuple[str, ...]
    """One sentence each, for a person."""
    unanswered: bool = False
    """Some list got no answer in time; it may be had later."""


async def list_everything(ask: Ask, capabilities: wire.Members, known: Offer) -> Listing:
    """Fetch tools, resources, templates and prompts, as far as the upstream says it has them.

    A list that gets no answer stays as it is ``known``: hosts must not lose tools by a hiccup.
    """
    faults: list[str] = []
    tools: tuple[bytes, ...] | None = ()
    prompts: tuple[bytes, ...] | None = ()
    resources: tuple[bytes, ...] | None = ()
    templates: tuple[bytes, ...] | None = ()
    if "tools" in capabilities:
        tools = await _pages(ask, "tools/list", "tools", faults)
    if "resources" in capabilities:
        resources = await _pages(ask, "resources/list", "resources", faults)
        templates = await _pages(ask, "resources/templates/list", "resourceTemplates", faults)
    if "prompts" in capabilities:
        prompts = await _pages(ask, "prompts/list", "prompts", faults)
    offer = Offer(
        known.tools if tools is None else tools,
        known.resources if resources is None else resources,
        known.templates if templates is None else templates,
        known.prompts if prompts is None else prompts,
    )
    unanswered = None in (tools, resources, templates, prompts)
    return Listing(offer, tuple(faults), unanswered)


async def _pages(ask: Ask, method: str, key: str, faults: list[str]) -> tuple[bytes, ...] | None:
    """One list; ``None`` when some page of it got no answer."""
    items: list[bytes] = []
    seen: set[bytes] = set()
    params: wire.Members | None = None
    for _ in range(MAX_PAGES):
        answer = await ask(method, params)
        if isinstance(answer, Failure):
            faults.append(f"{method} failed: {answer.text}")
            return None
        if "error" in answer:
            if error_code(answer) != wire.METHOD_NOT_FOUND:
                faults.append(f"{method} was refused: {error_text(answer)}")
            break
        try:
            result = wire.members_of(answer["result"])
            items.extend(bytes(item) for item in wire.items_of(result[key]))
        except (wire.MalformedMessage, KeyError):
            faults.append(f"{method} answered without a list of {key}")
            break
        cursor = bytes(result.get("nextCursor", b"null"))
        if cursor in (b"null", b'""'):
            break
        if cursor in seen:
            faults.append(f"{method} repeats a page; {len(items)} {key} were taken")
            break
        if len(items) >= MAX_ITEMS:
            faults.append(f"{method} has more than {MAX_ITEMS:,} items; the rest is left out")
            break
        seen.add(cursor)
        params = {"cursor": wire.Raw(cursor)}
    else:
        faults.append(f"{method} has more than {MAX_PAGES} pages; the rest is left out")
    unique = dict.fromkeys(items[:MAX_ITEMS])
    return tuple(unique) if len(seen) else tuple(items[:MAX_ITEMS])


def error_code(answer: wire.Members) -> int | None:
    """The code of an error response; ``None`` when it has none that can be read."""
    try:
        code = bytes(wire.members_of(answer["error"]).get("code", b""))
        return int(code)
    except (wire.MalformedMessage, ValueError):
        return None


def error_text(answer: wire.Members) -> str:
    """The message of an error response, for a person."""
    try:
        members = wire.members_of(answer["error"])
    except wire.MalformedMessage:
        return "an error that cannot be read"
    message = wire.string(members, "message")
    return message or "an error without a message"
