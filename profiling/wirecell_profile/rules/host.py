# SPDX-License-Identifier: Apache-2.0
"""Rules for waits and errors of the host, and for work outside of all ranges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..model.events import BLOCKING
from ..model.selection import Scope
from ..model.table import NULL
from . import Found, Hit, Limits, Rule

NOT_READY = 600  # cudaErrorNotReady, CUDA_ERROR_NOT_READY: the result of a query, not an error


def _call_hits(scope: Scope, rows: np.ndarray, note: Callable[[int], str]) -> Found:
    calls = scope.profile.calls
    return Found(
        [
            Hit(
                int(calls.start[row]),
                int(calls.duration[row]),
                calls.name.text(row),
                int(scope.projection.range_of_call[row]),
                note=note(row),
            )
            for row in rows.tolist()
        ]
    )


def api_sync(scope: Scope, _: Limits) -> Found:
    """Find calls that wait for an event, stream, context or device."""
    calls, rows = scope.profile.calls, scope.call_rows
    waits = calls.name.matching(lambda name: any(part in name for part in BLOCKING))
    return _call_hits(scope, rows[waits[rows]], lambda row: "")


def api_errors(scope: Scope, _: Limits) -> Found:
    """Find calls that returned an error."""
    calls, rows = scope.profile.calls, scope.call_rows
    failed = ~np.isin(calls.result, (0, NOT_READY, NULL))
    return _call_hits(scope, rows[failed[rows]], lambda row: f"returned {calls.result[row]}")


def orphans(scope: Scope, _: Limits) -> Found:
    """Find device operations without range or without recorded launching call."""
    operations, projection = scope.profile.operations, scope.projection
    rows = scope.operation_rows
    launch, around = projection.call_of_operation[rows], projection.range_of_operation[rows]
    has_ranges = len(projection.ranges) > 0
    lost = rows[(launch < 0) | ((around < 0) & has_ranges)]
    return Found(
        [
            Hit(
                int(operations.start[row]),
                int(operations.duration[row]),
                operations.name.text(row),
                note="launched outside of all ranges"
                if projection.call_of_operation[row] >= 0
                else "launching call unknown",
            )
            for row in lost.tolist()
        ]
    )


RULES = [
    Rule(
        "cuda_api_sync",
        "API calls that block the host",
        "Every wait empties the queue of the device. Wait once per event at the end of the graph; order streams with "
        "cudaStreamWaitEvent instead of host waits; keep results on the device.",
        api_sync,
        "sync-backtrace",
    ),
    Rule(
        "api_errors",
        "API calls that failed",
        "Find the first failing call; later ones often only repeat it.",
        api_errors,
        "sanitizer",
    ),
    Rule(
        "orphan_operations",
        "device operations without range or launching call",
        "Open a range where they are launched. Work launched before or after the graph, by a library's own thread, by "
        "driver calls that were not recorded, or before the recording began ends up here.",
        orphans,
        "trace-all",
    ),
]
