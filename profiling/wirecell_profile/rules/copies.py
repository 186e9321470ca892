# SPDX-License-Identifier: Apache-2.0
"""Rules for copies and sets of memory that block the host."""

from __future__ import annotations

from collections.abc import Callable

from ..model.events import MEMCPY, MEMSET
from ..model.selection import Scope
from . import Found, Limits, hits_of, rule

PAGEABLE, PINNED, MANAGED = 0, 1, 4  # srcKind, dstKind, memKind


def _found(scope: Scope, kind: int, is_hit: Callable[[str, tuple[int, int]], bool]) -> Found:
    """Find the selected operations of a kind whose API call and memory kinds (source, target) pass a test."""
    scope.profile.calls  # noqa: B018  raises MissingData
    scope.profile.require({MEMCPY: "CUPTI_ACTIVITY_KIND_MEMCPY", MEMSET: "CUPTI_ACTIVITY_KIND_MEMSET"}[kind])
    operations, rows = scope.profile.operations, scope.operation_rows
    launch = scope.projection.call_of_operation
    rows = rows[(operations.kind[rows] == kind) & (launch[rows] >= 0)]
    names = scope.projection.calls.name.take(launch[rows]).to_list()
    kinds = zip(operations.source_kind[rows].tolist(), operations.target_kind[rows].tolist())
    rows = rows[[is_hit(name, pair) for name, pair in zip(names, kinds)]]

    def note(row: int) -> str:
        return f"{operations.bytes[row]:,} B, {scope.profile.memory_kinds_of(operations, row)}"

    return hits_of(operations, rows, operations.name, scope.projection.range_of_operation, note)


@rule(
    "asynchronous copies of pageable memory",
    "An Async copy of pageable memory is staged and in effect synchronous. Allocate the host side pinned "
    "(tensor.pin_memory(), at::TensorOptions().pinned_memory(true)) and keep it for all events.",
    "memory-backtrace",
)
def cuda_memcpy_async(scope: Scope, _: Limits) -> Found:
    """Find copies by Async calls with pageable memory on one side."""
    return _found(scope, MEMCPY, lambda name, kinds: "Async" in name and PAGEABLE in kinds)


@rule(
    "synchronous copies",
    "The host waits for the whole copy. Use cudaMemcpyAsync or tensor.copy_(..., non_blocking=True) with pinned memory "
    "on a stream; look for hidden ones: item(), nonzero(), masked indexing, printing.",
    "memory-backtrace",
)
def cuda_memcpy_sync(scope: Scope, _: Limits) -> Found:
    """Find copies by calls without Async, except those with pinned memory on one side (as nsys does)."""
    return _found(
        scope,
        MEMCPY,
        lambda name, kinds: "Async" not in name and "emcpy" in name and PINNED not in kinds,
    )


@rule(
    "synchronous sets of pinned or managed memory",
    "Use cudaMemsetAsync, or set the memory on the host.",
    "memory-backtrace",
)
def cuda_memset_sync(scope: Scope, _: Limits) -> Found:
    """Find sets of pinned or managed memory by calls without Async.

    Sets of device memory do not block the host.
    """
    return _found(scope, MEMSET, lambda name, kinds: "Async" not in name and kinds[0] in (PINNED, MANAGED))
