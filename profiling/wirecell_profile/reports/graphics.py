# SPDX-License-Identifier: Apache-2.0
"""Reports of labels that programs put around their work in Vulkan, OpenGL and Direct3D."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..model.events import HostEvents, join_keys, read_host_events
from ..model.grouping import group
from ..model.identity import lookup
from ..model.selection import Scope
from ..model.table import NULL, Labels, Table, label
from ..output import Result
from . import add, sum_of_times

KHR_HOST, KHR_GPU = 62, 63  # classes of KHR_debug groups
Labelled = tuple[HostEvents, Labels]


def work(table: Table) -> Labelled:
    """Return the labelled work of a table of the GPU's."""
    labels = table.strings("textId")
    labelled = labels.codes >= 0
    return read_host_events(table).take(labelled), labels.take(labelled)


def markers(table: Table) -> Labelled:
    """Return the times between the calls that open and that close a label.

    Both have one correlation id; only the opening one has a text.
    """
    events, labels = read_host_events(table), table.strings("textId")
    (keys,) = join_keys((events.thread, table.integers("correlationId")))
    opening, closing = np.flatnonzero(labels.codes >= 0), np.flatnonzero(labels.codes < 0)
    found = lookup(keys[closing], keys[opening])
    opening, closing = opening[found >= 0], closing[found[found >= 0]]
    between = HostEvents(events.end[opening], events.start[closing], events.thread[opening])
    return between, labels.take(opening)


def khr_groups(table: Table, event_class: int) -> Labelled:
    """Return OpenGL's debug groups of one class. Groups that were not closed end with the last event."""
    start, end = table.integers("start"), table.integers("end")
    end = np.where(end == NULL, max(start.max(), end.max()), end)
    named = zip(table.strings("textId").to_list(), table.integers("id").tolist())
    labels = label(text or str(identifier) for text, identifier in named)
    labels = Labels(labels.ranks(), sorted(labels.names))
    of_class = table.integers("eventClass") == event_class
    return HostEvents(start, end, table.integers("globalTid")).take(of_class), labels.take(of_class)


def label_sum(scope: Scope, _: frozenset[str], table: str, read: Callable[[Table], Labelled]) -> Result:
    """Summarise labelled intervals by label; labels without any time are left out."""
    scope.profile.require(table)
    events, labels = read(scope.profile.table(table))
    rows = scope.host_rows(events)
    codes, keys = labels.codes[rows], {"Range": labels.take(rows).text}
    result = sum_of_times(events.duration[rows], group(codes), "Instances", keys, codes)
    result.rows = [row for row in result.rows if row[1] > 0]
    return result


KHR = "KHR_DEBUG_EVENTS"
khr_host, khr_device = (partial(khr_groups, event_class=event_class) for event_class in (KHR_HOST, KHR_GPU))
# Report, title, name in earlier versions of nsys, table, intervals in the table.
REPORTS: tuple[tuple[str, str, str, str, Callable[[Table], Labelled]], ...] = (
    ("vulkan_marker_sum", "Vulkan debug labels on the host", "vulkanmarkerssum", "VULKAN_DEBUG_API", markers),
    (
        "vulkan_gpu_marker_sum",
        "Vulkan debug labels on the GPU",
        "vulkangpumarkersum",
        "VULKAN_WORKLOAD",
        work,
    ),
    ("dx11_pix_sum", "DX11 PIX ranges on the host", "dx11pixsum", "D3D11_PIX_DEBUG_API", markers),
    ("dx12_pix_sum", "DX12 PIX ranges on the host", "dx12pixsum", "D3D12_PIX_DEBUG_API", markers),
    ("dx12_gpu_marker_sum", "DX12 PIX ranges on the GPU", "dx12gpumarkersum", "DX12_WORKLOAD", work),
    ("opengl_khr_range_sum", "OpenGL debug groups on the host", "khrdebugsum", KHR, khr_host),
    ("opengl_khr_gpu_range_sum", "OpenGL debug groups on the GPU", "khrdebuggpusum", KHR, khr_device),
)
for _name, _about, _old, _table, _read in REPORTS:
    add(_name, _about, partial(label_sum, table=_table, read=_read), _old)
