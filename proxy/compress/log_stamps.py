"""The time at the beginning of log lines: it tells nothing of a line, but has a third of its words.

Where nearly all lines begin with a time of one form, lines are compared without it. A line that begins
in another way keeps all of its words, and gets one more, so it stays unlike the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from proxy.compress.log_columns import SAMPLE

_STAMP = re.compile(
    rb" *(?:[0-9]{4}[ .][0-9]{2}[ .][0-9]{2}[ T])?[0-9]{2} [0-9]{2} [0-9]{2}(?:\.[0-9]+)?Z?(?= )"
)
"""Date and time, with spaces for the signs between them."""
_NEARLY_ALL = 0.9
_SHAPE = bytes(48 if 48 <= byte <= 57 else byte for byte in range(256))
"""Makes all digits equal."""
_NO_STAMP = b"- "
"""Before a line without the usual time. No letter, so the sign itself is not looked at."""
_AT_ONCE = 128
"""Lines whose beginnings are compared together."""


def without_stamps(lines: Sequence[bytes]) -> Sequence[bytes]:
    """The lines, whose words are separated by spaces, without the time of the usual form."""
    sample = lines[:: -(-len(lines) // SAMPLE)]
    shapes = Counter(
        [found[0].translate(_SHAPE) for found in map(_STAMP.match, sample) if found is not None]
    )
    if not shapes:
        return lines
    shape, times = shapes.most_common(1)[0]
    if times < _NEARLY_ALL * len(sample):
        return lines
    length = len(shape)
    usual = shape + b" "
    cut: list[bytes] = []
    for start in range(0, len(lines), _AT_ONCE):
        some = lines[start : start + _AT_ONCE]
        heads = [line[: length + 1] for line in some]
        if b"".join(heads).translate(_SHAPE) == usual * len(some):
            cut += [line[length:] for line in some]
        else:
            cut += [
                line[length:] if head.translate(_SHAPE) == usual else _NO_STAMP + line
                for head, line in zip(heads, some, strict=True)
            ]
    return cut
