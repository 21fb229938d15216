"""Real HTML as readable text: no scripts, styles, comments and tags; links, tables and lists stay legible.

A scanner of our own rather than the standard library's parser: it takes linear time for any input
(every pattern stops at the next ``<``), and it leaves alone what only looks like a tag.
"""

from __future__ import annotations

import re
from html import unescape

_TAG = re.compile(r"""<(/?)([a-zA-Z][a-zA-Z0-9-]*+)((?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+)>""")
_DECLARATION = re.compile(r"<[!?][a-zA-Z\[][^<>]*+>")
_REAL = re.compile(
    r"\ufeff?\s*+(?:<\?xml[^<>]*+>\s*+)?(?:<!--(?:[^-]|-(?!->))*+-->\s*+)*+<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE,
)
_ATTRIBUTE = r"""\b%s\s*=\s*(?:"([^"<]*+)"|'([^'<]*+)'|([^\s"'<>]++))"""
_HREF = re.compile(_ATTRIBUTE % "href", re.IGNORECASE)
_SRC = re.compile(_ATTRIBUTE % "src", re.IGNORECASE)
_ALT = re.compile(_ATTRIBUTE % "alt", re.IGNORECASE)

_DROPPED = frozenset({"script", "style", "template", "svg"})
"""Elements whose contents no reader sees as text."""
_OPENING_DROPPED = re.compile(
    r"<(script|style|template|svg)\b(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+>", re.I
)
_CLOSING = {name: re.compile(rf"</{name}\s*+>", re.IGNORECASE) for name in _DROPPED}

_BLOCK_NAMES = """
address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure
footer form frameset head header hgroup hr html legend main menu nav noframes noscript ol optgroup
option p section select summary table tbody tfoot thead title tr ul caption
"""
_INLINE_NAMES = """
abbr acronym applet area audio b base basefont bdi bdo big button canvas cite code col colgroup data
datalist del dfn em embed font frame i iframe input ins kbd label link map mark meta meter nobr object
output param picture progress q rp rt ruby s samp slot small source span strike strong sub sup textarea
time track tt u var video wbr
"""
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_LINES = frozenset(
    {"tr", "option", "dt", "dd", "tbody", "thead", "tfoot", "caption", "dir", "menu", "ul", "ol"}
)
"""Blocks that begin a line but no paragraph."""
_KNOWN = _BLOCKS | {*_INLINE_NAMES.split(), *_HEADINGS, "a", "pre", "li", "br", "td", "th", "img"}
_SPACE = re.compile(r"[ \t\r\n\f]+")


def is_document(text: str) -> bool:
    """The text begins as an HTML document does."""
    return _REAL.match(text) is not None


def html_to_text(text: str) -> str:
    """What a reader of the page would see. A text without any is returned as it was."""
    source = _without_contents(_without_comments(text))
    out: list[str] = []
    links: list[str] = []
    place = 0
    preformatted = 0
    cells = 0
    for tag in _TAG.finditer(source):
        name = tag[2].lower()
        if name not in _KNOWN and "-" not in name:
            continue
        if tag.start() > place:
            piece = source[place : tag.start()]
            out.append(piece if preformatted else _SPACE.sub(" ", piece))
        place = tag.end()
        closing = tag[1] == "/"
        if name in _BLOCKS:
            if not closing or name not in _LINES:
                out.append("\n")
            cells = 0
        elif name == "a":
            if closing:
                out.append(links.pop() if links else "")
            else:
                target = _value(_HREF, tag[3])
                if target and not target.startswith(("#", "javascript:")):
                    out.append("[")
                    links.append(f"]({target})")
                else:
                    links.append("")
        elif name == "pre":
            preformatted = max(0, preformatted + (-1 if closing else 1))
            out.append("\n```\n")
        elif name == "li":
            out.append("\n" if closing else "\n- ")
        elif name in _HEADINGS:
            out.append("\n\n" if closing else "\n\n" + _HEADINGS[name])
        elif name == "br":
            out.append("\n")
        elif name in ("td", "th"):
            if not closing:
                out.append(" | " if cells else "")
                cells += 1
        elif name == "img":
            alt = _value(_ALT, tag[3])
            address = _value(_SRC, tag[3])
            if alt:
                out.append(f"![{alt}]({'' if address.startswith('data:') else address})")
    rest = source[place:]
    out.append(rest if preformatted else _SPACE.sub(" ", rest))
    seen = unescape(_DECLARATION.sub("", "".join(out)))
    found = _laid_out(seen)
    return found if found.strip() else text


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
            if bare not in ("", "-") or (out and out[-1]):
                out.append(bare if bare != "-" else "")
    return "\n".join(out).strip("\n")
