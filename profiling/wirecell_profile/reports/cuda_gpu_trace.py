# SPDX-License-Identifier: Apache-2.0
"""Report of single kernels and memory operations."""

from __future__ import annotations

import numpy as np

from ..model.events import ACTIVITIES, KERNEL, MEMCPY, MEMSET, Operations
from ..model.selection import Scope
from ..model.table import NULL
from ..output import Result
from . import list_of, report
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


@report("kernels and memory operations one by one", "gputrace", KERNEL_OPTIONS)
def cuda_gpu_trace(scope: Scope, options: frozenset[str]) -> Result:
    """Return kernels, copies and sets by start."""
    profile = scope.profile
    operations, rows = chosen(scope, KERNEL, MEMCPY, MEMSET)
    green = _table_column(scope, operations, "greenContextId", KERNEL, MEMCPY, MEMSET)

    def of_kernels(column: str) -> np.ndarray:
        return _table_column(scope, operations, column, KERNEL)

    def device(index: int) -> str:
        return f"{profile.device_names.get(index, 'device')} ({index})"

    return list_of(
        np.argsort(operations.start, kind="stable"),
        {
            "Start (ns)": operations.start,
            "Duration (ns)": operations.duration,
            "CorrId": operations.correlation,
            **{f"Grd{axis}": of_kernels(f"grid{axis}") for axis in "XYZ"},
            **{f"Blk{axis}": of_kernels(f"block{axis}") for axis in "XYZ"},
            "Reg/Trd": of_kernels("registersPerThread"),
            "StcSMem (MB):3": megabytes(of_kernels("staticSharedMemory")),
            "DymSMem (MB):3": megabytes(of_kernels("dynamicSharedMemory")),
            "Bytes (MB):3": megabytes(operations.bytes),
            "Throughput (MB/s):3": throughput(operations.bytes, operations.duration),
            "SrcMemKd": [*map(profile.memory_kind, operations.source_kind.tolist())],
            "DstMemKd": [*map(profile.memory_kind, operations.target_kind.tolist())],
            "Device": [*map(device, operations.device.tolist())],
            "Ctx": operations.context,
            "GreenCtx": np.where(green == 0, NULL, green),
            "Strm": operations.stream,
            "Name": kernel_labels(scope, rows, options),
        },
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
