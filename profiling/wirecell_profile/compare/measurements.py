# SPDX-License-Identifier: Apache-2.0
"""Measurements of runs per node and event.

They come from timing files of `wire-cell --timing` (schema spng-timing-1), from profiles
(profile_measurements.py), and from files of measurements (schema spng-measurements-1), a compact form of many
runs (`compare --save-runs`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..errors import MissingData
from ..output import write

TIMING_SCHEMA = "spng-timing-1"
SCHEMA = "spng-measurements-1"
WHOLE_EVENT = (
    # Entry beside the nodes: wall time from the first start to the last end of the event's calls, processor
    # time of all calls.
    "whole event"
)

# Arguments of a job that name outputs and do not affect measurements.
OUTPUT_ARGUMENTS = ("output",)
# Requested settings, and a line made from the arguments; the description of the run and the arguments have the effective ones.
STATED_BY_RUN = ("device", "engine", "precision", "graph_threads", "threads", "about")
# State of the machine and of other jobs, and time of the preparation; defaults of arguments: no settings.
OF_THE_MOMENT = ("memory", "warm_up_seconds", "defaults")

Series = dict[str, dict[str, np.ndarray]]


@dataclass
class Run:
    """One process run.

    `times` maps a metric (wall, cpu, device; ns) and `counts` a count (operations, bytes in, ...) to nodes,
    and these to an array with one value per entry of `events`, NaN if the node was not called. Wall time of a
    node excludes nested calls. `conditions` (name -> text) must be equal for runs to be comparable.
    """

    source: str
    time: str  # UTC, ISO 8601; empty if unknown
    commit: str
    conditions: dict[str, str]
    events: list[int]
    times: Series
    counts: Series
    operators: dict[str, dict[str, int]] = field(
        default_factory=dict
    )  # node -> ATen operator -> count of calls, whole run
    # Values of the job's arguments that were not given, named as in `conditions`; empty in older files.
    defaults: dict[str, str] = field(default_factory=dict)

    def is_steady(self, warm_up: int) -> np.ndarray:
        """Return the mask of the events after the first `warm_up` of the process."""
        return np.array(self.events, dtype=np.int64) >= warm_up

    def json(self) -> dict:
        """Return the run for a file of measurements."""

        def plain(series: Series) -> dict:
            return {
                name: {
                    node: [None if np.isnan(value) else int(value) for value in values]
                    for node, values in nodes.items()
                }
                for name, nodes in series.items()
            }

        return {
            "source": self.source,
            "time": self.time,
            "commit": self.commit,
            "conditions": self.conditions,
            "events": self.events,
            "times_ns": plain(self.times),
            "counts": plain(self.counts),
            "operators": self.operators,
            "defaults": self.defaults,
        }

    @classmethod
    def from_json(cls, data: dict) -> Run:
        """Make a run from the result of json()."""

        def arrays(series: dict) -> Series:
            return {
                name: {
                    node: np.array([np.nan if value is None else value for value in values], dtype=np.float64)
                    for node, values in nodes.items()
                }
                for name, nodes in series.items()
            }

        return cls(
            data["source"],
            data["time"],
            data["commit"],
            data["conditions"],
            data["events"],
            arrays(data["times_ns"]),
            arrays(data["counts"]),
            data["operators"],
            data.get("defaults", {}),
        )


def write_measurements(path: Path, runs: Iterable[Run]) -> None:
    """Write a file of measurements, which appears only when it is complete."""
    write(
        json.dumps({"schema": SCHEMA, "runs": [run.json() for run in runs]}, separators=(",", ":")) + "\n",
        path,
    )


def read_timing(data: dict, source: str) -> Run:
    """Read a timing file. Raise KeyError or TypeError if it does not follow its schema."""
    calls = [(node["name"], call) for node in data["nodes"] for call in node["per_call"]]
    if not calls:
        raise MissingData("the run called no node", source)
    events = sorted({call["event"] for _, call in calls})
    table = EventTable(events)
    for name, call in calls:
        event = call["event"]
        table.add_time("wall", name, event, call["wall_ns"] - call["nested_wall_ns"])
        table.add_time("cpu", name, event, call["cpu_ns"])
        if call["depth"] == 0 and data["run"]["graph_threads"] == 1:  # else calls count each other's time
            table.add_time("cpu", WHOLE_EVENT, event, call["cpu_ns"])
        if call["device_ns"] is not None:
            table.add_time("device", name, event, call["device_ns"])
        table.add_count("operations", name, event, call["leaf_operations"])
        table.add_count("bytes in", name, event, call["in_bytes"])
        table.add_count("bytes out", name, event, call["out_bytes"])
        peak = call["device_peak_bytes"] if call["device_peak_bytes"] is not None else call["cpu_peak_bytes"]
        table.add_count("peak bytes", name, event, peak)
        table.cover(event, call["start_ns"], call["start_ns"] + call["wall_ns"])
    operators = {node["name"]: node["operations"] for node in data["nodes"]}
    settings = data.get("settings") or {}
    return Run(
        source,
        data["time"],
        data["program"]["commit"],
        to_strings(_timing_conditions(data, len(events)) | setting_conditions(settings)),
        events,
        *table.finish(),
        operators,
        argument_defaults(settings),
    )


def _timing_conditions(data: dict, events: int) -> dict[str, object]:
    """Return the conditions in a timing file, without those in its settings."""
    run, machine = data["run"], data["machine"]
    return {
        "recorded by": "wire-cell --timing",
        "waits around every node": run["synchronising"],
        "machine": machine["host"],
        "processor": machine["cpu"],
        "cores": machine["cores"],
        "system": machine["system"],
        "build": data["program"]["build"],
        "torch": data["versions"]["torch"],
        "device": run["device"],
        "device name": run["device_name"],
        "engine": run["engine"],
        "precision": run["precision"],
        "graph threads": run["graph_threads"],
        "threads per operation": run["intra_op_threads"],
        "cpu time of": run["cpu_clock"],
        "events": events,
        "failed calls": sum(node["failed"] for node in data["nodes"]),
    }


def setting_conditions(settings: dict) -> dict[str, object]:
    """Return the conditions in a job's settings and arguments."""
    values: dict[str, object] = {}
    for name, value in settings.items():
        if name == "configuration":
            values["job"] = Path(str(value)).name  # its folder depends on the checkout
        elif name == "arguments" and isinstance(value, dict):
            values |= _arguments(value, settings)
        elif name not in STATED_BY_RUN + OF_THE_MOMENT:
            values[f"setting {name}"] = value
    return values


def argument_defaults(settings: dict) -> dict[str, str]:
    """Return the defaults of the job's arguments, named as their conditions."""
    defaults = settings.get("defaults")
    return to_strings(_arguments(defaults, settings)) if isinstance(defaults, dict) else {}


def _arguments(values: dict, settings: dict) -> dict[str, object]:
    """Name arguments as conditions, except outputs and those whose effective value is a setting.

    Strings lose the quotes that --tla-code needs.
    """
    return {
        f"argument {name}": value.strip("'\"") if isinstance(value, str) else value
        for name, value in values.items()
        if name not in OUTPUT_ARGUMENTS and name not in settings
    }


def to_strings(values: dict[str, object]) -> dict[str, str]:
    """Convert conditions to the strings that are compared and shown."""
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}


class EventTable:
    """Sums per metric, node and event, filled while a file is read."""

    def __init__(self, events: list[int]) -> None:
        self.events = events
        self._index = {event: index for index, event in enumerate(events)}
        self._times: Series = {}
        self._counts: Series = {}
        self._extent: dict[int, tuple[int, int]] = {}

    def _add(self, series: Series, name: str, node: str, event: int, value: float) -> None:
        values = series.setdefault(name, {}).setdefault(node, np.full(len(self.events), np.nan))
        index = self._index[event]
        values[index] = value if np.isnan(values[index]) else values[index] + value

    def add_time(self, metric: str, node: str, event: int, nanoseconds: float) -> None:
        """Add to a node's time in an event."""
        self._add(self._times, metric, node, event, nanoseconds)

    def add_count(self, count: str, node: str, event: int, value: float) -> None:
        """Add to a node's count in an event."""
        self._add(self._counts, count, node, event, value)

    def cover(self, event: int, start: int, end: int) -> None:
        """Extend the event to include start to end."""
        first, last = self._extent.get(event, (start, end))
        self._extent[event] = (min(first, start), max(last, end))

    def finish(self) -> tuple[Series, Series]:
        """Return (times, counts), with the whole event's wall time beside the nodes."""
        for event, (start, end) in self._extent.items():
            self.add_time("wall", WHOLE_EVENT, event, end - start)
        return self._times, self._counts
