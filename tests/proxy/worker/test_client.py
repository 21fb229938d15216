"""The worker answers every job once, whatever becomes of its child, and leaves no process behind."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

from proxy.jobs import JobFailed, Outcome, Reduced
from proxy.worker import client
from proxy.worker.client import Worker
from proxy.worker.framing import HEAD
from tests.proxy.worker.children import ROOT, SCRIPT, ask, job, program, until, working

pytestmark = pytest.mark.anyio


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _pid(outcome: Outcome) -> int:
    assert isinstance(outcome, Reduced), outcome
    return int(outcome.strategy)


def _reason(outcome: Outcome) -> str:
    assert isinstance(outcome, JobFailed), outcome
    return outcome.reason


async def test_nothing_is_started_until_it_is_wanted() -> None:
    async with working(Worker(program())) as worker:
        await asyncio.sleep(0)
        assert (worker.pid, worker.ready) == (None, False)
        worker.prewarm()
        await until(lambda: worker.ready)
        pid = _pid(await ask(worker, job("any")))
        assert pid == worker.pid
    assert worker.pid is None
    assert not _alive(pid)


async def test_outcomes_come_in_order_and_never_from_within_submit() -> None:
    async with working(Worker(program())) as worker:
        order: list[int] = []
        futures = [ask(worker, job("echo", b"%d" % number)) for number in range(20)]
        for number, future in enumerate(futures):
            future.add_done_callback(lambda _, number=number: order.append(number))
        assert not any(future.done() for future in futures)
        outcomes = await asyncio.gather(*futures)
        await asyncio.sleep(0)
        assert order == list(range(20))
        assert [outcome.body for outcome in outcomes if isinstance(outcome, Reduced)] == [
            b"%d" % number for number in range(20)
        ]


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_large_payloads_go_both_ways_on_either_loop(run: Any) -> None:
    body = bytes(range(256)) * 32_768

    async def main() -> None:
        async with working(Worker(program())) as worker:
            futures = [ask(worker, job("echo", body[: 1 << shift])) for shift in (23, 0, 20, 16)]
            for future, shift in zip(futures, (23, 0, 20, 16), strict=True):
                outcome = await future
                assert isinstance(outcome, Reduced)
                assert outcome.body == body[: 1 << shift]

    main_of: Coroutine[Any, Any, None] = main()
    run(main_of)


async def test_a_job_that_raises_costs_that_job_and_tells_nothing_of_its_text() -> None:
    async with working(Worker(program())) as worker:
        before = _pid(await ask(worker, job("any")))
        reason = _reason(await ask(worker, job("raise", b"a secret")))
        assert reason.startswith("ValueError at ")
        assert "secret" not in reason
        assert _pid(await ask(worker, job("any"))) == before


async def test_what_a_library_prints_does_not_get_between_the_frames() -> None:
    async with working(Worker(program())) as worker:
        before = _pid(await ask(worker, job("print")))
        assert _pid(await ask(worker, job("any"))) == before
        assert worker.problem == ""


async def test_a_job_whose_child_is_killed_is_done_by_the_next_one(tmp_path: Path) -> None:
    async with working(Worker(program())) as worker:
        first = _pid(await ask(worker, job("any")))
        killed = ask(worker, job("once", query=str(tmp_path / "killed")))
        behind = ask(worker, job("any"))
        second = _pid(await killed)
        assert second != first
        assert _pid(await behind) == second
        assert (worker.pid, worker.problem) == (second, "")


async def test_a_job_that_ends_every_child_fails_and_those_behind_it_do_not() -> None:
    async with working(Worker(program())) as worker:
        deadly, behind = ask(worker, job("exit")), ask(worker, job("any"))
        assert _reason(await deadly) == "the worker exited with code 3, 2 times over this answer"
        assert _pid(await behind) == worker.pid


async def test_a_job_that_hangs_fails_in_time_and_its_child_is_replaced() -> None:
    async with working(Worker(program())) as worker:
        first = _pid(await ask(worker, job("any")))
        hanging, behind = ask(worker, job("hang"), 0.1), ask(worker, job("any"))
        assert _reason(await hanging) == "took longer than 0.1 s"
        assert _pid(await behind) != first
        assert not _alive(first)


async def test_a_job_that_waits_too_long_for_its_turn_fails_and_harms_nobody(
    tmp_path: Path,
) -> None:
    go_on = tmp_path / "go-on"
    async with working(Worker(program())) as worker:
        ahead = ask(worker, job("wait", query=str(go_on)))
        waiting, behind = ask(worker, job("any"), 0.05), ask(worker, job("any"))
        assert _reason(await waiting) == "took longer than 0.05 s"
        go_on.touch()
        assert _pid(await ahead) == _pid(await behind) == worker.pid


async def test_a_job_whose_time_went_by_in_the_queue_is_not_taken_for_one_that_hangs(
    tmp_path: Path,
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    loop = asyncio.get_running_loop()
    async with working(Worker(program())) as worker:
        pid = _pid(await ask(worker, job("any")))
        ahead = ask(worker, job("wait", query=str(first)))
        late = ask(worker, job("wait", query=str(second)), 1.2)
        loop.call_later(0.7, first.touch)
        assert _reason(await late) == "took longer than 1.2 s"
        assert _pid(await ahead) == pid
        second.touch()
        assert _pid(await ask(worker, job("any"))) == pid


async def test_output_that_is_no_frame_ends_the_child() -> None:
    async with working(Worker(program())) as worker:
        first = _pid(await ask(worker, job("any")))
        assert "a frame is larger" in _reason(await ask(worker, job("noise")))
        assert _pid(await ask(worker, job("any"))) != first


async def test_without_any_child_that_starts_jobs_fail_at_once_and_say_why() -> None:
    broken = program("raise SystemExit('this machine has no vocabulary')")
    async with working(Worker(broken)) as worker:
        reason = _reason(await ask(worker, job("any")))
        assert "exited with code 1 before it was ready: this machine has no vocabulary" in reason
        assert worker.problem == reason
        assert _reason(await ask(worker, job("any"))) == reason


async def test_a_program_that_is_missing_is_named() -> None:
    async with working(Worker(["/nonexistent/python"])) as worker:
        reason = _reason(await ask(worker, job("any")))
        assert "could not be started: there is no program /nonexistent/python" in reason


async def test_a_child_that_can_start_again_ends_the_failing(tmp_path: Path) -> None:
    flag = tmp_path / "works"
    script = f"import os\nif not os.path.exists({str(flag)!r}): raise SystemExit(1)\n{SCRIPT}"
    async with working(Worker(program(script))) as worker:
        _reason(await ask(worker, job("any")))
        flag.touch()
        await until(lambda: worker.ready)
        assert worker.problem == ""
        assert _pid(await ask(worker, job("any"))) == worker.pid


async def test_a_child_that_does_not_get_ready_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "START_SECONDS", 0.2)
    async with working(Worker(program("import time; time.sleep(600)"))) as worker:
        assert "was not ready after 0.2 s" in _reason(await ask(worker, job("any")))


async def test_more_than_may_wait_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "WAITING_JOBS", 2)
    monkeypatch.setattr(client, "WAITING_BYTES", 100)
    async with working(Worker(program())) as worker:
        large = ask(worker, job("echo", b"x" * 200))
        refused = ask(worker, job("echo", b"x" * 200))
        assert "too many answers wait" in _reason(await refused)
        assert isinstance(await large, Reduced)
        taken = [ask(worker, job("any")) for _ in range(2)]
        extra = [ask(worker, job("any")) for _ in range(3)]
        outcomes = await asyncio.gather(*taken, *extra)
        assert [type(outcome) for outcome in outcomes[:2]] == [Reduced, Reduced]
        assert JobFailed in {type(outcome) for outcome in outcomes[2:]}


async def test_the_end_answers_what_is_under_way_and_ends_a_busy_child() -> None:
    worker = Worker(program())
    async with working(worker):
        pid = _pid(await ask(worker, job("any")))
        hanging, waiting = ask(worker, job("hang")), ask(worker, job("any"))
        await asyncio.sleep(0)
    assert _reason(await hanging) == "the station is ending"
    assert _reason(await waiting) == "the station is ending"
    assert _reason(await ask(worker, job("any"))) == "the station is ending"
    assert not _alive(pid)


async def test_an_outcome_callback_that_raises_harms_no_other_job() -> None:
    loop = asyncio.get_running_loop()
    seen: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: seen.append(context))

    def raises(_: Outcome) -> None:
        raise RuntimeError("the session is gone")

    async with working(Worker(program())) as worker:
        worker.submit(job("any"), raises, 20)
        assert isinstance(await ask(worker, job("any")), Reduced)
    assert [str(context["exception"]) for context in seen] == ["the session is gone"]


STATION = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from tests.proxy.worker.children import ask, job, program, working
from proxy import processes
from proxy.worker.client import Worker
if sys.argv[2] == "busy, and the system does not help":
    processes._SETPRIV = None
async def main():
    async with working(Worker(program())) as worker:
        await ask(worker, job("any"))
        if sys.argv[2] != "idle":
            ask(worker, job("hang"))
        print(worker.pid, flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""


@pytest.mark.parametrize("state", ["idle", "busy", "busy, and the system does not help"])
async def test_a_station_that_is_killed_leaves_no_child(state: str) -> None:
    station = await asyncio.create_subprocess_exec(
        sys.executable, "-c", STATION, str(ROOT), state, stdout=subprocess.PIPE
    )
    assert station.stdout is not None
    pid = int(await station.stdout.readline())
    assert _alive(pid)
    station.kill()
    await station.wait()
    await until(lambda: not _alive(pid) or _is_zombie(pid))


def _is_zombie(pid: int) -> bool:
    """Dead, but whoever inherited it does not ask for its exit code."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def test_frames_have_the_head_that_is_documented() -> None:
    assert HEAD.size == 4 + 8 + 8
