# SPDX-License-Identifier: Apache-2.0
"""Run the parts of ./wcb harden and write their results."""

from __future__ import annotations

import argparse
import json
import subprocess
from datetime import UTC, datetime
from typing import Any

from scripts.wcb.checkout import OUT, ROOT, say

from . import builds, fuzzing, sanitizers
from .__main__ import PARTS

RESULT = OUT / "harden" / "harden.json"


def about() -> dict[str, str]:
    """Return commit and date."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return {"commit": commit or "unknown", "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}


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


def fuzz(options: argparse.Namespace) -> dict[str, Any]:
    """Fuzz the readers in the build with address sanitizer."""
    program = builds.make("asan") / "tests" / "spng_fuzz"
    targets = fuzzing.run(program, options.seconds, options.seed, OUT / "harden" / "fuzz")
    for target in targets:
        say(f"  {target.line()}")
    return {"targets": [target.as_json() for target in targets], "clean": all(t.is_clean for t in targets)}


def main(options: argparse.Namespace) -> int:
    """Run the parts; return the exit status. Keep the results of parts that are not run."""
    chosen = [part for part in PARTS if part in (options.only or PARTS)]
    found = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    for part in chosen:
        start = about()
        found[part] = start | (fuzz(options) if part == "fuzz" else sanitize(part, options))
        RESULT.parent.mkdir(parents=True, exist_ok=True)
        RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    unclean = [part for part in chosen if not found[part]["clean"]]
    say(f"\n{'not clean: ' + ', '.join(unclean) if unclean else 'clean'} ({RESULT.relative_to(ROOT)})")
    return 1 if unclean else 0
