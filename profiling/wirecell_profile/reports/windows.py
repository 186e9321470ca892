# SPDX-License-Identifier: Apache-2.0
"""Report of the queues of WDDM, the display driver of Microsoft Windows."""

from __future__ import annotations

import numpy as np

from ..model.events import join_keys
from ..model.grouping import group, summarise
from ..model.identity import pid_of
from ..model.projection import union_length
from ..model.selection import Scope
from ..model.table import NULL
from ..output import Result, columns
from . import report

# Kinds of queues: id, name, prefix of their tables, key of the opening and of the closing packet
QUEUES = (
    (0, "queue", "WDDM_QUEUE_PACKET", "submitSequence", "submitSequence"),
    (1, "dma", "WDDM_DMA_PACKET", "uliSubmissionId", "uliCompletionId"),
)
ENGINES = (
    "Other",
    "3D",
    "Video Decode",
    "Video Encode",
    "Video Processing",
    "Scene Assembly",
    "Copy",
    "Overlay",
    "Crypto",
)


@report("use of the queues of WDDM", "wddmqueuesdetails")
def wddm_queue_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise packets by process, queue, GPU, context and engine; utilisation refers to the process's packets."""
    profile = scope.profile
    profile.require(*(f"{prefix}_START_EVENTS" for _, _, prefix, _, _ in QUEUES))
    parts = [
        _packets(scope, *queue[:1], *queue[2:]) for queue in QUEUES if profile.has(f"{queue[2]}_START_EVENTS")
    ]
    start, end, pid, kind, gpu, context, engine = (np.concatenate(part) for part in zip(*parts))
    groups = group(pid, kind, gpu, context, engine)
    summary = summarise(end - start, groups.of_row, len(groups))
    friendly = profile.pairs("TARGET_INFO_WDDM_CONTEXTS", "context", "friendlyName", int, str)
    ordinals = profile.pairs("TARGET_INFO_WDDM_CONTEXTS", "context", "nodeOrdinal", int, int)
    extent = {
        process: int(end[pid == process].max() - start[pid == process].min())
        for process in np.unique(pid).tolist()
    }
    rows = []
    for i, members in enumerate(groups.rows()):
        values = (int(part[groups.first[i]]) for part in (pid, gpu, context, engine))
        process, device, of_context, of_engine = (None if value == NULL else value for value in values)
        key = NULL if of_context is None else of_context
        queue = int(kind[groups.first[i]])
        busy = 100 * union_length(start[members], end[members])
        known = of_engine is not None and 0 < of_engine < len(ENGINES)
        name = ENGINES[of_engine or 0] if known else friendly.get(key) or ENGINES[0]
        rows.append(
            (
                busy / extent[process] if extent[process] else None,
                int(summary.count[i]),
                *summary.cells(i),
                name,
                queue,
                QUEUES[queue][1],
                process,
                device,
                None if of_context is None else f"{of_context:#x}",
                of_engine,
                ordinals.get(key) or 0,
            )
        )
    rows.sort(
        key=lambda row: (-round(row[0] or 0, 1), row[10], row[8], row[11] or 0, row[12] or "", row[13] or 0)
    )
    return Result(
        columns(
            "Utilization (%), Instances, Avg (ns), Med (ns), Min (ns), Max (ns), StdDev (ns), Name, Q Type, "
            "Q Name, PID, GPU ID, Context, Engine, Node Ord"
        ),
        rows,
    )


def _packets(scope: Scope, kind: int, prefix: str, opening: str, closing: str) -> tuple[np.ndarray, ...]:
    """Return start, end, pid, kind, GPU, context and engine of the packets that were opened and closed."""
    first, last = (scope.profile.table(f"{prefix}_{edge}_EVENTS") for edge in ("START", "STOP"))
    begun, done = join_keys(
        (first.integers("context"), first.integers(opening)),
        (last.integers("context"), last.integers(closing)),
    )
    start, stop = first.integers("start"), last.integers("start")
    order = np.argsort(done, kind="stable")
    low, high = (np.searchsorted(done[order], begun, side) for side in ("left", "right"))
    i = np.repeat(np.arange(len(begun)), high - low)
    j = order[np.arange(len(i)) - np.repeat(np.cumsum(high - low) - high, high - low)]
    keep = (start[i] <= stop[j]) & scope.selection.covers(start[i])
    i, j = i[keep], j[keep]
    pid = pid_of(first.integers("globalTid")[i])
    others = (first.integers(column)[i] for column in ("gpu", "context", "engineType"))
    return (start[i], stop[j], pid, np.full(len(i), kind), *others)
