# SPDX-License-Identifier: Apache-2.0
"""Rules for waits and errors of the host, and for work outside of all ranges."""

from __future__ import annotations

import numpy as np

from ..model.events import BLOCKING
from ..model.selection import Scope
from ..model.table import NULL
from . import Found, Limits, hits_of, rule

NOT_READY = 600  # cudaErrorNotReady, CUDA_ERROR_NOT_READY: the result of a query, not an error


@rule(
    "API calls that block the host",
    "Every wait empties the queue of the device. Wait once per event at the end of the graph; order streams with "
    "cudaStreamWaitEvent instead of host waits; keep results on the device.",
    "sync-backtrace",
)
def cuda_api_sync(scope: Scope, _: Limits) -> Found:
    """Find calls that wait for an event, stream, context or device."""
    calls, rows = scope.profile.calls, scope.call_rows
    waits = calls.name.matching(lambda name: any(part in name for part in BLOCKING))
    return hits_of(calls, rows[waits[rows]], calls.name, scope.projection.range_of_call)


@rule(
    "API calls that failed",
    "Find the first failing call; later ones often only repeat it.",
    "sanitizer",
)
def api_errors(scope: Scope, _: Limits) -> Found:
    """Find calls that returned an error."""
    calls, rows = scope.profile.calls, scope.call_rows
    failed = ~np.isin(calls.result, (0, NOT_READY, NULL))
    around = scope.projection.range_of_call
    return hits_of(calls, rows[failed[rows]], calls.name, around, lambda row: f"returned {calls.result[row]}")


@rule(
    "device operations without range or launching call",
    "Open a range where they are launched. Work launched before or after the graph, by a library's own thread, by "
    "driver calls that were not recorded, or before the recording began ends up here.",
    "trace-all",
)
def orphan_operations(scope: Scope, _: Limits) -> Found:
    """Find device operations without range or without recorded launching call."""
    operations, projection = scope.profile.operations, scope.projection
    rows = scope.operation_rows
    launch, around = projection.call_of_operation[rows], projection.range_of_operation[rows]
    has_ranges = len(projection.ranges) > 0
    lost = rows[(launch < 0) | ((around < 0) & has_ranges)]
    is_launched = projection.call_of_operation >= 0
    notes = ("launching call unknown", "launched outside of all ranges")
    return hits_of(operations, lost, operations.name, None, lambda row: notes[int(is_launched[row])])
