# SPDX-License-Identifier: Apache-2.0
"""Reports of CUDA's unified memory: page faults, and the migrations that they cause."""

from __future__ import annotations

import numpy as np

from ..model.events import MEMCPY
from ..model.grouping import group
from ..model.selection import Scope
from ..model.table import NULL
from ..output import Result, columns
from . import list_of, listed, option_value, report
from .cuda_gpu import chosen
from .cuda_gpu_trace import megabytes, throughput

CPU_FAULTS, GPU_FAULTS = "CUDA_UM_CPU_PAGE_FAULT_EVENTS", "CUDA_UM_GPU_PAGE_FAULT_EVENTS"
TO_DEVICE, TO_HOST = 11, 12  # MEMCPY.copyKind of migrations
DEFAULT_ROWS = 10


class Sums:
    """Sums of a column by address: addresses in ascending order."""

    def __init__(self, address: np.ndarray, *values: np.ndarray) -> None:
        self.address, of_row = np.unique(address, return_inverse=True)
        self.values = [
            np.bincount(of_row, weights=column, minlength=len(self.address)).astype(np.int64)
            for column in values
        ]

    def at(self, address: np.ndarray, column: int = 0) -> np.ndarray:
        """Return the sums at these addresses, NULL at others."""
        values = np.full(len(address), NULL, dtype=np.int64)
        if len(self.address):
            position = np.minimum(np.searchsorted(self.address, address), len(self.address) - 1)
            values = np.where(self.address[position] == address, self.values[column][position], NULL)
        return values


def _faults(scope: Scope, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return addresses and counts of the faults in the selected time."""
    scope.profile.require(name)
    table = scope.profile.table(name)
    rows = np.flatnonzero(scope.selection.covers(table.integers("start")))
    count = (
        table.integers("numberOfPageFaults", null=0) if name == GPU_FAULTS else np.ones(len(table), np.int64)
    )
    return table.integers("address")[rows], count[rows]


def _migrations(scope: Scope, direction: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return addresses, bytes and durations of the selected migrations with a known size."""
    scope.profile.require("CUPTI_ACTIVITY_KIND_MEMCPY")
    copies, _ = chosen(scope, MEMCPY)
    copies = copies.take((copies.copy_kind == direction) & (copies.bytes != NULL))
    address = scope.profile.table("CUPTI_ACTIVITY_KIND_MEMCPY").integers("virtualAddress")[copies.row]
    return address, copies.bytes, copies.duration


@report("unified memory by address", "unifiedmemory", ("rows=",))
def um_sum(scope: Scope, options: frozenset[str]) -> Result:
    """Summarise migrations and page faults by address, the highest throughput first."""
    cpu, gpu = (Sums(*_faults(scope, name)) for name in (CPU_FAULTS, GPU_FAULTS))
    to_device, to_host = (Sums(*_migrations(scope, direction)) for direction in (TO_DEVICE, TO_HOST))
    parts = [part.address for part in (cpu, gpu, to_host, to_device)]
    every = np.concatenate(parts)
    address = every[np.sort(np.unique(every, return_index=True)[1])]
    sizes = [part.at(address) for part in (to_device, to_host)]
    size, time = (
        sum(np.maximum(part.at(address, column), 0) for part in (to_device, to_host)) for column in (0, 1)
    )
    rates = throughput(np.where(size > 0, size, NULL), time)
    known = np.array([-1.0 if rate is None else rate for rate in rates])
    order = np.argsort(-known, kind="stable")[: option_value(options, "rows", DEFAULT_ROWS)]
    return list_of(
        order,
        {
            "Virtual Address": _addresses(address),
            "HtoD Migration size (MB):3": megabytes(sizes[0]),
            "DtoH Migration size (MB):3": megabytes(sizes[1]),
            "CPU Page Faults": cpu.at(address),
            " GPU Page Faults": gpu.at(address),
            "Migration Throughput (MB/s):3": rates,
        },
    )


@report("unified memory in total", "unifiedmemorytotals")
def um_total_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Return the sums over all addresses. As in nsys, the addresses are empty if a part of the data is."""
    cpu, gpu = _faults(scope, CPU_FAULTS), _faults(scope, GPU_FAULTS)
    to_device, to_host = _migrations(scope, TO_DEVICE), _migrations(scope, TO_HOST)
    parts = (cpu, gpu, to_device, to_host)
    sums = [int(part[1].sum()) if len(part[1]) else None for part in (to_device, to_host, cpu, gpu)]
    sizes = [None if size is None else size / 1e6 for size in sums[:2]]
    ends: list[str | None] = [None, None]
    known = [address[address != NULL] for address, *_ in parts]
    if all(len(part) for part in known):
        addresses = np.concatenate(known)
        ends = _addresses(np.array([addresses.min(), addresses.max()]))
    return Result(
        columns(
            "Total HtoD Migration Size (MB):3, Total DtoH Migration Size (MB):3, Total CPU Page Faults, "
            "Total GPU PageFaults, Minimum Virtual Address, Maximum Virtual Address"
        ),
        [(*sizes, *sums[2:], *ends)],
    )


def _addresses(values: np.ndarray) -> list[str | None]:
    """Return addresses in hexadecimal."""
    return [None if value == NULL else f"{value:#x}" for value in values.tolist()]


@report("page faults of unified memory on the CPU by instruction", "umcpupagefaults")
def um_cpu_page_faults_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise page faults on the CPU by the instruction that caused them."""
    scope.profile.require(CPU_FAULTS)
    table = scope.profile.table(CPU_FAULTS)
    rows = np.flatnonzero(scope.selection.covers(table.integers("start")))
    instructions = table.strings("CpuInstruction").take(rows)
    groups = group(instructions.codes)
    count = np.bincount(groups.of_row, minlength=len(groups))
    order = np.lexsort((instructions.codes[groups.first], -count))
    causes = listed(instructions, groups.first)
    return list_of(order, {"CPU Page Faults": count, "CPU Instruction Address": causes})
