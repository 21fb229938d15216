"""Words that carry no subject matter: one wide set for searching, one narrow set for telling texts apart."""

from __future__ import annotations

from memory.words import listed

ARTICLES = frozenset({"a", "an", "the"})

SAME_WITHOUT = ARTICLES | {"am", "are", "is", "please"}
"""Words without which a statement still says the same. Tense, prepositions and pronouns are none of
them: "was" is not "is", and "from A to B" is not "to A from B"."""

STOP_WORDS = listed(
    """
    a about above after again all also am an and any are as at be because been before being below
    between both but by can could did do does doing down during each few for from further had has have
    having he her here hers herself him himself his how i if in into is it its itself just me might more
    most must my myself no nor not of off on once only or other our ours ourselves out over own please
    same shall she should so some such than that the their theirs them themselves then there these they
    this those through to too under until up very was we were what when where which while who whom whose
    why will with would you your yours yourself yourselves ain't aren't can't couldn't didn't doesn't
    don't hadn't hasn't haven't isn't mustn't needn't shouldn't wasn't weren't won't wouldn't cannot i'm
    i've i'll i'd you're you've you'll you'd we're we've we'll we'd they're they've they'll they'd he's
    he'll she's she'll it's it'll that's there's what's where's who's how's let's dont doesnt isnt didnt
    cant
    """
)
"""Left out of a search by words. Which of two records says "not" is no matter of search."""
