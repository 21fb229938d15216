"""JSON as people and editors write it: with comments, trailing commas and a byte order mark. Pure."""

from __future__ import annotations

import json
import re
from typing import Any

from console.importing.servers import UnreadableError

_TOKEN = re.compile(
    r"""
    "(?:[^"\\\n]|\\.)*"          # a string: stays as it is
    | //[^\n]*                   # a line comment
    | /\*.*?(?:\*/|\Z)           # a block comment
    """,
    re.VERBOSE | re.DOTALL,
)
_TRAILING_COMMA = re.compile(r""""(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])""")
_NO_NEWLINE = re.compile(r"[^\n]")


def parse_jsonc(text: str) -> Any:
    """The value. Raises `UnreadableError` with the line of the original text."""
    plain = _TOKEN.sub(_blank_comment, text.removeprefix("\ufeff"))
    plain = _TRAILING_COMMA.sub(lambda match: " " if match[0] == "," else match[0], plain)
    try:
        return json.loads(plain)
    except json.JSONDecodeError as error:
        raise UnreadableError(f"not valid JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise UnreadableError("nested too deeply") from None
    except ValueError as error:  # a number with thousands of digits
        raise UnreadableError(f"not valid JSON: {error}") from None


def _blank_comment(match: re.Match[str]) -> str:
    """Spaces for a comment, so that lines keep their numbers."""
    return match[0] if match[0].startswith('"') else _NO_NEWLINE.sub(" ", match[0])
