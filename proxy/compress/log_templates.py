"""Templates of log lines: which lines say the same with other values.

No line is looked at character by character. Deleting digits and hexadecimal letters makes lines with
other numbers and ids equal, at the speed of a copy; where names vary too, lines with as many words and
the same common ones are alike. What is common is told by a sample.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from proxy.compress.log_columns import HEXADECIMAL, KEEP_LINES, SAMPLE, Unusual, unusual
from proxy.compress.log_stamps import without_stamps
from proxy.compress.log_survey import Survey, Template
from proxy.compress.log_words import alike, by_key, common_words, vocabulary
from proxy.compress.word_search import containing

_FEW_FORMS = 64
"""So many forms are templates as they are."""
_LINES_PER_FORM = 8
"""With so many lines per form, forms are templates as they are."""
_LARGE_SHARE = 3
_LONE = 2
_MOST_STRANGE = 40


@dataclass(frozen=True, slots=True)
class Groups:
    """Indexes of lines that are alike. Groups are in the order of appearance."""

    templates: list[list[int]]
    """Lines that differ in digits and hexadecimal letters only; where nearly every line would be alone
    then, lines with as many words and the same common ones."""
    lone: list[int]
    """Lines unlike all others in their number of words or the most common ones."""
    strange: list[int]
    """Lines with words that no other line has, where that is not usual; the strangest first."""
    suspects: list[list[int]]
    """Lines with a wanted word; together when they differ in digits and hexadecimal letters only."""
    unusual: list[Unusual]
    """Lines with a value that their template does not usually have, in the order of templates."""


def templates(text: str, lines: Sequence[str]) -> list[list[int]]:
    """The lines of ``text`` (split at line feeds) by template, as in `Groups`."""
    data = text.encode("utf-8", "surrogatepass")
    forms = None if _hardly_repeat(lines) else _forms(data)
    return _by_common_words(data) if forms is None else forms


def group(text: str, lines: Sequence[str], wanted: Sequence[bytes] = ()) -> Groups:
    """The lines of ``text`` (split at line feeds), grouped.

    ``wanted``: as UTF-8 in lower case; what `Groups.suspects` contain, inside of a word.
    """
    data = text.encode("utf-8", "surrogatepass")
    forms = None if _hardly_repeat(lines) else _forms(data)
    if forms is None:
        return _varied(data, wanted)
    raw = data.split(b"\n")
    first = [raw[members[0]] for members in forms]
    suspects = [forms[number] for number in sorted(containing(first, wanted))]
    odd = [one for members in forms for one in unusual(raw, members)]
    if len(forms) <= _FEW_FORMS:
        return Groups(forms, [], [], suspects, odd)
    lone, strange = _among_forms(first)
    return Groups(
        forms,
        [index for form in lone for index in forms[form]],
        [forms[form][0] for form in strange],
        suspects,
        odd,
    )


def _hardly_repeat(lines: Sequence[str]) -> bool:
    """Whether most lines of a sample have a form of their own."""
    if len(lines) <= 2 * SAMPLE:
        return False
    sample = "\n".join(lines[:: -(-len(lines) // SAMPLE)]).encode("utf-8", "surrogatepass")
    forms = sample.translate(None, HEXADECIMAL).split(b"\n")
    return len(set(forms)) * 2 > len(forms)


def _forms(data: bytes) -> list[list[int]] | None:
    """Lines that differ in digits and hexadecimal letters only; ``None`` when too few do."""
    bare = data.translate(None, HEXADECIMAL).split(b"\n")
    forms = by_key(bare, range(len(bare)))
    few = len(forms) <= max(_FEW_FORMS, len(bare) // _LINES_PER_FORM)
    return list(forms.values()) if few else None


def _among_forms(first: Sequence[bytes]) -> tuple[list[int], list[int]]:
    """Forms unlike all others, and forms with words that no other has; by a line of each."""
    words = _words(b"\n".join(first))
    counts = Counter(chain.from_iterable(words))
    common = common_words(counts, len(words) // _LARGE_SHARE)
    shapes: dict[tuple[object, ...], list[int]] = {}
    for form, line in enumerate(words):
        shapes.setdefault((len(line), *filter(common.__contains__, line)), []).append(form)
    lone = [form for shape in shapes.values() if len(shape) <= _LONE for form in shape]
    return lone, _strange(words, counts)


def _by_common_words(data: bytes) -> list[list[int]]:
    lines = without_stamps(data.translate(KEEP_LINES).split(b"\n"))
    found: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for some in alike(lines, vocabulary(lines)):
        found[some.template] += some.rows
    return sorted(found.values())


def _varied(data: bytes, wanted: Sequence[bytes]) -> Groups:
    """Groups of lines that nearly all have a form of their own."""
    lines = without_stamps(data.translate(KEEP_LINES).split(b"\n"))
    words = vocabulary(lines)
    survey = Survey(words.known, wanted)
    found: dict[tuple[object, ...], Template] = {}
    for some in alike(lines, words):
        template = found.get(some.template)
        if template is None:
            width = len(some.words[0])
            counted = words.counted.get(width, frozenset[int]())
            template = found[some.template] = Template(width, lines, counted)
        template.add(some.rows, some.words, survey.harmless)
    ordered = sorted(found.values(), key=lambda template: template.rows[0])
    for template in ordered:
        survey.add(template)
    lone = [index for template in ordered if len(template.rows) <= _LONE for index in template.rows]
    suspects = [[index] for index in survey.suspects()]
    return Groups(
        [template.rows for template in ordered],
        lone,
        survey.strange(_MOST_STRANGE),
        suspects,
        survey.unusual,
    )


def _words(data: bytes) -> list[list[bytes]]:
    return [line.split() for line in data.translate(KEEP_LINES).split(b"\n")]


def _strange(words: Sequence[list[bytes]], counts: Counter[bytes]) -> list[int]:
    """Indexes of lines with more words of their own than lines usually have here."""
    own = {
        word
        for word, count in counts.items()
        if count == 1 and (word.isalpha() or word[0] > 127) and word.translate(None, HEXADECIMAL)
    }
    if not own:
        return []
    owned = [len(own.intersection(line)) for line in words]
    usual = sorted(owned)[len(owned) // 2]
    found = [(-count, index) for index, count in enumerate(owned) if count > usual]
    return [index for _, index in sorted(found)[:_MOST_STRANGE]]
