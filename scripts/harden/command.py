# SPDX-License-Identifier: Apache-2.0
"""Run the parts of ./wcb harden and write their results."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scripts.wcb.checkout import OUT, commit, say

from . import builds, fuzzing, sanitizers
from .__main__ import PARTS

RESULT = OUT / "harden" / "harden.json"


def sanitize(mode: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run tests and jobs in a build with sanitizers."""
    result = sanitizers.run(mode, builds.make(mode), options.tests)
    for failure in result.failed:
        say(f"  {failure}")
    for job, status in result.jobs.items():
        say(f"  {job}: exit status {status}")
    say(
        f"{mode}: {result.tests} tests passed, {len(result.failed)} failed, {result.skipped} skipped, "
        f"{result.reports} reports, {result.seconds:.0f} s"
    )
    return result.as_json()


def fuzz(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Fuzz the readers in the build with address sanitizer."""
    program = builds.make("asan") / "tests" / "spng_fuzz"
    reports = fuzzing.run(program, options.seconds, options.seed, OUT / "harden" / "fuzz")
    for report in reports:
        say(f"  {report.line()}")
    for name in fuzzing.PYTHON:
        if missing := fuzzing.missing_packages(name):
            say(f"  {name}: skipped, not installed: {', '.join(missing)}")
    return [report.as_json() for report in reports]


def is_clean(part: str, result: Any) -> bool:
    """Tell whether a part ran and found nothing."""
    if part == "fuzz":
        return bool(result) and all(target["inputs"] and not target["failures"] for target in result)
    return bool(result["clean"])


def main(options: argparse.Namespace, path: Path = RESULT) -> int:
    """Run the parts; return the exit status. Keep the results of other parts of the same commit."""
    chosen = [part for part in PARTS if part in (options.only or PARTS)]
    about: dict[str, Any] = {"commit": commit(), "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    is_same = before.get("commit") == about["commit"] and not about["commit"].endswith("-dirty")
    found = before if is_same else about  # with the date of the first part
    found["suppressions"] = sanitizers.suppressions()
    for part in chosen:
        found[part] = fuzz(options) if part == "fuzz" else sanitize(part, options)
        if not options.tests:  # a selection is not a result
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    unclean = [part for part in chosen if not is_clean(part, found[part])]
    say(f"\n{'not clean: ' + ', '.join(unclean) if unclean else 'clean'} ({path})")
    return 1 if unclean else 0
