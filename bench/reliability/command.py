# SPDX-License-Identifier: Apache-2.0
"""Run the tests of the rows, and keep a result file for each row."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bench import machine_load
from bench.gpu.machine import processor, program_facts
from bench.programs import ready_build
from scripts.output import page_path, write
from scripts.wcb.checkout import ROOT, say

from . import page
from .rows import ROWS, Row

SCHEMA = "spng-reliability-2"
QUICK = "SPNG_QUICK"  # variable that tests/support/repetition.py reads


@dataclass
class Outcome:
    """A test with all its parameters.

    figures  name -> values that the test noted (tests/support/figures.py)
    failed, skipped  cases with their reasons
    """

    name: str
    passed: int = 0
    seconds: float = 0.0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    figures: dict[str, list[float | str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """A row that ran, with the date, commit and setting of its own run."""

    row: str
    date: str
    commit: str
    program: str
    machine: str
    load: str
    is_quick: bool
    tests: list[Outcome]


def first_line(element: xml.Element) -> str:
    """Return the first line of the message of a failure or skip."""
    return (element.get("message") or element.text or "").strip().partition("\n")[0][:200]


def read_tests(path: Path) -> Iterator[Outcome]:
    """Yield the cases of a JUnit report of pytest or GoogleTest, each as a test of one case."""
    for case in xml.parse(path).getroot().iter("testcase"):
        if case.get("status") == "notrun":
            continue
        name = f"{case.get('classname')}.{case.get('name')}"
        test = Outcome(name.partition("[")[0], seconds=float(case.get("time") or 0))
        test.failed = [first_line(each) for kind in ("failure", "error") for each in case.findall(kind)]
        test.skipped = [first_line(each) for each in case.findall("skipped")]
        test.passed = int(not test.failed and not test.skipped)
        for each in case.iter("property"):
            test.figures.setdefault(each.get("name", ""), []).append(number(each.get("value", "")))
        yield test


def number(text: str) -> float | str:
    """Return a figure as a number, if it is one."""
    try:
        return float(text)
    except ValueError:
        return text


def joined(cases: list[Outcome]) -> list[Outcome]:
    """Return the tests, each with its cases added up."""
    found: dict[str, Outcome] = {}
    for case in cases:
        test = found.setdefault(case.name, Outcome(case.name))
        test.passed += case.passed
        test.seconds += case.seconds
        test.failed += case.failed
        test.skipped += case.skipped
        for name, values in case.figures.items():
            test.figures.setdefault(name, []).extend(values)
    return list(found.values())


def run_tests(row: Row, build: Path, is_quick: bool) -> list[Outcome]:
    """Run the tests of a row; return them. A program that ends without a report is a failed test."""
    environment = {
        **os.environ,
        "SPNG_WIRE_CELL": str(build / "bin" / "wire-cell"),
        "SPNG_BUILD": str(build),
        **({QUICK: "1"} if is_quick else {}),
    }
    python = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=short", "-m", "", *row.tests]
    commands = [[*python, "--junitxml={report}"]]
    if row.cpp:
        words = [f"--gtest_filter={':'.join(row.cpp)}", "--gtest_brief=1", "--gtest_output=xml:{report}"]
        commands.append([str(build / "tests" / "spng_tests"), *words])
    found = []
    for command in commands:
        with tempfile.TemporaryDirectory(prefix=page.FOLDERS) as folder:
            report = Path(folder) / "report.xml"
            if not Path(command[0]).exists():
                found.append(Outcome(Path(command[0]).name, skipped=["not built: ./wcb"]))
                continue
            words = [word.format(report=report) if "{report}" in word else word for word in command]
            done = subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, env=environment, check=False)
            if not report.exists():
                found.append(Outcome(Path(command[0]).name, failed=[f"status {done.returncode}, no report"]))
                continue
            found += joined(list(read_tests(report)))
    return found


def measured(row: Row, options: argparse.Namespace, build: Path, facts: dict[str, str]) -> Result:
    """Run the tests of a row."""
    say(f"\n{row.name}: {row.title}")
    begin = machine_load.now()
    tests = run_tests(row, build, options.quick)
    return Result(
        row.name,
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"),
        facts.get("commit", "unknown"),
        ", ".join(f"{key} {facts[key]}" for key in ("commit", "build", "LibTorch") if key in facts),
        f"{processor()}, {len(os.sched_getaffinity(0))} cores",
        machine_load.since(begin).text(),
        options.quick,
        tests,
    )


def save(folder: Path, result: Result) -> None:
    """Write the result of a row."""
    text = json.dumps({"schema": SCHEMA, **asdict(result)}, indent=1, ensure_ascii=False)
    write(folder / f"{result.row}.json", text + "\n")


def load(folder: Path) -> dict[str, Result]:
    """Return the results in a folder by row."""
    found = {}
    for path in folder.glob("R*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("schema", None) == SCHEMA:
            content["tests"] = [Outcome(**test) for test in content["tests"]]
            found[content["row"]] = Result(**content)
    return found


def main(options: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    build = ready_build(options.build, "--benchmarks")
    facts = program_facts(build / "bin" / "wire-cell", dict(os.environ))
    commit = facts.get("commit", "unknown")
    failed = False
    for row in ROWS:
        if row.name in options.only:
            result = measured(row, options, build, facts)
            save(options.output, result)
            failed |= any(test.failed for test in result.tests)
    results = {
        name: result
        for name, result in load(options.output).items()
        if name in options.only or options.keep or result.commit == commit
    }
    target = page_path(options.page)
    write(target, page.page(ROWS, results))
    return 1 if failed else 0
