"""Whatever the official conformance suite finds right directly, it finds right through mms."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.e2e.conformance import ROOT, compare, table
from tests.support.conformance_suite import Suite, get_suite, run_client
from tests.support.node_packages import Unavailable

pytestmark = pytest.mark.npm


@pytest.fixture(scope="session")
def suite() -> Suite:
    try:
        return get_suite()
    except Unavailable as reason:
        pytest.skip(f"the conformance suite cannot be had: {reason}")


def test_every_scenario_that_passes_directly_passes_through_mms(suite: Suite, home: Path) -> None:
    direct, stdio, http = asyncio.run(compare(suite, home))
    printed = table(direct, stdio, http)
    assert sum(outcome.ok for outcome in direct.values()) >= 30, printed
    for name, outcome in direct.items():
        if outcome.ok:
            assert stdio[name].ok, printed
            assert http[name].ok, printed
            assert stdio[name].failed == http[name].failed == 0, printed


@pytest.mark.parametrize("scenario", ["initialize", "tools_call", "sse-retry"])
def test_mms_is_a_right_client_of_servers_over_http(
    suite: Suite, scenario: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = f"{sys.executable} -m tests.support.conformance_client"
    printed = asyncio.run(run_client(suite, scenario, command))
    assert "0 failed, 0 warnings" in printed
