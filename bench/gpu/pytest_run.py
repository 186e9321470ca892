# SPDX-License-Identifier: Apache-2.0
"""Run tests of the checkout with the program of this run."""

from __future__ import annotations

import importlib.util
import re
import sys

from .outcome import Failed, Skipped
from .stage import Stage


def run_tests(stage: Stage, name: str, words: list[str], limit_s: float) -> str:
    """Run pytest; return its last line, raise Failed with the failed tests, or Skipped if none could run."""
    if importlib.util.find_spec("pytest") is None:
        raise Skipped("no pytest in this Python")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--no-header",
        "--tb=short",
        "--durations=8",
        "-rfs",
        "-m",
        "",
    ]
    done = stage.run(name, [*command, *words], limit_s)
    if done.is_late or done.status:
        failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.text, re.MULTILINE)
        raise Failed("; ".join(failed) or done.failure())
    summary = done.last_lines(1)
    if "passed" not in summary:
        raise Skipped(summary)
    return summary
