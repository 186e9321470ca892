# SPDX-License-Identifier: Apache-2.0
"""The command ./wcb reliability, after its options and the set-up."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path

from bench import machine_load
from bench.programs import ready_build
from scripts.output import write
from scripts.wcb.checkout import ROOT, say

from . import page, store
from .row import Outcome, Row, Verdict


def about_program(program: Path) -> str:
    """Return commit and build of the program in one line."""
    text = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return ", ".join(
        re.sub(r" +", " ", line.strip())
        for line in text.splitlines()
        if re.match(r"  (commit|build|LibTorch)", line)
    )


def commit_of(program: str) -> str:
    """Return the commit in a line of about_program()."""
    found = re.match(r"commit (\S+),", program)
    return found[1] if found else "unknown"


def processor() -> str:
    """Return the name of the processor and the number of cores."""
    found = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return f"{found[1] if found else 'an unknown processor'}, {len(os.sched_getaffinity(0))} cores"


def measured(row: Row, build: Path, is_quick: bool, program: str, commit: str) -> store.Result:
    """Measure a row. An exception of its code is an outcome too: a gap in the table with its reason."""
    from .work import Work

    begin = machine_load.now()
    with tempfile.TemporaryDirectory(prefix=page.FOLDERS + row.name) as name:
        work = Work(Path(name), build, is_quick, len(os.sched_getaffinity(0)))
        try:
            outcome = row.measure(work)
        except Exception as problem:  # noqa: BLE001  (the other rows go on)
            say(traceback.format_exc())
            reason = f"the measurement failed: {type(problem).__name__}: " + str(problem).partition("\n")[0]
            outcome = Outcome("", Verdict.NOT_RUN, reason)
    end = machine_load.now()
    return store.Result(
        row=row.name,
        figure=outcome.figure,
        verdict=outcome.verdict.value,
        gap=outcome.gap,
        note=outcome.note,
        command=page.command_of(row),
        date=outcome.date or datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"),
        commit=outcome.commit or commit,
        program=program,
        machine=processor(),
        load=machine_load.since(begin).text(),
        processor_s=end.own - begin.own,
        wall_s=end.wall - begin.wall,
        is_quick=is_quick,
        tables=outcome.tables,
    )


def main(options: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    build = ready_build(options.build, "--benchmarks")
    os.environ |= {"SPNG_WIRE_CELL": str(build / "bin" / "wire-cell"), "SPNG_BUILD": str(build)}
    from .rows import ROWS  # imported here: tests.support and the package spng read the variables

    program = about_program(build / "bin" / "wire-cell")
    commit = commit_of(program)  # what is measured, not what is checked out
    begin, failed = time.monotonic(), []
    for row in ROWS:
        if row.name not in options.only:
            continue
        say(f"{row.name}: {row.title}")
        result = measured(row, build, options.quick, program, commit)
        store.save(options.output, result)
        say(f"  {result.figure or '-'}\n  {result.verdict} {result.gap}".rstrip())
        if result.gap.startswith("the measurement failed"):
            failed.append(row.name)
    results = page.chosen(ROWS, store.load(options.output), set(options.only), commit, options.keep)
    target = options.page if options.page.is_absolute() else ROOT / options.page
    write(target, page.page(ROWS, results))
    say(f"{len(options.only)} rows in {time.monotonic() - begin:.0f} s")
    return 1 if failed else 0
