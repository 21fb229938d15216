"""Words that are values: numbers, months, days of the week, units; and words that qualify a statement."""

from __future__ import annotations

from memory.words import listed, ordered

NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        ordered(
            """
            zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
            fifteen sixteen seventeen eighteen nineteen twenty
            """
        )
    )
} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "seventy": "70",
    "eighty": "80",
    "ninety": "90",
    "hundred": "hundred",
    "thousand": "thousand",
    "million": "million",
    "billion": "billion",
    "dozen": "dozen",
    "half": "half",
    "quarter": "quarter",
    "once": "1-fold",
    "twice": "2-fold",
    "double": "2-fold",
    "first": "1st",
    "second": "2nd",
    "third": "3rd",
    "fourth": "4th",
    "fifth": "5th",
    "sixth": "6th",
    "seventh": "7th",
    "eighth": "8th",
    "ninth": "9th",
    "tenth": "10th",
}
"""Number words and what they mean. "One" and "second" have other senses: see `memory.words.tokens`."""

MONTHS = {
    form: name
    for name in ordered(
        """
        january february march april may june july august september october november december
        """
    )
    for form in (name, name[:3], name[:4] if name == "september" else name)
}

WEEKDAYS = {
    form: name
    for name, forms in (
        ("monday", "mon mondays"),
        ("tuesday", "tue tues tuesdays"),
        ("wednesday", "wed wednesdays"),
        ("thursday", "thu thur thurs thursdays"),
        ("friday", "fri fridays"),
        ("saturday", "sat saturdays"),
        ("sunday", "sun sundays"),
    )
    for form in (name, *forms.split())
}

AMBIGUOUS_DATES = listed("may march mar sun sat wed mon jan jun dec sec second august april june")
"""Names of days or months only with a capital letter, or beside a number."""

UNITS = {
    form: name
    for name, forms in (
        ("ms", "ms msec millisecond milliseconds"),
        ("s", "s sec secs second seconds"),
        ("min", "min mins minute minutes"),
        ("h", "h hr hrs hour hours"),
        ("day", "d day days"),
        ("week", "w week weeks"),
        ("month", "month months"),
        ("year", "y yr yrs year years"),
        ("b", "b byte bytes"),
        ("kb", "kb kilobyte kilobytes "),
        ("mb", "mb megabyte megabytes"),
        ("gb", "gb gigabyte gigabytes"),
        ("tb", "tb terabyte terabytes"),
        ("kib", "kib kibibytes"),
        ("mib", "mib mebibytes"),
        ("gib", "gib gibibytes"),
        ("tib", "tib tebibytes"),
        ("mm", "mm millimetre millimetres millimeter millimeters"),
        ("cm", "cm centimetre centimetres centimeter centimeters"),
        ("m", "m metre metres meter meters"),
        ("km", "km kilometre kilometres kilometer kilometers"),
        ("mile", "mi mile miles"),
        ("ft", "ft foot feet"),
        ("inch", "inch inches"),
        ("g", "g gram grams"),
        ("kg", "kg kilo kilos kilogram kilograms"),
        ("lb", "lb lbs pound pounds"),
        ("l", "l litre litres liter liters"),
        ("ml", "ml millilitre millilitres"),
        ("%", "% percent pct"),
        ("usd", "usd dollar dollars"),
        ("eur", "eur euro euros"),
        ("gbp", "gbp"),
        ("°c", "°c c celsius"),
        ("°f", "°f f fahrenheit"),
        ("hz", "hz hertz"),
        ("mhz", "mhz"),
        ("ghz", "ghz"),
        ("w", "watt watts"),
        ("rpm", "rpm"),
        ("qps", "qps rps"),
        ("token", "token tokens"),
        ("am", "am"),
        ("pm", "pm"),
    )
    for form in forms.split()
}
"""By every form."""

QUALIFIERS = {
    word: kind
    for kind, words in (
        ("must", "must shall should need needs ought required has-to"),
        ("may", "can could might may possibly perhaps maybe probably"),
        ("past", "was were had did formerly previously former ago"),
        ("future", "will going tomorrow planned"),
        ("wish", "would want wants wanted"),
        ("some", "some several few many most much any"),
        ("only", "only except unless but otherwise"),
        ("condition", "if when while until whenever during"),
        ("from", "from"),
        ("to", "to into toward towards"),
        ("by", "by"),
        ("at", "at"),
        ("behind", "behind"),
        ("instead", "instead rather"),
        ("without", "without"),
        ("with", "with"),
        ("before", "before"),
        ("after", "after since"),
        ("over", "over above"),
        ("under", "under below beneath"),
        ("or", "or"),
        ("more", "more"),
        ("less", "less fewer"),
        ("than", "than"),
        ("least", "least"),
        ("between", "between"),
        ("off", "off"),
        ("out", "out"),
        ("up", "up"),
        ("down", "down"),
        ("he", "he him his himself"),
        ("she", "she her hers herself"),
        ("i", "i me my mine myself"),
        ("you", "you your yours yourself"),
        ("they", "they them their theirs themselves"),
    )
    for word in words.split()
}
"""Function words that change what is said: two texts whose qualifiers differ are no duplicates. "We" and
"our" are none: who remembers for a team says "the" and "our" alike."""

RELATIONS = listed(
    "from to by at without with before after over under than between behind instead or"
)
"""Kinds of `QUALIFIERS` that relate what follows them to what precedes."""

CONTRARY = frozenset(
    frozenset(pair)
    for pair in (("before", "after"), ("over", "under"), ("more", "less"), ("up", "down"))
)
"""Kinds of which one makes a statement contrary to one with the other."""

ASYMMETRIC = listed("before after over under than instead behind")
"""Kinds that say something else when their two sides change places."""
