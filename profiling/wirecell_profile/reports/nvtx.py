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
from ..output import Result, columns
from . import Report, sum_of_times


def chosen_ranges(scope: Scope, *styles: int) -> Ranges:
    """Return the selected ranges of these styles. Raise MissingData if the file has none of them."""
    ranges = scope.profile.ranges
    if not np.isin(ranges.style, styles).any():
        names = " or ".join(STYLES[style] for style in styles)
        raise MissingData(f"{scope.profile.path.name} does not contain NVTX ranges of style {names}")
    chosen = ranges.take(scope.range_rows)
    return chosen.take(np.isin(chosen.style, styles))


def sum_of_ranges(ranges: Ranges, with_style: bool) -> Result:
    """Summarise ranges by name, and optionally by style."""
    style = {"Style": lambda row: STYLES[ranges.style[row]]} if with_style else {}
    groups = group(ranges.name.codes, ranges.style)
    return sum_of_times(ranges.duration, groups, "Instances", {**style, "Range": ranges.name.text})


def nvtx_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise ranges of both styles."""
    return sum_of_ranges(chosen_ranges(scope, PUSH_POP, START_END), with_style=True)


def nvtx_pushpop_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise push/pop ranges."""
    return sum_of_ranges(chosen_ranges(scope, PUSH_POP), with_style=False)


def nvtx_startend_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise start/end ranges."""
    return sum_of_ranges(chosen_ranges(scope, START_END), with_style=False)


def nvtx_pushpop_trace(scope: Scope, _: frozenset[str]) -> Result:
    """Return single push/pop ranges with their position in the stack of their thread, across domains.

    Start/end ranges are not part of the stack. Counts and times of children refer to the whole profile.
    """
    chosen_ranges(scope, PUSH_POP)
    everything = scope.profile.ranges
    rows = np.flatnonzero(everything.style == PUSH_POP)
    ranges = everything.take(rows)
    nesting = nest((ranges.start, ranges.end, ranges.thread))
    shown = np.flatnonzero(np.isin(rows, scope.range_rows))
    stacks: dict[int, tuple[str, str]] = {}
    table = []
    for i in np.lexsort((ranges.row, -ranges.end, ranges.start)):
        range_id, parent = int(ranges.row[i]), int(nesting.parent[i])
        above = stacks[parent] if parent >= 0 else ("", "")
        name = ranges.name.text(i)
        stacks[i] = (f"{above[0]}:{range_id}", f"{'    ' * int(nesting.level[i])}{name}")
        exclusive = int(nesting.exclusive[i])
        duration, thread = int(ranges.duration[i]), int(ranges.thread[i])
        table.append(
            (
                int(ranges.start[i]),
                int(ranges.end[i]),
                duration,
                duration - exclusive,
                exclusive,
                name,
                pid_of(thread),
                tid_of(thread),
                int(nesting.level[i]),
                int(nesting.children[i]),
                range_id,
                int(ranges.row[parent]) if parent >= 0 else None,
                *stacks[i],
            )
        )
    shown_ids = set(ranges.row[shown].tolist())
    return Result(
        columns(
            "Start (ns), End (ns), Duration (ns), DurChild (ns), DurNonChild (ns), Name, PID, TID, "
            "Lvl, NumChild, RangeId, ParentId, RangeStack, NameTree"
        ),
        [row for row in table if row[10] in shown_ids],
    )


REPORTS = [
    Report("nvtx_sum", "NVTX ranges by name and style", nvtx_sum, ("nvtxsum",)),
    Report("nvtx_pushpop_sum", "NVTX push/pop ranges by name", nvtx_pushpop_sum, ("nvtxppsum",)),
    Report("nvtx_pushpop_trace", "NVTX push/pop ranges one by one", nvtx_pushpop_trace, ("nvtxpptrace",)),
    Report(
        "nvtx_startend_sum", "NVTX start/end ranges by name", nvtx_startend_sum, ("nvtxsesum", "nvtxsssum")
    ),
]
