"""``mms whatif``: trials of other settings, and writing one of them."""

from __future__ import annotations

import tomllib

import pytest

from console.trials import settings_of
from proxy.answer_model import WhatIf, WhatIfQuery
from tests.console.cli.conftest import Instance
from tests.support.fake_engine import Engine
from tests.support.sample_data import CALLS

CUT = next(one for one in CALLS if one.held_key)
CONFIG = f"""\
# mine
[upstreams.{CUT.upstream}]
command = "x"
"""


@pytest.fixture
def asked(running: Engine) -> list[WhatIfQuery]:
    """What the station was asked to try."""
    queries: list[WhatIfQuery] = []
    plain = running.fake.what_ifs

    def what_if(query: WhatIfQuery) -> WhatIf:
        queries.append(query)
        return plain(query)

    running.fake.what_ifs = what_if
    return queries


def test_variants_stand_side_by_side_with_what_they_lose(
    mms: Instance, asked: list[WhatIfQuery]
) -> None:
    ran = mms.run("whatif", str(CUT.id))
    assert ran.code == 0
    assert asked == [WhatIfQuery(CUT.id)]
    for words in (
        f"{CUT.before.tokens:,} tokens",
        "budget 4,000",
        f"was sent: {CUT.strategy}",
        "FACTS KEPT",
        "What each loses, for example:",
        "truncate: ERROR 14:03:07 disk full",
        "What each leaves to fetch, for example:",
        "extract: items/17/id = 48213 | /srv/app/config.toml",
    ):
        assert words in ran.out, words
    data = mms.run("whatif", str(CUT.id), "--json").json
    assert data["applied"] is None
    assert data["what_if"]["before_tokens"] == CUT.before.tokens
    assert data["what_if"]["variants"][0]["facts"]["total"] == 120


def test_strategies_budget_and_query_are_passed_on(mms: Instance, asked: list[WhatIfQuery]) -> None:
    words = ("-s", "skeleton", "--strategy", "hybrid", "-s", "hybrid", "--budget", "900")
    ran = mms.run("whatif", str(CUT.id), *words, "--query", "who", "--show", "hybrid")
    assert asked == [WhatIfQuery(CUT.id, ("skeleton", "hybrid"), 900, "who")]
    assert "The answer by hybrid:\n\nas hybrid" in ran.out


def test_applying_writes_the_keys_of_the_tool_and_keeps_comments(
    mms: Instance, running: Engine
) -> None:
    mms.write(CONFIG)
    ran = mms.run("whatif", str(CUT.id), "--apply", "hybrid", "--budget", "900", "--json")
    assert ran.code == 0
    where = f"upstreams.{CUT.upstream}.tools.{CUT.tool}"
    assert ran.json["applied"]["settings"] == {
        f"{where}.compression": '"hybrid"',
        f"{where}.max_result_tokens": "900",
    }
    assert ran.json["applied"]["station"] == "applied"
    assert mms.config.startswith("# mine\n")
    tools = tomllib.loads(mms.config)["upstreams"][CUT.upstream]["tools"]
    assert tools == {CUT.tool: {"compression": "hybrid", "max_result_tokens": 900}}


def test_applying_without_a_budget_leaves_the_one_in_force(mms: Instance, running: Engine) -> None:
    mms.write(CONFIG)
    out = mms.run("whatif", str(CUT.id), "--apply", "none").out
    assert f'upstreams.{CUT.upstream}.tools.{CUT.tool}.compression = "none"' in out
    assert "max_result_tokens" not in mms.config


def test_applying_to_an_upstream_that_the_file_does_not_have_writes_nothing(
    mms: Instance, running: Engine
) -> None:
    mms.write("[proxy]\n")
    ran = mms.run("whatif", str(CUT.id), "--apply", "hybrid")
    assert ran.code in (1, 4)
    assert CUT.upstream in ran.err
    assert mms.config == "[proxy]\n"


def test_a_call_that_cannot_be_tried_says_why(mms: Instance, running: Engine) -> None:
    plain = next(one for one in CALLS if not one.held_key)
    for number, words in ((plain.id, "not held"), (99_999, "no call 99999")):
        ran = mms.run("whatif", str(number), "--json")
        assert ran.code == 1
        assert words in ran.json["error"]


def test_a_wrong_command_line_is_exit_code_2_and_no_station_3(mms: Instance) -> None:
    assert mms.run("whatif").code == 2
    assert mms.run("whatif", "7", "--strategy", "magic").code == 2
    assert mms.run("whatif", "7", "--budget", "99").code == 2
    assert mms.run("whatif", "7").code == 3


def test_odd_names_are_quoted_in_keys() -> None:
    assert settings_of("a b", 'x."y', "extract", None) == (
        ('upstreams."a b".tools."x.\\"y".compression', '"extract"'),
    )
