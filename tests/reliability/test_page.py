# SPDX-License-Identifier: Apache-2.0
"""./wcb reliability: the page of made-up results, a row that really runs, and the committed page."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.reliability import __main__ as options
from bench.reliability import page
from bench.reliability.command import Outcome, Result, chosen, load, read_tests, save
from bench.reliability.rows import ROWS, Row
from scripts.wcb.checkout import ROOT
from tests.support import wire_cell

NOW, BEFORE = "0123456789ab", "ba9876543210"
MADE_UP = (
    Row("R1", "numbers", "at most 1e-5 | of the RMS", note="Measured by hand."),
    Row("R2", "bytes", "same bytes"),
    Row("R4", "a device", "same bytes on a GPU", gap="not on a GPU"),
)
PASSED = Outcome("tests.reference.test_steps.TestNoise.test_a", 3, 1.5, figures={"difference": [1e-6, 3e-6]})
RESULT = Result(
    "R1",
    "2026-11-25T10:00Z",
    NOW,
    "commit 0123456789ab, build release",
    "a processor, 2 cores",
    "other programs kept 0.1 cores busy",
    False,
    [PASSED],
)
REPORT = """<testsuites><testsuite>
<testcase classname="tests.a.test_b" name="test_c[1]" time="0.5"><properties><property name="size" value="2.0"/>
<property name="kind" value="npz"/></properties></testcase>
<testcase classname="tests.a.test_b" name="test_c[2]" time="0.25"><properties><property name="size" value="3.0"/>
</properties></testcase>
<testcase classname="tests.a.test_b" name="test_d" time="1"><failure message="assert 1 == 2&#10;more">text</failure></testcase>
<testcase classname="tests.a.test_b" name="test_e" time="0"><skipped message="no CUDA device"/></testcase>
<testcase classname="Suite" name="Disabled" status="notrun" time="0"/>
</testsuite></testsuites>"""


def cells(text: str) -> dict[str, list[str]]:
    """Return the cells of the rows of the table of a page, by row."""
    found = {}
    for line in text.splitlines():
        words = [word.strip() for word in re.split(r"(?<!\\)\|", line)][1:-1]
        if words and re.fullmatch(r"R\d+", words[0]):
            found[words[0]] = words[1:]
    return found


def test_reports_are_read(tmp_path: Path) -> None:
    """Cases of a test are added up, and keep their figures and reasons."""
    (tmp_path / "report.xml").write_text(REPORT, encoding="utf-8")
    first, failed, skipped, disabled = read_tests(tmp_path / "report.xml")
    assert (first.name, first.passed, first.seconds) == ("tests.a.test_b.test_c", 2, 0.75)
    assert first.figures == {"size": [2.0, 3.0], "kind": ["npz"]}
    assert (failed.passed, failed.failed) == (0, ["assert 1 == 2 | more"])
    assert (skipped.passed, skipped.skipped) == (0, ["no CUDA device"])
    assert (disabled.name, disabled.skipped) == ("Suite.Disabled", ["disabled"])


def test_every_row_has_target_figures_verdict_command_date_and_commit() -> None:
    text = page.page(MADE_UP, {"R1": RESULT, "R4": replace(RESULT, row="R4")})
    found = cells(text)
    assert found["R1"] == [
        r"at most 1e-5 \| of the RMS",
        "3 cases passed; difference 3e-06",
        "met",
        "`./wcb reliability --only R1`",
        "2026-11-25",
        NOW,
    ]
    assert found["R2"][1:3] == ["", "not run: no result of this commit"]
    assert found["R4"][2] == "in part: not on a GPU"
    assert "Of 3 rows: 1 met, 1 in part, 1 not run." in text
    assert "2 s on a processor, 2 cores, while other programs" in text
    assert "| test_steps.TestNoise.test_a | 3 | 1.5 | difference 3e-06 |" in text


@pytest.mark.parametrize(
    ("tests", "expected"),
    [
        ([PASSED], "met: "),
        (
            [PASSED, Outcome("tests.a.test_b.test_c", failed=["assert 1 == 2"])],
            "short: test_b.test_c: assert 1 == 2",
        ),
        ([PASSED, Outcome("b", skipped=["no device"] * 2)], "in part: 2 skipped: no device"),
        ([Outcome("b", skipped=["no device"])], "not run: 1 skipped: no device"),
        ([], "not run: no test"),
    ],
)
def test_verdicts(tests: list[Outcome], expected: str) -> None:
    assert ": ".join(page.verdict(MADE_UP[1], tests)) == expected


@pytest.mark.parametrize("keep", [False, True])
def test_row_of_another_commit(keep: bool) -> None:
    """It is carried over with its own commit if asked, and otherwise named as not run."""
    stored = {"R1": RESULT, "R2": replace(RESULT, row="R2", commit=BEFORE)}
    results = chosen(stored, (), NOW, keep)
    cell = cells(page.page(MADE_UP, results))["R2"]
    assert (cell[2], cell[5]) == (("met", BEFORE) if keep else ("not run: no result of this commit", ""))
    assert results["R1"] == RESULT, "of the same commit"


def test_quick_figures_are_marked() -> None:
    text = page.page(MADE_UP, {"R1": replace(RESULT, is_quick=True)})
    assert cells(text)["R1"][1].endswith("(quick)")


def test_results_are_kept_in_files(tmp_path: Path) -> None:
    save(tmp_path, RESULT)
    (tmp_path / "R9.json").write_text('{"schema": "another"}', encoding="utf-8")
    assert load(tmp_path) == {"R1": RESULT}


def test_rows_of_the_command_line() -> None:
    assert options.rows_of("r12,R7") == ("R7", "R12")
    with pytest.raises(Exception, match="no row R21"):
        options.rows_of("R21")
    assert tuple(row.name for row in ROWS) == options.ROWS


def test_every_row_names_tests_that_are_there() -> None:
    """Files, and classes or functions in them; C++ suites."""
    suites = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*_test.cxx"))
    for row in ROWS:
        assert row.tests, row.name
        for test in row.tests:
            path, *names = test.split("::")
            source = (ROOT / path).read_text(encoding="utf-8")
            assert all(re.search(rf"^ *(class|def) {name}\b", source, re.MULTILINE) for name in names), test
        for suite in row.cpp:
            assert f"({suite.rstrip('*').partition('.')[0]}" in suites, suite


def test_every_marked_test_belongs_to_a_row() -> None:
    named = {test.partition("::")[0] for row in ROWS for test in row.tests}
    marked = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"^pytestmark = .*mark\.reliability", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert len(marked) >= 8 and set(marked) <= named


@wire_cell.needs_program
def test_a_row_runs(tmp_path: Path) -> None:
    """A row whose tests run fast; the page has the other rows as not run."""
    target = tmp_path / "page.md"
    command = [sys.executable, "-m", "bench.reliability", "--build", wire_cell.PROGRAM.parents[1], "--quick"]
    command += ["--only", "R20", "--page", target, "--output", tmp_path / "results"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = cells(target.read_text(encoding="utf-8"))
    assert list(found) == list(options.ROWS)
    assert re.match(r"\d+ cases passed.*\(quick\)", found["R20"][1]) and found["R20"][2] == "met"
    assert all(cell[2].startswith("not run") for name, cell in found.items() if name != "R20")
    assert load(tmp_path / "results")["R20"].tests[0].passed > 50


def test_committed_page_is_complete() -> None:
    """All rows are of a commit, and each has figures or a reason."""
    found = cells(options.PAGE.read_text(encoding="utf-8"))
    assert list(found) == list(options.ROWS)
    for name, (_, figures, verdict, _, date, commit) in found.items():
        assert re.fullmatch(r"2\d{3}-\d\d-\d\d", date) and re.fullmatch(r"[0-9a-f]{12}", commit), name
        assert "quick" not in figures
        assert figures or verdict.startswith("not run")
        assert verdict == "met" or re.match(r"(short|in part|not run)\b.{5,}", verdict), name
