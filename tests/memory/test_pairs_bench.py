from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.memory_pairs import main, missed

HEAD = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
CONTRARY = "The dog is barking\tThe dog is not barking"
OTHER = "The dog is barking\tA train is late"


def written(folder: Path, *rows: tuple[str, str]) -> Path:
    file = folder / "pairs.txt"
    lines = [f"{place}\t{pair}\t3\t{label}" for place, (pair, label) in enumerate(rows)]
    file.write_text("\n".join([HEAD, *lines]), encoding="utf-8")
    return file


def test_pairs_that_are_told_right_hold_the_bars(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, (CONTRARY, "CONTRADICTION"), (OTHER, "NEUTRAL"))
    assert main(["--words", "--sick", str(file)]) == 0
    assert "| pairs | 2.00 | 1.00 | 1.00 | 0.00 |" in capsys.readouterr().out


def test_a_missed_bar_is_told_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, (CONTRARY, "NEUTRAL"), (OTHER, "CONTRADICTION"))
    assert main(["--words", "--sick", str(file)]) == 1
    assert "missed: pairs: recall is 0.0000, at least 0.75" in capsys.readouterr().err


def test_what_was_not_measured_is_not_missed() -> None:
    assert missed([{"data": "x", "pairs": 5}]) == []
