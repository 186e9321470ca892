# SPDX-License-Identifier: Apache-2.0
"""./wcb test: set up and build if needed, then run all tests.

Run the GoogleTest program in shards and pytest in workers, on all cores. List failed and skipped tests with
their reasons and end with the line "N passed, N failed, N skipped". Exit with status 0 only if a test passed and none
failed.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from . import setup
from .checkout import OUT, ROOT, VENV, build, say
from .lint import environment as lint_tools

REPORTS = OUT / "test"
PYTHON_TESTS = ("campaign", "tests", "profiling")
OF_OTHER_COMMANDS = re.compile(
    r"^pytestmark = .*mark\.(gpu|reliability)", re.MULTILINE
)  # deselected by pytest.ini
REASON_WIDTH = 200
LAST_LINES = 20  # of a test program that ends early
CORES = len(os.sched_getaffinity(0))
WORKERS = CORES + 1  # many tests wait for other processes
# Threads of OpenMP sleep while they wait; otherwise they take the cores from the tests beside them.
# The programs that tests start share a cache that is not the user's.
ENVIRONMENT = {
    "GOMP_SPINCOUNT": "0",
    "OMP_WAIT_POLICY": "passive",
    "SPNG_CACHE": str(ROOT / "build" / "tests" / "cache"),
}


@dataclass
class Outcome:
    """Result of a set of tests: names, with the reasons of failures and skips."""

    passed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def add(self, other: Outcome) -> None:
        """Add another set."""
        self.passed += other.passed
        self.failed |= other.failed
        self.skipped |= other.skipped


def read_junit(path: Path) -> Outcome:
    """Read the JUnit XML report of GoogleTest or pytest. Raise OSError or ParseError for an absent or unfinished file."""
    outcome = Outcome()
    for case in xml.parse(path).getroot().iter("testcase"):
        name = name_of(case)
        problems = case.findall("failure") + case.findall("error")
        skip = case.find("skipped")
        if problems:
            outcome.failed[name] = reason(problems[0])
        elif skip is not None or case.get("status") == "notrun":
            outcome.skipped[name] = reason(skip) if skip is not None else "disabled"
        else:
            outcome.passed.append(name)
    return outcome


def name_of(case: xml.Element) -> str:
    """Return the name of a test with its class. pytest reports a file that skips as a whole as a test without a class."""
    return ".".join(filter(None, (case.get("classname"), case.get("name"))))


def reason(element: xml.Element) -> str:
    """Return the message of a failure or skip as one line, without the source position that GoogleTest puts before it."""
    message = element.get("message") or element.text or ""
    if message == "collection skipped":  # the text is a tuple of the file, the line and the reason
        message = ast.literal_eval(element.text or "")[2].removeprefix("Skipped: ")
    lines = [line.strip() for line in message.splitlines()]
    lines = [line for line in lines if line and line not in ("Skipped", "Failed", "unknown file")]
    if len(lines) > 1 and lines[0].rsplit(":", 1)[-1].isdigit():
        lines = lines[1:]
    text = " | ".join(lines[:4])
    return text if len(text) <= REASON_WIDTH else text[: REASON_WIDTH - 3] + "..."


def run_google_tests(program: Path, only: str, shards: int = CORES, reports: Path | None = None) -> Outcome:
    """Run the C++ tests in `shards` processes at the same time. Their reports go to a folder that no other run uses."""
    folder = reports or REPORTS
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(shards) as pool:
        outcomes = pool.map(lambda shard: run_shard(program, only, folder, shard, shards), range(shards))
    total = Outcome()
    for outcome in outcomes:
        total.add(outcome)
    return total


def run_shard(program: Path, only: str, reports: Path, shard: int, shards: int) -> Outcome:
    """Run one shard of the C++ tests. A crash counts as one failed test, named after the test that was running."""
    report = reports / f"googletest-{shard}.xml"
    report.unlink(missing_ok=True)
    command = [str(program), f"--gtest_output=xml:{report}"] + ([f"--gtest_filter=*{only}*"] if only else [])
    environment = (
        os.environ | ENVIRONMENT | {"GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(shard)}
    )
    finished: list[str] = []
    kept: list[str] = []
    running = ""
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
        stderr=subprocess.STDOUT,
    ) as process:
        for line in process.stdout or ():
            running, kept = follow(line.rstrip("\n"), running, kept, finished)
    try:
        return read_junit(report)
    except (OSError, xml.ParseError):
        status = process.returncode
        how = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        output = (f"  {line}" for line in kept[-LAST_LINES:])
        say("\n".join([f"{program.name} ended early ({how})", *output]))
        return Outcome(finished, {running or program.name: f"the test program ended early ({how})"})


def follow(line: str, running: str, kept: list[str], finished: list[str]) -> tuple[str, list[str]]:
    """Print all output of a test that fails.

    @return the running test and its output so far
    """
    mark, text = line[:12], line[13:]
    if mark == "[ RUN      ]":
        return text, []
    if mark == "[       OK ]":
        finished.append(running)
        return "", []
    if mark == "[  FAILED  ]" and running:
        say("\n".join([f"FAILED {running}", *(f"  {output}" for output in kept)]))
        return "", []
    return running, [*kept, line]


def run_pytest(only: str) -> Outcome:
    """Run the Python tests. Tests of one file share a worker, so that module fixtures run once."""
    report = REPORTS / "pytest.xml"
    report.unlink(missing_ok=True)
    folders = [name for name in PYTHON_TESTS if any((ROOT / name).glob("**/test_*.py"))]
    if not folders:
        return Outcome()
    command = [
        str(VENV / "bin" / "python"),
        *"-m pytest -q --color=no".split(),
        f"--numprocesses={WORKERS}",
        "--dist=loadfile",
        f"--junitxml={report}",
        *folders,
    ]
    environment = os.environ | ENVIRONMENT
    status = subprocess.run(
        command + (["-k", only] if only else []),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        check=False,
        env=environment,
    ).returncode
    try:
        outcome = read_junit(report)
    except (OSError, xml.ParseError):
        return Outcome(failed={"pytest": f"ended without a report, exit status {status}"})
    if status not in (0, 1, 5) and not outcome.failed:
        outcome.failed["pytest"] = f"exit status {status}"
    if not only and not outcome.failed:
        outcome.failed |= dict.fromkeys(left_out(folders, outcome), "none of its tests was run")
    return outcome


def left_out(folders: Sequence[str], outcome: Outcome) -> list[str]:
    """Return the test files below `folders` of which the report has no test, though not all of their tests are marked."""
    ran = {*outcome.passed, *outcome.failed, *outcome.skipped}
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for name in folders
        for path in sorted((ROOT / name).glob("**/test_*.py"))
        if not OF_OTHER_COMMANDS.search(path.read_text(encoding="utf-8"))
    ]
    return [module for module in modules if not any(f"{test}.".startswith(f"{module}.") for test in ran)]


def main() -> int:
    """Run the command."""
    parser = setup.make_parser("test", __doc__)
    parser.add_argument("--only", metavar="WORD", default="", help="run only tests with WORD in their name")
    setup.add_options(parser)
    options = parser.parse_args()

    setup.ensure(options.mode, options.no_system, for_tests=True)
    lint_tools.ensure()
    folder = build()
    REPORTS.mkdir(parents=True, exist_ok=True)

    total = Outcome()
    program = folder / "tests" / "spng_tests"
    if program.exists():
        say("\nC++ tests")
        found = run_google_tests(program, options.only)
        say(f"{len(found.passed)} passed, {len(found.failed)} failed")
        total.add(found)
    else:
        total.failed["spng_tests"] = "not built: GoogleTest was not found by configure"
    say("\nPython tests")
    total.add(run_pytest(options.only))

    for title, group in (("skipped", total.skipped), ("failed", total.failed)):
        if group:
            say(f"\n{title}:")
            for name, why in group.items():
                say(f"  {name}{': ' + why if why else ''}")
    say(f"\n{len(total.passed)} passed, {len(total.failed)} failed, {len(total.skipped)} skipped")
    return 0 if total.passed and not total.failed else 1


if __name__ == "__main__":
    sys.exit(main())
