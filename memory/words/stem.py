"""One form for the inflections of an English word: light, so that different words rarely meet in one stem."""

from __future__ import annotations

from functools import lru_cache

_IRREGULAR: dict[str, str] = {
    form: base.strip()
    for base, forms in (
        line.split(":")
        for line in """
        be:am are is was were been being|have:has had having|do:does did done doing|go:goes went gone
        buy:bought|bring:brought|think:thought|teach:taught|catch:caught|seek:sought|fight:fought
        run:ran running|begin:began begun|swim:swam swum|drink:drank drunk|sing:sang sung|ring:rang rung
        write:wrote written|drive:drove driven|ride:rode ridden|rise:rose risen|speak:spoke spoken
        break:broke broken|choose:chose chosen|freeze:froze frozen|steal:stole stolen|wake:woke woken
        take:took taken|give:gave given|eat:ate eaten|fall:fell fallen|see:saw seen|know:knew known
        grow:grew grown|throw:threw thrown|fly:flew flown|draw:drew drawn|show:shown|wear:wore worn
        tear:tore torn|bear:bore born|get:got gotten|forget:forgot forgotten|sit:sat|win:won|hold:held
        keep:kept|sleep:slept|leave:left|feel:felt|meet:met|lead:led|read:reads|feed:fed|find:found
        build:built|send:sent|spend:spent|lend:lent|lose:lost|shoot:shot|make:made|say:said|pay:paid
        sell:sold|tell:told|hear:heard|stand:stood|understand:understood|mean:meant|deal:dealt|hide:hid hidden
        become:became|come:came|hang:hung|stick:stuck|dig:dug|spin:spun|lie:lay lain lying|lay:laid
        agree:agreed|die:dies died dying
        tie:ties tied tying|use:uses used using|set:sets setting|let:lets|quit:quits
        child:children|person:people persons|man:men|woman:women|foot:feet|tooth:teeth|mouse:mice
        knife:knives|life:lives|wife:wives|leaf:leaves|shelf:shelves|index:indices indexes|analysis:analyses
        datum:data|criterion:criteria|database:databases|cache:caches|release:releases|response:responses
        """.replace("\n", "|").split("|")
        if ":" in line
    )
    for form in forms.split()
}
_IRREGULAR.update(lives="live", living="live", leaves="leave", lay="lie")
_VOWELS = frozenset("aeiouy")


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The stem of a word in lower case. Short words and words that are no English stay as they are."""
    if (base := _IRREGULAR.get(word)) is not None:
        return _bare(base)
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    return _bare(_without_ending(word))


def _without_ending(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if len(rest) > 2 and not _VOWELS.isdisjoint(rest) and not rest.endswith("e"):
                return _restored(rest)
    return word


def _restored(rest: str) -> str:
    """The verb of which ``rest`` is left: a doubled letter undone, a silent e put back in short words."""
    last, before = rest[-1], rest[-2]
    if last == before:
        return rest if last in "sz" or (last == "l" and len(rest) < 5) else rest[:-1]
    if len(rest) > 4 or last in "wxy" or last in _VOWELS:
        return rest
    only_vowel = before in _VOWELS and sum(letter in _VOWELS for letter in rest) == 1
    return rest + "e" if only_vowel or last in "vscz" or rest.endswith(("rg", "dg")) else rest


def _bare(word: str) -> str:
    """Without the silent e of longer words: "changes" meets "changing", and "plan" does not meet "plane"."""
    return word[:-1] if len(word) > 5 and word.endswith("e") and not word.endswith("ee") else word
