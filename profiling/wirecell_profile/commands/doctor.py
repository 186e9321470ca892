# SPDX-License-Identifier: Apache-2.0
"""Check what works on this machine for profiling, with hints, and list the conditions of reliable profiles.

Exit status 0; with --require NAME, 1 if that does not work.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from ..errors import UsageError
from ..machine_checks import WORKS, Finding, Machine, all_checks, cupti_folders
from ..output import json_text

NAME = "doctor"
HELP = "check what works on this machine, with hints"

CHECKLIST = (
    "Same build options, input, settings, count of threads and machine on both sides (compare rejects others).",
    "The first event is separate: it includes plans, compilation and allocation.",
    "Ten or more processes per side, alternating A B B A, on an otherwise idle machine.",
    "Clocks locked, persistence mode on, no throttling by heat or power.",
    "A/A first: two sides of equal code must give `no evidence`; their noise limits the detectable difference.",
    "Counts before times: operations, launches, copies and bytes are exact and need no statistics.",
    "On a GPU device time, not host time; --sync-timing only to locate work, never to compare.",
    "One profiler at a time (CUPTI serves one), and never runs of different tiers against each other.",
    "Commit everything first: a result of a dirty tree belongs to no commit.",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--build", type=Path, metavar="DIR", help="build folder of wire-cell (default: build in this folder)"
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument(
        "--require", action="append", default=[], metavar="NAME", help="exit with status 1 unless this works"
    )


def run(arguments: argparse.Namespace) -> int:
    """Check and print."""
    usual = (Path("build"), Path(__file__).resolve().parents[3] / "build")
    build = arguments.build or next((folder for folder in usual if folder.is_dir()), None)
    findings = all_checks(Machine(build=build, libraries=cupti_folders()))
    unknown = set(arguments.require) - {finding.name for finding in findings}
    if unknown:
        raise UsageError(
            "no such check",
            seen=", ".join(sorted(unknown)),
            expected=", ".join(dict.fromkeys(finding.name for finding in findings)),
        )
    print(
        json_text([asdict(finding) | {"hint": finding.hint} for finding in findings])
        if arguments.json
        else text(findings),
        end="",
    )
    return int(any(finding.state != WORKS for finding in findings if finding.name in arguments.require))


def text(findings: list[Finding]) -> str:
    """Return the findings and the checklist."""
    width = max(len(finding.name) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(f"{finding.state:<8}  {finding.name:<{width}}  {finding.seen}")
        if finding.hint:
            lines.append(f"{'':8}  {'':{width}}  -> {finding.hint}")
    return "\n".join([*lines, "", "A profile is reliable if:", *(f"  - {item}" for item in CHECKLIST)]) + "\n"
