"""Compare sides of runs of one job. The first side, or the baseline, is A; each other one is judged against it.
A node is slower or faster only when the 95 % interval of the ratio of medians (bootstrap over runs, then events)
excludes 1, the ratio is off by at least the threshold and twice the noise between runs of equal code, and the
adjusted p of Mann and Whitney's test on the runs is below 5 %. Counts are compared exactly.

Exit status: 0 no slowdown; 1 something is slower or a count grew; 2 wrong use, or runs that cannot be compared.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from ..compare import baselines
from ..compare.comparison import Comparison, Criteria, compare, equal_code_trials, self_check
from ..compare.comparison_text import text_report
from ..compare.measurements import Run
from ..compare.readers import read_side
from ..errors import ProfileError, UsageError
from ..html.comparison import html_page
from ..output import write

NAME = "compare"
HELP = "compare runs of two or more sides: times with statistics, counts exactly"

Named = tuple[str, list[Run]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "sides",
        nargs="*",
        metavar="SIDE",
        help="timing files (wire-cell --timing), profiles or nsys exports of "
        "several runs: a file, a folder, or a pattern in quotes",
    )
    parser.add_argument("--baseline", metavar="NAME", help="take a saved baseline as A")
    parser.add_argument(
        "--save-baseline", metavar="NAME", help="keep the runs of the first side under a name"
    )
    add_criteria(parser)
    add_outputs(parser)


def add_criteria(parser: argparse.ArgumentParser) -> None:
    """Options that say what a verdict demands."""
    default = Criteria()
    parser.add_argument(
        "--threshold",
        type=float,
        default=100 * default.threshold,
        metavar="PERCENT",
        help="smallest difference that matters (default %(default)g)",
    )
    parser.add_argument(
        "--warm-up",
        type=int,
        default=default.warm_up,
        metavar="N",
        help="events at the start of a run that are shown apart (default %(default)s)",
    )
    parser.add_argument(
        "--metric",
        default=",".join(default.metrics),
        metavar="A,B",
        help="times to judge: wall, cpu, device (default %(default)s, those that the runs have)",
    )
    parser.add_argument(
        "--least-share",
        type=float,
        default=100 * default.least_share,
        metavar="PERCENT",
        help="nodes that take less of an event are not judged (default %(default)g)",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="compare although settings, input, machine or instrumentation differ",
    )
    parser.add_argument(
        "--self-check",
        type=int,
        default=0,
        metavar="N",
        help="draw two sides from the runs of A, N times, and say how often that gave a verdict",
    )


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Options that say where results go."""
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write the result for programs; - for standard output, without the table",
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write one page with a forest plot")
    parser.add_argument("--all", action="store_true", help="show nodes that are too short to judge, too")


def criteria_of(arguments: argparse.Namespace) -> Criteria:
    """The criteria that were asked for. UsageError outside their ranges."""
    metrics = tuple(arguments.metric.split(","))
    if not set(metrics) <= {"wall", "cpu", "device"}:
        raise UsageError("unknown metric", "--metric", arguments.metric, "wall, cpu, device")
    if arguments.threshold < 0 or arguments.warm_up < 0 or not 0 <= arguments.least_share < 100:
        raise UsageError(
            "a threshold, a warm-up or a share is out of its range", expected="0 or more, a share below 100 %"
        )
    return Criteria(
        threshold=arguments.threshold / 100,
        warm_up=arguments.warm_up,
        metrics=metrics,
        least_share=arguments.least_share / 100,
    )


def run(arguments: argparse.Namespace) -> int:
    """Compare, print, write. What cannot be read is wrong use too: status 1 is for what is slower."""
    try:
        return compare_sides(arguments)
    except ProfileError as error:
        print(error, file=sys.stderr)
        return 2


def compare_sides(arguments: argparse.Namespace) -> int:
    """Read the sides and compare each with the first."""
    sides: list[Named] = [(text, read_side(text)) for text in arguments.sides]
    if arguments.save_baseline and sides:
        print(
            f"baseline {arguments.save_baseline}: {baselines.save(arguments.save_baseline, sides[0][1])}",
            file=sys.stderr,
        )
        if len(sides) == 1 and not arguments.baseline:
            return 0
    if arguments.baseline:
        sides.insert(0, (f"baseline {arguments.baseline}", baselines.load(arguments.baseline)))
    if len(sides) < 2:
        raise UsageError(
            "two sides are needed",
            seen=f"{len(sides)}",
            hint="compare 'a/*.json' 'b/*.json', or compare b --baseline NAME",
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
    """Print the tables and write the files that were asked for; the exit status."""
    document = (
        results[0].json() if len(results) == 1 else {"comparisons": [result.json() for result in results]}
    )
    if arguments.json and str(arguments.json) == "-":
        print(json.dumps(document, indent=1))
    else:
        print("\n".join(text_report(result, arguments.all) for result in results), end="")
        print_self_checks(first, others, criteria, arguments.self_check)
    if arguments.json and str(arguments.json) != "-":
        write(json.dumps(document, indent=1) + "\n", arguments.json)
    for number, result in enumerate(results):
        if arguments.html:
            path = (
                arguments.html
                if number == 0
                else arguments.html.with_stem(f"{arguments.html.stem}-{number + 1}")
            )
            write(html_page(result), path)
    return max(result.exit_status for result in results)


def print_self_checks(first: list[Run], others: list[list[Run]], criteria: Criteria, trials: int) -> None:
    """A/A: whether equal code came out equal."""
    for label, runs in [
        ("A", first),
        *(("B" if len(others) == 1 else f"B{i + 1}", runs) for i, runs in enumerate(others)),
    ]:
        if len(runs) >= 4:
            found = self_check(runs, criteria)
            print(
                f"self-check, every second run of {label} against the others: "
                + (
                    "no evidence of a difference, as it should be"
                    if not found
                    else "the machine was not steady: "
                    + ", ".join(f"{row.node} x{row.ratio:.3f} {row.verdict}" for row in found)
                )
            )
    if trials > 0:
        wrong = sum(bool(rows) for rows in equal_code_trials(first, len(first), trials, criteria))
        print(
            f"self-check, {trials} comparisons of runs drawn from A: {wrong} gave a verdict (5 % are expected at most)"
        )
