# SPDX-License-Identifier: Apache-2.0
"""./wcb reliability: the page of made-up results, a row that really runs, and the committed page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.output import Table
from scripts.reliability import options, page, store
from scripts.reliability.hardening import sanitizers
from scripts.reliability.row import NO_DEVICE, Outcome, Row, Verdict, judge
from scripts.reliability.rows import ROWS
from scripts.reliability.work import Work
from tests.support import wire_cell

FOLDER = f"{wire_cell.ROOT}/cfg/a.jsonnet in /tmp/{page.FOLDERS}R1x_y/out.npz"
NOW, BEFORE = "0123456789ab", "ba9876543210"


def no_measurement(_: Work) -> Outcome:
    raise AssertionError("the page does not measure")


MADE_UP = (
    Row("R1", "numbers", "at most 1e-5 | of the RMS", no_measurement),
    Row("R2", "bytes", "same bytes", no_measurement),
    Row("R4", "a device", "same bytes on a GPU", no_measurement, "scripts/gpu_check modes"),
)
RESULT = store.Result(
    row="R1",
    figure="3e-6 | of the RMS",
    verdict=Verdict.MET.value,
    gap="",
    note="Measured by hand.",
    command="./wcb reliability --only R1",
    date="2026-11-25T10:00Z",
    commit=NOW,
    program="commit 0123456789ab, build release",
    machine="a processor, 2 cores",
    load="other programs kept 0.1 cores busy",
    processor_s=12.0,
    wall_s=7.0,
    is_quick=False,
    tables=[Table("Nodes", ["node", "difference"], [["SPNGDecon", "3e-6"]])],
)
NOT_RUN = replace(
    RESULT,
    row="R4",
    figure="",
    verdict=Verdict.NOT_RUN.value,
    gap=NO_DEVICE,
    command=MADE_UP[2].command,
    tables=[],
)
STORED = {"R1": RESULT, "R2": replace(RESULT, row="R2", figure="1 content", commit=BEFORE), "R4": NOT_RUN}


def cells(text: str) -> dict[str, list[str]]:
    """Return the cells of the rows of the table of a page, by row."""
    found = {}
    for line in text.splitlines():
        words = [word.strip() for word in re.split(r"(?<!\\)\|", line)][1:-1]
        if words and re.fullmatch(r"R\d+", words[0]):
            found[words[0]] = words[1:]
    return found


def test_every_row_has_target_figure_verdict_command_date_and_commit() -> None:
    text = page.page(MADE_UP, page.chosen(MADE_UP, STORED, set(), NOW, keep=True))
    found = cells(text)
    assert found["R1"] == [
        r"at most 1e-5 \| of the RMS",
        r"3e-6 \| of the RMS",
        "met",
        "`./wcb reliability --only R1`",
        "2026-11-25",
        NOW,
    ]
    assert found["R4"][2:4] == [NO_DEVICE, "`scripts/gpu_check modes`"]
    assert "Of 3 rows: 2 met, 1 not run." in text
    assert "12 s of processor time in 7 s on a processor, 2 cores, while other programs" in text
    assert "| SPNGDecon | 3e-6 |" in text
    assert page.cell(FOLDER) == "cfg/a.jsonnet in out.npz"


@pytest.mark.parametrize("keep", [False, True])
def test_row_of_another_commit(keep: bool) -> None:
    """It is carried over with its own commit if asked, and otherwise named as not run."""
    results = page.chosen(MADE_UP, STORED, set(), NOW, keep)
    cell = cells(page.page(MADE_UP, results))["R2"]
    assert cell[1] == ("1 content" if keep else "") and cell[5] == (BEFORE if keep else "")
    assert cell[2] == ("met" if keep else f"not run at commit {NOW}: the stored figure is of {BEFORE}")
    assert results[0] == RESULT, "of the same commit"


def test_row_without_a_result() -> None:
    cell = cells(page.page(MADE_UP, page.chosen(MADE_UP, {}, set(), NOW, keep=True)))["R1"]
    assert cell[1] == "" and cell[2].startswith("not run: ")


def test_quick_figures_are_marked() -> None:
    stored = {**STORED, "R1": replace(RESULT, is_quick=True)}
    assert cells(page.page(MADE_UP, page.chosen(MADE_UP, stored, set(), NOW, keep=True)))["R1"][1].endswith(
        "(quick)"
    )


def test_a_gap_has_a_reason() -> None:
    assert judge("1e-7", []).verdict is Verdict.MET
    assert judge("1e-3", ["1e-3 instead of 1e-5"]).gap == "1e-3 instead of 1e-5"
    for verdict in Verdict:
        with pytest.raises(ValueError, match="gap"):
            Outcome("1", verdict, "a reason" if verdict is Verdict.MET else "")


def test_results_are_kept_in_files(tmp_path: Path) -> None:
    store.save(tmp_path, RESULT)
    (tmp_path / "R9.json").write_text('{"schema": "another"}', encoding="utf-8")
    assert store.load(tmp_path) == {"R1": RESULT}


def test_rows_of_the_command_line() -> None:
    assert options.rows_of("r12,R7") == ("R7", "R12")
    with pytest.raises(Exception, match="no row R21"):
        options.rows_of("R21")
    assert tuple(row.name for row in ROWS) == options.ROWS


def found(tests: int, **others: object) -> dict[str, object]:
    """Return the result of one build mode of ./wcb harden."""
    jobs = {"main job": 0}
    return {"tests": tests, "skipped": 2, "failed": [], "jobs": jobs, "reports": 0, "clean": True} | others


def test_sanitizers_are_read_from_their_file(tmp_path: Path) -> None:
    work, path = Work(tmp_path, tmp_path, True, 1), tmp_path / "harden.json"
    absent = sanitizers(work, path)
    assert absent.verdict is Verdict.NOT_RUN and absent.gap == "run ./wcb harden"
    result = {"commit": BEFORE, "date": "2026-11-24T10:00Z", "asan": found(900)}
    path.write_text(json.dumps(result), encoding="utf-8")
    part = sanitizers(work, path)
    assert (part.verdict, part.date, part.commit) == (Verdict.PART, result["date"], BEFORE)
    assert (
        part.figure == "ASan and UBSan: 0 reports in 900 tests (2 skipped) and 1 jobs"
        and part.gap == "TSan did not run"
    )
    result |= {
        "tsan": found(100, reports=2, failed=["A.b: ended"], jobs={"main job": 66}, clean=False),
        "suppressions": ["leak:libfoo, its own"],
    }
    path.write_text(json.dumps(result), encoding="utf-8")
    short = sanitizers(work, path)
    assert short.verdict is Verdict.SHORT and short.gap == (
        "TSan: 2 reports instead of 0; TSan: A.b: ended; TSan: main job: status 66"
    )
    assert short.tables[0].rows == [["leak:libfoo, its own"]]


@wire_cell.needs_program
def test_a_row_runs(tmp_path: Path) -> None:
    """The row of outputs that cannot be written, in the quick setting; the page has the other rows as not run."""
    target = tmp_path / "page.md"
    command = [
        sys.executable,
        "-m",
        "scripts.reliability",
        "--build",
        wire_cell.PROGRAM.parents[1],
        "--quick",
    ]
    command += ["--only", "R11", "--page", target, "--output", tmp_path / "results"]
    done = subprocess.run(
        command, cwd=wire_cell.ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = cells(target.read_text(encoding="utf-8"))
    assert list(found) == list(options.ROWS)
    assert found["R11"][1].endswith("leave nothing but the rows of a recording (quick)") and found["R11"][
        2
    ].startswith(("met", "in part"))
    assert all(cell[2].startswith("not run") for name, cell in found.items() if name != "R11")
    result = store.load(tmp_path / "results")["R11"]
    assert result.processor_s > 0 and len(result.tables[0].rows) >= 5


def test_committed_page_is_complete() -> None:
    """All rows are of a commit, and each has a figure or a reason."""
    found = cells(options.PAGE.read_text(encoding="utf-8"))
    assert list(found) == list(options.ROWS)
    for row in ROWS:
        _, figure, verdict, command, date, commit = found[row.name]
        assert command == f"`{page.command_of(row)}`"
        assert re.fullmatch(r"2\d{3}-\d\d-\d\d", date) and re.fullmatch(r"[0-9a-f]{12}", commit), row.name
        assert "quick" not in figure
        assert figure or verdict.startswith("not run")
        assert verdict == "met" or re.match(r"(short|in part|not run)\b.{5,}", verdict), row.name
