"""Words that turn a statement into its contrary: negators, verbs of ending, pairs of opposites."""

from __future__ import annotations

from memory.words import listed
from memory.words.stem import stem

NEGATORS = listed(
    "not never no none nobody nothing nowhere neither nor without cannot noone hardly barely dont doesnt "
    "isnt arent wasnt werent didnt cant couldnt wont wouldnt shouldnt hasnt havent"
)
"""Contractions in n't are recognised by their ending."""

BARE_NEGATORS = listed("none nobody nothing nowhere noone")
"""They stand for a thing or a person, so they deny whatever follows."""

ENDING_VERBS = frozenset(
    map(
        stem,
        listed(
            "stop quit cease refuse fail lack avoid forbid prohibit disallow deny abandon ban omit"
        ),
    )
)
"""Before a matched word each denies what follows, as "no longer" does."""

_PAIRS = """
    always never|all none|everybody nobody|everyone nobody|everything nothing|somebody nobody
    someone nobody|something nothing|enable disable|activate deactivate|active inactive|allow forbid
    allow deny|allow disallow|allow block|allow ban|permit forbid|permit deny|permit prohibit
    accept reject|accept refuse|approve reject|approve decline|accept decline|on off|true false|yes no
    open closed|open close|public private|internal external|local remote|manual automatic
    manually automatically|synchronous asynchronous|sync async|online offline|up down|increase decrease
    raise lower|grow shrink|rise fall|gain lose|win lose|start stop|start end|begin end|start finish
    continue stop|keep drop|keep remove|keep delete|add remove|include exclude|with without
    required optional|mandatory optional|require forbid|possible impossible|safe unsafe|secure insecure
    legal illegal|valid invalid|correct incorrect|correct wrong|right wrong|complete incomplete
    consistent inconsistent|stable unstable|available unavailable|available absent|present absent
    known unknown|visible hidden|visible invisible|show hide|encrypted unencrypted|signed unsigned
    supported unsupported|used unused|locked unlocked|lock unlock|mutable immutable|stateful stateless
    static dynamic|strict lenient|strict loose|sensitive insensitive|ascending descending|first last
    old new|early late|fast slow|quick slow|quickly slowly|high low|higher lower|more less|more fewer
    most least|maximum minimum|max min|big small|large small|huge tiny|huge small|long short|tall short
    wide narrow|deep shallow|thick thin|heavy light|hot cold|warm cool|warm cold|wet dry|full empty
    rich poor|cheap expensive|easy difficult|easy hard|simple complex|simple complicated|strong weak
    hard soft|loud quiet|noisy quiet|noisy silent|speak silent|clean dirty|good bad|better worse
    best worst|happy sad|like dislike|love hate|like hate|enjoy dislike|enjoy hate|prefer avoid
    prefer dislike|trust distrust|agree disagree|succeed fail|success failure|pass fail
    healthy unhealthy|alive dead|awake asleep|married single|married divorced|married unmarried
    employed unemployed|vegetarian carnivore|inside outside|indoors outdoors|indoor outdoor|above below
    over under|before after|front behind|near far|close far|here away|left right|top bottom|north south
    east west|day night|morning evening|import export|upload download|push pull|input output
    read-only writable|whitelist blacklist|allowlist denylist|opt-in opt-out|stay leave|arrive leave
    arrive depart|enter leave|enter exit|buy sell|lend borrow|attach detach|mount unmount
    connect disconnect|install uninstall|subscribe unsubscribe|follow unfollow|merge split
    deploy undeploy|install remove|upgrade downgrade|ready busy|free busy|free paid|free occupied
    single multiple|odd even|positive negative
    """

OPPOSITES: dict[str, frozenset[str]] = {}
"""By stem."""
for _pair in _PAIRS.replace("\n", "|").split("|"):
    if _pair.strip():
        _one, _other = (stem(word) for word in _pair.split())
        OPPOSITES[_one] = OPPOSITES.get(_one, frozenset()) | {_other}
        OPPOSITES[_other] = OPPOSITES.get(_other, frozenset()) | {_one}
