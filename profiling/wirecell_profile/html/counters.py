# SPDX-License-Identifier: Apache-2.0
"""Counters of the profile page: quantities over time.

They are memory and processor time of the process, samples of the devices, and the busy share of each device.
Quantities that were not recorded have no counter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ..errors import MissingData
from ..model.events import Operations
from ..model.profile import Profile
from ..model.samples import gpu_metrics, recorder_samples
from ..model.selection import Scope, Selection
from ..model.window import Window
from ..tables.memory_use import device_memory
from .timeline import device_group

MAX_POINTS = 4000  # per counter; more points are averaged
BUSY_BINS = 1000
BYTES, SHARE, CORES, PLAIN = "B", "%", "cores", ""


@dataclass
class Counter:
    """A quantity at some times [ns]."""

    title: str
    group: str
    unit: str
    time: np.ndarray
    value: np.ndarray
    averaged: int = 1  # count of samples per point


def make_counters(scope: Scope, window: Window) -> list[Counter]:
    """Return all counters, per device, then of the process."""
    found = [
        *_busy(scope, window),
        *_device_memory(scope),
        *_samples(scope.profile),
        *_metrics(scope.profile),
    ]
    cut = [_cut(counter, scope.selection) for counter in found]
    return [counter for counter in cut if len(counter.time) > 1]


def _cut(counter: Counter, selection: Selection) -> Counter:
    """Cut a counter to the selected time, and average if it has more than MAX_POINTS."""
    keep = selection.covers(counter.time)
    time, value = counter.time[keep], counter.value[keep]
    step = -(-len(time) // MAX_POINTS)
    if step > 1:
        starts = np.arange(0, len(time), step)
        counts = np.diff(np.append(starts, len(time)))
        time, value = time[starts], np.add.reduceat(value, starts) / counts
    return Counter(counter.title, counter.group, counter.unit, time, value, max(1, step))


def _busy(scope: Scope, window: Window) -> list[Counter]:
    """Return for each device the busy share of BUSY_BINS equal parts of the window."""
    operations = scope.profile.or_empty("operations")
    if not len(operations):
        return []
    operations = operations.take(scope.operation_rows)
    edges = np.linspace(window.start, window.end, BUSY_BINS + 1)
    return [
        Counter(
            "GPU busy",
            device_group(scope, device),
            SHARE,
            edges[:-1].astype(np.int64),
            100
            * np.diff(_busy_until(operations.take(operations.device == device), edges))
            / (edges[1] - edges[0]),
        )
        for device in np.unique(operations.device).tolist()
    ]


def _busy_until(operations: Operations, times: np.ndarray) -> np.ndarray:
    """Return the union of the operations before each time [ns]."""
    order = np.argsort(operations.start, kind="stable")
    start, reached = operations.start[order], np.maximum.accumulate(operations.end[order])
    first = np.append(True, start[1:] > reached[:-1])
    start, end = start[first], reached[np.append(np.flatnonzero(first)[1:] - 1, len(reached) - 1)]
    points, busy = np.stack([start, end], axis=1).ravel(), np.cumsum(end - start)
    return np.interp(times, points, np.stack([busy - (end - start), busy], axis=1).ravel())


def _device_memory(scope: Scope) -> list[Counter]:
    """Return the device memory allocated by the process, from the driver's allocation events."""
    try:
        series = device_memory(scope).series
    except MissingData:
        return []
    return [Counter(one.name, "Device memory", BYTES, one.time, one.value.astype(float)) for one in series]


UNITS = {
    "bytes": BYTES,
    "percent": SHARE,
    "_pct": SHARE,
    "_hz": "Hz",
    "_watts": "W",
    "_celsius": "°C",
}  # by the end of the metric's name
TITLES = {"resident_bytes": "resident memory"}


def _samples(profile: Profile) -> list[Counter]:
    """Return one counter per source and metric of the recorder; processor time becomes cores in use."""
    found = []
    for one in recorder_samples(profile):
        if one.metric == "cpu_ns":
            later = np.diff(one.time) > 0
            cores = np.diff(one.value)[later] / np.diff(one.time)[later]
            found.append(Counter("processor in use", one.source, CORES, one.time[:-1][later], cores))
            continue
        unit = next((unit for ending, unit in UNITS.items() if one.metric.endswith(ending)), PLAIN)
        title = TITLES.get(one.metric, one.metric.replace("_", " "))
        device = re.fullmatch(r"gpu(\d+)", one.source)
        group = f"GPU {device[1]} samples" if device else one.source
        found.append(Counter(title, group, unit, one.time, one.value))
    return found


def _metrics(profile: Profile) -> list[Counter]:
    """Return one counter per device and metric of nsys exports."""
    found = []
    for one in gpu_metrics(profile):
        unit = SHARE if "%" in one.metric else "Hz" if one.metric.endswith("Frequency") else PLAIN
        found.append(Counter(one.metric, one.source, unit, one.time, one.value))
    return found
