# SPDX-License-Identifier: Apache-2.0
"""Reports of NVTX ranges on the host."""

from __future__ import annotations

import numpy as np

from ..errors import MissingData
from ..model.events import PUSH_POP, START_END, STYLES, Ranges
from ..model.grouping import group
from ..model.identity import pid_of, tid_of
from ..model.nesting import nest
from ..model.selection import Scope
from ..model.table import NULL
from ..output import Result
from . import list_of, report, sum_of_times


def chosen_ranges(scope: Scope, *styles: int) -> Ranges:
    """Return the selected ranges of these styles. Raise MissingData if the file has none of them."""
    ranges = scope.profile.ranges
    if not np.isin(ranges.style, styles).any():
        names = " or ".join(STYLES[style] for style in styles)
        raise MissingData(f"{scope.profile.name} does not contain NVTX ranges of style {names}")
    chosen = ranges.take(scope.range_rows)
    return chosen.take(np.isin(chosen.style, styles))


def sum_of_ranges(ranges: Ranges, with_style: bool) -> Result:
    """Summarise ranges by name, and optionally by style."""
    style = {"Style": lambda row: STYLES[ranges.style[row]]} if with_style else {}
    groups = group(ranges.name.codes, ranges.style)
    return sum_of_times(
        ranges.duration,
        groups,
        "Instances",
        {**style, "Range": ranges.name.text},
        ranges.name.ranks(),
        ranges.style,
    )


@report("NVTX ranges by name and style", "nvtxsum")
def nvtx_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise ranges of both styles."""
    return sum_of_ranges(chosen_ranges(scope, PUSH_POP, START_END), with_style=True)


@report("NVTX push/pop ranges by name", "nvtxppsum")
def nvtx_pushpop_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise push/pop ranges."""
    return sum_of_ranges(chosen_ranges(scope, PUSH_POP), with_style=False)


@report("NVTX start/end ranges by name", "nvtxsesum nvtxsssum")
def nvtx_startend_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise start/end ranges."""
    return sum_of_ranges(chosen_ranges(scope, START_END), with_style=False)


def range_stacks(ranges: Ranges, parent: np.ndarray) -> list[str]:
    """Return for each range the ids of the ranges around it and its own, outermost first, each after a colon."""
    stacks = [f":{row}" for row in ranges.row.tolist()]
    parents = parent.tolist()
    for i in np.lexsort((ranges.row, -ranges.end, ranges.start)).tolist():  # parents before their children
        if parents[i] >= 0:
            stacks[i] = stacks[parents[i]] + stacks[i]
    return stacks


@report("NVTX push/pop ranges one by one", "nvtxpptrace")
def nvtx_pushpop_trace(scope: Scope, _: frozenset[str]) -> Result:
    """Return single push/pop ranges with their position in the stack of their thread, across domains.

    Start/end ranges are not part of the stack. Counts and times of children refer to the whole profile.
    Order: by start, of equal starts the shorter first.
    """
    chosen_ranges(scope, PUSH_POP)
    everything = scope.profile.ranges
    rows = np.flatnonzero(everything.style == PUSH_POP)
    ranges = everything.take(rows)
    nesting = nest((ranges.start, ranges.end, ranges.thread))
    order = np.lexsort((ranges.row, ranges.duration, ranges.start))
    named = zip(nesting.level.tolist(), ranges.name.to_list())
    return list_of(
        order[np.isin(rows, scope.range_rows)[order]],
        {
            "Start (ns)": ranges.start,
            "End (ns)": ranges.end,
            "Duration (ns)": ranges.duration,
            "DurChild (ns)": ranges.duration - nesting.exclusive,
            "DurNonChild (ns)": nesting.exclusive,
            "Name": ranges.name,
            "PID": pid_of(ranges.thread),
            "TID": tid_of(ranges.thread),
            "Lvl": nesting.level,
            "NumChild": nesting.children,
            "RangeId": ranges.row,
            "ParentId": np.append(ranges.row, NULL)[nesting.parent],
            "RangeStack": range_stacks(ranges, nesting.parent),
            "NameTree": ["--" * level + name if name else "" for level, name in named],
        },
    )
