# SPDX-License-Identifier: Apache-2.0
"""Run tests and jobs in a build with sanitizers, and count the reports."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.frames import Input, make_input
from scripts.wcb import run_tests
from scripts.wcb.checkout import OUT, ROOT, say

SUPPRESSIONS = Path(__file__).with_name("suppressions")
REPORT = re.compile(r"^==\d+==ERROR: |^WARNING: ThreadSanitizer: |: runtime error: ", re.MULTILINE)
FRAME = ROOT / "data" / "tracks10-adc.tar.bz2"
SHORT = Input(8, 400)  # events whose nodes take turns on several threads


@dataclass
class SanitizerResult:
    """Result of one build mode."""

    tests: int = 0
    skipped: int = 0
    failed: list[str] = field(default_factory=list)
    jobs: dict[str, int] = field(default_factory=dict)  # exit status by name
    reports: int = 0
    seconds: float = 0.0

    @property
    def is_clean(self) -> bool:
        """Tell whether everything ran, and nothing was reported."""
        return self.tests > 0 and not self.failed and not self.reports and not any(self.jobs.values())

    def as_json(self) -> dict[str, object]:
        """Return the values by name."""
        return asdict(self) | {"clean": self.is_clean}


def suppressions() -> list[str]:
    """Return the suppressions of all sanitizers, each with the comment lines before it as its reason."""
    found = []
    for file in sorted(SUPPRESSIONS.glob("*.txt")):
        reason: list[str] = []
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith("#"):
                reason.append(line.lstrip("# "))
            elif line:
                found.append(f"{file.stem}: {line}: {' '.join(reason)}")
                reason = []
    return found


def options_of(mode: str, reports: Path) -> dict[str, str]:
    """Return the environment of a run. A report goes to a file in `reports` and ends the program."""
    common = f"log_path={reports}/report:exitcode=66:halt_on_error=1"
    if mode == "tsan":
        return {
            "TSAN_OPTIONS": f"{common}:allocator_may_return_null=1:second_deadlock_stack=1:history_size=7:"
            f"ignore_noninstrumented_modules=1:suppressions={SUPPRESSIONS}/tsan.txt",
            # LibTorch's parallel loops run on OpenMP, whose library orders its threads unseen.
            "OMP_NUM_THREADS": "1",
        }
    return {
        # Tests of exhausted memory need an allocator that fails as the normal one does. Address sanitizer does not
        # follow the kernel emulator, which jumps between stacks, so it must not move variables to stacks of its own.
        "ASAN_OPTIONS": f"{common}:allocator_may_return_null=1:detect_stack_use_after_return=0",
        "LSAN_OPTIONS": f"suppressions={SUPPRESSIONS}/lsan.txt:print_suppressions=0",
        "UBSAN_OPTIONS": f"{common}:print_stacktrace=1",
    }


def count_reports(folder: Path) -> int:
    """Return the number of reports in files of sanitizers and in logs. Warnings about failed allocations are none."""
    logs = [path.read_text(encoding="utf-8", errors="replace") for path in folder.iterdir()]
    return sum(len(REPORT.findall(text)) for text in logs)


@contextmanager
def environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def jobs(folder: Path) -> dict[str, list[str]]:
    """Return the arguments of the jobs by name."""
    small = ["-A", f"input={make_input(FRAME, SHORT, folder)}"]
    flow = ["-A", "engine=TbbFlow", "-A", "events_in_flight=4", "-t", "4"]
    main = ["-A", f"input={FRAME}"]
    named = {
        "main job": main,
        "short events in turn": small,
        "four short events in flight": [*small, *flow],
    }
    return {
        name: ["-c", "cfg/pipeline.jsonnet", *arguments, "-A", f"output={folder}/out-{index}.npz"]
        for index, (name, arguments) in enumerate(named.items())
    }


def run(mode: str, build: Path, only: str = "") -> SanitizerResult:
    """Run the C++ tests and the jobs of a build."""
    reports = OUT / "harden" / mode
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir(parents=True)
    begin = time.monotonic()
    result = SanitizerResult()
    with environment(options_of(mode, reports)), tempfile.TemporaryDirectory(prefix="spng-harden-") as name:
        say(f"{mode}: C++ tests")
        outcome = run_tests.run_google_tests(
            build / "tests" / "spng_tests", only, reports=OUT / "harden" / f"{mode}-tests"
        )
        result.tests, result.skipped = len(outcome.passed), len(outcome.skipped)
        result.failed = [f"{test}: {reason}" for test, reason in outcome.failed.items()]
        if not only:
            for job, arguments in jobs(Path(name)).items():
                say(f"{mode}: {job}")
                with open(reports / f"{job}.log", "wb") as log:
                    result.jobs[job] = subprocess.run(
                        [str(build / "bin" / "wire-cell"), *arguments],
                        cwd=ROOT,
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                        check=False,
                    ).returncode
    result.reports = count_reports(reports)
    result.seconds = time.monotonic() - begin
    return result
