# SPDX-License-Identifier: Apache-2.0
"""Compare sides of runs of one job. The first side is A; the others are judged against it.
A node is slower or faster only if the 95 % interval of the ratio of medians (bootstrap over runs, then
events) excludes 1, the ratio differs from 1 by at least the threshold and twice the noise between runs of
equal code, and the adjusted p of Mann and Whitney's test on the runs is below 5 %. Counts are compared
exactly.

Exit status: 0 no slowdown; 1 a node is slower or a count grew; 2 usage error, or runs that are not
comparable.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..ci_report import junit
from ..compare.comparison import Comparison, compare
from ..compare.comparison_text import junit_suite, markdown_report, text_report
from ..compare.equal_code import equal_code_trials, self_check
from ..compare.measurements import Run, write_measurements
from ..compare.readers import read_side
from ..compare.time_rows import Criteria
from ..errors import ProfileError, UsageError
from ..html.comparison import html_page
from ..output import json_text, write
from ..output_kind import HTML, JSON, OF_FORMAT, Kind
from ._options import add_format, add_output, add_value, check_outputs

NAME = "compare"
HELP = "compare runs of two or more sides: times with statistics, counts exactly"

Named = tuple[str, list[Run]]
# An option, the file that it names, and the kind of the file.
Output = tuple[str, Path | None, Kind]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "sides",
        nargs="*",
        metavar="SIDE",
        help="timing files (wire-cell --timing), profiles or nsys exports of "
        "several runs: a file, a folder, or a pattern in quotes",
    )
    parser.add_argument(
        "--save-runs",
        type=Path,
        metavar="FILE",
        help="write the runs of the first side as one file, a later SIDE",
    )
    add_criteria(parser)
    add_outputs(parser)


def add_criteria(parser: argparse.ArgumentParser) -> None:
    """Add the options for the criteria of verdicts."""
    default = Criteria()
    add_value(
        parser, "--threshold", 100 * default.threshold, "PERCENT", "smallest relevant difference (default %s)"
    )
    about = "events at the start of a run to exclude and show separately (default %s)"
    add_value(parser, "--warm-up", default.warm_up, "N", about)
    about = "times to judge: wall, cpu, device (default %s, if the runs have them)"
    add_value(parser, "--metric", ",".join(default.metrics), "A,B", about)
    about = "nodes with a smaller share of an event are not judged (default %s)"
    add_value(parser, "--least-share", 100 * default.least_share, "PERCENT", about)
    parser.add_argument(
        "--force",
        action="store_true",
        help="compare although settings, input, machine or instrumentation differ",
    )
    about = "draw two sides from the runs of A, N times, and report how often this gave a verdict"
    add_value(parser, "--self-check", 0, "N", about)


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the options for outputs."""
    add_format(parser, "table", "markdown", "junit")
    add_output(parser)
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write the result as JSON; - for standard output, without the table",
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write an HTML page with a forest plot")
    parser.add_argument("--all", action="store_true", help="also show nodes that are too short to judge")


def check_files(arguments: argparse.Namespace, comparisons: int, *further: Output) -> None:
    """Check the outputs of the report, and further ones of a command, before anything is written."""
    kind = OF_FORMAT[arguments.format]
    json = None if str(arguments.json) == "-" else arguments.json
    pages = [("--html", _page(arguments, index), HTML) for index in range(comparisons)]
    check_outputs(arguments, ("--output", arguments.output, kind), ("--json", json, JSON), *further, *pages)


def _page(arguments: argparse.Namespace, index: int) -> Path | None:
    """Return the file of the page of a comparison: page.html, page-2.html."""
    page = arguments.html
    return page.with_stem(f"{page.stem}-{index + 1}") if page and index else page


def criteria_of(arguments: argparse.Namespace) -> Criteria:
    """Return the requested criteria. Raise UsageError if one is out of range."""
    metrics = tuple(arguments.metric.split(","))
    if not set(metrics) <= {"wall", "cpu", "device"}:
        raise UsageError("unknown metric", "--metric", arguments.metric, "wall, cpu, device")
    if arguments.threshold < 0 or arguments.warm_up < 0 or not 0 <= arguments.least_share < 100:
        raise UsageError(
            "threshold, warm-up or share out of range", expected="0 or more, a share below 100 %"
        )
    return Criteria(
        threshold=arguments.threshold / 100,
        warm_up=arguments.warm_up,
        metrics=metrics,
        least_share=arguments.least_share / 100,
    )


def run(arguments: argparse.Namespace) -> int:
    """Compare, print, write. All errors have exit status 2, because 1 means slower."""
    try:
        return compare_sides(arguments)
    except ProfileError as error:
        print(error, file=sys.stderr)
        return 2


def compare_sides(arguments: argparse.Namespace) -> int:
    """Read the sides and compare each with the first."""
    check_files(arguments, len(arguments.sides) - 1, ("--save-runs", arguments.save_runs, JSON))
    sides: list[Named] = [(text, read_side(text)) for text in arguments.sides]
    if arguments.save_runs and sides:
        write_measurements(arguments.save_runs, sides[0][1])
        if len(sides) == 1:
            return 0
    if len(sides) < 2:
        raise UsageError(
            "two sides are needed",
            seen=f"{len(sides)}",
            hint="compare 'a/*.json' 'b/*.json'",
        )
    criteria = criteria_of(arguments)
    (name, first), *others = sides
    results = [compare(first, runs, criteria, (name, other), arguments.force) for other, runs in others]
    return report(results, first, [runs for _, runs in others], criteria, arguments)


def report(
    results: list[Comparison],
    first: list[Run],
    others: list[list[Run]],
    criteria: Criteria,
    arguments: argparse.Namespace,
) -> int:
    """Print the tables, write the requested files, and return the exit status."""
    document = (
        results[0].json() if len(results) == 1 else {"comparisons": [result.json() for result in results]}
    )
    if arguments.json and str(arguments.json) == "-":
        print(json_text(document), end="")
    else:
        write(rendered(results, arguments.format, arguments.all), arguments.output)
        print_self_checks(first, others, criteria, arguments.self_check, arguments.format == "table")
    if arguments.json and str(arguments.json) != "-":
        write(json_text(document), arguments.json)
    for index, result in enumerate(results):
        if page := _page(arguments, index):
            write(html_page(result), page)
    return max(result.exit_status for result in results)


def rendered(results: list[Comparison], style: str, every_row: bool) -> str:
    """Return the comparisons as text, Markdown or JUnit's XML."""
    if style == "junit":
        return junit([junit_suite(result) for result in results])
    make = markdown_report if style == "markdown" else text_report
    return "\n".join(make(result, every_row) for result in results)


def print_self_checks(
    first: list[Run], others: list[list[Run]], criteria: Criteria, trials: int, is_text: bool
) -> None:
    """Print the results of A/A comparisons, to standard error if standard output is not for readers."""
    stream = sys.stdout if is_text else sys.stderr
    for label, runs in [
        ("A", first),
        *(("B" if len(others) == 1 else f"B{i + 1}", runs) for i, runs in enumerate(others)),
    ]:
        if len(runs) >= 4:
            found = self_check(runs, criteria)
            print(
                f"self-check, every second run of {label} against the others: "
                + (
                    "no evidence of a difference, as expected"
                    if not found
                    else "the machine was not steady: "
                    + ", ".join(f"{row.node} x{row.ratio:.3f} {row.verdict}" for row in found)
                ),
                file=stream,
            )
    if trials > 0:
        wrong = sum(bool(rows) for rows in equal_code_trials(first, len(first), trials, criteria))
        print(
            f"self-check, {trials} comparisons of runs drawn from A: {wrong} gave a verdict (5 % are expected at most)",
            file=stream,
        )
