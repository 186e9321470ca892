# SPDX-License-Identifier: Apache-2.0
"""Device work of CUDA graphs. A launch replays the work of many nodes at once, so it belongs to the call that launched
it; this table tells the nodes apart by the calls that captured them."""

from __future__ import annotations

import numpy as np

from ..errors import MissingData
from ..model.grouping import group, percent
from ..model.nodes import capturing_nodes
from ..model.projection import union_length
from ..model.selection import Scope
from ..model.table import NULL
from ..output import Result, columns

UNKNOWN = "(unknown)"  # captured outside of the recording


def graph_nodes(scope: Scope) -> Result:
    """Return the device work in CUDA graphs per node that captured it, the longest first.

    Raise MissingData without graphs that were traced by node.
    """
    rows = scope.operation_rows
    operations = scope.profile.operations.take(rows)
    in_graph = np.flatnonzero(operations.graph_node != NULL)
    if not len(in_graph):
        raise MissingData(
            f"{scope.profile.name} does not contain CUDA graphs traced by node",
            seen="no operation with the id of a graph node",
        )
    operations = operations.take(in_graph)
    nodes, total = capturing_nodes(scope.profile, operations), int(operations.duration.sum())
    found = []
    for part in group(nodes.codes).rows():
        mine = operations.take(part)
        launches = len(group(mine.process, mine.correlation))
        length = int(mine.duration.sum())
        found.append(
            (
                nodes.text(part[0]) or UNKNOWN,
                len(mine),
                launches,
                len(mine) / launches,
                length,
                union_length(mine.start, mine.end),
                percent(length, total),
            )
        )
    found.sort(key=lambda row: -row[4])
    heads = "Node, GPU ops, Launches, Ops per launch, gpu_sum (ns), gpu_busy (ns), Share of gpu_sum (%)"
    return Result(columns(heads), found)
