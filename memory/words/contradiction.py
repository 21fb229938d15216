"""Find what contradicts between two texts' sentences: another value, or the contrary.

Words are paired by their keys. What is left without a partner decides: opposites, negators before a paired
word, and runs of words that stand in the same place of both sentences behind the same subject.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from memory.model import PairClass, PairEvidence
from memory.words.attributes import AGENT_VERBS, MANY_VERBS, SINGLE_ATTRIBUTES, SINGLE_VERBS
from memory.words.polarity import OPPOSITES
from memory.words.tokens import VALUE_KINDS, Reading, Token, TokenKind, read_sentence
from memory.words.values import ASYMMETRIC, CONTRARY

SHOWN_FROM = 0.5
"""Score from which a contradiction is one; below, the texts count as unrelated."""
_LONGEST_SLOT = 3
"""Words that one value may have."""
_LONGEST_TYPED = 5
_MOST_LEFT = 48
"""Words without a partner; sentences that differ in more are about different things."""
MOST_SENTENCES = 12
"""Of each text; what follows is not compared."""
_MOST_SHOWN = 12

_Run = tuple[int, ...]
"""Places of neighbouring tokens."""


@dataclass(frozen=True, slots=True)
class _Alignment:
    """Two sentences, word by word."""

    older: Reading
    newer: Reading
    to_newer: tuple[int, ...]
    """Per token of the older: place of its partner, or -1."""
    to_older: tuple[int, ...]
    older_left: tuple[int, ...]
    """Places without a partner."""
    newer_left: tuple[int, ...]


def contradiction(
    olders: tuple[str, ...], newers: tuple[str, ...], similarity: float | None
) -> PairEvidence | None:
    """The surest contradiction between a sentence of each text, if there is one."""
    best: PairEvidence | None = None
    single = len(olders) == len(newers) == 1
    cosine = similarity if single else None
    for newer in newers[:MOST_SENTENCES]:
        for older in olders[:MOST_SENTENCES]:
            if older == newer:
                continue
            found = _sentence_pair(read_sentence(older), read_sentence(newer), cosine)
            if found is not None and (best is None or found.score > best.score):
                best = found
    return best


def _sentence_pair(older: Reading, newer: Reading, similarity: float | None) -> PairEvidence | None:
    if older.keys.isdisjoint(newer.keys):
        return None
    if not older.subject <= newer.keys and not newer.subject <= older.keys:
        return None  # `_same_subject` would say so, at ten times the cost
    pair = _align(older, newer)
    if len(pair.older_left) + len(pair.newer_left) > _MOST_LEFT:
        return None
    found = _polarity(pair, similarity) or _value(pair, similarity)
    return found if found is not None and found.score >= SHOWN_FROM else None


def _align(older: Reading, newer: Reading) -> _Alignment:
    places: dict[str, list[int]] = {}
    for place in range(len(older.tokens) - 1, -1, -1):
        places.setdefault(older.tokens[place].key, []).append(place)
    to_newer = [-1] * len(older.tokens)
    to_older = [-1] * len(newer.tokens)
    for place, token in enumerate(newer.tokens):
        found = places.get(token.key)
        if found:
            partner = found.pop()
            to_older[place] = partner
            to_newer[partner] = place
    return _Alignment(
        older,
        newer,
        tuple(to_newer),
        tuple(to_older),
        tuple(place for place, partner in enumerate(to_newer) if partner < 0),
        tuple(place for place, partner in enumerate(to_older) if partner < 0),
    )


def _same_subject(pair: _Alignment) -> bool:
    """Whether neither subject names something in the place of what the other names."""
    older_odd = any(pair.to_newer[place] < 0 for place in range(pair.older.subject_end))
    newer_odd = any(pair.to_older[place] < 0 for place in range(pair.newer.subject_end))
    return not (older_odd and newer_odd)


def _one_subject(pair: _Alignment) -> bool:
    """Whether both are surely about one thing: the subjects agree word by word, in order."""
    if not pair.older.found_verb or not pair.newer.found_verb:
        return pair.to_newer[0] == 0
    partners = [place for place in pair.to_newer[: pair.older.subject_end] if place >= 0]
    return _same_subject(pair) and partners == sorted(partners)


def _share(pair: _Alignment, apart: int = 0) -> float:
    """Share of the shorter side's words that have a partner; values and ``apart`` more words do not count."""
    older = [n for n, token in enumerate(pair.older.tokens) if token.kind not in VALUE_KINDS]
    newer = [n for n, token in enumerate(pair.newer.tokens) if token.kind not in VALUE_KINDS]
    matched = sum(pair.to_newer[place] >= 0 for place in older)
    shorter = min(len(older), len(newer)) - apart
    return matched / shorter if shorter > 0 else 0.0


def _polarity(pair: _Alignment, similarity: float | None) -> PairEvidence | None:
    """One side denies what the other says."""
    if not _same_subject(pair):
        return None
    places = _opposites(pair)
    older_denials = _denied(pair.older, pair.to_newer, {one for one, _ in places})
    newer_denials = _denied(pair.newer, pair.to_older, {other for _, other in places})
    opposites = [
        (pair.older.tokens[one].surface, pair.newer.tokens[other].surface) for one, other in places
    ]
    contrary = _contrary(pair)
    denied = bool(older_denials) != bool(newer_denials) or (
        (len(older_denials) + len(newer_denials)) % 2 == 1
    )
    if denied == ((len(opposites) + len(contrary)) % 2 == 1):
        return None
    older_left = len(pair.older_left) - len(opposites)
    newer_left = len(pair.newer_left) - len(opposites)
    fewer, more = sorted((older_left, newer_left))
    matched = len(pair.to_newer) - len(pair.older_left)
    near = _overlap(pair) if similarity is None else similarity
    score = 0.07 + 0.35 * _share(pair, len(opposites)) + 0.35 * near - 0.08 * fewer - 0.02 * more
    if more > 3 * matched:
        score -= 0.15
    if fewer and matched < 2:
        score -= 0.1
    if not denied:
        score -= 0.04 * (older_left + newer_left) + _unspecific(pair)
    pairs = [*opposites, *contrary]
    return PairEvidence(
        PairClass.POLARITY,
        _bounded(score),
        (*older_denials, *(one for one, _ in pairs)),
        (*newer_denials, *(other for _, other in pairs)),
    )


def _contrary(pair: _Alignment) -> list[tuple[str, str]]:
    """Function words that make the one contrary to the other, between the same words."""
    if pair.older_left or pair.newer_left:
        return []
    older, newer = Counter(pair.older.qualifiers), Counter(pair.newer.qualifiers)
    one, other = list((older - newer).elements()), list((newer - older).elements())
    in_order = list(pair.to_newer) == sorted(pair.to_newer)
    if in_order and len(one) == len(other) == 1 and frozenset((one[0], other[0])) in CONTRARY:
        return [(one[0], other[0])]
    if not in_order and not one and not other and pair.older.relations != pair.newer.relations:
        return [(kind, kind) for kind in pair.older.qualifiers if kind in ASYMMETRIC][:1]
    return []


def _unspecific(pair: _Alignment) -> float:
    """What to take off because each sentence may be about something of its own."""
    return 0.25 if pair.older.indefinite and pair.newer.indefinite else 0.0


def _overlap(pair: _Alignment) -> float:
    """Words in both over words in either; stands for the similarity when there is none."""
    matched = len(pair.to_newer) - len(pair.older_left)
    return matched / (len(pair.to_newer) + len(pair.to_older) - matched)


def _denied(reading: Reading, partners: tuple[int, ...], opposed: set[int]) -> list[str]:
    """The negators before something that the other side says or says the opposite of, within two words."""
    found: list[str] = []
    for negator in reading.negators:
        if any(
            partners[place] >= 0 or place in opposed
            for place in range(negator.at, min(negator.at + 2, len(partners)))
            if reading.tokens[place].clause == reading.tokens[negator.at].clause
        ):
            found.append(negator.word)
    return found


def _opposites(pair: _Alignment) -> list[tuple[int, int]]:
    """Places of words without a partner that are opposites of each other."""
    found: list[tuple[int, int]] = []
    newer = list(pair.newer_left)
    for place in pair.older_left:
        against = OPPOSITES.get(pair.older.tokens[place].stem)
        if against is None:
            continue
        for other in newer:
            if pair.newer.tokens[other].stem in against:
                found.append((place, other))
                newer.remove(other)
                break
    return found


def _value(pair: _Alignment, similarity: float | None) -> PairEvidence | None:
    """One statement with another value."""
    if not _one_subject(pair):
        return None
    slots = _slots(pair)
    if not slots:
        return None
    typed = all(_typed(pair, one, other) for one, other in slots)
    older_slot = [place for one, _ in slots for place in one]
    newer_slot = [place for _, other in slots for place in other]
    longest_run = max(len(run) for slot in slots for run in slot)
    if longest_run > (_LONGEST_TYPED if typed else _LONGEST_SLOT):
        return None
    single = (pair.older.labelled and pair.newer.labelled) or any(
        _names_single(pair, one, other) for one, other in slots
    )
    many = not single and any(
        pair.to_newer[place] >= 0 and pair.older.tokens[place].stem in MANY_VERBS
        for place in range(pair.older.subject_end, older_slot[0])
    )
    fewer, more = sorted(
        (len(pair.older_left) - len(older_slot), len(pair.newer_left) - len(newer_slot))
    )
    score = (0.30 if typed else 0.15) + 0.30 * _share(pair)
    if single:
        score += 0.15 if typed else 0.30
    if many:
        score -= 0.25
    score -= 0.10 * (len(slots) - 1) + 0.15 * fewer + 0.05 * more + _unspecific(pair)
    if similarity is not None:
        score += 0.2 * (similarity - 0.8)
    return PairEvidence(
        PairClass.VALUE,
        _bounded(score),
        surfaces([pair.older.tokens[place] for place in older_slot]),
        surfaces([pair.newer.tokens[place] for place in newer_slot]),
    )


def _names_single(pair: _Alignment, run: _Run, other: _Run) -> bool:
    """Whether what comes before a slot, or its subject, is something that has one value at a time."""
    nearest = run[0] - 1
    both = {*pair.older.qualifiers} & {*pair.newer.qualifiers}
    purpose = run[-1] + 1 < len(pair.to_newer) and pair.to_newer[run[-1] + 1] == other[-1] + 1
    for place in range(nearest + 1):
        token = pair.older.tokens[place]
        if pair.to_newer[place] < 0 or token.kind is not TokenKind.WORD:
            continue
        if token.stem in SINGLE_ATTRIBUTES and (
            place < pair.older.subject_end or nearest - place < 4
        ):
            return True
        if place < pair.older.subject_end or nearest - place > 1:
            continue
        if token.stem in SINGLE_VERBS or (token.stem in AGENT_VERBS and "by" in both):
            return True
        if (token.stem == "work" and "at" in both) or (token.stem == "use" and purpose):
            return True
    return False


def _slots(pair: _Alignment) -> list[tuple[_Run, _Run]]:
    """Runs of words without a partner that stand in the same place of both sentences, behind the subject."""
    newer_runs = _runs(pair.newer_left)
    found: list[tuple[_Run, _Run]] = []
    for run in _runs(pair.older_left):
        if run[0] < max(pair.older.subject_end, 1):
            continue
        for other in newer_runs:
            if other[0] >= pair.newer.subject_end and _same_place(pair, run, other):
                found.append((run, other))
                newer_runs.remove(other)
                break
    return found


def _runs(places: tuple[int, ...]) -> list[_Run]:
    runs: list[_Run] = []
    for place in places:
        if runs and runs[-1][-1] == place - 1:
            runs[-1] = (*runs[-1], place)
        else:
            runs.append((place,))
    return runs


def _same_place(pair: _Alignment, run: _Run, other: _Run) -> bool:
    """Whether the words before the runs are partners."""
    return other[0] > 0 and pair.to_newer[run[0] - 1] == other[0] - 1


def _typed(pair: _Alignment, run: _Run, other: _Run) -> bool:
    """Whether both runs hold values of one kind."""
    older = {pair.older.tokens[place].kind for place in run} & VALUE_KINDS
    newer = {pair.newer.tokens[place].kind for place in other} & VALUE_KINDS
    return bool(older and newer) and not older.isdisjoint(newer)


def _bounded(score: float) -> float:
    return max(0.0, min(1.0, score))


def surfaces(tokens: list[Token]) -> tuple[str, ...]:
    """The words as evidence shows them: the first dozen."""
    return tuple(token.surface for token in tokens[:_MOST_SHOWN])
