# SPDX-License-Identifier: Apache-2.0
"""Counts of nodes, compared exactly: operations, launches, copies, bytes, synchronisations."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .measurements import WHOLE_EVENT, Run

SAME, GREW, SHRANK, VARIES = "same", "grew", "shrank", "varies"
OF_AN_EVENT = ("operations", "device operations", "launches", "copies", "bytes copied", "synchronisations")


@dataclass(frozen=True)
class CountRow:
    """A node and count per steady event: (minimum, maximum) over events and runs of a side."""

    count: str
    node: str
    a: tuple[float, float]
    b: tuple[float, float]
    verdict: str
    detail: str = ""


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
                        [
                            np.nansum(list(run.counts[count].values()), axis=0)[run.is_steady(warm_up)]
                            for run in runs
                        ]
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
    called = [(run, run.counts[count][node]) for run in runs if node in run.counts[count]]
    kept = [values[~np.isnan(values) & run.is_steady(warm_up)] for run, values in called]
    return [values for values in kept if len(values)]


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
