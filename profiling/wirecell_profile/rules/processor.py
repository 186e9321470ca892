# SPDX-License-Identifier: Apache-2.0
"""Rules for the processor: waits of nodes, files, the first event, idle cores, and other programs."""

from __future__ import annotations

import numpy as np

from ..errors import MissingData
from ..model.job_events import FIRST, STEADY
from ..model.nesting import nest
from ..model.samples import recorder_samples
from ..model.selection import Scope
from ..model.table import NULL
from ..model.window import find_window
from ..tables.node_use import events
from . import Found, Hit, Limits, rule

LEAST_SHARE = 0.05  # of W; nodes and files that lose less are not reported
WAIT_SHARE = 0.3  # of a call's own time
IDLE_SHARE, OTHERS_SHARE = 0.4, 0.1  # of the cores
FIRST_FACTOR = 1.5  # first event / median of the others
LEAST_EVENTS = 2  # others
FILE_KINDS = ("source", "sink", "io")


@rule(
    "nodes that wait instead of computing",
    "The thread slept or had no core: it waited for other threads of an operation, a lock, a disk or a device, or "
    "the machine runs other programs (other_programs). Use as many threads as free cores, -A threads=N.",
    "host-sampling",
)
def node_waits(scope: Scope, limits: Limits) -> Found:
    """Find node calls, except those of sources and sinks, whose thread did not run for a large part of their own time."""
    calls = scope.profile.node_calls
    if not (calls.cpu != NULL).any():
        raise MissingData(f"{scope.profile.name} does not contain the processor time of node calls")
    nesting = nest((calls.start, calls.end, calls.thread))
    ran = np.where(calls.cpu == NULL, calls.duration, calls.cpu)
    own, inner = ran.copy(), np.flatnonzero(nesting.parent >= 0)
    np.subtract.at(own, nesting.parent[inner], ran[inner])
    waited = nesting.exclusive - own
    ranges = scope.profile.or_empty("ranges")
    around = nest((ranges.start, ranges.end, ranges.thread), (calls.start, calls.end, calls.thread)).innermost
    is_file = np.append(ranges.category.matching(FILE_KINDS.__contains__), False)[
        around
    ]  # -1: the last entry
    is_hit = (waited >= limits.wait) & (waited >= WAIT_SHARE * nesting.exclusive) & ~is_file
    return _relevant(
        scope,
        [
            Hit(
                int(calls.start[row]),
                int(waited[row]),
                calls.node.text(row),
                int(around[row]),
                note=f"the thread ran {own[row] / 1e6:.1f} of {nesting.exclusive[row] / 1e6:.1f} ms",
            )
            for row in scope.node_call_rows[is_hit[scope.node_call_rows]].tolist()
        ],
    )


@rule(
    "threads of the graph that read and write files",
    "Keep -A overlap_files=true; use a form without compression (.npz, .tar) and a fast disk. The last file is "
    "written after the last event, so more events in a run hide more of it.",
    "start-up",
)
def file_waits(scope: Scope, _: Limits) -> Found:
    """Find the time of sources, sinks, and of reading and writing files on the threads that call nodes."""
    ranges, rows = scope.profile.ranges, scope.range_rows
    is_file = ranges.category.matching(FILE_KINDS.__contains__)
    rows = rows[is_file[rows] & np.isin(ranges.thread[rows], scope.profile.node_calls.thread)]
    chosen = ranges.take(rows)
    outer = rows[nest((chosen.start, chosen.end, chosen.thread)).level == 0].tolist()
    return _relevant(
        scope,
        [Hit(int(ranges.start[row]), int(ranges.duration[row]), ranges.text.text(row), row) for row in outer],
    )


@rule(
    "first events that take much longer than the others",
    "They prepare what the others use: memory, plans of transforms, the network. Process more events or files in "
    "one program (--files, --serve, wirecell-campaign), and leave the first event out of comparisons.",
    "start-up",
)
def first_event(scope: Scope, _: Limits) -> Found:
    """Find first events that take much longer than the median of the others of their process."""
    hits = []
    latencies: dict[str, list[int]] = {}
    rows = [row[:5] for row in events(scope).rows]  # event, process, kind, start, latency
    for _, process, kind, _, latency in rows:
        if kind == STEADY and process is not None:  # the row of the median has none
            latencies.setdefault(process, []).append(latency)
    for _, process, kind, start, latency in rows:
        later = latencies.get(process, [])
        usual = float(np.median(later)) if len(later) >= LEAST_EVENTS else float(latency or 0)
        if kind == FIRST and latency > FIRST_FACTOR * usual:
            note = f"{latency / 1e6:,.1f} ms, median of {len(later)} others {usual / 1e6:,.1f} ms"
            hits.append(Hit(start, int(latency - usual), "first event", note=note))
    return Found(hits)


@rule(
    "cores that have nothing to do",
    "Use more threads in an operation (-A threads=0: all cores), the parallel engine (-A engine=TbbFlow), or "
    "several programs at once (wirecell-campaign).",
    "host-sampling",
)
def idle_cores(scope: Scope, _: Limits) -> Found:
    """Find runs on the CPU during which cores had nothing to do."""
    profile = scope.profile
    if (device := profile.manifest.get("device", "cpu")) != "cpu":
        raise MissingData(f"the job of {profile.name} runs on {device}, so its cores may be idle")
    own = _used_cores(scope, "process")
    try:
        used = max(own, _used_cores(scope, "machine"))
    except MissingData:
        used = own
    threads, engine = (profile.manifest.get(key, "?") for key in ("threads", "engine"))
    note = f"{threads} threads in an operation, engine {engine}"
    return _of_cores(scope, "idle cores", _cores(scope) - used, IDLE_SHARE, note)


@rule(
    "cores that other programs use",
    "Record again on an idle machine; compare processor time instead of wall time "
    "(wirecell-profile compare --metric cpu).",
    "machine",
)
def other_programs(scope: Scope, _: Limits) -> Found:
    """Find runs during which other programs used the cores."""
    others = _used_cores(scope, "machine") - _used_cores(scope, "process")
    return _of_cores(
        scope, "other programs", others, OTHERS_SHARE, "times of this run are not those of an idle machine"
    )


def _of_cores(scope: Scope, what: str, count: float, least: float, note: str) -> Found:
    """Return a hit of the whole window if a count of cores is at least a share of the machine's."""
    cores, window = _cores(scope), find_window(scope)
    if count < least * cores:
        return Found()
    lost = int(window.length * count / cores)
    return Found([Hit(window.start, lost, what, note=f"{count:.1f} of {cores} cores; {note}")])


def _relevant(scope: Scope, hits: list[Hit]) -> Found:
    """Return the hits if they take a relevant part of W."""
    found = Found(hits)
    return found if found.total >= LEAST_SHARE * find_window(scope).length else Found()


def _cores(scope: Scope) -> int:
    """Return the count of cores of the machine. Raise MissingData if the file does not tell it."""
    if "cpu_cores" not in scope.profile.manifest:
        raise MissingData(f"{scope.profile.name} does not contain the count of cores")
    return max(1, scope.profile.manifest_integer("cpu_cores"))


def _used_cores(scope: Scope, source: str) -> float:
    """Return the mean count of cores in use during W, by the process or by all programs of the machine.

    Raise MissingData without two samples around a part of W.
    """
    profile, window = scope.profile, find_window(scope)
    profile.require("SPNG_SAMPLE")
    samples = recorder_samples(profile)
    mine = [each for each in samples if (each.source, each.metric) == (source, "cpu_ns")]
    time, value = (mine[0].time, mine[0].value) if mine else (np.empty(0), np.empty(0))
    ends = np.clip([window.start, window.end], *(time[[0, -1]] if len(time) else (0, 0)))
    if ends[0] >= ends[1]:
        raise MissingData(f"{profile.name} does not contain samples of the processor time of the {source}")
    begun, ended = np.interp(ends, time, value)
    return float((ended - begun) / (ends[1] - ends[0]))
