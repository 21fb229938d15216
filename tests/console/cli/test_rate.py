"""``mms rate``: one memory or all of an answer, as the person; a station must run."""

from __future__ import annotations

from proxy.commands import RateMemory
from proxy.surface.model import Rating
from tests.console.cli.conftest import Instance
from tests.support.fake_engine import Engine


def test_one_memory_or_all_of_an_answer_are_rated(mms: Instance, running: Engine) -> None:
    ran = mms.run("rate", "5f3c9a01b2d4", "9c1f02ab7711", "helpful")
    assert (ran.code, ran.out) == (0, "9c1f02ab7711 rated helpful.\n")
    ran = mms.run("rate", "5f3c9a01b2d4", "not_relevant", "--json")
    assert ran.json == {"ok": True, "message": "2 memories rated not_relevant."}
    assert running.fake.executed == [
        RateMemory("5f3c9a01b2d4", "9c1f02ab7711", Rating.HELPFUL),
        RateMemory("5f3c9a01b2d4", "", Rating.NOT_RELEVANT),
    ]


def test_what_cannot_be_rated_is_refused_with_the_reason(mms: Instance, running: Engine) -> None:
    ran = mms.run("rate", "ffffffffffff", "helpful")
    assert ran.code == 1
    assert "There is no event ffffffffffff." in ran.err
    ran = mms.run("rate", "5f3c9a01b2d4", "good")
    assert ran.code == 2
    assert "helpful, partially_helpful, not_relevant, already_known" in ran.err
    assert len(running.fake.executed) == 1


def test_without_a_station_nothing_can_be_rated(mms: Instance) -> None:
    ran = mms.run("rate", "5f3c9a01b2d4", "helpful")
    assert ran.code == 3
    assert "mms serve" in ran.err
