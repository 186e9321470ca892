# SPDX-License-Identifier: Apache-2.0
"""Reports of kernels with their launching API calls.

Times: A = API call; Q = from the call's end to the kernel's start, if the kernel starts later; K = kernel;
T = from the call's start to the later end of call and kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.events import KERNEL, Calls, Operations
from ..model.grouping import group, summarise
from ..model.identity import pid_of, tid_of
from ..model.selection import Scope
from ..model.table import NULL, Labels
from ..output import Result, columns
from . import list_of, report
from .cuda_gpu import KERNEL_OPTIONS, chosen, grid_labels, kernel_labels, kernel_sizes


@dataclass
class Launches:
    """Kernels with known launching call, each in one row with that call."""

    calls: Calls
    kernels: Operations
    names: Labels
    queue: np.ndarray  # ns; negative if the kernel started before the call ended

    @property
    def total(self) -> np.ndarray:
        """T, ns."""
        return np.maximum(self.calls.end, self.kernels.end) - self.calls.start


def find_launches(scope: Scope, options: frozenset[str]) -> Launches:
    """Return the selected kernels with their calls. Raise MissingData if the file lacks either."""
    scope.profile.require("CUPTI_ACTIVITY_KIND_KERNEL")
    scope.profile.require("CUPTI_ACTIVITY_KIND_RUNTIME")
    kernels, rows = chosen(scope, KERNEL)
    call = scope.projection.call_of_operation[rows]
    known = call >= 0
    calls, kernels = scope.projection.calls.take(call[known]), kernels.take(known)
    return Launches(calls, kernels, kernel_labels(scope, rows[known], options), kernels.start - calls.end)


@report("launch, wait and run of kernels by API call and kernel", "kernexecsum", KERNEL_OPTIONS)
def cuda_kern_exec_sum(scope: Scope, options: frozenset[str]) -> Result:
    """Summarise by process, thread, device, API call and kernel; the longest mean T first."""
    launches = find_launches(scope, options)
    calls, kernels, names = launches.calls, launches.kernels, launches.names
    groups = group(calls.thread, kernels.device, calls.name.codes, names.codes)
    count, of_row = len(groups), groups.of_row
    waited = launches.queue >= 0
    total = summarise(launches.total, of_row, count)
    api = summarise(calls.duration, of_row, count)
    queue = summarise(launches.queue[waited], of_row[waited], count)
    kernel = summarise(kernels.duration, of_row, count)
    rows = []
    shown_mean = np.floor(total.mean * 10 + 0.5)  # ties are those of the printed means
    ties = (calls.thread, kernels.device, calls.name.ranks(), names.ranks())
    for i in np.lexsort((*(tie[groups.first] for tie in reversed(ties)), -shown_mean)):
        first = groups.first[i]
        thread = int(calls.thread[first])
        rows.append(
            (
                pid_of(thread),
                tid_of(thread),
                int(kernels.device[first]),
                int(total.count[i]),
                int(queue.count[i]),
                *total.cells(i),
                *api.cells(i),
                *queue.cells(i),
                *kernel.cells(i),
                calls.name.text(first),
                names.text(first),
            )
        )
    statistics = [f"{part}{name} (ns)" for part in "TAQK" for name in ("Avg", "Med", "Min", "Max", "StdDev")]
    return Result(columns("PID, TID, DevId, Count, QCount", *statistics, "API Name, Kernel Name"), rows)


@report("launch, wait and run of kernels one by one", "kernexectrace", KERNEL_OPTIONS)
def cuda_kern_exec_trace(scope: Scope, options: frozenset[str]) -> Result:
    """Return one row per kernel, by the start of the call."""
    launches = find_launches(scope, options)
    calls, kernels = launches.calls, launches.kernels
    sizes = kernel_sizes(scope, kernels)
    waited = launches.queue >= 0
    return list_of(
        np.argsort(calls.start, kind="stable"),
        {
            "API Start (ns)": calls.start,
            "API Dur (ns)": calls.duration,
            "Queue Start (ns)": np.where(waited, calls.end, NULL),
            "Queue Dur (ns)": np.where(waited, launches.queue, NULL),
            "Kernel Start (ns)": kernels.start,
            "Kernel Dur (ns)": kernels.duration,
            "Total Dur (ns)": launches.total,
            "PID": pid_of(calls.thread),
            "TID": tid_of(calls.thread),
            "DevId": kernels.device,
            "API Function": calls.name,
            "GridXYZ": grid_labels(*sizes[:3]),
            "BlockXYZ": grid_labels(*sizes[3:]),
            "Kernel Name": launches.names,
        },
    )
