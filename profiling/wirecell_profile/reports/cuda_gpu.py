# SPDX-License-Identifier: Apache-2.0
"""Reports of device operations by name: kernels, memory operations, both, and both with the API calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..model.events import KERNEL, MEMCPY, MEMSET, Operations, join_labels
from ..model.grouping import by_total, group, summarise
from ..model.selection import Scope
from ..model.table import NULL, Labels, combine, label
from ..output import Result, columns
from . import report, sum_of_times

KERNEL_OPTIONS = ("base", "mangled", "nvtx-name")
BYTES_PER_MB = 1_000_000


def chosen(scope: Scope, *kinds: int) -> tuple[Operations, np.ndarray]:
    """Return the selected operations of these kinds and their rows.

    Raise MissingData if the file has none of the kinds.
    """
    operations = scope.profile.operations
    rows = scope.operation_rows[np.isin(operations.kind[scope.operation_rows], kinds)]
    return operations.take(rows), rows


def kernel_labels(scope: Scope, rows: np.ndarray, options: frozenset[str]) -> Labels:
    """Return names of operations: demangled, base (without template arguments) or mangled.

    nvtx-name prefixes kernels with 'range/': the text, without domain, of the range around their launch that
    starts last.
    """
    operations = scope.profile.operations.take(rows)
    names = operations.short_name if "base" in options else operations.name
    if "mangled" in options:
        names = _mangled(scope, operations, names)
    if "nvtx-name" not in options or not scope.profile.has("CUPTI_ACTIVITY_KIND_KERNEL"):
        return names
    scope.profile.require("CUPTI_ACTIVITY_KIND_RUNTIME")
    messages = scope.profile.ranges.text
    inner = np.where(operations.kind == KERNEL, scope.projection.range_of_operation[rows], -1)
    around = Labels(np.append(messages.codes, -1)[inner], messages.names)
    return combine(around, names, lambda text, name: name or "" if text is None else f"{text}/{name or ''}")


def _mangled(scope: Scope, operations: Operations, demangled: Labels) -> Labels:
    """Return mangled names; demangled ones for kernels without mangled name in the file."""
    is_kernel = operations.kind == KERNEL
    if not is_kernel.any():
        return demangled
    mangled = scope.profile.table("CUPTI_ACTIVITY_KIND_KERNEL").strings("mangledName")
    both = join_labels([demangled, mangled.take(operations.row[is_kernel])])
    codes, found = both.codes[: len(demangled)].copy(), both.codes[len(demangled) :]
    kernels = np.flatnonzero(is_kernel)
    codes[kernels] = np.where(found >= 0, found, codes[kernels])
    return Labels(codes, both.names)


def grid_labels(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Labels:
    """Return the sizes of grids or blocks as strings, each size four characters wide; none for unknown sizes."""
    rows = np.stack([x, y, z])
    sizes, codes = np.unique(rows, axis=1, return_inverse=True)
    known = (rows != NULL).all(axis=0)
    names = [f"{i:>4} {j:>4} {k:>4}" for i, j, k in sizes.T.tolist()]
    return Labels(np.where(known, codes.reshape(-1), -1), names)


@report("kernels by name", "gpukernsum", KERNEL_OPTIONS)
def cuda_gpu_kern_sum(scope: Scope, options: frozenset[str]) -> Result:
    """Summarise kernels by name."""
    scope.profile.require("CUPTI_ACTIVITY_KIND_KERNEL")
    kernels, rows = chosen(scope, KERNEL)
    names = kernel_labels(scope, rows, options)
    return _kernel_sum(kernels, names, {"Name": names.text})


@report("kernels by name, grid and block", "gpukerngbsum", KERNEL_OPTIONS)
def cuda_gpu_kern_gb_sum(scope: Scope, options: frozenset[str]) -> Result:
    """Summarise kernels by name, grid and block."""
    scope.profile.require("CUPTI_ACTIVITY_KIND_KERNEL")
    kernels, rows = chosen(scope, KERNEL)
    names = kernel_labels(scope, rows, options)
    sizes = kernel_sizes(scope, kernels)
    keys = {
        "GridXYZ": grid_labels(*sizes[:3]).text,
        "BlockXYZ": grid_labels(*sizes[3:]).text,
        "Name": names.text,
    }
    return _kernel_sum(kernels, names, keys, *sizes)


def _kernel_sum(
    kernels: Operations, names: Labels, keys: Mapping[str, Callable[[int], str]], *sizes: np.ndarray
) -> Result:
    """Summarise kernels by name and sizes; of equal totals that of fewer kernels first, then by name and sizes."""
    groups = group(names.codes, *sizes)
    instances = np.bincount(groups.of_row, minlength=1)[groups.of_row]
    return sum_of_times(kernels.duration, groups, "Instances", keys, instances, names.ranks(), *sizes)


def kernel_sizes(scope: Scope, kernels: Operations) -> list[np.ndarray]:
    """Return gridX, gridY, gridZ, blockX, blockY, blockZ of kernels."""
    table = scope.profile.table("CUPTI_ACTIVITY_KIND_KERNEL")
    return [table.integers(f"{part}{axis}")[kernels.row] for part in ("grid", "block") for axis in "XYZ"]


def memory_operations(scope: Scope) -> Operations:
    """Return the selected copies and sets."""
    scope.profile.require("CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET")
    return chosen(scope, MEMCPY, MEMSET)[0]


@report("memory operations by time", "gpumemtimesum")
def cuda_gpu_mem_time_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise the times of copies by direction, and of sets."""
    operations = memory_operations(scope)
    names = operations.name
    return sum_of_times(
        operations.duration, group(names.codes), "Count", {"Operation": names.text}, names.ranks()
    )


@report("memory operations by size", "gpumemsizesum")
def cuda_gpu_mem_size_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise the bytes of copies by direction, and of sets; 1 MB = 1e6 bytes. Unknown sizes are left out."""
    operations = memory_operations(scope)
    operations = operations.take(operations.bytes != NULL)
    groups = group(operations.name.codes)
    summary = summarise(operations.bytes, groups.of_row, len(groups))
    rows = [
        (
            int(summary.total[i]) / BYTES_PER_MB,
            int(summary.count[i]),
            *(value / BYTES_PER_MB for value in summary.cells(i)),
            operations.name.text(groups.first[i]),
        )
        for i in by_total(summary, groups, operations.name.ranks())
    ]
    return Result(
        columns(
            "Total (MB):3, Count, Avg (MB):3, Med (MB):3, Min (MB):3, Max (MB):3, StdDev (MB):3, Operation"
        ),
        rows,
    )


def sum_of_categories(parts: list[tuple[str, np.ndarray, Labels]]) -> Result:
    """Summarise each (category, durations, names) by name, in one list."""
    categories = label([category for category, durations, _ in parts for _ in durations])
    durations = np.concatenate([durations for _, durations, _ in parts])
    names = join_labels([names for _, _, names in parts])
    groups = group(categories.codes, names.codes)
    keys = {"Category": categories.text, "Operation": names.text}
    return sum_of_times(durations, groups, "Instances", keys, names.ranks())


def _device_parts(scope: Scope, options: frozenset[str]) -> list[tuple[str, np.ndarray, Labels]]:
    kernels, rows = chosen(scope, KERNEL)
    memory, _ = chosen(scope, MEMCPY, MEMSET)
    return [
        ("CUDA_KERNEL", kernels.duration, kernel_labels(scope, rows, options)),
        ("MEMORY_OPER", memory.duration, memory.name),
    ]


@report("kernels and memory operations by time", "gpusum", KERNEL_OPTIONS)
def cuda_gpu_sum(scope: Scope, options: frozenset[str]) -> Result:
    """Summarise kernels and memory operations together."""
    return sum_of_categories(_device_parts(scope, options))


@report("API calls, kernels and memory operations by time", "apigpusum", KERNEL_OPTIONS)
def cuda_api_gpu_sum(scope: Scope, options: frozenset[str]) -> Result:
    """Summarise API calls, kernels and memory operations together.

    The total mixes host and device time; it gives a ranking, not a utilisation.
    """
    parts = _device_parts(scope, options) if len(scope.profile.or_empty("operations")) else []
    if scope.profile.has("CUPTI_ACTIVITY_KIND_RUNTIME") or not parts:
        calls = scope.profile.calls.take(scope.call_rows)
        parts.insert(0, ("CUDA_API", calls.duration, calls.name))
    return sum_of_categories(parts)
