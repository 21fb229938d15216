"""One glyph, one word and one tone for every rating of a shown memory."""

from __future__ import annotations

from console.surfacing_words import RATING_WORDS
from console.widgets.glyphs import Sign
from console.widgets.tone import Tone
from proxy.surface.model import Rating, Verdict

RATINGS: dict[Rating, Sign] = {
    rating: Sign(glyph, RATING_WORDS[rating], tone)
    for rating, glyph, tone in (
        (Rating.HELPFUL, "\u2713", Tone.GOOD),
        (Rating.PARTIALLY_HELPFUL, "\u25d0", Tone.WARN),
        (Rating.NOT_RELEVANT, "\u2716", Tone.BAD),
        (Rating.ALREADY_KNOWN, "=", Tone.MUTED),
    )
}
UNRATED = Sign("\u25cc", "unrated", Tone.ACCENT)

RATING_MEANINGS: dict[Rating, str] = {
    Rating.HELPFUL: "it helped with the call",
    Rating.PARTIALLY_HELPFUL: "some of it helped",
    Rating.NOT_RELEVANT: "it does not matter for the call; not shown again in that session",
    Rating.ALREADY_KNOWN: "the agent knew it; not shown again in that session",
}

VERDICTS: dict[Verdict, Tone] = {
    Verdict.HEALTHY: Tone.GOOD,
    Verdict.DEGRADED: Tone.WARN,
    Verdict.FAULTY: Tone.BAD,
    Verdict.UNKNOWN: Tone.MUTED,
}


def sign_of(rating: Rating | None) -> Sign:
    """How a rating is shown, also the lack of one."""
    return UNRATED if rating is None else RATINGS[rating]
