# SPDX-License-Identifier: Apache-2.0
"""Feed the readers of a build, and those in Python, with damaged input (docs/development.md, "Damaged input")."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
START_SECONDS = 60.0  # that a target may take beyond its share

# Targets in Python, which run wirecell-profile, and wirecell-frame and spng: module, and packages that may be absent.
PYTHON: dict[str, tuple[str, tuple[str, ...]]] = {
    "profiles": ("tests.fuzz.damaged_profiles", ()),
    "formats": ("tests.fuzz.damaged_frames", ("h5py", "zarr")),
}
# Shares of the time, for targets that find more than others in the same time. The others have 1.
SHARES = {
    "frames": 4.0,
    "depositions": 2.0,
    "configuration": 2.0,
    "jsonnet": 2.0,
    "profiles": 3.0,
    "formats": 4.0,
}


@dataclass(frozen=True)
class TargetReport:
    """Result of one target, as the program reports it.

    results       different errors and kinds of content, a measure of coverage
    peak_bytes    the most that an input allocated at a time
    failures      reason, file (one input of them), count and replay (the command)
    """

    target: str
    inputs: int = 0
    seconds: float = 0.0
    corpus_files: int = 0
    results: int = 0
    peak_bytes: int = 0
    failures: Sequence[dict[str, Any]] = ()

    @property
    def inputs_per_second(self) -> float:
        """Return the rate of one process."""
        return self.inputs / self.seconds if self.seconds > 0 else 0.0

    def line(self) -> str:
        """Return the result as text: one line, and two for each failure."""
        head = (
            f"{self.target:14} {self.inputs:9} inputs  {self.inputs_per_second:7.0f} /s  {self.results:4} results  "
            f"{self.peak_bytes / 1e6:6.1f} MB  {len(self.failures)} failures"
        )
        rest = [f"    {one['count']} x {one['reason']}\n    {one['replay']}" for one in self.failures]
        return "\n".join([head, *rest])

    def as_json(self) -> dict[str, Any]:
        """Return the result for the report."""
        failed = [{name: one[name] for name in ("reason", "count", "replay")} for one in self.failures]
        return asdict(self) | {
            "seconds": round(self.seconds, 1),
            "inputs_per_second": round(self.inputs_per_second, 1),
            "failures": len(self.failures),
            "failed": failed,
        }


def targets(program: Path) -> list[str]:
    """Return the names of the targets of spng_fuzz."""
    done = subprocess.run([program, "--list"], capture_output=True, text=True, check=True)
    return done.stdout.split()


def run_target(
    program: Path, target: str, options: Sequence[str], out: Path, seconds: float = 600
) -> TargetReport:
    """Run the corpus of a target and mutations of it."""
    command = [str(program), target, "--corpus", str(CORPUS / target), "--out", str(out), *options]
    return run_command(target, command, seconds)


def missing_packages(name: str) -> list[str]:
    """Return the packages that a target in Python needs and that are not installed."""
    return [package for package in PYTHON[name][1] if importlib.util.find_spec(package) is None]


def run_python(name: str, share: float, seed: int, out: Path) -> TargetReport:
    """Run a target in Python."""
    words = ["--seconds", f"{share:.1f}", "--seed", str(seed), "--out", str(out)]
    command = [sys.executable, "-m", PYTHON[name][0], *words]
    return run_command(name, command, share + START_SECONDS)


def run_command(target: str, command: Sequence[str], seconds: float) -> TargetReport:
    """Run a program that ends with a report in JSON. One that ends without it is a failure."""
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
        lines, problem = done.stdout.splitlines(), done.stderr.strip() or f"status {done.returncode}"
    except subprocess.TimeoutExpired:
        lines, problem = [], f"no end within {seconds:.0f} s"
    if not lines or not lines[-1].startswith("{"):
        failure = {"reason": problem, "file": "", "count": 1, "replay": " ".join(command)}
        return TargetReport(target, failures=[failure])
    report = json.loads(lines[-1])
    known = {field.name for field in fields(TargetReport)}
    return TargetReport(
        **{name: value for name, value in report.items() if name in known} | {"target": target}
    )


def run(program: Path, seconds: float, seed: int, out: Path) -> list[TargetReport]:
    """Run every target, also those in Python whose packages are installed, for its share of the time; one for each core at a
    time.

    @param program  tests/spng_fuzz of a build
    @param out      folder of the inputs that fail
    """
    names = [*targets(program), *(name for name in PYTHON if not missing_packages(name))]
    cores = len(os.sched_getaffinity(0))
    total = sum(SHARES.get(name, 1.0) for name in names)

    def run_share(name: str) -> TargetReport:
        share = max(1.0, cores * seconds * SHARES.get(name, 1.0) / total)
        if name in PYTHON:
            return run_python(name, share, seed, out)
        options = ["--sweep", "--seconds", f"{share:.1f}", "--seed", str(seed)]
        return run_target(program, name, options, out, share + START_SECONDS)

    # Long ones first, so that the cores end at the same time.
    ordered = sorted(names, key=lambda name: -SHARES.get(name, 1.0))
    with ThreadPoolExecutor(cores) as pool:
        reports = {report.target: report for report in pool.map(run_share, ordered)}
    return [reports[name] for name in names]
