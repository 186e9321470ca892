# SPDX-License-Identifier: Apache-2.0
"""Reports of Vulkan, OpenGL and Direct3D: calls, and labels that programs put around their work."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..model.events import HostEvents, join_keys, read_host_calls, read_host_events
from ..model.grouping import group
from ..model.identity import lookup, pid_of, tid_of
from ..model.selection import Scope
from ..model.table import NULL, Labels, label
from ..output import Result, columns
from . import Report, listed, sum_of_times
from .cuda_api import sum_by_name

VULKAN_API_CLASS = 53
KHR_HOST, KHR_GPU = 62, 63  # classes of KHR_debug groups


def vulkan_api_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise Vulkan calls by function."""
    calls = read_host_calls(scope.profile, "VULKAN_API")
    rows = scope.host_rows(calls)
    return sum_by_name(calls.take(rows[calls.event_class[rows] == VULKAN_API_CLASS]))


def vulkan_api_trace(scope: Scope, _: frozenset[str]) -> Result:
    """Return one row per Vulkan call, by start."""
    profile = scope.profile
    calls = read_host_calls(profile, "VULKAN_API")
    rows = scope.host_rows(calls)
    rows = rows[np.argsort(calls.start[rows], kind="stable")]
    table = profile.table("VULKAN_API")
    threads = calls.thread[rows].tolist()
    cells = (
        listed(calls.start, rows),
        listed(calls.duration, rows),
        listed(table.strings("nameId"), rows),
        listed(calls.event_class, rows),
        listed(table.integers("contextId"), rows),
        listed(calls.correlation, rows),
        listed(pid_of(calls.thread), rows),
        listed(tid_of(calls.thread), rows),
        [profile.thread_priorities.get(thread) for thread in threads],
        [profile.thread_names.get(thread) for thread in threads],
    )
    return Result(
        columns(
            "Start (ns), Duration (ns), Name, Event Class, Context, CorrID, Pid, Tid, T-Pri, Thread Name"
        ),
        list(zip(*cells)),
    )


def _sum_of_labels(scope: Scope, events: HostEvents, labels: Labels) -> Result:
    """Summarise labelled intervals by label; labels without any time are left out."""
    rows = scope.host_rows(events)
    codes = labels.codes[rows]
    result = sum_of_times(
        events.duration[rows], group(codes), "Instances", {"Range": labels.take(rows).text}, codes
    )
    result.rows = [row for row in result.rows if row[1] > 0]
    return result


def work_sum(scope: Scope, _: frozenset[str], table: str) -> Result:
    """Summarise the labelled work of a table of the GPU's."""
    scope.profile.require(table)
    events, labels = (
        read_host_events(scope.profile.table(table)),
        scope.profile.table(table).strings("textId"),
    )
    labelled = labels.codes >= 0
    return _sum_of_labels(scope, events.take(labelled), labels.take(labelled))


def marker_sum(scope: Scope, _: frozenset[str], table: str) -> Result:
    """Summarise the times between the calls that open and that close a label.

    Both have one correlation id; only the opening one has a text.
    """
    scope.profile.require(table)
    source = scope.profile.table(table)
    events, labels = read_host_events(source), source.strings("textId")
    (keys,) = join_keys((events.thread, source.integers("correlationId")))
    opening, closing = np.flatnonzero(labels.codes >= 0), np.flatnonzero(labels.codes < 0)
    found = lookup(keys[closing], keys[opening])
    opening, closing = opening[found >= 0], closing[found[found >= 0]]
    between = HostEvents(events.end[opening], events.start[closing], events.thread[opening])
    return _sum_of_labels(scope, between, labels.take(opening))


def khr_range_sum(scope: Scope, _: frozenset[str], event_class: int) -> Result:
    """Summarise OpenGL's debug groups of one class. Groups that were not closed end with the last event."""
    scope.profile.require("KHR_DEBUG_EVENTS")
    table = scope.profile.table("KHR_DEBUG_EVENTS")
    start, end = table.integers("start"), table.integers("end")
    events = HostEvents(
        start, np.where(end == NULL, max(start.max(), end.max()), end), table.integers("globalTid")
    )
    ids = table.integers("id").tolist()
    labels = label(
        text or str(identifier) for text, identifier in zip(table.strings("textId").to_list(), ids)
    )
    labels = Labels(labels.ranks(), sorted(labels.names))
    of_class = table.integers("eventClass") == event_class
    return _sum_of_labels(scope, events.take(of_class), labels.take(of_class))


REPORTS = [
    Report("vulkan_api_sum", "Vulkan calls by function", vulkan_api_sum, ("vulkanapisum",)),
    Report("vulkan_api_trace", "Vulkan calls one by one", vulkan_api_trace, ("vulkanapitrace",)),
    Report(
        "vulkan_marker_sum",
        "Vulkan debug labels on the host",
        partial(marker_sum, table="VULKAN_DEBUG_API"),
        ("vulkanmarkerssum",),
    ),
    Report(
        "vulkan_gpu_marker_sum",
        "Vulkan debug labels on the device",
        partial(work_sum, table="VULKAN_WORKLOAD"),
        ("vulkangpumarkersum",),
    ),
    Report(
        "dx11_pix_sum",
        "DX11 PIX ranges on the host",
        partial(marker_sum, table="D3D11_PIX_DEBUG_API"),
        ("dx11pixsum",),
    ),
    Report(
        "dx12_pix_sum",
        "DX12 PIX ranges on the host",
        partial(marker_sum, table="D3D12_PIX_DEBUG_API"),
        ("dx12pixsum",),
    ),
    Report(
        "dx12_gpu_marker_sum",
        "DX12 PIX ranges of command lists on the device",
        partial(work_sum, table="DX12_WORKLOAD"),
        ("dx12gpumarkersum",),
    ),
    Report(
        "opengl_khr_range_sum",
        "OpenGL debug groups on the host",
        partial(khr_range_sum, event_class=KHR_HOST),
        ("khrdebugsum",),
    ),
    Report(
        "opengl_khr_gpu_range_sum",
        "OpenGL debug groups on the device",
        partial(khr_range_sum, event_class=KHR_GPU),
        ("khrdebuggpusum",),
    ),
]
