# SPDX-License-Identifier: Apache-2.0
"""Apply expert rules: known causes of lost time, with location, advice and the next command to run.

Each finding names its range and, in a checkout, the file that opens the range. Rules without data in the file
are listed as not applicable. With --fail-on the exit status is 1 if a rule finds more than allowed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..ci_report import Check, as_markdown, junit, markdown
from ..errors import UsageError
from ..model import selection
from ..model.profile import Profile
from ..output import Result, as_table, columns, json_text, missing_text, write
from ..output_kind import OF_FORMAT
from ..path_names import readable
from ..rules import Limits, Rule, all_rules
from ..rules.findings import Finding, Findings, find_all
from ..terminal import visible
from ..units import counted
from ._options import add_format, add_output, add_profile, add_value, check_outputs, chosen

NAME = "rules"
HELP = "find copies, waits, gaps, low utilisation and launch storms, with advice and the next command"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    default = Limits()
    add_profile(parser, "?")
    parser.add_argument("-r", "--rule", action="append", metavar="A,B", help="only these rules")
    add_format(parser, "table", "json", "markdown", "junit")
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
    check_outputs(arguments, ("--output", arguments.output, OF_FORMAT[arguments.format]))
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
    failed = _failed(findings, allowed)
    if arguments.format == "json":
        body = _as_json(findings, recorded)
    elif arguments.format == "junit":
        body = junit([(f"rules on {readable(arguments.file.name)}", recorded, _checks(findings, failed))])
    else:
        body = (_as_markdown if arguments.format == "markdown" else _as_text)(findings, recorded)
    write(body, arguments.output)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


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


def _failed(findings: Findings, allowed: dict[str, int]) -> list[str]:
    """Return the rules of --fail-on that found too much or were not applicable."""
    failed = [
        finding.rule.name
        for finding in findings.found
        if len(finding.found.hits) > allowed.get(finding.rule.name, len(finding.found.hits))
    ]
    return failed + [name for name in findings.missing if name in allowed]


def _tables(finding: Finding) -> tuple[Result, Result]:
    """Return the hits by range, and the most expensive hits."""
    by_range = Result(
        columns("Range", "Places", "Time (ns), Opened in"),
        [
            (each["range"] or "(no range)", each["places"], each["time_ns"], each["file"] or None)
            for each in finding.ranges
        ],
    )
    top = Result(
        columns("Duration (ns), Start (ns), What, Range, Notes"), [tuple(row.values()) for row in finding.top]
    )
    return by_range, top


def _heading(finding: Finding) -> str:
    found = finding.found
    hits = counted(len(found.hits), "location")
    return f"{finding.rule.name}: {finding.rule.about}: {hits}, {found.total / 1e6:,.3f} ms"


def _as_text(findings: Findings, recorded: str) -> str:
    parts = []
    for finding in findings.found:
        by_range, top = map(as_table, _tables(finding))
        lines = "\n".join(f"  {command}" for command in finding.commands)
        parts.append(
            f"** {_heading(finding)}\n\n{finding.rule.advice}\n\n{by_range}\n{top}\nnext:\n{lines}\n\n"
        )
    if findings.clean:
        parts.append(f"nothing found: {', '.join(findings.clean)}\n")
    if findings.missing:
        parts.append(f"not applicable:\n{missing_text(findings.missing, recorded, '  ')}")
    return "".join(parts)


def _as_markdown(findings: Findings, recorded: str) -> str:
    parts = []
    for finding in findings.found:
        by_range, top = map(as_markdown, _tables(finding))
        commands = "\n".join(f"    {visible(command)}" for command in finding.commands)
        parts.append(
            f"### {markdown(_heading(finding))}\n\n{markdown(finding.rule.advice)}\n\n{by_range}\n{top}\n"
            f"Next:\n\n{commands}\n\n"
        )
    if findings.clean:
        parts.append(f"Nothing found: {markdown(', '.join(findings.clean))}\n\n")
    if findings.missing:
        lines = missing_text(findings.missing, recorded, "").splitlines()
        parts.append("Not applicable:\n\n" + "".join(f"- {markdown(line)}\n" for line in lines))
    return "".join(parts)


def _checks(findings: Findings, failed: list[str]) -> list[Check]:
    """Return a check for each rule; only those of --fail-on can fail."""
    checks = [
        Check(finding.rule.name, failure=text if finding.rule.name in failed else "", text=text)
        for finding in findings.found
        for text in [_as_text(Findings([finding], [], {}), "").removeprefix("** ")]
    ]
    checks += [Check(name) for name in findings.clean]
    checks += [
        Check(name, **{"failure" if name in failed else "skipped": why})
        for name, why in findings.missing.items()
    ]
    return checks


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
