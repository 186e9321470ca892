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
from collections.abc import Container
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bench import machine_load
from bench.gpu.machine import processor, program_facts
from bench.programs import ready_build
from scripts.output import page_path, write
from scripts.wcb.checkout import ROOT, say
from scripts.wcb.run_tests import name_of, read_junit

from . import page
from .rows import QUICK, ROWS, Row

SCHEMA = "spng-reliability-2"


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


def read_tests(path: Path) -> list[Outcome]:
    """Return the tests of a JUnit report of pytest or GoogleTest, each with its cases added up."""
    outcome = read_junit(path)
    found: dict[str, Outcome] = {}
    for case in xml.parse(path).getroot().iter("testcase"):
        name = name_of(case)
        title = name.partition("[")[0]
        test = found.setdefault(title, Outcome(title))
        test.passed += name in outcome.passed
        test.seconds += float(case.get("time") or 0)
        test.failed += [outcome.failed[name]] if name in outcome.failed else []
        test.skipped += [outcome.skipped[name]] if name in outcome.skipped else []
        for each in case.iter("property"):
            test.figures.setdefault(each.get("name", ""), []).append(number(each.get("value", "")))
    return list(found.values())


def number(text: str) -> float | str:
    """Return a figure as a number, if it is one."""
    try:
        return float(text)
    except ValueError:
        return text


def run_tests(row: Row, build: Path, is_quick: bool) -> list[Outcome]:
    """Run the tests of a row; return them. A program that ends without a report is a failed test."""
    environment = {
        **os.environ,
        "SPNG_WIRE_CELL": str(build / "bin" / "wire-cell"),
        "SPNG_BUILD": str(build),
        **({QUICK: "1"} if is_quick else {}),
    }
    found = []
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        words = "-m pytest -q --no-header --tb=short".split()
        commands = [[sys.executable, *words, "-m", "", f"--junitxml={report}", *row.tests]]
        if row.cpp:
            words = [f"--gtest_filter={':'.join(row.cpp)}", "--gtest_brief=1", f"--gtest_output=xml:{report}"]
            commands.append([str(build / "tests" / "spng_tests"), *words])
        for command in commands:
            if not Path(command[0]).exists():
                found.append(Outcome(Path(command[0]).name, skipped=["not built: ./wcb"]))
                continue
            report.unlink(missing_ok=True)
            done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, env=environment, check=False)
            if report.exists():
                found += read_tests(report)
            else:
                found.append(Outcome(Path(command[0]).name, failed=[f"status {done.returncode}, no report"]))
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


def chosen(results: dict[str, Result], new: Container[str], commit: str, keep: bool) -> dict[str, Result]:
    """Return the results of this run and those of the same commit, or of any commit."""
    return {
        name: result for name, result in results.items() if name in new or keep or result.commit == commit
    }


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
    results = chosen(load(options.output), options.only, commit, options.keep)
    write(page_path(options.page), page.page(ROWS, results))
    return 1 if failed else 0
