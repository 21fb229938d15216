"""Tell texts that try to command an assistant, and texts with characters that nobody sees.

Every pattern reads a bounded stretch at each place, so time is linear in the text. Pure; never raises.
"""

from __future__ import annotations

import re
import unicodedata

_FILLERS = frozenset("\u115f\u1160\u17b4\u17b5\u180e\u2800\u3164\uffa0\u034f")
"""Blank, though not of a format category."""
_TAGS = range(0xE0000, 0xE0080)
_SELECTORS = range(0xE0100, 0xE01F0)
_JOINERS = frozenset("\u200c\u200d")
_JOINING = frozenset({"Lo", "Lm", "Mn", "Mc", "So", "Sk"})
_MARKS = frozenset("\u200e\u200f\u061c")
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f")
_BYTE_ORDER = "\ufeff"


def has_hidden(text: str) -> bool:
    """Whether ``text`` has characters that show nothing and do nothing that a script or an emoji needs.

    Joiners between letters of scripts that join, or between emoji, and direction marks beside right-to-left
    letters are needed; soft hyphens are, too.
    """
    if text.isascii():
        return False
    text = _FLAG.sub("", text.removeprefix(_BYTE_ORDER))
    return any(_is_hidden(text, place) for place, one in enumerate(text) if _may_hide(one))


def _may_hide(character: str) -> bool:
    return (
        character > "\x7f"
        and character != "\xad"
        and (
            character in _FILLERS
            or ord(character) in _SELECTORS
            or unicodedata.category(character) == "Cf"
        )
    )


def _is_hidden(text: str, place: int) -> bool:
    character = text[place]
    if character in _JOINERS:
        return not (_joins(text[place - 1 : place]) and _joins(text[place + 1 : place + 2]))
    if character in _MARKS:
        around = text[max(0, place - 64) : place + 64]
        return not any(
            unicodedata.bidirectional(one) in ("R", "AL") for one in around if one not in _MARKS
        )
    if ord(character) in _SELECTORS:  # one behind a Han character chooses its shape
        return unicodedata.category(text[place - 1 : place] or " ") != "Lo"
    return not 0x600 <= ord(character) <= 0x605  # signs of the Arabic script


def _joins(neighbour: str) -> bool:
    """Whether a joiner beside it has a meaning: emoji, and letters and marks beyond the Latin scripts."""
    return neighbour > "\u05ff" and unicodedata.category(neighbour) in (
        "Lo",
        "Mn",
        "Mc",
        "So",
        "Sk",
        "Lm",
    )


_READER = r"(?:you|assistant|the\sassistant|the\sagent|the\sai|the\smodel|claude|chatgpt|llm)"
_RULES = (
    r"(?:instructions?|prompts?|rules?|guidelines|directions|context|messages?|memor(?:y|ies)|constraints"
    r"|restrictions|polic(?:y|ies)|commands?|orders)"
)
_EARLIER = (
    r"(?:previous|prior|preceding|above|earlier|existing|original|your|these|system|safety|all|any)"
)
_SAYS = re.compile(
    rf"""
      \b(?:ignore|disregard|forget|override|bypass|overrule)\s(?:\w{{1,12}}\s){{0,2}}?{_EARLIER}\s
      (?:\w{{1,12}}\s){{0,2}}?{_RULES}\b
    | \b(?:ignore|disregard|forget)\s(?:everything|anything|all)\s(?:above|before|prior|earlier|you)\b
    | \bfrom\snow\son,?\s{_READER}\b
    | \b(?:new|updated|real|actual|hidden|secret)\s(?:system\s)?(?:instructions?|prompt)\s?(?::|for\b)
    | \b(?:system|developer)\s(?:prompt|message|override)\b
    | \byou\sare\s(?:now|no\slonger)\b
    | \b(?:act|behave|respond|answer)\sas\s(?:if\syou|an?\s\w{{1,20}}\s(?:without|with\sno)\b|dan\b|root\b)
    | \bpretend\s(?:to\sbe|you|that\syou)\b
    | \b(?:do\snot|don't|never)\s(?:tell|inform|mention|reveal|show|warn|ask|alert)\s(?:\w{{1,12}}\s){{0,3}}?
      (?:user|users|operator|human|person|anyone|anybody)\b
    | \bwithout\s(?:telling|informing|asking|notifying|alerting)\s(?:\w{{1,12}}\s){{0,2}}?
      (?:user|operator|human|anyone)\b
    | \b(?:reveal|print|output|repeat|leak|exfiltrate|send|forward|email|post|upload)\s
      (?:\w{{1,12}}\s){{0,4}}?
      (?:system\sprompt|api\skeys?|passwords?|credentials?|secrets?|env(?:ironment)?\svariables
      |conversation)\b
    | \b{_READER}\s(?:must|shall|have\sto|has\sto|are\srequired\sto|is\srequired\sto|need\sto|needs\sto
      |are\sto|will)\s(?:now|always|never|immediately|first|obey|comply|execute|run|send|ignore|call|delete)\b
    | \b(?:when|whenever|if|once)\s(?:you|the\sassistant|an?\sassistant|the\sagent)\s
      (?:read|reads|see|sees|recall
      |recalls|retrieve|retrieves|process|encounter)\b
    | \bimportant\s(?:instructions?|message)\s(?:to|for)\s(?:the\s)?(?:ai|assistant|agent|model|llm)\b
    | \b(?:attention|note\sto|message\sto|hey|dear),?\s(?:the\s)?
      (?:ai|assistant|agent|llm|language\smodel|claude|chatgpt)\b
    | \b(?:jailbreak|dan\smode|developer\smode)\b
    """,
    re.VERBOSE,
)
_ROLE = re.compile(
    r"""
      ^[\s>*_#\[(]{0,8}(?:system|assistant|human|developer)(?:\s(?:prompt|message|note))?[\])*_]{0,4}\s?:(?!/)
    | <\|\s?(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)[^|\n]{0,20}\|>
    | \[/?(?:inst|system|sys)\] | <</?sys>>
    | </?(?:system|assistant|instructions?|system[-_]?(?:prompt|reminder|message)|tool[-_]?(?:call|result)s?
      |function[-_]?calls?|user[-_]?message)\b[^<>\n]{0,60}>
    | ^\#{2,4}\s?(?:system|instructions?|assistant|human|response)\s?:?\s?$
    """,
    re.VERBOSE | re.MULTILINE,
)
_URL = re.compile(r"\b(?:https?|ftp|wss?)://|\bdata:[a-z]{2,12}/")
_ORDER = re.compile(
    r"\b(?:always|never|tell|send|forward|upload|must|before answering|curl|wget|silently)\b"
)
_BLOB = re.compile(r"[A-Za-z0-9+/]{120}[A-Za-z0-9+/]*={0,2}|(?:[A-Za-z0-9+/]{60,80}\s?\n){3}")
_SPACES = re.compile(r"[^\S\n]+")


def speaks_to_reader(text: str) -> bool:
    """Whether ``text`` reads as an instruction to an assistant.

    That is: commands about its rules, role markers, hidden tag characters, long base64, or an order beside a
    URL. A hint: a harmless text can look like one, and a clever one need not.
    """
    if not text.isascii() and any(ord(one) in _TAGS for one in _FLAG.sub("", text)):
        return True
    plain = text if text.isascii() else "".join(one for one in text if not _may_hide(one))
    if any(_is_blob(match[0]) for match in _BLOB.finditer(plain)):
        return True
    low = _SPACES.sub(" ", unicodedata.normalize("NFKC", plain).casefold().replace("\u2019", "'"))
    if _SAYS.search(low.replace("\n", " ")) is not None or _ROLE.search(low) is not None:
        return True
    return _URL.search(low) is not None and _ORDER.search(low) is not None


def _is_blob(run: str) -> bool:
    """Base64 rather than a digest, a path, or a long word: all three classes, well mixed."""
    digits = sum(map(str.isdigit, run))
    upper = sum(map(str.isupper, run))
    lower = sum(map(str.islower, run))
    return min(digits, upper, lower) * 20 >= len(run) and run.count("/") * 10 < len(run)
