# SPDX-License-Identifier: Apache-2.0
"""The critical path: the longest chain of nodes of an event, each of which needs the result of the one before."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import numpy as np

from ..errors import MissingData
from ..model.grouping import percent
from ..model.nesting import nest
from ..model.nodes import names_of_nodes
from ..model.selection import Scope
from ..output import Result, columns
from .node_use import NodeUse

WHOLE = "whole path"


def critical_path(scope: Scope) -> Result:
    """Return the nodes of the path in order, and a row for the whole path.

    The time of a node is that of its calls with the calls inside, summed per event: the median over the whole events
    after the first, or that of the first event if there is no other. Raise MissingData without edges or whole events.
    """
    times, tails = _times(scope), _tails(scope)
    graph = {node: tails.get(node, []) for node in [*times, *tails]}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError:
        raise MissingData(f"the edges of the graph in {scope.profile.name} form a cycle") from None
    until: dict[str, int] = {}  # the longest time to the end of the node
    before: dict[str, str] = {}
    for node in order:
        before[node] = max(graph.get(node, []), key=until.__getitem__, default="")
        until[node] = times.get(node, 0) + until.get(before[node], 0)
    node = max(order, key=until.__getitem__)
    total, rows = until[node], []
    while node:
        if time := times.get(node, 0):
            rows.append((node, time, percent(time, total), until[node]))
        node = before[node]
    return Result(
        columns("Node, Time (ns), Share (%), Until (ns)"), [*reversed(rows), (WHOLE, total, 100.0, total)]
    )


def _tails(scope: Scope) -> dict[str, list[str]]:
    """Return head -> tails of the edges of the graph."""
    profile = scope.profile
    profile.require("SPNG_EDGE")
    table = profile.table("SPNG_EDGE")
    tails, heads = (names_of_nodes(profile, table.integers(end)).to_list() for end in ("tail", "head"))
    found: dict[str, list[str]] = {}
    for tail, head in zip(tails, heads):
        found.setdefault(head, []).append(tail)
    return found


def _times(scope: Scope) -> dict[str, int]:
    """Return the time of each node per event [ns]."""
    use = NodeUse.of(scope)
    job, calls = use.job_events, use.calls
    outer = nest((calls.start, calls.end, calls.thread)).level == 0
    counted = outer & np.append(job.is_steady if job.is_steady.any() else job.is_first, False)[use.event]
    sums: dict[str, dict[int, int]] = {}
    for row in np.flatnonzero(counted).tolist():
        of_event, event = sums.setdefault(calls.node.text(row), {}), int(use.event[row])
        of_event[event] = of_event.get(event, 0) + int(calls.duration[row])
    if not sums:
        raise MissingData(f"{scope.profile.name} does not contain a whole event")
    return {node: int(np.median(list(of_event.values()))) for node, of_event in sums.items()}
