"""Cases made here from seeds, so that they need no file: tables, logs, and texts that are hard on purpose."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from dataclasses import replace

from tests.bench.quality.cases import Case, Check

_SUBJECTS = (
    "The harbour authority",
    "A small bakery",
    "The regional archive",
    "The night train",
    "Our weather station",
    "The chess club",
    "A retired surveyor",
    "The botanical garden",
    "The city orchestra",
    "A group of divers",
)
_VERBS = (
    "repaired",
    "catalogued",
    "painted",
    "measured",
    "moved",
    "sold",
    "borrowed",
    "described",
    "photographed",
    "restored",
)
_OBJECTS = (
    "the old lighthouse",
    "a set of copper kettles",
    "forty wooden benches",
    "the northern footbridge",
    "a collection of letters",
    "the greenhouse roof",
    "two stone lions",
    "the signal box",
    "a row of linden trees",
    "the river gauge",
)
_REASONS = (
    "because the winter had been wet",
    "after a long debate",
    "with help from volunteers",
    "before the summer fair",
    "without telling anyone",
    "at the request of the council",
    "since nobody else would",
    "as the contract demanded",
)
_FIRST = ("Ada", "Bruno", "Chiara", "Dmitri", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas")
_LAST = ("Abt", "Berg", "Costa", "Dahl", "Egger", "Fink", "Gallo", "Horn", "Iver", "Jung")
_CITIES = ("Bern", "Porto", "Gdansk", "Lyon", "Graz", "Malmo", "Turin", "Ghent", "Split", "Cork")
_TEAMS = ("billing", "search", "mobile", "storage", "identity", "payments", "growth", "platform")


def prose(rng: random.Random, sentences: int) -> list[str]:
    """Sentences with nothing to remember in them."""
    return [
        f"{rng.choice(_SUBJECTS)} {rng.choice(_VERBS)} {rng.choice(_OBJECTS)} {rng.choice(_REASONS)}."
        for _ in range(sentences)
    ]


def paragraphs(rng: random.Random, count: int) -> list[str]:
    """Paragraphs of four to seven such sentences."""
    return [" ".join(prose(rng, rng.randint(4, 7))) for _ in range(count)]


def key_values(count: int) -> list[Case]:
    """Shape D without a file: one of 75 UUID keys of an object."""
    rng = random.Random(21)
    cases: list[Case] = []
    for number in range(count):
        pairs = {_uuid(rng): _uuid(rng) for _ in range(75)}
        key = rng.choice(list(pairs))
        text = json.dumps(pairs, indent=(None, 1, 2)[number % 3])
        cases.append(
            Case(
                "D generated",
                text,
                f"What is the value of key {key}?",
                (pairs[key],),
                Check.MEMBER,
                ((key, pairs[key]),),
                json=True,
            )
        )
    return cases


def tables(count: int) -> list[Case]:
    """Shape E: 200 rows; the question names a value of one row and asks for another of its values."""
    rng = random.Random(22)
    cases: list[Case] = []
    for number in range(count):
        rows = [_row(rng, index) for index in range(200)]
        row = rng.choice(rows)
        given = rng.choice(("name", "email", "id"))
        asked = rng.choice(tuple(name for name in row if name != given))
        value = rows if number % 2 else {"total": len(rows), "rows": rows, "next": None}
        text = json.dumps(value, indent=2 if number % 3 == 0 else None)
        cases.append(
            Case(
                "E",
                text,
                f"{asked} of {given} {row[given]}",
                (str(row[asked]),),
                Check.ROW,
                ((given, row[given]), (asked, row[asked])),
                json=True,
            )
        )
    return cases


def _row(rng: random.Random, index: int) -> dict[str, str | int | float | bool]:
    first, last = rng.choice(_FIRST), rng.choice(_LAST)
    return {
        "id": 10_000 + index * 7,
        "name": f"{first} {last} {index}",
        "email": f"{first}.{last}{index}@example.org".lower(),
        "city": rng.choice(_CITIES),
        "team": rng.choice(_TEAMS),
        "score": round(rng.uniform(0, 100), 2),
        "active": rng.random() < 0.5,
        "joined": f"20{rng.randint(10, 25)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
    }


def _uuid(rng: random.Random) -> str:
    digits = f"{rng.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


# Logs: each format is a function of the line's number that gives an everyday line.

_Line = Callable[[random.Random, int], str]


def _time(number: int) -> str:
    day = 1 + number // 40_000
    return f"2026-03-{day:02} {number // 3_600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}"


def _service(rng: random.Random, number: int) -> str:
    kind = rng.randrange(4)
    if kind == 0:
        return (
            f"{_time(number)} INFO  [http-{rng.randint(1, 16)}] GET /api/v2/items/{rng.randint(1, 9999)} "
            f"status=200 bytes={rng.randint(200, 9000)} took={rng.randint(2, 80)}ms"
        )
    if kind == 1:
        return f"{_time(number)} DEBUG [cache] hit key=item:{rng.randint(1, 9999)} ttl={rng.randint(1, 600)}"
    if kind == 2:
        return (
            f"{_time(number)} INFO  [worker-{rng.randint(1, 8)}] job {rng.getrandbits(48):012x} done "
            f"in {rng.randint(10, 900)} ms"
        )
    return f"{_time(number)} WARN  [pool] {rng.randint(1, 20)} connections idle for {rng.randint(30, 90)} s"


def _access(rng: random.Random, number: int) -> str:
    ip = f"10.{rng.randint(0, 9)}.{rng.randint(0, 255)}.{rng.randint(1, 254)}"
    return (
        f"{ip} - - [02/Mar/2026:{number // 3_600 % 24:02}:{number // 60 % 60:02}:{number % 60:02} +0000] "
        f'"GET /static/{rng.choice(("app", "vendor", "theme"))}.{rng.getrandbits(32):08x}.js HTTP/1.1" '
        f'200 {rng.randint(500, 90_000)} "-" "Mozilla/5.0"'
    )


def _syslog(rng: random.Random, number: int) -> str:
    return (
        f"Mar  2 {number // 3_600 % 24:02}:{number // 60 % 60:02}:{number % 60:02} host{rng.randint(1, 5)} "
        f"systemd[{rng.randint(100, 9999)}]: Started Session {rng.randint(1, 99_999)} of user app."
    )


def _json_line(rng: random.Random, number: int) -> str:
    return json.dumps(
        {
            "ts": _time(number),
            "level": "info",
            "logger": rng.choice(("api", "db", "queue")),
            "msg": "request handled",
            "id": f"{rng.getrandbits(64):016x}",
            "ms": rng.randint(1, 300),
        }
    )


FORMATS: dict[str, _Line] = {
    "service": _service,
    "access": _access,
    "syslog": _syslog,
    "json lines": _json_line,
}

_PLANTED: dict[str, tuple[Callable[[_Line, random.Random, int], str], str, str]] = {
    "error line": (
        lambda everyday, rng, number: _like(
            everyday(rng, number), "ERROR", "could not flush segment 7714: no space left on device"
        ),
        "could not flush segment 7714: no space left on device",
        "why did flushing a segment fail?",
    ),
    "unusual line": (
        lambda everyday, rng, number: _like(
            everyday(rng, number), "INFO", "replica lisbon-3 promoted to primary by operator maren"
        ),
        "replica lisbon-3 promoted to primary by operator maren",
        "which replica became primary?",
    ),
    "unusual value": (
        lambda everyday, rng, number: _odd(everyday, rng, number),
        "",
        "",
    ),
}


def _like(everyday: str, level: str, message: str) -> str:
    """A line of the same format with another message."""
    if everyday.startswith("{"):
        value = json.loads(everyday)
        return json.dumps({**value, "level": level.lower(), "msg": message})
    if everyday.startswith("Mar"):
        return everyday.partition(": ")[0] + f": {message}"
    if everyday.startswith("10."):
        return everyday.partition(" [")[0] + f" [02/Mar/2026:10:00:00 +0000] app: {message}"
    return f"{everyday[:19]} {level:5} [storage] {message}"


def _odd(everyday: _Line, rng: random.Random, number: int) -> str:
    """An everyday line in which one value is far from what it is elsewhere."""
    line = everyday(rng, number)
    while everyday is _service and "status=200" not in line:
        line = everyday(rng, number)
    line = line.replace("status=200", "status=503").replace('" 200 ', '" 503 ')
    if line.startswith("{"):
        line = json.dumps({**json.loads(line), "ms": 918_273})
    if line.startswith("Mar"):
        line = line.replace("user app.", "user intruder.")
    return line


def logs(size: int, *, query: bool, shape: str) -> list[Case]:
    """Shape F: for each format and each kind of unusual line a log of ``size`` characters holding one."""
    cases: list[Case] = []
    for format_name, everyday in FORMATS.items():
        for kind, (plant, answer, question) in _PLANTED.items():
            rng = random.Random(f"{format_name} {kind} {size}")
            lines: list[str] = []
            room = size
            while room > 0:
                line = everyday(rng, len(lines))
                lines.append(line)
                room -= len(line) + 1
            place = rng.randrange(len(lines) // 4, len(lines) * 3 // 4)
            lines[place] = plant(everyday, rng, place)
            case = Case(
                shape,
                "\n".join(lines) + "\n",
                (question or "which line has an unusual value?") if query else "",
                (answer or lines[place],),
                json=format_name == "json lines",
                name=f"{format_name}, {kind}",
            )
            if case.json:  # white space between the members may differ
                members = tuple(json.loads(lines[place]).items())
                case = replace(case, check=Check.ROW, members=members)
            cases.append(case)
    return cases


def adversarial() -> list[Case]:
    """Answers in places where shortening loses them. Each text is five to ten times its budget of 4,000."""
    rng = random.Random(23)
    filler = paragraphs(rng, 260)
    half = len(filler) // 2
    answer = "The spare key hangs behind the blue barometer."
    question = "Where does the spare key hang?"

    def text(*middle: str, before: int = half, joint: str = "\n\n") -> str:
        return joint.join([*filler[:before], *middle, *filler[before:]])

    return [
        Case("adversarial", text() + "\n\n" + answer, question, (answer,), name="last line"),
        Case(
            "adversarial",
            text(
                "| instrument | room | reading |\n|---|---|---|\n"
                + "".join(f"| gauge {n} | {n % 9} | {n * 3}.5 |\n" for n in range(40))
                + "| hygrometer | cellar | 71.25 |\n"
                + "".join(f"| valve {n} | {n % 7} | {n * 2}.5 |\n" for n in range(40))
            ),
            "What is the reading of the hygrometer in the cellar?",
            ("71.25",),
            name="table cell",
        ),
        Case(
            "adversarial",
            text(
                "Configure the client like this:\n\n```python\n"
                "client = Client(retries=5)\nclient.connect(timeout_seconds=17, region='fjord-2')\n```"
            ),
            "Which region does client.connect use?",
            ("region='fjord-2'",),
            name="code block",
        ),
        Case(
            "adversarial",
            "\n\n".join(
                [
                    *filler[:60],
                    "The ferry to Hvalfjord leaves at 07:40.",
                    *filler[60:200],
                    "Correction: the ferry to Hvalfjord leaves at 09:15.",
                    *filler[200:],
                ]
            ),
            "When does the ferry to Hvalfjord leave?",
            ("leaves at 07:40", "leaves at 09:15"),
            Check.ALL,
            name="two that contradict",
        ),
        Case(
            "adversarial",
            text(
                "The pump in hall 4 was last serviced by Okonkwo on 3 May.",
                "The pump in hall 5 was last serviced by Lindqvist on 3 May.",
                "The pump in hall 6 was last serviced by Okonkwo on 3 May.",
            ),
            "Who last serviced the pump in hall 5?",
            ("hall 5 was last serviced by Lindqvist",),
            name="near-duplicates",
        ),
        Case(
            "adversarial",
            "\n\n".join(
                f"{paragraph} The spare key of {rng.choice(_OBJECTS)} was {rng.choice(_VERBS)}."
                if number != 97
                else f"{paragraph} {answer}"
                for number, paragraph in enumerate(filler)
            ),
            question,
            (answer,),
            name="among sentences like it",
        ),
        Case(
            "adversarial",
            text(
                "The combination of the vault was changed in April. It is now 4471-B. "
                "The old one no longer opens it."
            ),
            "What is the combination of the vault?",
            ("4471-B",),
            name="over a sentence break",
        ),
        Case(
            "adversarial",
            "\n\n".join(
                [
                    *filler[:20],
                    base64.b64encode(rng.randbytes(750_000)).decode(),
                    answer,
                    *filler[20:60],
                ]
            ),
            question,
            (answer,),
            name="after a 1 MB blob",
        ),
        Case(
            "adversarial",
            text("กุญแจสำรองแขวนอยู่หลังบารอมิเตอร์สีน้ำเงินในห้องเก็บแผนที่"),
            "กุญแจสำรองแขวนอยู่ที่ไหน",
            ("หลังบารอมิเตอร์สีน้ำเงิน",),
            name="Thai",
        ),
        Case(
            "adversarial",
            text("المفتاح الاحتياطي معلق خلف البارومتر الأزرق في غرفة الخرائط."),
            "أين المفتاح الاحتياطي؟",
            ("خلف البارومتر الأزرق",),
            name="Arabic",
        ),
        Case(
            "adversarial",
            text("备用钥匙挂在地图室蓝色气压计后面。"),
            "备用钥匙挂在哪里?",
            ("蓝色气压计后面",),
            name="Chinese",
        ),
        Case(
            "adversarial",
            "".join(
                f"{_time(n)} WARN  disk usage at 81 percent on /var\n"
                if n != 3_310
                else f"{_time(n)} ERROR disk controller 2 stopped answering\n"
                for n in range(5_001)
            ),
            "",
            ("ERROR disk controller 2 stopped answering",),
            name="error among 5,000 warnings",
        ),
        Case(
            "adversarial",
            text(answer, joint="\r\n\r\n"),
            question,
            (answer,),
            name="Windows line ends",
        ),
        Case(
            "adversarial",
            " ".join([*filler[:half], answer, *filler[half:]]),
            question,
            (answer,),
            name="one line",
        ),
        Case(
            "adversarial",
            "<html><head><title>House rules</title><style>p{margin:0}</style></head><body>"
            + "".join(f"<div class='rule'><p>{paragraph}</p></div>" for paragraph in filler[:half])
            + f"<table><tr><th>Thing</th><th>Place</th></tr><tr><td>Spare key</td><td>{answer}</td></tr>"
            "</table>"
            + "".join(f"<div class='rule'><p>{paragraph}</p></div>" for paragraph in filler[half:])
            + "</body></html>",
            question,
            (answer,),
            name="HTML cell",
        ),
        Case(
            "adversarial",
            "id,place,reading,remark\n"
            + "".join(
                f"{n},{rng.choice(_CITIES)},{rng.uniform(0, 50):.2f},{rng.choice(_REASONS)}\n"
                if n != 1_777
                else "1777,Reykholt,33.07,behind the blue barometer\n"
                for n in range(3_000)
            ),
            "What was the reading in Reykholt?",
            ("33.07",),
            name="CSV row",
        ),
        Case(
            "adversarial",
            "\n\n".join(
                [
                    "# Manual",
                    *(
                        f"## Part {n}\n\n{filler[n]}\n\n### Detail {n}\n\n{filler[n + 100]}"
                        + (f"\n\n{answer}" if n == 57 else "")
                        for n in range(100)
                    ),
                ]
            ),
            question,
            (answer,),
            name="Markdown section",
        ),
        Case(
            "adversarial",
            "\n\n".join(
                _functions(rng, 420, "def spare_key_place():\n    return 'blue barometer'")
            ),
            "what does spare_key_place return",
            ("return 'blue barometer'",),
            name="source code",
        ),
        Case(
            "adversarial",
            "<rules>\n"
            + "".join(f'  <rule id="{n}"><text>{filler[n]}</text></rule>\n' for n in range(130))
            + f'  <rule id="key"><text>{answer}</text></rule>\n'
            + "".join(
                f'  <rule id="{n}"><text>{filler[n]}</text></rule>\n' for n in range(130, 260)
            )
            + "</rules>\n",
            question,
            (answer,),
            name="XML element",
        ),
        Case(
            "adversarial",
            json.dumps(_nested(rng, filler, answer)),
            question,
            (answer,),
            json=True,
            name="deep in JSON",
        ),
        Case(
            "adversarial",
            _diff(rng, answer),
            "what changed about the spare key in the house rules?",
            (f"+{answer}",),
            name="diff line",
        ),
        Case(
            "adversarial",
            json.dumps(
                {
                    "items": [
                        {"id": n, "status": "ok" if n != 611 else "failed", "ms": 20 + n % 5}
                        for n in range(2_000)
                    ]
                }
            ),
            "",
            (),
            Check.ROW,
            (("id", 611), ("status", "failed")),
            json=True,
            name="failed row, no query",
        ),
    ]


def _functions(rng: random.Random, count: int, wanted: str) -> list[str]:
    functions = [
        f"def {rng.choice(_VERBS)}_{rng.choice(_TEAMS)}_{n}(value):\n"
        f'    """{rng.choice(_SUBJECTS)} {rng.choice(_VERBS)} {rng.choice(_OBJECTS)}."""\n'
        f"    result = value * {rng.randint(2, 99)}\n"
        f"    return result + {rng.randint(2, 99)}"
        for n in range(count)
    ]
    functions.insert(count // 2, wanted)
    return functions


def _nested(rng: random.Random, filler: list[str], answer: str) -> dict[str, object]:
    def leaf(number: int) -> dict[str, object]:
        return {"title": f"note {number}", "body": filler[number], "tags": [rng.choice(_TEAMS)]}

    return {
        "house": {
            "floors": [
                {
                    "number": floor,
                    "rooms": [
                        {
                            "name": f"room {floor}.{room}",
                            "notes": [leaf(floor * 40 + room * 4 + n) for n in range(4)]
                            + (
                                [{"title": "key", "body": answer}]
                                if (floor, room) == (3, 7)
                                else []
                            ),
                        }
                        for room in range(10)
                    ],
                }
                for floor in range(6)
            ]
        }
    }


def _diff(rng: random.Random, answer: str) -> str:
    parts: list[str] = []
    for number in range(90):
        old, new = prose(rng, 6), prose(rng, 3)
        lines = [
            f"diff --git a/docs/page{number}.md b/docs/page{number}.md",
            f"--- a/docs/page{number}.md",
            f"+++ b/docs/page{number}.md",
            "@@ -10,6 +10,6 @@",
            *(f" {line}" for line in old[:3]),
            *(f"-{line}" for line in old[3:]),
            *(f"+{line}" for line in new),
        ]
        if number == 51:
            lines += [f"+{answer}", "-The spare key is at the office."]
        parts += lines
    return "\n".join(parts) + "\n"
