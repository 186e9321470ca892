# SPDX-License-Identifier: Apache-2.0
"""Apply expert rules: known causes of lost time, with location, advice and the next command to run.

Each finding names its range and, in a checkout, the file that opens the range. Rules without data in the file
are listed as not applicable. With --fail-on the exit status is 1 if a rule finds more than allowed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors import UsageError
from ..model import selection
from ..model.profile import Profile
from ..output import Result, as_table, columns, json_text, missing_text, write
from ..rules import Limits, Rule, all_rules
from ..rules.findings import Findings, find_all
from ..units import counted
from ._options import add_format, add_output, add_profile, add_value, chosen

NAME = "rules"
HELP = "find copies, waits, gaps, low utilisation and launch storms, with advice and the next command"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    default = Limits()
    add_profile(parser, "?")
    parser.add_argument("-r", "--rule", action="append", metavar="A,B", help="only these rules")
    add_format(parser, "table", "json")
    add_output(parser)
    parser.add_argument("--list", action="store_true", help="list the rules")
    add_value(parser, "--rows", 10, "N", "ranges and hits to show per rule (default %s)")
    parser.add_argument(
        "--fail-on",
        action="append",
        metavar="RULE[=N]",
        help="exit with status 1 if RULE, or with `any` one of the rules, has more than N hits (default 0)",
    )
    parser.add_argument(
        "--source",
        type=Path,
        metavar="FOLDER",
        help="checkout to search for ranges (default: the one of this folder)",
    )
    add_value(parser, "--gap", f"{default.gap}ns", "TIME", "gpu_gaps: minimum idle time (default %s)")
    add_value(
        parser, "--chunks", default.chunks, "N", "gpu_time_util: count of equal parts of the run (default %s)"
    )
    about = "gpu_time_util: report parts with a utilisation under this (default %s)"
    add_value(parser, "--utilisation", default.utilisation, "PERCENT", about)
    about = "launch_storm: kernels shorter than (default %s)"
    add_value(parser, "--short-kernel", f"{default.short_kernel}ns", "TIME", about)
    about = "launch_storm: minimum count of such kernels in one instance of a range (default %s)"
    add_value(parser, "--storm", default.storm, "N", about)
    selection.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    rules = all_rules()
    if arguments.list:
        write("".join(f"{rule.name:<20}{rule.about}\n" for rule in rules.values()), None)
        return 0
    if arguments.file is None:
        raise UsageError("no file given", hint="wirecell-profile rules FILE.sqlite")
    if arguments.chunks < 1 or arguments.storm < 1:
        raise UsageError(
            "a count must be 1 or more", "--chunks, --storm", f"{arguments.chunks}, {arguments.storm}"
        )
    wanted = [rules[name] for name in chosen(arguments.rule, rules, "--rule", "rule")]
    allowed = _allowed(arguments.fail_on, rules)
    limits = Limits(
        selection.parse_time(arguments.gap),
        arguments.chunks,
        arguments.utilisation,
        selection.parse_time(arguments.short_kernel),
        arguments.storm,
    )
    with Profile.open(arguments.file) as profile:
        scope = selection.Scope(profile, selection.from_arguments(arguments))
        findings = find_all(scope, wanted, limits, arguments.rows, arguments.source)
        recorded = profile.recorded_parts
    is_text = arguments.format == "table"
    body = (_as_text if is_text else _as_json)(findings, recorded)
    write(body, arguments.output)
    return _status(findings, allowed)


def _allowed(asked: list[str] | None, rules: dict[str, Rule]) -> dict[str, int]:
    """Return rule -> allowed count of hits."""
    allowed: dict[str, int] = {}
    for part in (part for text in asked or () for part in text.split(",")):
        name, _, count = part.partition("=")
        if (name not in rules and name != "any") or not (count or "0").isdigit():
            raise UsageError(
                "invalid --fail-on", "--fail-on", part, "RULE or RULE=N with " + ", ".join([*rules, "any"])
            )
        allowed |= {each: int(count or 0) for each in (rules if name == "any" else [name])}
    return allowed


def _status(findings: Findings, allowed: dict[str, int]) -> int:
    """Return 1 if a rule of --fail-on found too much or was not applicable, else 0."""
    failed = [
        finding.rule.name
        for finding in findings.found
        if len(finding.found.hits) > allowed.get(finding.rule.name, len(finding.found.hits))
    ]
    failed += [name for name in findings.missing if name in allowed]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _as_text(findings: Findings, recorded: str) -> str:
    parts = []
    for finding in findings.found:
        rule, found = finding.rule, finding.found
        by_range = Result(
            columns("Range", "Places", "Time (ns), Opened in"),
            [
                (each["range"] or "(no range)", each["places"], each["time_ns"], each["file"] or None)
                for each in finding.ranges
            ],
        )
        top = Result(
            columns("Duration (ns), Start (ns), What, Range, Notes"),
            [tuple(row.values()) for row in finding.top],
        )
        lines = "\n".join(f"  {command}" for command in finding.commands)
        places = counted(len(found.hits), "place")
        parts.append(
            f"** {rule.name}: {rule.about}: {places}, {found.total / 1e6:,.3f} ms\n\n"
            f"{rule.advice}\n\n{as_table(by_range)}\n{as_table(top)}\nnext:\n{lines}\n\n"
        )
    if findings.clean:
        parts.append(f"nothing found: {', '.join(findings.clean)}\n")
    if findings.missing:
        parts.append(f"not applicable:\n{missing_text(findings.missing, recorded, '  ')}")
    return "".join(parts)


def _as_json(findings: Findings, recorded: str) -> str:
    shown = [
        {
            "rule": finding.rule.name,
            "about": finding.rule.about,
            "advice": finding.rule.advice,
            "places": len(finding.found.hits),
            "time_ns": finding.found.total,
            "ranges": finding.ranges,
            "next": finding.commands,
            "top": finding.top,
        }
        for finding in findings.found
    ]
    outcome = {"findings": shown, "nothing_found": findings.clean, "not_applicable": findings.missing}
    return json_text(outcome | {"recorded": recorded})
