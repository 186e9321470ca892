# SPDX-License-Identifier: Apache-2.0
"""Comparison of two sides of runs, node by node: times with statistics, counts exactly.

A node is `slower` or `faster` only if the 95 % interval of the ratio excludes 1, the ratio differs from 1 by
at least max(threshold, 2 x A/A noise), and the adjusted p of Mann and Whitney's test on the medians of the
runs is below the level. All other nodes have `no evidence`, with the smallest detectable effect. The first
events of a run include one-time preparations; they are excluded and shown separately.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from ..errors import UsageError
from . import statistics
from .measurements import WHOLE_EVENT, Run

SLOWER, FASTER, NO_EVIDENCE, TOO_SHORT = "slower", "faster", "no evidence", "too short to judge"
SAME, GREW, SHRANK, VARIES = "same", "grew", "shrank", "varies"
OF_AN_EVENT = ("operations", "device operations", "launches", "copies", "bytes copied", "synchronisations")


@dataclass(frozen=True)
class Criteria:
    """Criteria of verdicts."""

    threshold: float = 0.03  # smallest relevant relative difference
    level: float = 0.05  # false discovery rate over all nodes
    warm_up: int = 1  # events at the start of each run to exclude
    least_share: float = 0.001  # of the whole event's time; shorter nodes are shown but not judged
    metrics: tuple[str, ...] = ("wall", "device")  # used if the runs have them
    resamples: int = statistics.RESAMPLES
    seed: int = 1


@dataclass(frozen=True)
class TimeRow:
    """One node and metric. Times in ns per event, medians over runs of medians over events."""

    metric: str
    node: str
    a: float
    b: float
    first_a: float  # the first event, median over the runs
    first_b: float
    ratio: float
    low: float
    high: float
    noise: float  # A/A noise: 95th percentile of |ratio - 1| for equal code
    delta: float  # Cliff's
    p: float
    p_adjusted: float
    detectable: float  # smallest detectable effect, relative; infinite with too few runs
    verdict: str


@dataclass(frozen=True)
class CountRow:
    """A node and count per steady event: (minimum, maximum) over events and runs of a side."""

    count: str
    node: str
    a: tuple[float, float]
    b: tuple[float, float]
    verdict: str
    detail: str = ""


@dataclass(frozen=True)
class Side:
    """Description of a side."""

    name: str
    commit: str
    runs: int
    events: int  # steady events per run
    first_run: str
    last_run: str


@dataclass(frozen=True)
class Comparison:
    """Result of a comparison of B with A."""

    a: Side
    b: Side
    criteria: Criteria
    times: list[TimeRow]
    counts: list[CountRow]
    only_a: dict[str, float]  # nodes of one side -> wall time per event, ns
    only_b: dict[str, float]
    forced: list[str] = field(default_factory=list)  # conditions that differ, accepted with --force
    notes: list[str] = field(default_factory=list)

    @property
    def slower(self) -> list[TimeRow]:
        """Rows judged slower."""
        return [row for row in self.times if row.verdict == SLOWER]

    @property
    def grown(self) -> list[CountRow]:
        """Counts that grew."""
        return [row for row in self.counts if row.verdict == GREW]

    @property
    def exit_status(self) -> int:
        """1 if a node is slower or a count grew, else 0."""
        return 1 if self.slower or self.grown else 0

    def json(self) -> dict:
        """Return the result for JSON. Values of unjudged nodes and unbounded effects are null."""
        result = {"schema": "spng-comparison-1"} | asdict(self)
        result["times"] = [
            {
                key: None if isinstance(value, float) and not math.isfinite(value) else value
                for key, value in row.items()
            }
            for row in result["times"]
        ]
        return result | {"exit_status": self.exit_status}


def compare(
    a: list[Run],
    b: list[Run],
    criteria: Criteria = Criteria(),
    names: tuple[str, str] = ("A", "B"),
    force: bool = False,
) -> Comparison:
    """Compare runs of B with runs of A.

    Raise UsageError if a side is unusable, or conditions differ without `force`.
    """
    differences = different_conditions(a, b, names)
    if differences and not force:
        raise UsageError(
            "cannot compare these runs",
            seen="\n             ".join(differences),
            expected="equal settings, input, machine and instrumentation on all runs",
            hint="run them under equal conditions, or compare with --force",
        )
    for name, runs in zip(names, (a, b)):
        check_events(name, runs, criteria.warm_up)
    times = judged_times(a, b, criteria)
    nodes_a, nodes_b = wall_by_node(a, criteria.warm_up), wall_by_node(b, criteria.warm_up)
    return Comparison(
        describe(names[0], a, criteria),
        describe(names[1], b, criteria),
        criteria,
        times,
        compared_counts(a, b, criteria.warm_up),
        {node: time for node, time in nodes_a.items() if node not in nodes_b},
        {node: time for node, time in nodes_b.items() if node not in nodes_a},
        differences,
        notes_on(a, b, criteria, times),
    )


def different_conditions(a: list[Run], b: list[Run], names: tuple[str, str]) -> list[str]:
    """Return lines 'what:

    A value, B value' for conditions that differ between runs, and for mixed commits in a side.
    """
    lines = []
    for condition in dict.fromkeys(name for run in [*a, *b] for name in run.conditions):
        values = [
            list(dict.fromkeys(run.conditions.get(condition, "unknown") for run in runs)) for runs in (a, b)
        ]
        if len(values[0]) > 1 or values[0] != values[1]:
            lines.append(
                f"{condition}: "
                + ", ".join(
                    f"{name} {' and '.join(value or 'none' for value in seen)}"
                    for name, seen in zip(names, values)
                )
            )
    for name, runs in zip(names, (a, b)):
        commits = list(dict.fromkeys(run.commit for run in runs))
        if len(commits) > 1:
            lines.append(f"commit: {name} mixes {', '.join(commit or 'unknown' for commit in commits)}")
    failed = [run.source for run in [*a, *b] if run.conditions.get("failed calls", "0") != "0"]
    if failed:
        lines.append(f"failed calls in {', '.join(failed[:3])}" + (" and others" if len(failed) > 3 else ""))
    return lines


def check_events(name: str, runs: list[Run], warm_up: int) -> None:
    """Raise UsageError if there are no runs, or if a run has no event after the warm-up."""
    if not runs:
        raise UsageError(f"side {name} has no runs")
    for run in runs:
        if len(run.events) <= warm_up:
            raise UsageError(
                "a run has no event after the warm-up",
                run.source,
                f"{len(run.events)} events",
                f"more than {warm_up}",
                "give an input with more events, or --warm-up 0",
            )


def steady(runs: list[Run], metric: str, node: str, warm_up: int) -> statistics.Side:
    """Return per run the node's values after the first `warm_up` events, for events in which it was called."""
    found = []
    for run in runs:
        values = run.times.get(metric, {}).get(node)
        if values is not None:
            values = values[~np.isnan(values)][warm_up:]
            if len(values):
                found.append(values)
    return found


def first_event(runs: list[Run], metric: str, node: str) -> float:
    """Return the median over the runs of the node's first event [ns]."""
    values = [run.times[metric][node] for run in runs if node in run.times.get(metric, {})]
    return float(np.median([value[~np.isnan(value)][0] for value in values]))


def wall_by_node(runs: list[Run], warm_up: int) -> dict[str, float]:
    """Return node -> wall time per steady event [ns]."""
    nodes = dict.fromkeys(node for run in runs for node in run.times["wall"])
    sides = {node: steady(runs, "wall", node, warm_up) for node in nodes}
    return {node: float(np.median(statistics.run_medians(side))) for node, side in sides.items() if side}


def judged_times(a: list[Run], b: list[Run], criteria: Criteria) -> list[TimeRow]:
    """Return the judged rows of all nodes of both sides: the whole event first, then by time of A."""
    generator = np.random.default_rng(criteria.seed)
    rows = [row for metric in criteria.metrics for row in metric_rows(a, b, metric, criteria, generator)]
    tested = [index for index, row in enumerate(rows) if row.verdict != TOO_SHORT]
    adjusted = dict(zip(tested, statistics.benjamini_hochberg([rows[index].p for index in tested]).tolist()))
    return [
        judged(row, adjusted[index], len(tested), len(a), len(b), criteria) if index in adjusted else row
        for index, row in enumerate(rows)
    ]


def metric_rows(
    a: list[Run], b: list[Run], metric: str, criteria: Criteria, generator: np.random.Generator
) -> list[TimeRow]:
    """Return the unjudged rows of one metric."""
    nodes = dict.fromkeys(node for run in [*a, *b] for node in run.times.get(metric, {}))
    sides = {
        node: (steady(a, metric, node, criteria.warm_up), steady(b, metric, node, criteria.warm_up))
        for node in nodes
    }
    medians = {
        node: [float(np.median(statistics.run_medians(side))) for side in pair]
        for node, pair in sides.items()
        if all(pair)
    }
    medians = {node: pair for node, pair in medians.items() if min(pair) > 0}
    whole = max(
        medians.get(WHOLE_EVENT) or [sum(pair[i] for pair in medians.values()) for i in (0, 1)], default=0
    )
    rows = []
    for node in sorted(medians, key=lambda node: (node != WHOLE_EVENT, -medians[node][0])):
        too_short = max(medians[node]) < criteria.least_share * whole
        rows.append(measured_row(metric, node, a, b, sides[node], too_short, criteria, generator))
    return rows


def measured_row(
    metric: str,
    node: str,
    a: list[Run],
    b: list[Run],
    sides: tuple[statistics.Side, statistics.Side],
    too_short: bool,
    criteria: Criteria,
    generator: np.random.Generator,
) -> TimeRow:
    """Measure a row. Rows of short nodes have only the medians and their ratio."""
    runs_a, runs_b = (statistics.run_medians(side) for side in sides)
    centre_a, centre_b = float(np.median(runs_a)), float(np.median(runs_b))
    nan = math.nan
    common = (metric, node, centre_a, centre_b, first_event(a, metric, node), first_event(b, metric, node))
    if too_short:
        return TimeRow(*common, centre_b / centre_a, nan, nan, nan, nan, nan, nan, nan, TOO_SHORT)
    bootstrap = statistics.Bootstrap(*sides, generator, criteria.resamples)
    interval, noise = bootstrap.ratio(), bootstrap.noise()
    _, p = statistics.mann_whitney(runs_a, runs_b)
    return TimeRow(
        *common,
        interval.ratio,
        interval.low,
        interval.high,
        noise,
        statistics.cliffs_delta(runs_a, runs_b),
        p,
        nan,
        nan,
        NO_EVIDENCE,
    )


def judged(
    row: TimeRow, p_adjusted: float, tests: int, runs_a: int, runs_b: int, criteria: Criteria
) -> TimeRow:
    """Return the row with its verdict."""
    least = max(criteria.threshold, 2 * row.noise)
    detectable = statistics.smallest_detectable_effect(
        row.noise, least, tests, runs_a, runs_b, criteria.level
    )
    verdict, interval = NO_EVIDENCE, statistics.RatioInterval(row.ratio, row.low, row.high)
    if interval.excludes_one and abs(row.ratio - 1) >= least and p_adjusted < criteria.level:
        verdict = SLOWER if row.ratio > 1 else FASTER
    return replace(row, p_adjusted=p_adjusted, detectable=detectable, verdict=verdict)


def compared_counts(a: list[Run], b: list[Run], warm_up: int) -> list[CountRow]:
    """Compare the counts that both sides have, per node, and if meaningful summed over nodes."""
    rows = []
    for count in dict.fromkeys(name for run in [*a, *b] for name in run.counts):
        if not all(count in run.counts for run in [*a, *b]):
            continue
        if count in OF_AN_EVENT:
            rows.append(
                count_row(
                    count,
                    WHOLE_EVENT,
                    *(
                        [np.nansum(list(run.counts[count].values()), axis=0)[warm_up:] for run in runs]
                        for runs in (a, b)
                    ),
                )
            )
        for node in dict.fromkeys(node for run in [*a, *b] for node in run.counts[count]):
            sides = [steady_counts(runs, count, node, warm_up) for runs in (a, b)]
            if all(sides):
                row = count_row(count, node, *sides)
                detail = (
                    changed_operators(a, b, node) if count == "operations" and row.verdict != SAME else ""
                )
                rows.append(replace(row, detail=detail))
    return rows


def steady_counts(runs: list[Run], count: str, node: str, warm_up: int) -> list[np.ndarray]:
    """Return per run the node's counts in the steady events, for runs that called it."""
    values = [run.counts[count][node] for run in runs if node in run.counts[count]]
    return [kept for value in values if len(kept := value[~np.isnan(value)][warm_up:])]


def count_row(count: str, node: str, a: list[np.ndarray], b: list[np.ndarray]) -> CountRow:
    """Compare a count.

    The verdict is `same` if all runs of both sides agree event by event, `grew` or `shrank` if the ranges of
    the means per event do not overlap, else `varies`.
    """
    means_a, means_b = ([float(values.mean()) for values in side] for side in (a, b))
    if all(np.array_equal(values, a[0]) for values in [*a, *b]):
        verdict = SAME
    elif min(means_b) > max(means_a):
        verdict = GREW
    elif max(means_b) < min(means_a):
        verdict = SHRANK
    else:
        verdict = VARIES
    limits_a, limits_b = ((float(min(map(np.min, side))), float(max(map(np.max, side)))) for side in (a, b))
    return CountRow(count, node, limits_a, limits_b, verdict)


def changed_operators(a: list[Run], b: list[Run], node: str) -> str:
    """Return the ATen operators with changed counts per event, such as 'aten::copy_ +2'."""
    per_event = [
        {name: times / len(runs[0].events) for name, times in runs[0].operators.get(node, {}).items()}
        for runs in (a, b)
    ]
    changes = []
    for name in sorted(per_event[0] | per_event[1]):
        change = per_event[1].get(name, 0) - per_event[0].get(name, 0)
        if change:
            changes.append(f"{name} {change:+.4g}")
    return ", ".join(changes)


def describe(name: str, runs: list[Run], criteria: Criteria) -> Side:
    """Description of a side."""
    return Side(
        name,
        runs[0].commit,
        len(runs),
        min(len(run.events) for run in runs) - criteria.warm_up,
        min(run.time for run in runs),
        max(run.time for run in runs),
    )


def notes_on(a: list[Run], b: list[Run], criteria: Criteria, times: list[TimeRow]) -> list[str]:
    """Return warnings about the validity of the comparison."""
    notes = []
    tests = sum(row.verdict != TOO_SHORT for row in times)
    needed = statistics.needed_runs(max(tests, 1), criteria.level)
    if statistics.smallest_p(len(a), len(b)) * max(tests, 1) > criteria.level:
        notes.append(
            f"{len(a)} and {len(b)} runs cannot show any difference among {tests} tests: at least {needed} per side"
        )
    order = [side for _, side in sorted([(run.time, 0) for run in a] + [(run.time, 1) for run in b])]
    changes = sum(before != after for before, after in zip(order, order[1:]))
    if len(a) > 1 and len(b) > 1 and changes <= 1 and all(run.time for run in [*a, *b]):
        notes.append(
            "all runs of one side came before those of the other: a drift of the machine would look like a "
            "difference. Alternate the runs (as wirecell-profile compare-branches does)"
        )
    dirty = [name for name, runs in (("A", a), ("B", b)) if runs[0].commit.endswith("-dirty")]
    if dirty:
        notes.append(f"built with changes that are not committed: {', '.join(dirty)}")
    return notes


def self_check(runs: list[Run], criteria: Criteria) -> list[TimeRow]:
    """Compare every second run of a side with the others (A/A).

    Rows with a verdict mean that the machine was not steady.
    """
    if len(runs) < 4:
        return []
    return [row for row in judged_times(runs[0::2], runs[1::2], criteria) if row.verdict in (SLOWER, FASTER)]


def equal_code_trials(
    runs: list[Run],
    per_side: int,
    trials: int,
    criteria: Criteria,
    change: Callable[[list[Run]], list[Run]] = lambda side: side,
) -> list[list[TimeRow]]:
    """Return for each trial the rows with a verdict when both sides of `per_side` runs are drawn from the
    same runs.

    Runs are drawn without replacement if there are enough. `change` is applied to B, for trials with a known
    difference.
    """
    generator = np.random.default_rng(criteria.seed)
    found = []
    for _ in range(trials):
        chosen = generator.choice(len(runs), 2 * per_side, replace=len(runs) < 2 * per_side)
        a, b = ([runs[index] for index in half] for half in (chosen[:per_side], chosen[per_side:]))
        found.append([row for row in judged_times(a, change(b), criteria) if row.verdict in (SLOWER, FASTER)])
    return found
