# SPDX-License-Identifier: Apache-2.0
"""Run the fuzz targets of a build (docs/development.md, "Damaged input")."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
START_SECONDS = 60.0  # that a target may take beyond its share

# Shares of the time, for targets that find more than others in the same time. The others have 1.
SHARES = {"frames": 4.0, "depositions": 2.0, "configuration": 2.0, "jsonnet": 2.0}


@dataclass(frozen=True)
class Failure:
    """Inputs that fail for one reason, of which one was saved."""

    reason: str
    file: Path
    count: int
    replay: str  # the command


@dataclass(frozen=True)
class TargetReport:
    """Result of one target."""

    target: str
    inputs: int
    seconds: float
    corpus_files: int
    results: int  # different errors and kinds of content, a measure of coverage
    peak_bytes: int  # the most that an input allocated at a time
    failures: tuple[Failure, ...]

    @property
    def inputs_per_second(self) -> float:
        """Return the rate of one process."""
        return self.inputs / self.seconds if self.seconds > 0 else 0.0


def targets(program: Path) -> list[str]:
    """Return the names of the targets of spng_fuzz."""
    done = subprocess.run([program, "--list"], capture_output=True, text=True, check=True)
    return done.stdout.split()


def run_target(
    program: Path, target: str, options: Sequence[str], out: Path, seconds: float = 600
) -> TargetReport:
    """Run the corpus of a target and mutations of it. A program that ends without a report is a failure."""
    command = [str(program), target, "--corpus", str(CORPUS / target), "--out", str(out), *options]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=seconds, check=False
        )
        lines, problem = done.stdout.splitlines(), done.stderr.strip() or f"status {done.returncode}"
    except subprocess.TimeoutExpired:
        lines, problem = [], f"no end within {seconds:.0f} s"
    if not lines or not lines[-1].startswith("{"):
        failure = Failure(problem, out, 1, " ".join(command))
        return TargetReport(target, 0, 0.0, 0, 0, 0, (failure,))
    report = json.loads(lines[-1])
    failures = [
        Failure(one["reason"], Path(one["file"]), one["count"], f"{program} {target} --replay {one['file']}")
        for one in report["failures"]
    ]
    return TargetReport(
        target,
        report["inputs"],
        report["seconds"],
        report["corpus_files"],
        report["results"],
        report["peak_bytes"],
        tuple(failures),
    )


def run(program: Path, seconds: float, seed: int, out: Path) -> list[TargetReport]:
    """Run every target for its share of the time, one target for each core at a time.

    @param program  tests/spng_fuzz of a build
    @param out      folder of the inputs that fail
    """
    names = targets(program)
    cores = len(os.sched_getaffinity(0))
    total = sum(SHARES.get(name, 1.0) for name in names)

    def run_share(name: str) -> TargetReport:
        share = max(1.0, cores * seconds * SHARES.get(name, 1.0) / total)
        options = ["--sweep", "--seconds", f"{share:.1f}", "--seed", str(seed)]
        return run_target(program, name, options, out, share + START_SECONDS)

    # Long ones first, so that the cores end at the same time.
    ordered = sorted(names, key=lambda name: -SHARES.get(name, 1.0))
    with ThreadPoolExecutor(cores) as pool:
        reports = {report.target: report for report in pool.map(run_share, ordered)}
    return [reports[name] for name in names]
