# SPDX-License-Identifier: Apache-2.0
"""Reports of CUDA API calls and of calls of the operating system's runtime."""

from __future__ import annotations

import numpy as np

from ..model.events import Calls
from ..model.grouping import group
from ..model.identity import pid_of, tid_of
from ..model.selection import Scope
from ..model.table import NULL
from ..output import Result, columns
from . import Report, sum_of_times


def sum_by_name(calls: Calls) -> Result:
    """Summarise calls by name, equal totals in the order of the names' ids in the file."""
    codes = calls.name.codes
    return sum_of_times(calls.duration, group(codes), "Num Calls", {"Name": calls.name.text}, codes)


def cuda_api_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise calls of the runtime and the driver API by name without version suffix."""
    return sum_by_name(scope.profile.calls.take(scope.call_rows))


def osrt_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise rows of OSRT_API by function."""
    return sum_by_name(scope.profile.system_calls.take(scope.system_call_rows))


def cuda_api_trace(scope: Scope, _: frozenset[str]) -> Result:
    """Return one row per call, by start."""
    profile = scope.profile
    calls = profile.calls.take(scope.call_rows)
    rows = []
    for i in np.argsort(calls.start, kind="stable"):
        thread = int(calls.thread[i])
        rows.append(
            (
                int(calls.start[i]),
                int(calls.duration[i]),
                calls.name.text(i),
                *(None if value == NULL else int(value) for value in (calls.result[i], calls.correlation[i])),
                pid_of(thread),
                tid_of(thread),
                profile.thread_priorities.get(thread),
                profile.thread_names.get(thread),
            )
        )
    return Result(
        columns("Start (ns), Duration (ns), Name, Result, CorrID, Pid, Tid, T-Pri, Thread Name"), rows
    )


REPORTS = [
    Report("cuda_api_sum", "CUDA API calls by name", cuda_api_sum, ("cudaapisum",)),
    Report("cuda_api_trace", "CUDA API calls one by one", cuda_api_trace, ("cudaapitrace",)),
    Report("osrt_sum", "calls of the operating system's runtime by function", osrt_sum, ("osrtsum",)),
]
