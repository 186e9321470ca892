# SPDX-License-Identifier: Apache-2.0
"""Use per node and per event: host time, device time, first event and steady state, memory, and a verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..model.grouping import group, percent
from ..model.identity import process_of
from ..model.job_events import STEADY, JobEvents
from ..model.nesting import exclusive_within, nest
from ..model.nodes import NodeCalls
from ..model.projection import union_length
from ..model.selection import Scope
from ..model.table import NULL
from ..model.window import find_window
from ..output import Result, columns
from .owner_use import (
    ApiWork,
    DeviceWork,
    api_work,
    device_cells,
    device_columns,
    device_work,
    operations_of,
    quantiles,
    queue_times,
)

BUSY_SHARE = 0.5  # of a node's time; below it the node is host-bound
COPY_SHARE = 0.5  # of a node's device time; from it on the node is transfer-bound
SHORT_QUEUE = 20_000  # ns; operations that wait longer wait for an occupied device

VERDICT_RULE = (
    f"host-bound: the device works less than {BUSY_SHARE:.0%} of max(proj_span, own host time without waiting) and the median "
    f"queue is at most {SHORT_QUEUE // 1000} us; else transfer-bound: copies are at least {COPY_SHARE:.0%} of the device "
    "time; else device-bound. host only: launched nothing."
)


@dataclass
class NodeUse:
    """The selected node calls with their operations and API calls; all arrays have one row per call."""

    scope: Scope
    calls: NodeCalls
    exclusive: np.ndarray  # wall time without nested calls, ns
    # Node call of the profile -> row. The last entry is for the index -1.
    row_of_call: np.ndarray

    @classmethod
    def of(cls, scope: Scope) -> NodeUse:
        """Make it for a selection. Raise MissingData if the file has no node calls."""
        calls = scope.profile.node_calls
        exclusive = nest((calls.start, calls.end, calls.thread)).exclusive
        rows = scope.node_call_rows
        row_of_call = np.full(len(calls) + 1, -1, dtype=np.int64)
        row_of_call[rows] = np.arange(len(rows))
        return cls(scope, calls.take(rows), exclusive[rows], row_of_call)

    @cached_property
    def has_device(self) -> bool:
        """Whether the file has device operations and the API calls that launched them. If not, their values are
        missing, not zero."""
        return min(len(self.scope.projection.operations), len(self.scope.projection.calls)) > 0

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """(row, operation) of the selected operations."""
        rows = self.scope.operation_rows
        owner = self.row_of_call[self.scope.node_projection.call_of_operation[rows]]
        return owner[owner >= 0], rows[owner >= 0]

    @cached_property
    def device(self) -> DeviceWork:
        """Device work of each call's own operations. Requires has_device."""
        projection = self.scope.projection
        return device_work(projection.operations, projection.call_of_operation, *self.pairs, len(self.calls))

    @cached_property
    def api(self) -> ApiWork:
        """Time of each call itself in the CUDA API."""
        owner = self.row_of_call[self.scope.node_projection.call_of_api_call]
        inside = np.flatnonzero(owner >= 0)
        return api_work(self.scope.projection.calls, owner[inside], inside, len(self.calls))

    def operations(self, parts: list[np.ndarray]) -> list[np.ndarray]:
        """Return the operations of each of some sets of calls that have no call in common."""
        return operations_of(*self.pairs, parts, len(self.calls))

    @cached_property
    def event(self) -> np.ndarray:
        """Row of the job's events of each call, -1 without an event."""
        return self.job_events.of_call[self.scope.node_call_rows]

    @cached_property
    def job_events(self) -> JobEvents:
        """The job's events; those with a call or device operation outside of --time are cut."""
        scope, job = self.scope, self.scope.profile.job_events
        if scope.selection.time == (None, None):
            return job
        event = np.append(job.of_call, -1)  # the last entry is for the index -1
        outside = [event[:-1][~scope.selection.covers(scope.profile.node_calls.start)]]
        if self.has_device:
            late = ~scope.selection.covers(scope.projection.operations.start)
            outside.append(event[scope.node_projection.call_of_operation[late]])
        rows = np.concatenate(outside)
        return replace(job, is_cut=job.is_cut | np.isin(np.arange(len(job)), rows))

    def verdict(self, rows: np.ndarray, queues: np.ndarray) -> str:
        """Return the verdict of VERDICT_RULE on calls with these queue times."""
        work = self.device
        if not work.operations[rows].any():
            return "host only"
        busy = int(work.gpu_busy[rows].sum())
        own = np.maximum(0, self.exclusive[rows] - self.api.waiting[rows])
        needed = int(np.maximum(work.span[rows], own).sum())
        queue = quantiles(queues)[0]
        if busy < BUSY_SHARE * needed and (queue is None or queue <= SHORT_QUEUE):
            return "host-bound"
        return "transfer-bound" if work.copy_busy[rows].sum() >= COPY_SHARE * busy else "device-bound"


def by_node(use: NodeUse) -> list[tuple[str, np.ndarray]]:
    """Return (node, rows of its calls), the node with the largest exclusive time first."""
    named = [(use.calls.node.text(part[0]), part) for part in group(use.calls.node.codes).rows()]
    return sorted(named, key=lambda pair: -int(use.exclusive[pair[1]].sum()))


def times(scope: Scope) -> Result:
    """Return host time, bytes, operations and memory per node, the table that wire-cell prints after a run.

    First: exclusive time in the first event, median over the processes; steady: median and 95th percentile over
    the other events. Events that are cut count in neither. Bytes and operations: mean of the calls. Memory: largest
    growth of tensor memory in a call, on the device if the job has one. Resident growth: largest increase of the
    process's resident memory since the end of the call that ended before.
    """
    use = NodeUse.of(scope)
    window, every = find_window(scope), scope.profile.node_calls
    inside = exclusive_within(every.start, every.end, every.thread, window.start, window.end)
    inside = inside[scope.node_call_rows]
    growth = resident_growth(every)[scope.node_call_rows]
    has_device = bool((every.device_peak != NULL).any())
    rows = []
    for node, mine in by_node(use):
        calls = use.calls.take(mine)
        rows.append(
            (
                node,
                len(mine),
                int((calls.ok == 0).sum()),
                *_first_and_steady(use, mine),
                int(calls.duration.sum()),
                int(use.exclusive[mine].sum()),
                percent(int(inside[mine].sum()), window.length),
                _of_known(np.sum, calls.cpu),
                *(_of_known(np.mean, each) for each in (calls.bytes_in, calls.bytes_out)),
                _of_known(np.mean, calls.leaf_operations),
                _of_known(np.max, calls.device_peak if has_device else calls.host_peak),
                _of_known(np.max, growth[mine]),
            )
        )
    return Result(
        columns(
            "Node, Calls, Failed, First event (ns), Steady state (ns), Steady p95 (ns), Inclusive (ns), "
            "Exclusive (ns), Share of W (%), CPU time (ns), In (B), Out (B), Operations, Memory (B), "
            "Resident growth (B)"
        ),
        rows,
    )


def _of_known(choose: Callable[[np.ndarray], np.generic], values: np.ndarray) -> int | float | None:
    """Return a figure of the values that are not NULL, None without any."""
    known = values[values != NULL]
    return choose(known).item() if len(known) else None


def _first_and_steady(use: NodeUse, rows: np.ndarray) -> tuple[float | None, ...]:
    """Return values of the exclusive times of some calls, summed per event: the median of first events, and median
    and 95th percentile of the others."""
    job, event = use.job_events, use.event[rows]
    called = np.unique(event[event >= 0])
    sums = np.zeros(len(job), dtype=np.int64)
    np.add.at(sums, event[event >= 0], use.exclusive[rows][event >= 0])
    first, steady = (quantiles(sums[called[kind[called]]]) for kind in (job.is_first, job.is_steady))
    return first[0], *steady


def devices(scope: Scope) -> Result:
    """Return the device work that each node itself launched. Raise MissingData without device operations or API calls."""
    scope.profile.operations, scope.profile.calls  # noqa: B018  raise MissingData
    use = NodeUse.of(scope)
    work, api, copies = use.device, use.api, scope.profile.records_copies
    copy_busy = work.copy_busy if copies else None
    queue, named = queue_times(scope), by_node(use)
    split = use.operations([mine for _, mine in named])
    rows = [
        (
            node,
            use.verdict(mine, queue[own]),
            *device_cells(work, api, mine, len(mine), queue[own], copy_busy, copies),
        )
        for (node, mine), own in zip(named, split)
    ]
    return Result(columns("Node, Verdict", device_columns("call", "copy_busy (ns)")), rows)


def resident_growth(calls: NodeCalls) -> np.ndarray:
    """Return the increase of resident memory from the end of the call before to that of each call, at least 0; NULL if
    one of them was not measured."""
    process = process_of(calls.thread)
    order = np.lexsort((calls.end, process))
    resident, growth = calls.resident[order], np.full(len(calls), NULL, dtype=np.int64)
    known = (resident[1:] != NULL) & (resident[:-1] != NULL) & (np.diff(process[order]) == 0)
    growth[order[1:][known]] = np.maximum(np.diff(resident)[known], 0)
    return growth


def events(scope: Scope) -> Result:
    """Return the end-to-end latency per event.

    It is the time from the first call's start to the last call's end, or to the end of the event's last
    device operation if that is later. Events that are cut have none. The median row covers all
    whole events except the first of each process.
    """
    use = NodeUse.of(scope)
    job, process = use.job_events, scope.profile.process_titles
    found = np.unique(use.event[use.event >= 0]).tolist()
    parts = [np.flatnonzero(use.event == event) for event in found]
    split = use.operations(parts) if use.has_device else parts
    rows: list[tuple] = [
        (
            str(job.index[event]),
            process[int(job.process[event])],
            job.kind(event),
            *_event_cells(use, mine, launched, bool(job.is_cut[event])),
        )
        for event, mine, launched in zip(found, parts, split)
    ]
    steady = [row for row in rows if row[2] == STEADY]
    if steady:
        middle = [
            None if row_values[0] is None else float(np.median(row_values))
            for row_values in zip(*(r[4:] for r in steady))
        ]
        rows.append(("median", None, STEADY, None, *middle))
    return Result(
        columns(
            "Event, Process, Kind, Start (ns), Latency (ns), Host latency (ns), Node time (ns), Calls, "
            "gpu_busy (ns), GPU ops, Launches, To device (B), To host (B)"
        ),
        rows,
    )


def _event_cells(
    use: NodeUse, mine: np.ndarray, launched: np.ndarray, is_cut: bool
) -> tuple[int | None, ...]:
    """Return start, times, calls and device work of an event from its calls and operations."""
    start, end = int(use.calls.start[mine].min()), int(use.calls.end[mine].max())
    last = end
    device: tuple[int | None, ...] = (None,) * 5
    if use.has_device:
        work = use.device
        own = use.scope.projection.operations.take(launched)
        last = max(end, int(own.end.max(initial=end)))
        device = (
            union_length(own.start, own.end),
            len(own),
            int(work.launches[mine].sum()),
            *(
                int(part[mine].sum()) if use.scope.profile.records_copies else None
                for part in (work.to_device, work.to_host)
            ),
        )
    latency = (None, None) if is_cut else (last - start, end - start)
    return (start, *latency, int(use.exclusive[mine].sum()), len(mine), *device)
