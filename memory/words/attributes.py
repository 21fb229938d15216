"""What has one value at a time, what has many, and where a sentence stops naming its subject."""

from __future__ import annotations

from memory.words import listed
from memory.words.stem import stem


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, listed(words)))


SINGLE_ATTRIBUTES = _stems(
    """
    port address host hostname url uri domain endpoint ip subnet version revision branch tag timeout
    deadline limit maximum minimum quota threshold ttl interval frequency retention size capacity budget
    price cost salary fee rate height weight age length width depth temperature speed owner manager boss
    lead leader maintainer author director ceo cto cfo president chair captain assignee reviewer contact
    supervisor colour color favourite favorite name surname nickname username title birthday birthdate
    birthplace anniversary nationality gender username login capital headquarters location region zone
    country city timezone currency language locale encoding charset default format protocol algorithm
    engine backend database framework editor browser shell os theme font layout indentation width style
    strategy policy mode level status state priority severity role plan tier license licence password
    wifi ssid key secret token id number phone extension room office floor seat gate platform date day
    time start end due schedule deadline release sprint quarter year month week sprint duration husband
    wife spouse partner fiance employer job profession occupation position major school birthstone
    """
)
"""Nouns: of two texts that give one of them different values, one is wrong or outdated."""

SINGLE_VERBS = _stems(
    """
    live reside born locate base host deploy call rename marry belong report listen bind expire last
    cost weigh measure prefer default schedule start end begin finish due limit cap set configure
    pin equal move relocate switch migrate keep retain
    """
)
"""Verbs whose object or place is one at a time."""

AGENT_VERBS = _stems("own lead manage maintain run operate sponsor review approve")
"""Verbs that have one agent: "is owned by" is told of one, though an owner may own many things."""

MANY_VERBS = _stems(
    """
    own like love enjoy hate dislike know speak support visit meet see watch read write buy sell eat
    drink cook play attend join include contain offer try learn study teach help create make build
    add send receive bring go come travel mention discuss talk share ask tell find found feel think
    hope plan work practice paint sing hike climb swim celebrate participate volunteer organize
    organise win lose receive inspire encourage say wear look walk ride jump sit stand
    """
)
"""Verbs that hold of many things, or of many occasions."""

VERBS = listed(
    """
    is are was were be has have had does do did will would can could must should shall may might needs
    need isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't won't wouldn't can't
    cannot couldn't mustn't shouldn't isnt arent wasnt doesnt dont didnt wont cant lives live lived
    resides works work worked uses use used owns owned listens listened keeps kept prefers preferred
    likes liked loves loved hates hated enjoys enjoyed wants wanted runs ran takes took gets got goes
    went speaks spoke knows knew says said costs weighs contains includes supports requires required
    depends belongs reports returns accepts rejects expects stores stored reads writes sends receives
    serves handles processes manages leads maintains deploys starts started ends ended begins began
    expires lasts moved moves switched migrated became becomes remains stays equals allows denies
    enables disables fails succeeds passes breaks blocks points connects binds defaults exposes emits
    logs retries builds ships releases merges plays played visited visits met meets bought buys sold
    sells ate eats drinks drank wrote made makes gave gives joined joins left leaves studied studies
    teaches taught attended attends learned thinks thought feels felt plans planned
    """
)
"""Finite verb forms: where one comes, the subject has been named. Nouns of the same form are told by what
follows them; see `memory.words.tokens`."""

NOUNS_TOO = listed(
    """
    uses works runs says costs contains supports reports returns stores reads writes handles processes
    leads starts ends passes breaks blocks points binds defaults logs retries builds ships releases
    merges plays visits moves switches used needs left thought planned leaves lives limits books drinks
    """
)
"""Forms that are verbs only before a function word or a number."""

IMPERATIVES = listed(
    """
    use avoid prefer keep run set call put add remove delete write read send ask tell check make always
    never do don't dont deploy build test install store start stop enable disable format name commit
    push pull merge ship ensure remember follow wait limit pin store open close update upgrade restart
    """
)
"""First words of an instruction, which has no subject to name."""

SUBORDINATORS = listed(
    "as that which who whom when if because since while where although though unless whether"
)
"""A verb right behind one of them is not the main one."""
