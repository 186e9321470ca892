# SPDX-License-Identifier: Apache-2.0
"""Measurements from profiles of wire-cell's recorder and from nsys exports.

Each process is a run. Rows are node calls; cut events are left out. An export of
another program has no node calls; there every range name is a node and its instances, in the order of their
starts on all threads of the process, are its events.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from ..errors import MissingData
from ..model.events import BLOCKING, MEMCPY, MEMSET
from ..model.identity import process_of
from ..model.nesting import nest
from ..model.nodes import NodeProjection
from ..model.profile import Profile
from ..model.projection import Projection, union_length
from ..model.table import NULL
from ..path_names import readable
from .measurements import EventTable, Run, argument_defaults, setting_conditions, to_strings

# Keys of the recorder's manifest that must be equal -> their names in messages.
MANIFEST = {
    "tier": "recorder tier",
    "what": "recorded parts",
    "end": "end of the recording",
    "synchronised_timing": "waits around every node",
    "host": "machine",
    "cpu": "processor",
    "cpu_cores": "cores",
    "system": "system",
    "build": "build",
    "torch_version": "torch",
    "device": "device",
    "engine": "engine",
    "precision": "precision",
    "graph_threads": "graph threads",
    "threads": "threads per operation",
    "dtype": "dtype",
}
LAUNCHING = ("LaunchKernel", "GraphLaunch", "LaunchCooperativeKernel", "LaunchHostFunc")


def read_profile(path: Path) -> list[Run]:
    """Read the measurements of the recorded processes.

    Raise MissingData if the file has neither node calls nor ranges.
    """
    with Profile.open(path) as profile:
        projection = Projection.of(profile)
        of_nodes = True
        try:
            rows = _node_rows(profile, projection)
        except MissingData:
            if profile.is_own or not len(projection.ranges):
                raise
            rows, of_nodes = _range_rows(projection), False
        processes = np.unique(rows.process[rows.events != NULL]).tolist()
        if not processes:
            raise _nothing_to_measure(profile, of_nodes)
        runs = [_run(profile, projection, rows.of_process(process), of_nodes) for process in processes]
        for run, process in zip(runs, processes if len(runs) > 1 else ()):
            run.source += f", process {profile.process_titles[process]}"
        return runs


def _nothing_to_measure(profile: Profile, of_nodes: bool) -> MissingData:
    """Make the error for a file without a whole event."""
    if of_nodes and len(profile.job_events):
        return MissingData(
            f"every event in {profile.name} is cut",
            hint="record whole events, for example with --profile-events",
        )
    return MissingData(
        f"{profile.name} has no range with the index of its event", hint="record with a newer build"
    )


@dataclass(frozen=True)
class Rows:
    """Node calls or ranges."""

    names: list[str]
    process: np.ndarray
    events: np.ndarray  # index of the event, NULL without one
    start: np.ndarray
    end: np.ndarray
    own: np.ndarray  # wall time without nested rows, ns
    of_operation: np.ndarray  # row per device operation, or -1
    of_api_call: np.ndarray  # row per API call, or -1

    def of_process(self, process: int) -> Rows:
        """Return the rows with the events of a process only."""
        return replace(self, events=np.where(self.process == process, self.events, NULL))


def _node_rows(profile: Profile, projection: Projection) -> Rows:
    """Return the node calls."""
    calls = profile.node_calls
    nodes = NodeProjection(profile, calls, projection)
    own = nest((calls.start, calls.end, calls.thread)).exclusive
    job = profile.job_events
    cut = np.append(job.is_cut, False)[job.of_call]  # -1 (no event) selects the appended value
    return Rows(
        calls.node.to_list(),
        process_of(calls.thread),
        np.where(cut, NULL, calls.event),
        calls.start,
        calls.end,
        own,
        nodes.call_of_operation,
        nodes.call_of_api_call,
    )


def _range_rows(projection: Projection) -> Rows:
    """Return all ranges by name without torch's numbers, with the index of the instance as event."""
    ranges = projection.ranges
    names, process = ranges.folded.to_list(), process_of(ranges.thread)
    order = np.lexsort((ranges.row, ranges.start))
    instance = np.empty(len(ranges), np.int64)
    seen: dict[tuple[str, int], int] = {}
    for row in order.tolist():
        key = (names[row], int(process[row]))
        instance[row] = seen.get(key, 0)
        seen[key] = int(instance[row]) + 1
    return Rows(
        names,
        process,
        instance,
        ranges.start,
        ranges.end,
        projection.exclusive,
        projection.range_of_operation,
        projection.range_of_call,
    )


def _run(profile: Profile, projection: Projection, rows: Rows, of_nodes: bool) -> Run:
    known = np.flatnonzero(rows.events != NULL)
    table = EventTable(sorted(set(rows.events[known].tolist())))
    has_devices = min(len(projection.operations), len(projection.calls)) > 0
    for row in known.tolist():
        name, event = rows.names[row], int(rows.events[row])
        table.add_time("wall", name, event, int(rows.own[row]))
        if of_nodes:  # instances with equal index of different ranges do not form an event
            table.cover(event, int(rows.start[row]), int(rows.end[row]))
        if has_devices:  # zero is a measured value: no device work for this node
            for count in ("device operations", "launches", "copies", "bytes copied", "synchronisations"):
                table.add_count(count, name, event, 0)
    if has_devices:
        _add_device_work(table, projection, rows)
    times, counts = table.finish()
    settings = _settings(profile)
    return Run(
        readable(profile.path),
        _time_of(profile),
        profile.manifest.get("commit", ""),
        to_strings(_conditions(profile, len(table.events)) | setting_conditions(settings)),
        table.events,
        times,
        counts,
        defaults=argument_defaults(settings),
    )


def _add_device_work(table: EventTable, projection: Projection, rows: Rows) -> None:
    """Add device time (union of a row's operations) and exact counts."""
    operations, calls = projection.operations, projection.calls
    order = np.argsort(rows.of_operation, kind="stable")
    distinct, first = np.unique(rows.of_operation[order], return_index=True)
    for row, chosen in zip(distinct.tolist(), np.split(order, first[1:])):
        if row < 0 or rows.events[row] == NULL:
            continue
        name, event, kind = rows.names[row], int(rows.events[row]), operations.kind[chosen]
        table.add_time("device", name, event, union_length(operations.start[chosen], operations.end[chosen]))
        table.add_count("device operations", name, event, len(chosen))
        moved = (kind == MEMCPY) | (kind == MEMSET)
        table.add_count("copies", name, event, int((kind == MEMCPY).sum()))
        amount = operations.bytes[chosen]
        table.add_count("bytes copied", name, event, int(amount[moved & (amount != NULL)].sum()))
    for labels, count in ((LAUNCHING, "launches"), (BLOCKING, "synchronisations")):
        wanted = calls.name.matching(partial(_has_part, labels))
        for row in rows.of_api_call[wanted & (rows.of_api_call >= 0)].tolist():
            if rows.events[row] != NULL:
                table.add_count(count, rows.names[row], int(rows.events[row]), 1)


def _has_part(parts: tuple[str, ...], name: str) -> bool:
    return any(part in name for part in parts)


def _time_of(profile: Profile) -> str:
    """Return the start of the session, UTC."""
    if profile.has("TARGET_INFO_SESSION_START_TIME"):
        return profile.table("TARGET_INFO_SESSION_START_TIME").text_column("utcTime").to_list()[0] or ""
    return ""


def _conditions(profile: Profile, events: int) -> dict[str, object]:
    """Return the conditions, without those in the settings. Exports have fewer than our recorder, which also lists its active sources."""
    manifest = profile.manifest
    source = (
        "wire-cell's recorder"
        if profile.is_own
        else "nsys " + profile.export.get("EXPORT_PRODUCT_VERSION", "")
    )
    conditions: dict[str, object] = {"recorded by": source.strip(), "events": str(events)}
    if profile.has("SPNG_CALL"):
        conditions["failed calls"] = int((profile.table("SPNG_CALL").integers("ok") == 0).sum())
    conditions |= {text: manifest[key] for key, text in MANIFEST.items() if key in manifest}
    conditions |= {f"recorder's {key}": value for key, value in manifest.items() if key.startswith("source.")}
    conditions |= {f"device {index}": name for index, name in profile.device_names.items() if name}
    return conditions


def _settings(profile: Profile) -> dict:
    """Return the job's settings and arguments; empty without readable ones."""
    try:
        settings = json.loads(profile.manifest.get("settings") or "{}")
    except (ValueError, RecursionError):
        return {}
    return settings if isinstance(settings, dict) else {}
