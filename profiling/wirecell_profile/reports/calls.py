# SPDX-License-Identifier: Apache-2.0
"""Reports of calls on the host: CUDA, the operating system's runtime, Vulkan, NVIDIA's video libraries."""

from __future__ import annotations

import numpy as np

from ..model.events import Calls, join_labels, read_host_calls
from ..model.grouping import group
from ..model.selection import Scope
from ..model.table import label
from ..output import Result
from . import list_of, report, sum_of_times, threads_of

VULKAN_API_CLASS = 53
VIDEO = {"NVVIDEO_ENCODER_API": "Encoder", "NVVIDEO_DECODER_API": "Decoder", "NVVIDEO_JPEG_API": "JPEG"}


def sum_by_name(calls: Calls) -> Result:
    """Summarise calls by name, equal totals in the order of the names' ids in the file."""
    codes = calls.name.codes
    return sum_of_times(calls.duration, group(codes), "Num Calls", {"Name": calls.name.text}, codes)


def calls_of(scope: Scope, table: str) -> Calls:
    """Return the selected calls of a table of nsys. Raise MissingData without it."""
    calls = read_host_calls(scope.profile, table)
    return calls.take(scope.host_rows(calls))


@report("CUDA API calls by name", "cudaapisum")
def cuda_api_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise calls of the runtime and the driver API by name without version suffix."""
    return sum_by_name(scope.profile.calls.take(scope.call_rows))


@report("calls of the operating system's runtime by function", "osrtsum")
def osrt_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise rows of OSRT_API by function."""
    return sum_by_name(scope.profile.system_calls.take(scope.system_call_rows))


@report("CUDA API calls one by one", "cudaapitrace")
def cuda_api_trace(scope: Scope, _: frozenset[str]) -> Result:
    """Return one row per call, by start."""
    calls = scope.profile.calls.take(scope.call_rows)
    return list_of(
        np.argsort(calls.start, kind="stable"),
        {
            "Start (ns)": calls.start,
            "Duration (ns)": calls.duration,
            "Name": calls.name,
            "Result": calls.result,
            "CorrID": calls.correlation,
            **threads_of(scope.profile, calls.thread),
        },
    )


@report("Vulkan calls by function", "vulkanapisum")
def vulkan_api_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise Vulkan calls by function."""
    calls = calls_of(scope, "VULKAN_API")
    return sum_by_name(calls.take(calls.event_class == VULKAN_API_CLASS))


@report("Vulkan calls one by one", "vulkanapitrace")
def vulkan_api_trace(scope: Scope, _: frozenset[str]) -> Result:
    """Return one row per Vulkan call, by start."""
    calls = read_host_calls(scope.profile, "VULKAN_API")
    table, rows = scope.profile.table("VULKAN_API"), scope.host_rows(calls)
    return list_of(
        rows[np.argsort(calls.start[rows], kind="stable")],
        {
            "Start (ns)": calls.start,
            "Duration (ns)": calls.duration,
            "Name": table.strings("nameId"),
            "Event Class": calls.event_class,
            "Context": table.integers("contextId"),
            "CorrID": calls.correlation,
            **threads_of(scope.profile, calls.thread),
        },
    )


@report("calls of NVIDIA's video libraries by function")
def nvvideo_api_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise calls of the video libraries by function and library."""
    scope.profile.require(*VIDEO)
    parts = {VIDEO[name]: calls_of(scope, name) for name in VIDEO if scope.profile.has(name)}
    names = join_labels([part.name for part in parts.values()])
    library = label(name for name, part in parts.items() for _ in range(len(part)))
    groups = group(library.codes, names.codes)
    durations = np.concatenate([part.duration for part in parts.values()])
    keys = {"Event Type": library.text, "Name": names.text}
    return sum_of_times(durations, groups, "Num Calls", keys, library.codes, names.codes)
