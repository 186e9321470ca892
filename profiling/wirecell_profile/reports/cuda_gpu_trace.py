# SPDX-License-Identifier: Apache-2.0
"""Report of single kernels and memory operations."""

from __future__ import annotations

import numpy as np

from ..model.events import ACTIVITIES, KERNEL, MEMCPY, MEMSET, Operations
from ..model.selection import Scope
from ..model.table import NULL, label
from ..output import Result, columns
from . import Report, listed
from .cuda_gpu import BYTES_PER_MB, KERNEL_OPTIONS, chosen, kernel_labels

NANOSECONDS = 1_000_000_000


def throughput(size: np.ndarray, duration: np.ndarray) -> list[float | None]:
    """Return MB/s as in nsys, None for operations without size or duration.

    nsys multiplies the size by the integer count of such operations per second, which for long operations is
    lower than size / duration (by 1 % at 28 ms).
    """
    known = (size != NULL) & (duration > 0)
    rates = np.where(known, size, 0) * (NANOSECONDS // np.maximum(duration, 1)) / BYTES_PER_MB
    return [rate if present else None for rate, present in zip(rates.tolist(), known.tolist())]


def cuda_gpu_trace(scope: Scope, options: frozenset[str]) -> Result:
    """Return kernels, copies and sets by start."""
    profile = scope.profile
    operations, rows = chosen(scope, KERNEL, MEMCPY, MEMSET)
    order = np.argsort(operations.start, kind="stable")
    operations, rows = operations.take(order), rows[order]
    everything = np.arange(len(operations))
    devices = label(
        f"{profile.device_names.get(device, 'device')} ({device})" for device in operations.device.tolist()
    )
    green = _table_column(scope, operations, "greenContextId", KERNEL, MEMCPY, MEMSET)
    sizes = [
        _table_column(scope, operations, column, KERNEL)
        for column in "gridX gridY gridZ blockX blockY blockZ registersPerThread".split()
    ]
    shared = [
        megabytes(_table_column(scope, operations, column, KERNEL))
        for column in ("staticSharedMemory", "dynamicSharedMemory")
    ]
    return Result(
        columns(
            "Start (ns), Duration (ns), CorrId, GrdX, GrdY, GrdZ, BlkX, BlkY, BlkZ, Reg/Trd, "
            "StcSMem (MB):3, DymSMem (MB):3, Bytes (MB):3, Throughput (MB/s):3, SrcMemKd, "
            "DstMemKd, Device, Ctx, GreenCtx, Strm, Name"
        ),
        list(
            zip(
                *(
                    listed(cell, everything)
                    for cell in (operations.start, operations.duration, operations.correlation, *sizes)
                ),
                *shared,
                megabytes(operations.bytes),
                throughput(operations.bytes, operations.duration),
                *(
                    [profile.memory_kind(code) for code in kinds.tolist()]
                    for kinds in (operations.source_kind, operations.target_kind)
                ),
                devices.to_list(),
                listed(operations.context, everything),
                listed(np.where(green == 0, NULL, green), everything),
                listed(operations.stream, everything),
                listed(kernel_labels(scope, rows, options), everything),
            )
        ),
    )


def megabytes(size: np.ndarray) -> list[float | None]:
    """Return sizes in MB, None for NULL."""
    return [None if value == NULL else value / BYTES_PER_MB for value in size.tolist()]


def _table_column(scope: Scope, operations: Operations, column: str, *kinds: int) -> np.ndarray:
    """Return a column of the tables of these kinds of operations, NULL for operations of other kinds."""
    values = np.full(len(operations), NULL, dtype=np.int64)
    for kind in kinds:
        of_kind = operations.kind == kind
        if of_kind.any():
            values[of_kind] = scope.profile.table(ACTIVITIES[kind]).integers(column)[operations.row[of_kind]]
    return values


REPORTS = [
    Report(
        "cuda_gpu_trace",
        "kernels and memory operations one by one",
        cuda_gpu_trace,
        ("gputrace",),
        KERNEL_OPTIONS,
    )
]
