# SPDX-License-Identifier: Apache-2.0
"""Times of nodes, compared with statistics.

A node is `slower` or `faster` only if the 95 % interval of the ratio excludes 1, the ratio differs from 1 by
at least max(threshold, 2 x A/A noise), and the adjusted p of Mann and Whitney's test on the medians of the
runs is below the level. All other nodes have `no evidence`, with the smallest detectable effect, or `too few
runs` if the test cannot reach the level for one of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from . import statistics
from .measurements import WHOLE_EVENT, Run

SLOWER, FASTER, NO_EVIDENCE, TOO_SHORT = "slower", "faster", "no evidence", "too short to judge"
TOO_FEW = "too few runs"


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
    first_a: float  # the first event, median over the runs; NaN if no run has it
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

    @property
    def has_first(self) -> bool:
        """Whether both sides have a time of the first event."""
        return self.first_a > 0 and self.first_b > 0


def steady(runs: list[Run], metric: str, node: str, warm_up: int) -> statistics.Side:
    """Return per run the node's values after the first `warm_up` events, for events in which it was called."""
    found = []
    for run in runs:
        values = run.times.get(metric, {}).get(node)
        if values is not None:
            values = values[~np.isnan(values) & run.is_steady(warm_up)]
            if len(values):
                found.append(values)
    return found


def first_event(runs: list[Run], metric: str, node: str) -> float:
    """Return the median over the runs of the node's time in the first event [ns], NaN if no run has it."""
    values = [
        run.times[metric][node][np.array(run.events) == 0]
        for run in runs
        if node in run.times.get(metric, {})
    ]
    known = np.concatenate(values)
    known = known[~np.isnan(known)]
    return float(np.median(known)) if len(known) else math.nan


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
    verdict = NO_EVIDENCE if math.isfinite(detectable) else TOO_FEW
    interval = statistics.RatioInterval(row.ratio, row.low, row.high)
    if interval.excludes_one and abs(row.ratio - 1) >= least and p_adjusted < criteria.level:
        verdict = SLOWER if row.ratio > 1 else FASTER
    return replace(row, p_adjusted=p_adjusted, detectable=detectable, verdict=verdict)
