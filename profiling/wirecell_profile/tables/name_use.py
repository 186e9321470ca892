# SPDX-License-Identifier: Apache-2.0
"""Kernels and API calls by name."""

from __future__ import annotations

import numpy as np

from ..model.events import KERNEL
from ..model.grouping import by_total, group, percent, summarise
from ..model.selection import Scope
from ..model.table import Labels
from ..model.window import find_window
from ..output import Result, columns
from .owner_use import is_waiting

TIMES = "Total (ns), Share of W (%), Avg (ns), Median (ns), Min (ns), Max (ns)"


def kernels(scope: Scope) -> Result:
    """Return the device time per kernel. Raise MissingData if the file has no kernels."""
    scope.profile.require("CUPTI_ACTIVITY_KIND_KERNEL")
    operations = scope.profile.operations
    rows = scope.operation_rows[operations.kind[scope.operation_rows] == KERNEL]
    found = _by_name(scope, operations.name.take(rows), operations.duration[rows])
    return Result(columns(f"Kernel, Launches, {TIMES}"), [row for row, _ in found])


def api(scope: Scope) -> Result:
    """Return the host time per API call, and whether it waits for the device. Raise MissingData without API
    calls."""
    calls = scope.profile.calls.take(scope.call_rows)
    waits = is_waiting(calls)
    found = _by_name(scope, calls.name, calls.duration)
    rows = [(*row, "yes" if waits[first] else "no") for row, first in found]
    return Result(columns(f"Call, Calls, {TIMES}, Waits"), rows)


def _by_name(scope: Scope, names: Labels, duration: np.ndarray) -> list[tuple[tuple, int]]:
    """Return per name the cells (name, count, TIMES) and its first row, the largest total first."""
    whole, groups = find_window(scope).length, group(names.codes)
    times = summarise(duration, groups.of_row, len(groups))
    found = []
    for i in by_total(times, groups):
        total, first = int(times.total[i]), int(groups.first[i])
        cells = (total, percent(total, whole), *times.cells(i)[:4])
        found.append(((names.text(first), int(times.count[i]), *cells), first))
    return found
