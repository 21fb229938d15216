"""Words of little weight: a duplicate may have one more of them when the texts are very similar."""

from __future__ import annotations

from memory.words import listed
from memory.words.stem import stem

LIGHT = frozenset(
    map(
        stem,
        listed(
            """
            actual actually really simply basically currently generally usually normally typically note
            notice remember following given certain particular respective various whole entire specific
            own well very quite rather indeed always-on know known found thing things kind sort way case
            cases order fact overall accordingly additionally furthermore moreover directly exactly
            precisely explicitly clearly
            """
        ),
    )
)
