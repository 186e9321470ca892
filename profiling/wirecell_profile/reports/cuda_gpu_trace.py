# SPDX-License-Identifier: Apache-2.0
"""Report of single kernels and memory operations."""

from __future__ import annotations

import numpy as np

from ..model.events import ACTIVITIES, KERNEL, MEMCPY, MEMSET
from ..model.selection import Scope
from ..model.table import NULL
from ..output import Result, columns
from . import Report
from .cuda_gpu import BYTES_PER_MB, KERNEL_OPTIONS, chosen, kernel_labels, kernel_sizes

NANOSECONDS = 1_000_000_000


def throughput(size: int, duration: int) -> float | None:
    """Return MB/s as in nsys, None without duration.

    nsys multiplies the size by the integer count of such operations per second, which for long operations is
    lower than size / duration (by 1 % at 28 ms).
    """
    return size * (NANOSECONDS // duration) / BYTES_PER_MB if duration else None


def cuda_gpu_trace(scope: Scope, options: frozenset[str]) -> Result:
    """Return kernels, copies and sets by start."""
    profile = scope.profile
    operations, rows = chosen(scope, KERNEL, MEMCPY, MEMSET)
    names = kernel_labels(scope, rows, options)
    kernel_cells = _kernel_cells(scope)
    green = {kind: _green_contexts(scope, kind) for kind in (KERNEL, MEMCPY, MEMSET)}
    table = []
    for i in np.lexsort((np.arange(len(operations)), operations.start)):
        kind, row = int(operations.kind[i]), int(operations.row[i])
        duration, device = int(operations.duration[i]), int(operations.device[i])
        if kind == KERNEL:
            details = (*kernel_cells[row], None, None, None, None)
        else:
            size = int(operations.bytes[i])
            kinds = (
                profile.memory_kind(int(code[i])) for code in (operations.source_kind, operations.target_kind)
            )
            details = (*(None,) * 9, size / BYTES_PER_MB, throughput(size, duration), *kinds)
        correlation = int(operations.correlation[i])
        green_context = int(green[kind][row])
        table.append(
            (
                int(operations.start[i]),
                duration,
                None if correlation == NULL else correlation,
                *details,
                f"{profile.device_names.get(device, 'device')} ({device})",
                int(operations.context[i]),
                None if green_context == NULL else green_context,
                int(operations.stream[i]),
                names.text(i),
            )
        )
    return Result(
        columns(
            "Start (ns), Duration (ns), CorrId, GrdX, GrdY, GrdZ, BlkX, BlkY, BlkZ, Reg/Trd, "
            "StcSMem (MB):3, DymSMem (MB):3, Bytes (MB):3, Throughput (MB/s):3, SrcMemKd, "
            "DstMemKd, Device, Ctx, GreenCtx, Strm, Name"
        ),
        table,
    )


def _kernel_cells(scope: Scope) -> list[tuple]:
    """Return grid, block, registers and shared memory of all rows of the table of kernels."""
    if not scope.profile.has("CUPTI_ACTIVITY_KIND_KERNEL"):
        return []
    table = scope.profile.table("CUPTI_ACTIVITY_KIND_KERNEL")
    operations = scope.profile.operations
    sizes = kernel_sizes(scope, operations.take(operations.kind == KERNEL))
    registers = table.integers("registersPerThread")
    shared = (table.integers(f"{kind}SharedMemory") / BYTES_PER_MB for kind in ("static", "dynamic"))
    return list(zip(*(part.tolist() for part in (*sizes, registers, *shared))))


def _green_contexts(scope: Scope, kind: int) -> np.ndarray:
    name = ACTIVITIES[kind]
    return (
        scope.profile.table(name).integers("greenContextId")
        if scope.profile.has(name)
        else np.empty(0, np.int64)
    )


REPORTS = [
    Report(
        "cuda_gpu_trace",
        "kernels and memory operations one by one",
        cuda_gpu_trace,
        ("gputrace",),
        KERNEL_OPTIONS,
    )
]
