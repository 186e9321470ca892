# SPDX-License-Identifier: Apache-2.0
"""Comparisons of equal code (A/A): what a verdict is worth on a machine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .measurements import Run
from .time_rows import FASTER, SLOWER, Criteria, TimeRow, judged_times


def rows_with_verdict(a: list[Run], b: list[Run], criteria: Criteria) -> list[TimeRow]:
    """Return the rows with a verdict."""
    return [row for row in judged_times(a, b, criteria) if row.verdict in (SLOWER, FASTER)]


def self_check(runs: list[Run], criteria: Criteria) -> list[TimeRow]:
    """Compare every second run of a side with the others (A/A).

    Rows with a verdict mean that the machine was not steady.
    """
    if len(runs) < 4:
        return []
    return rows_with_verdict(runs[0::2], runs[1::2], criteria)


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
        found.append(rows_with_verdict(a, change(b), criteria))
    return found
