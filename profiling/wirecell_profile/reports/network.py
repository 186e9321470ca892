# SPDX-License-Identifier: Apache-2.0
"""Report of congestion in network cards and InfiniBand switches."""

from __future__ import annotations

import numpy as np

from ..model.events import join_keys
from ..model.identity import lookup
from ..model.selection import Scope
from ..model.table import NULL, Labels, Table
from ..output import Result, columns
from . import option_value, report

METRIC = "IB: Send waits"
DEFAULT_THRESHOLD = 10_000  # ticks/ms


@report("intervals in which network devices waited to send", options=("ticks_threshold=",))
def network_congestion(scope: Scope, options: frozenset[str]) -> Result:
    """Return the intervals in which a device waited to send for more ticks per ms than the threshold, by start."""
    profile = scope.profile
    profile.require("NET_NIC_METRIC", "NET_IB_SWITCH_METRIC")
    profile.require("TARGET_INFO_NETWORK_METRICS")
    threshold = option_value(options, "ticks_threshold", DEFAULT_THRESHOLD)
    rows: list[tuple] = []
    if profile.has("NET_NIC_METRIC"):
        table = profile.table("NET_NIC_METRIC")
        found = _congested(scope, table, threshold)
        numbers = profile.pairs("NIC_ID_MAP", "globalId", "nicId", int, int)
        guids = profile.pairs("TARGET_INFO_NIC_INFO", "nicId", "GUID", int, int)
        kinds = profile.pairs("TARGET_INFO_NIC_INFO", "nicId", "deviceId", int, int)
        names = profile.enumeration("ENUM_NET_DEVICE_ID", {})
        for row, device in zip(_rows(table, found), table.integers("globalId")[found].tolist()):
            card = numbers.get(device, NULL)
            rows.append((*row, _guid(guids.get(card)), names.get(kinds.get(card, NULL))))
    if profile.has("NET_IB_SWITCH_METRIC"):
        table = profile.table("NET_IB_SWITCH_METRIC")
        found = _congested(scope, table, threshold)
        switches = table.integers("globalId")[found].tolist()
        rows += [(*row, _guid(switch), None) for row, switch in zip(_rows(table, found), switches)]
    return Result(
        columns("Start (ns), End (ns), Duration (ns), Send wait rate (ticks/ms), GUID, Device name"),
        sorted(rows, key=lambda row: row[0]),
    )


def _congested(scope: Scope, table: Table, threshold: int) -> np.ndarray:
    """Return the rows of the selected time that are above the threshold."""
    metrics = scope.profile.table("TARGET_INFO_NETWORK_METRICS")
    names: Labels = metrics.text_column("name")
    definition, sample = join_keys(
        *((part.integers("metricsListId"), part.integers("metricsIdx")) for part in (metrics, table))
    )
    found = lookup(definition, sample)
    waits = np.append(names.matching(METRIC.__eq__), False)[found]
    return np.flatnonzero(
        waits & (table.integers("value") > threshold) & scope.selection.covers(table.integers("start"))
    )


def _rows(table: Table, rows: np.ndarray) -> list[tuple[int, ...]]:
    """Return start, end, duration and value."""
    start, end, value = (table.integers(name)[rows] for name in ("start", "end", "value"))
    return list(zip(start.tolist(), end.tolist(), (end - start).tolist(), value.tolist()))


def _guid(value: int | None) -> str | None:
    """Return a GUID in hexadecimal; SQLite stores it as signed integer."""
    return None if value is None else f"{value % 2**64:x}"
