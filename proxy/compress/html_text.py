"""Real HTML as readable text: no scripts, styles, comments and tags; links, tables and lists stay legible.

A scanner of our own rather than the standard library's parser: it takes linear time for any input
(every pattern stops at the next ``<``), and it leaves alone what only looks like a tag.
"""

from __future__ import annotations

import re
from html import unescape

_ATTRIBUTES = r"""(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+"""
_REAL = re.compile(
    r"\ufeff?\s*+(?:<\?xml[^<>]*+>\s*+)?(?:<!--(?:[^-]|-(?!->))*+-->\s*+)*+<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE,
)
_DROPPED = ("script", "style", "template", "svg")
"""Elements whose contents no reader sees as text."""
_INLINE = """
abbr acronym applet area audio b base basefont bdi bdo big button canvas cite code col colgroup data
datalist del dfn em embed font frame i iframe input ins kbd label link map mark meta meter nobr object
output param picture progress q rp rt ruby s samp slot small source span strike strong sub sup textarea
time track tt u var video wbr
"""
_PARAGRAPHS = """
address article aside blockquote body center dd details dialog div dl fieldset figcaption figure footer
form frameset head header hgroup hr html legend main nav noframes noscript optgroup p section select
summary table title
"""
_LINES = "tr option dt dd tbody thead tfoot caption dir menu ul ol"
"""Blocks that begin a line but no paragraph."""


def _replacements() -> dict[str, str]:
    """What stands for a tag, by its name with the slash of a closing one; not for links and images."""
    found: dict[str, str] = {}
    for name in _INLINE.split():
        found |= {name: "", f"/{name}": ""}
    for name in (*_PARAGRAPHS.split(), "br"):
        found |= {name: "\n", f"/{name}": "\n"}
    for name in _LINES.split():
        found |= {name: "\n", f"/{name}": ""}
    for name in ("td", "th"):
        found |= {name: _CELL, f"/{name}": ""}
    for level in range(1, 7):
        found |= {f"h{level}": f"\n\n{'#' * level} ", f"/h{level}": "\n"}
    return found | {"li": "\n- ", "/li": "\n"}


_CELL = "\x1f"
"""Stands for the beginning of a table's cell until the lines are laid out."""
_REPLACEMENTS = _replacements()
_TAG = re.compile(rf"<(/?[a-zA-Z][a-zA-Z0-9-]*+)({_ATTRIBUTES})>")
_PRE_TAG = re.compile(rf"<pre(?=[\s/>]){_ATTRIBUTES}>", re.IGNORECASE)
_PRE_END = re.compile(r"</pre\s*+>", re.IGNORECASE)
_DECLARATION = re.compile(r"<[!?][a-zA-Z\[][^<>]*+>")
_OPENING_DROPPED = re.compile(rf"<({'|'.join(_DROPPED)})(?=[\s/>]){_ATTRIBUTES}>", re.IGNORECASE)
_CLOSING = {name: re.compile(rf"</{name}\s*+>", re.IGNORECASE) for name in _DROPPED}
_VALUE = r"""\b%s\s*+=\s*+(?:"([^"<]*+)"|'([^'<]*+)'|([^\s"'<>]++))"""
_HREF = re.compile(_VALUE % "href", re.IGNORECASE)
_SRC = re.compile(_VALUE % "src", re.IGNORECASE)
_ALT = re.compile(_VALUE % "alt", re.IGNORECASE)


def is_document(text: str) -> bool:
    """The text begins as an HTML document does."""
    return _REAL.match(text) is not None


def html_to_text(text: str) -> str:
    """What a reader of the page would see. A text without any is returned as it was."""
    source = _without_contents(_without_comments(text))
    out: list[str] = []
    place = 0
    while (opening := _PRE_TAG.search(source, place)) is not None:
        closing = _PRE_END.search(source, opening.end())
        if closing is None:
            break
        out.append(_flowing(source[place : opening.start()]))
        out.append(f"\n```\n{_preformatted(source[opening.end() : closing.start()])}\n```\n")
        place = closing.end()
    out.append(_flowing(source[place:]))
    found = _laid_out("".join(out))
    return found if found.strip() else text


def _flowing(source: str) -> str:
    """Text outside ``pre``: white space means nothing there, tags do."""
    return _without_tags(_DECLARATION.sub("", " ".join(source.split())), links=True)


def _preformatted(source: str) -> str:
    """Text inside ``pre``: white space stays, marks of highlighting go."""
    return _without_tags(source, links=False).strip("\r\n")


def _without_tags(source: str, *, links: bool) -> str:
    """Every known tag replaced by what it means for the layout, entities by their characters."""
    # Text, name and attributes in turn: cutting all at once is several times faster than a loop.
    parts = _TAG.split(source)
    names, attributes = parts[1::3], parts[2::3]
    replaced = [_REPLACEMENTS.get(name) for name in names]
    open_links: list[str] = []
    for at, known in enumerate(replaced):
        if known is None:
            replaced[at] = _replaced(names[at], attributes[at], open_links, links=links)
    out = [""] * (len(replaced) * 2 + 1)
    out[0::2] = parts[0::3]
    out[1::2] = [known or "" for known in replaced]
    return unescape("".join(out))


def _replaced(name: str, attributes: str, open_links: list[str], *, links: bool) -> str:
    """What stands for a link, an image, a tag in capitals; an unknown one stands for itself."""
    lowered = name.lower()
    if lowered == "img":
        return _image(attributes) if links else ""
    if lowered == "/a":
        return open_links.pop() if open_links else ""
    if lowered == "a":
        target = _value(_HREF, attributes) if links else ""
        shown = bool(target) and not target.startswith(("#", "javascript:"))
        open_links.append(f"]({target})" if shown else "")
        return "[" if shown else ""
    if lowered in _REPLACEMENTS:
        return _REPLACEMENTS[lowered]
    return "" if "-" in lowered else f"<{name}{attributes}>"


def _image(attributes: str) -> str:
    """An image that has a description, with its address unless that is the image itself."""
    alternative = _value(_ALT, attributes)
    address = _value(_SRC, attributes)
    if not alternative:
        return ""
    return f"![{alternative}]({'' if address.startswith('data:') else address})"


def _value(pattern: re.Pattern[str], attributes: str) -> str:
    found = pattern.search(attributes)
    return "" if found is None else found[1] or found[2] or found[3] or ""


def _without_comments(text: str) -> str:
    if "<!--" not in text:
        return text
    out: list[str] = []
    place = 0
    while (start := text.find("<!--", place)) >= 0:
        end = text.find("-->", start + 2)
        if end < 0:
            break
        out.append(text[place:start])
        place = end + 3
    out.append(text[place:])
    return "".join(out)


def _without_contents(text: str) -> str:
    """Drop scripts and styles with what is in them; one without an end is left."""
    out: list[str] = []
    place = 0
    missing: set[str] = set()
    for opening in _OPENING_DROPPED.finditer(text):
        name = opening[1].lower()
        if opening.start() < place or name in missing:
            continue
        closing = _CLOSING[name].search(text, opening.end())
        if closing is None:
            missing.add(name)
            continue
        out.append(text[place : opening.start()])
        place = closing.end()
    out.append(text[place:])
    return "".join(out)


def _laid_out(text: str) -> str:
    """No spaces around lines, at most one blank line between them; fences keep their own layout."""
    out: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if line == "```":
            fenced = not fenced
            out.append(line)
        elif fenced:
            out.append(line.rstrip())
        else:
            bare = line.strip(" \t\r")
            if _CELL in bare:
                bare = bare.removeprefix(_CELL).replace(_CELL, " | ").replace("  |", " |").strip()
            if bare not in ("", "-") or (out and out[-1]):
                out.append(bare if bare != "-" else "")
    return "\n".join(out).strip("\n")
