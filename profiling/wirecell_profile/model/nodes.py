# SPDX-License-Identifier: Apache-2.0
"""Calls of nodes, from wire-cell's recorder, or in an nsys export from the ranges in domain `spng`.

Both give the same columns. Columns that ranges do not contain are NULL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ..errors import MissingData
from .events import PUSH_POP, HostEvents, Operations, Ranges, join_keys
from .identity import lookup, process_of
from .nesting import nest
from .projection import Projection
from .table import NULL, Labels, TableSource, label

NODE_DOMAIN, ENGINE_DOMAIN = "spng", "spng.sched"
RUN = "run"  # range around all events
NODE_NAME = re.compile(
    r"[^:\s]+(:[^:\s].*)?"
)  # Type:instance, or Type without an instance; Type::step is a step inside
NOT_MEASURED = -1  # value in the recorder's measured columns


@dataclass
class NodeCalls(HostEvents):
    """One row per call of a node. Measured columns are NULL if not measured."""

    id: np.ndarray  # id of the call; without the recorder the row of its range
    event: np.ndarray  # index of the event, NULL without one
    ok: np.ndarray  # 0: the call failed
    bytes_in: np.ndarray
    bytes_out: np.ndarray
    resident: np.ndarray  # resident memory of the process at the end of the call, bytes
    device_peak: np.ndarray  # peak of device memory during the call, bytes
    host_peak: np.ndarray  # peak of the tensors in host memory during the call, bytes
    cpu: np.ndarray  # CPU time of the calling thread, ns
    leaf_operations: np.ndarray
    node: Labels  # Type:instance
    type: Labels  # Type


class NodeSource(TableSource, Protocol):
    """The part of a Profile that holds node calls."""

    @property
    def ranges(self) -> Ranges:
        """NVTX ranges. Raise MissingData if the file has none."""


def read_node_calls(profile: NodeSource) -> NodeCalls:
    """Read the node calls in the file's order. Raise MissingData if there are none in either form."""
    if profile.has("SPNG_CALL"):
        return _recorded(profile)
    try:
        ranges = profile.ranges
    except MissingData:
        raise profile.missing("SPNG_CALL", "NVTX_EVENTS") from None
    rows = np.flatnonzero(is_node_call(ranges))
    if not len(rows):
        raise MissingData(
            f"{profile.name} does not contain node calls",
            seen=f"no range Type:instance in the NVTX domain {NODE_DOMAIN}",
            hint="record with a build configured --with-nvtx",
        )
    ranges = ranges.take(rows)
    unknown = np.full(len(rows), NULL, dtype=np.int64)
    return NodeCalls(
        start=ranges.start,
        end=ranges.end,
        thread=ranges.thread,
        id=ranges.row,
        event=ranges.payload,
        ok=np.ones(len(rows), dtype=np.int64),
        **dict.fromkeys(MEASURED.values(), unknown),
        node=ranges.text,
        type=ranges.text.map(type_of),
    )


def is_run(ranges: Ranges) -> np.ndarray:
    """Return the mask of the ranges that wire-cell opens around all events."""
    return ranges.domain.matching(NODE_DOMAIN.__eq__) & ranges.text.matching(RUN.__eq__)


def is_node_call(ranges: Ranges) -> np.ndarray:
    """Return the mask of the ranges of node calls.

    They are named Type:instance, or Type with the index of the event as payload; a word without instance and
    payload may be any range. If a process has the range `run`, its node calls lie within it.
    """
    runs, process = is_run(ranges), process_of(ranges.thread)
    inside = ~np.isin(process, process[runs])
    for run in np.flatnonzero(runs).tolist():
        inside |= (
            (process == process[run]) & (ranges.start >= ranges.start[run]) & (ranges.end <= ranges.end[run])
        )
    return (
        ranges.domain.matching(NODE_DOMAIN.__eq__)
        & ranges.text.matching(NODE_NAME.fullmatch)
        & (ranges.text.matching(lambda text: ":" in text) | (ranges.payload != NULL))
        & (ranges.style == PUSH_POP)
        & inside
        & ~runs
    )


def event_of(ranges: Ranges) -> np.ndarray:
    """Return the index of the event of each range, NULL for none.

    Only payloads of node calls and of the engines' ranges are indices of events.
    """
    has_event = is_node_call(ranges) | ranges.domain.matching(ENGINE_DOMAIN.__eq__)
    return np.where(has_event, ranges.payload, NULL)


# column of SPNG_CALL -> column of NodeCalls
MEASURED = {
    "bytes_in": "bytes_in",
    "bytes_out": "bytes_out",
    "rss": "resident",
    "cuda_alloc_peak": "device_peak",
    "host_alloc_peak": "host_peak",
    "cpu": "cpu",
    "leaf_operations": "leaf_operations",
}


def _recorded(profile: TableSource) -> NodeCalls:
    """Read SPNG_CALL and SPNG_NODE."""
    table = profile.table("SPNG_CALL")
    node = names_of_nodes(profile, table.integers("node"))
    start, end = table.intervals()
    return NodeCalls(
        start=start,
        end=end,
        thread=table.integers("globalTid"),
        id=table.integers("id"),
        event=table.integers("event"),
        ok=table.integers("ok"),
        **{name: _measured(table.integers(column)) for column, name in MEASURED.items()},
        node=node,
        type=node.map(type_of),
    )


def names_of_nodes(profile: TableSource, ids: np.ndarray) -> Labels:
    """Return Type:instance of each node, "node N" for ids without a row in SPNG_NODE."""
    known: dict[int, str] = {}
    if profile.has("SPNG_NODE"):
        nodes = profile.table("SPNG_NODE")
        types, instances = nodes.text_column("type").to_list(), nodes.text_column("name").to_list()
        names = [f"{type_}:{instance}" if instance else type_ for type_, instance in zip(types, instances)]
        known = dict(zip(nodes.integers("id").tolist(), names))
    distinct, rows = np.unique(ids, return_inverse=True)
    return label(known.get(i, f"node {i}") if i != NULL else None for i in distinct.tolist()).take(rows)


def _measured(values: np.ndarray) -> np.ndarray:
    return np.where(values == NOT_MEASURED, NULL, values)


def type_of(node: str) -> str:
    """SPNGDecon:induction -> SPNGDecon."""
    return node.split(":", 1)[0]


def capturing_calls(profile: TableSource, operations: Operations) -> np.ndarray:
    """Return the id of the call that captured the graph node of each operation, NULL for none."""
    unknown = np.full(len(operations), NULL, dtype=np.int64)
    if not profile.has("CUDA_GRAPH_NODE_EVENTS"):
        return unknown
    table = profile.table("CUDA_GRAPH_NODE_EVENTS")
    process = process_of(table.integers("globalTid"))  # ids of graph nodes are unique only within a process
    node, original, wanted = join_keys(
        (process, table.integers("graphNodeId")),
        (process, table.integers("originalGraphNodeId")),
        (operations.process, operations.graph_node),
    )
    call = table.integers("spngCall")
    source = lookup(node, original)
    for _ in range(len(table)):  # clones refer to their originals, possibly over several steps
        better = np.where(source >= 0, call[source], call)
        if np.array_equal(better, call):
            break
        call = better
    found = lookup(node, wanted)
    return np.where((found >= 0) & (operations.graph_node != NULL), call[found], unknown)


def capturing_nodes(profile: TableSource, operations: Operations) -> Labels:
    """Return the node that captured the graph node of each operation.

    The calls that capture count for no event, so most are in SPNG_UNCOUNTED_CALL only.
    """
    nothing = np.empty(0, np.int64)
    call, node = [nothing], [nothing]
    for name in ("SPNG_CALL", "SPNG_UNCOUNTED_CALL"):
        if profile.has(name):
            call.append(profile.table(name).integers("id"))
            node.append(profile.table(name).integers("node"))
    found = lookup(np.concatenate(call), capturing_calls(profile, operations))
    return names_of_nodes(profile, np.append(np.concatenate(node), NULL)[found])  # -1 selects NULL, no node


@dataclass
class Spans(HostEvents):
    """Intervals on threads."""


class NodeProjection:
    """Assignment of ranges, API calls and device operations to node calls."""

    def __init__(self, profile: TableSource, calls: NodeCalls, projection: Projection) -> None:
        self.calls = calls
        self.projection = projection
        self._profile = profile

    @cached_property
    def own_range(self) -> np.ndarray:
        """The NVTX range of each node call, -1 for none. wire-cell opens the range just before it starts the
        call's clock."""
        calls, ranges = self.calls, self.projection.ranges
        rows = np.flatnonzero(ranges.on_one_thread & ranges.text.matching(set(calls.node.names).__contains__))
        around = ranges.take(rows)
        local = nest(
            (around.start, around.end, around.thread), (calls.start, calls.end, calls.thread)
        ).innermost
        own = np.where(local >= 0, rows[local] if len(rows) else -1, -1)
        same = [
            found >= 0 and ranges.text.text(found) == calls.node.text(i)
            for i, found in enumerate(own.tolist())
        ]
        return np.where(same, own, -1)

    @cached_property
    def spans(self) -> Spans:
        """Start and end of each node call: those of its own range if there is one."""
        calls, ranges, own = self.calls, self.projection.ranges, self.own_range
        if not len(ranges):
            return Spans(calls.start, calls.end, calls.thread)
        start = np.where(own >= 0, np.minimum(calls.start, ranges.start[own]), calls.start)
        return Spans(
            start, np.where(own >= 0, np.maximum(calls.end, ranges.end[own]), calls.end), calls.thread
        )

    @cached_property
    def call_of_operation(self) -> np.ndarray:
        """The node call of each device operation, -1 for none.

        It is found by external correlation if recorded, else as the innermost node call around the launching
        API call.
        """
        launching = self.projection.call_of_operation
        by_time = np.where(
            launching >= 0, self.call_of_api_call[launching] if len(self.call_of_api_call) else -1, -1
        )
        noted = self._noted(self.projection.operations)
        return np.where(noted >= 0, noted, by_time)

    def _noted(self, operations: Operations) -> np.ndarray:
        """Find node calls by SPNG_CALL_CORRELATION."""
        if not self._profile.has("SPNG_CALL_CORRELATION"):
            return np.full(len(operations), -1, dtype=np.int64)
        table = self._profile.table("SPNG_CALL_CORRELATION")
        noted_key, key = join_keys(
            (process_of(table.integers("globalPid")), table.integers("correlationId")),
            (operations.process, operations.correlation),
        )
        found = lookup(noted_key, key)
        return np.where(found >= 0, lookup(self.calls.id, table.integers("call")[found]), -1)

    @cached_property
    def call_of_api_call(self) -> np.ndarray:
        """The innermost node call around each API call on its thread, -1 for none."""
        spans, calls = self.spans, self.projection.calls
        return nest((spans.start, spans.end, spans.thread), (calls.start, calls.end, calls.thread)).innermost
