# SPDX-License-Identifier: Apache-2.0
"""Store results over commits, find commits with lasting changes of a node's time, and plot them.

  wirecell-profile history times.jsonl --add 'runs-of-this-commit/*.json'
  wirecell-profile history times.jsonl --html history.html

Steps are those of a piecewise constant L1 fit to the logarithms of the medians (see step_detection.py); a
single outlier is not a step. Runs under different conditions form separate series. Exit status: 0; with --fail,
1 if the last step of a node is to slower times.
"""

from __future__ import annotations

import argparse
import fnmatch
from pathlib import Path

from ..compare import history_store
from ..compare.comparison_text import aligned
from ..compare.history_store import METRICS, Step
from ..compare.measurements import WHOLE_EVENT
from ..compare.readers import read_side
from ..errors import UsageError
from ..html.history import history_page
from ..output import json_text, write
from ..output_kind import HTML, JSON
from ..units import counted, short_time
from ._options import add_overwrite, add_value, check_outputs

NAME = "history"
HELP = "store results over commits and find steps in them"
MAX_PLOTS = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("store", type=Path, help="file of the history, JSON lines; created if absent")
    parser.add_argument(
        "--add",
        action="append",
        default=[],
        metavar="RUNS",
        help="add the runs of one commit: a file, a folder, or a pattern in quotes; repeatable",
    )
    parser.add_argument("--metric", choices=METRICS, default="wall", help="metric (default %(default)s)")
    parser.add_argument("--node", default="*", metavar="PATTERN", help="only these nodes")
    add_value(parser, "--threshold", 3.0, "PERCENT", "smallest step (default %s)")
    add_value(parser, "--warm-up", 1, "N", "events at the start of a run to exclude")
    parser.add_argument(
        "--repository", type=Path, default=Path("."), metavar="DIR", help="checkout with the commits"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the steps as JSON")
    parser.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help=f"write a page with plots of the {MAX_PLOTS} longest nodes and of all with steps",
    )
    add_overwrite(parser)
    parser.add_argument(
        "--fail", action="store_true", help="exit with status 1 if a node's last step is to slower times"
    )


def run(arguments: argparse.Namespace) -> int:
    """Add, detect, print, write."""
    check_outputs(arguments, ("--json", arguments.json, JSON), ("--html", arguments.html, HTML))
    if arguments.add and arguments.store.is_file():
        history_store.read(arguments.store)  # raises ProfileError before it adds to a file of another kind
    for text in arguments.add:
        line = history_store.entry(read_side(text), arguments.repository, arguments.warm_up)
        history_store.append(arguments.store, line)
        print(f"added commit {line['commit']}, {counted(line['runs'], 'run')}, series {line['series']}")
    series = history_store.series_of(history_store.read(arguments.store))
    steps = [
        step
        for entries in series.values()
        for step in history_store.steps_of(entries, arguments.metric, arguments.threshold / 100)
        if fnmatch.fnmatchcase(step.node, arguments.node)
    ]
    if not any(arguments.metric in item for entries in series.values() for item in entries):
        raise UsageError(f"the history has no {arguments.metric} times", str(arguments.store))
    print_report(series, steps, arguments)
    if arguments.json:
        steps_json = {"schema": "spng-steps-1", "steps": [step.json() for step in steps]}
        write(json_text(steps_json), arguments.json)
    if arguments.html:
        write(
            history_page(series, arguments.metric, steps, plotted(series, arguments, steps)), arguments.html
        )
    return 1 if arguments.fail and any(step.change > 0 for step in last_steps(steps)) else 0


def print_report(series: dict[str, list[dict]], steps: list[Step], arguments: argparse.Namespace) -> None:
    """Print per series the whole event over commits, then the steps."""
    for name, entries in series.items():
        conditions = entries[-1]["conditions"]
        print(
            f"\nseries {name}: "
            + ", ".join(
                filter(None, (conditions.get(key) for key in ("machine", "processor", "device", "engine")))
            )
        )
        whole = [item for item in entries if WHOLE_EVENT in item.get(arguments.metric, {})]
        if whole:
            print(
                "\n".join(
                    aligned(
                        [("commit", "runs", "whole event")]
                        + [
                            (
                                item["commit"],
                                str(item["runs"]),
                                short_time(item[arguments.metric][WHOLE_EVENT]),
                            )
                            for item in whole
                        ]
                    )
                )
            )
        own = [step for step in steps if step.series == name]
        for step in own:
            between = history_store.commits_between(arguments.repository, step.before, step.commit)
            unmeasured = f"; not measured between them: {counted(between, 'commit')}" if between else ""
            print(
                f"{step.node}: {100 * step.change:+.1f} % ({short_time(step.old)} -> {short_time(step.new)}) at {step.commit}, "
                f"after {step.before}{unmeasured}"
            )
        if not own:
            print("no steps")


def plotted(series: dict[str, list[dict]], arguments: argparse.Namespace, steps: list[Step]) -> list[str]:
    """Return the nodes to plot: those with steps, then the longest ones."""
    times: dict[str, float] = {}
    for entries in series.values():
        for node, time in entries[-1].get(arguments.metric, {}).items():
            times[node] = max(time, times.get(node, 0))
    longest = sorted(
        (node for node in times if fnmatch.fnmatchcase(node, arguments.node)), key=lambda node: -times[node]
    )
    return list(dict.fromkeys([step.node for step in steps] + longest[:MAX_PLOTS]))


def last_steps(steps: list[Step]) -> list[Step]:
    """Return the latest step of each node and series."""
    latest: dict[tuple[str, str], Step] = {}
    for step in steps:
        key = (step.series, step.node)
        if key not in latest or step.index > latest[key].index:
            latest[key] = step
    return list(latest.values())
