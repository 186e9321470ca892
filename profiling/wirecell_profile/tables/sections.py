# SPDX-License-Identifier: Apache-2.0
"""The named tables of `wirecell-profile summary` and `export`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..model.selection import Scope
from ..output import Result
from . import critical_path, device_use, graph_use, memory_use, name_use, node_use, range_use, start_up


@dataclass(frozen=True)
class Section:
    """A table. `run` raises MissingData if the file lacks its data. `note`: text below the table."""

    name: str
    about: str
    run: Callable[[Scope], Result]
    note: str = ""


SECTIONS = {
    section.name: section
    for section in (
        Section(
            "utilisation",
            "devices: how much of the window W they worked, and why not",
            device_use.utilisation,
        ),
        Section("nodes", "time per node on the host, and its memory", node_use.times),
        Section(
            "node-devices",
            "work of each node on the device",
            node_use.devices,
            node_use.VERDICT_RULE
            + "\nA launch of a CUDA graph belongs to SPNGDeviceSection as a whole; table graph-nodes has its nodes.",
        ),
        Section("graph-nodes", "work in CUDA graphs by the node that captured it", graph_use.graph_nodes),
        Section("events", "end-to-end latency per event", node_use.events),
        Section(
            "critical-path",
            "nodes of an event of which each needs the one before, the longest chain",
            critical_path.critical_path,
            "Host time. Nodes outside of the chain can run at the same time (engine TbbFlow).",
        ),
        Section("start-up", "time before the first node call by phase", start_up.phases),
        Section("ranges", "time per range on the host", range_use.times),
        Section("range-devices", "device work per range, children included", range_use.devices),
        Section("kernels", "device time per kernel", name_use.kernels),
        Section("api", "host time per CUDA API call", name_use.api),
        Section("gaps", "times on a thread outside of all ranges", range_use.cpu_gaps),
        Section("streams", "streams", device_use.streams),
        Section("bus", "bytes copied", device_use.bus),
        Section("memory", "highest memory of the process and of devices", memory_use.peaks),
        Section(
            "leaks",
            "device memory that was not freed in the recording",
            memory_use.leaks,
            "Who allocated it: compute-sanitizer --tool memcheck --leak-check full PROGRAM",
        ),
    )
}
