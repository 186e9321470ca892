# SPDX-License-Identifier: Apache-2.0
"""Figures of timing reports: per node, and for the chain between file input and output."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import asdict, dataclass

FILE_NODES = ("FrameFileSource", "FrameFileSink")


@dataclass(frozen=True)
class Spread:
    """Statistics of a sample of times [ms]."""

    median: float
    minimum: float
    p90: float


def spread(values: list[float]) -> Spread:
    """Return median, minimum and 90th percentile (nearest rank: the largest of few values)."""
    ordered = sorted(values)
    rank = min(len(ordered) - 1, int(0.9 * len(ordered)))
    return Spread(statistics.median(ordered), ordered[0], ordered[rank])


@dataclass(frozen=True)
class NodeFigures:
    """Figures of a node, or of all between file input and output. Times per event [ms], except `first` without first events."""

    name: str
    type: str
    nested: bool
    first: float  # first event of a run, which includes one-time work; median over the runs
    wall: Spread
    cpu: float  # of all threads, median
    operations: float  # leaf operations per event
    peak_bytes: int  # largest growth of tensor memory during a call

    def json(self) -> dict:
        """Return the content of the JSON file."""
        return asdict(self)


def per_event(nodes: list[dict], key: str, readouts: int = 1, events: int = 1) -> dict[int, float]:
    """Return event -> time [ms], summed over the calls of the nodes. key: a time of a call [ns].

    Long readouts are several consecutive events: then return readout -> time of `readouts` in `events`.
    """
    sums: dict[int, float] = defaultdict(float)
    for node in nodes:
        for call in node["per_call"]:
            sums[call["event"] * readouts // events] += call[key] * 1e-6
    return sums


def split_first(by_event: dict[int, float]) -> tuple[float, list[float]]:
    """Return the first event's value and those of later events; a run of one event uses its value for both."""
    values = [value for _, value in sorted(by_event.items())]
    return values[0], values[1:] or values


def operations_per_event(nodes: list[dict]) -> float:
    """Return the leaf operations of an event, summed over the nodes; a call does not count those of calls inside it."""
    return sum(node["leaf_operations"] / len(per_event([node], "wall_ns")) for node in nodes)


def figures(name: str, kind: str, nodes_of_runs: list[list[dict]], operations: float) -> NodeFigures:
    """Return the figures of the sum over the given nodes, over all runs. The nodes must not be nested in each other."""
    firsts: list[float] = []
    walls: list[float] = []
    cpus: list[float] = []
    for nodes in nodes_of_runs:
        for key, later in (("wall_ns", walls), ("cpu_ns", cpus)):
            first, rest = split_first(per_event(nodes, key))
            later.extend(rest)
            if key == "wall_ns":
                firsts.append(first)
    return NodeFigures(
        name,
        kind,
        is_nested(nodes_of_runs[0][0]),
        statistics.median(firsts),
        spread(walls),
        statistics.median(cpus),
        operations,
        max(node["cpu_peak_bytes"] for nodes in nodes_of_runs for node in nodes),
    )


def is_nested(node: dict) -> bool:
    """Tell whether the node runs inside a call of another node, as a model does."""
    return node["per_call"][0]["depth"] > 0


def node_figures(timings: list[dict]) -> list[NodeFigures]:
    """Return the figures of every node, the slowest first."""
    by_name: dict[str, list[list[dict]]] = {}
    for timing in timings:
        for node in timing["nodes"]:
            by_name.setdefault(node["name"], []).append([node])
    rows = [
        figures(name, runs[0][0]["type"], runs, operations_per_event(runs[0]))
        for name, runs in by_name.items()
    ]
    return sorted(rows, key=lambda row: -row.wall.median)


def chain_figures(timings: list[dict]) -> NodeFigures:
    """Return the figures of all nodes except file nodes. With one event in flight, calls do not overlap: the sum is wall time."""
    nodes = [chain_nodes(timing) for timing in timings]
    return figures("the chain", "", nodes, chain_operations(timings[0]))


def chain_nodes(timing: dict) -> list[dict]:
    """Return all nodes except file nodes and nodes inside calls of others, whose times those calls contain."""
    return [node for node in timing["nodes"] if node["type"] not in FILE_NODES and not is_nested(node)]


def chain_operations(timing: dict) -> float:
    """Return the leaf operations of an event in all nodes except file nodes, also inside calls of others."""
    return operations_per_event([node for node in timing["nodes"] if node["type"] not in FILE_NODES])
