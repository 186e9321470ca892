# SPDX-License-Identifier: Apache-2.0
"""Work of ranges or node calls on host and device, one row each: the basis of all tables per range or node.

An owner is a range or a node call. A range owns everything launched within it, including in its children. A
node call owns everything launched within it, except in calls nested in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.events import BLOCKING, MEMCPY, MEMSET, Calls, Operations
from ..model.grouping import percent
from ..model.intervals import union_by_owner
from ..model.selection import Scope
from ..model.table import NULL

HOST_TO_DEVICE, DEVICE_TO_HOST = (1, 11), (2, 12)  # copyKind; 11 and 12 for unified memory


@dataclass
class DeviceWork:
    """Device work per owner. Times in ns; all values are 0 for an owner without operations."""

    operations: np.ndarray
    launches: np.ndarray  # distinct launching API calls; a graph launch counts once
    gpu_sum: np.ndarray  # durations added up
    kernel_sum: np.ndarray
    gpu_busy: np.ndarray  # union of the operations
    copy_busy: np.ndarray  # union of copies and sets
    span: np.ndarray  # first start to last end
    last: np.ndarray  # last end, NULL without operations
    to_device: np.ndarray  # bytes copied from the host
    to_host: np.ndarray


def device_work(
    operations: Operations, launch: np.ndarray, owner: np.ndarray, operation: np.ndarray, owners: int
) -> DeviceWork:
    """Return the device work of pairs (owner, operation).

    `launch`: index of each operation's API call, -1 for none.
    """
    start, end = operations.start[operation], operations.end[operation]
    is_copy = np.isin(operations.kind, (MEMCPY, MEMSET))[operation]
    first, last = np.full(owners, np.iinfo(np.int64).max), np.full(owners, NULL)
    np.minimum.at(first, owner, start)
    np.maximum.at(last, owner, end)
    size = np.where(operations.bytes == NULL, 0, operations.bytes)

    def summed(values: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
        total = np.zeros(owners, dtype=np.int64)
        rows = slice(None) if mask is None else mask[operation]
        np.add.at(total, owner[rows], values[operation[rows]])
        return total

    return DeviceWork(
        operations=np.bincount(owner, minlength=owners),
        launches=_distinct_launches(owner, launch[operation], owners),
        gpu_sum=summed(operations.duration),
        kernel_sum=summed(operations.duration, ~np.isin(operations.kind, (MEMCPY, MEMSET))),
        gpu_busy=union_by_owner(start, end, owner, owners),
        copy_busy=union_by_owner(start[is_copy], end[is_copy], owner[is_copy], owners),
        span=np.where(last == NULL, 0, last - np.where(last == NULL, 0, first)),
        last=last,
        to_device=summed(size, np.isin(operations.copy_kind, HOST_TO_DEVICE)),
        to_host=summed(size, np.isin(operations.copy_kind, DEVICE_TO_HOST)),
    )


def _distinct_launches(owner: np.ndarray, launch: np.ndarray, owners: int) -> np.ndarray:
    """Return for each owner the count of distinct launching calls."""
    known = launch >= 0
    calls = int(launch.max(initial=0)) + 1
    key = np.sort(owner[known] * calls + launch[known])
    return np.bincount(key[np.append(True, key[1:] != key[:-1])[: len(key)]] // calls, minlength=owners)


def operations_of(
    owner: np.ndarray, operation: np.ndarray, parts: list[np.ndarray], owners: int
) -> list[np.ndarray]:
    """Return the operations of each of some sets of owners that have no owner in common."""
    part_of = np.full(owners, len(parts), dtype=np.int64)
    for index, rows in enumerate(parts):
        part_of[rows] = index
    of_pair = part_of[owner].astype(np.uint16 if len(parts) < 1 << 16 else np.int64)
    ends = np.cumsum(np.bincount(of_pair, minlength=len(parts)))
    return np.split(operation[np.argsort(of_pair, kind="stable")], ends)[: len(parts)]


@dataclass
class ApiWork:
    """Per owner: time in CUDA API calls, and in those that wait for the device [ns]."""

    api: np.ndarray
    waiting: np.ndarray


def is_waiting(calls: Calls) -> np.ndarray:
    """Return the mask of API calls that wait for the device: synchronisation, and copies and sets without
    Async."""
    return calls.name.matching(
        lambda name: (
            any(part in name for part in BLOCKING)
            or (("Memcpy" in name or "Memset" in name) and "Async" not in name and "Graph" not in name)
        )
    )


def api_work(calls: Calls, owner: np.ndarray, call: np.ndarray, owners: int) -> ApiWork:
    """Return the API time of pairs (owner, API call).

    Times are unions, because driver calls lie in runtime calls.
    """
    start, end, waiting = calls.start[call], calls.end[call], is_waiting(calls)[call]
    return ApiWork(
        union_by_owner(start, end, owner, owners),
        union_by_owner(start[waiting], end[waiting], owner[waiting], owners),
    )


def queue_times(scope: Scope) -> np.ndarray:
    """Return for each operation its wait after the end of the launching call, at least 0;

    NULL without a call.
    """
    projection = scope.projection
    launch = projection.call_of_operation
    if not len(projection.calls):
        return np.full(len(launch), NULL, dtype=np.int64)
    waited = np.maximum(0, projection.operations.start - projection.calls.end[launch])
    return np.where(launch >= 0, waited, NULL)


def quantiles(values: np.ndarray) -> tuple[float | None, float | None]:
    """Return median and 95th percentile of the values that are not NULL, None without values."""
    known = values[values != NULL]
    if not len(known):
        return None, None
    middle, high = np.percentile(known, (50, 95))
    return float(middle), float(high)


def device_columns(calls: str, busy: str, efficiency: str = "") -> str:
    """Return the heads of device_cells, with those of the additional cells. calls: name of the owner's calls."""
    return (
        f"GPU ops, Ops per {calls}, Launches, gpu_sum (ns), gpu_busy (ns), {busy}, proj_span (ns), proj_idle (ns), "
        f"proj_eff (%), {efficiency}API (ns), Waiting API (ns), Queue p50 (ns), Queue p95 (ns), To device (B), To host (B)"
    )


def device_cells(
    work: DeviceWork,
    api: ApiWork,
    rows: np.ndarray,
    queue: np.ndarray,
    busy: np.ndarray | None,
    copies: bool,
    with_kernels: bool = False,
) -> tuple:
    """Return the cells of all tables of device work, summed over some owners.

    `queue`: their operations' queue times. `busy`: busy time by another definition, per owner, None if the file lacks
    it. `copies`: whether the file records copies. `with_kernels`: also the sum of the kernels' durations over the span.
    """

    def total(part: np.ndarray) -> int:
        return int(part[rows].sum())

    operations, span, union = total(work.operations), total(work.span), total(work.gpu_busy)
    shares = [union, total(work.kernel_sum)] if with_kernels else [union]
    return (
        *(operations, operations / len(rows), total(work.launches), total(work.gpu_sum), union),
        None if busy is None else total(busy),
        *(span, span - union, *(percent(share, span) if span else None for share in shares)),
        *(total(api.api), total(api.waiting), *quantiles(queue)),
        *((total(work.to_device), total(work.to_host)) if copies else (None, None)),
    )
