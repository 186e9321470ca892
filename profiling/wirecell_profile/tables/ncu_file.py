# SPDX-License-Identifier: Apache-2.0
"""CSV of Nsight Compute: `ncu --csv --page raw`, `--page details`, or `--csv --metrics ...`.

The raw page has a column per metric and a second line of units; the other pages have a line per metric. Lines
of the program and of ncu (==PROF==) may come before. Values have thousands separators and scaled units; they
are converted to nanoseconds, bytes, rates per second and percent. Values that ncu could not measure (n/a) are
left out.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import MissingData, ProfileError, system_error

# (name on the details page, unit) -> metric. The unit distinguishes two meanings of a name.
DISPLAYED = {
    ("Duration", "time"): "gpu__time_duration.sum",
    ("Compute (SM) Throughput", "%"): "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    ("Compute (SM) [%]", "%"): "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    ("SM [%]", "%"): "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    ("Memory Throughput", "%"): "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    ("Memory [%]", "%"): "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    ("Memory Throughput", "rate"): "dram__bytes.sum.per_second",
    ("DRAM Throughput", "%"): "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    ("L1/TEX Cache Throughput", "%"): "l1tex__throughput.avg.pct_of_peak_sustained_active",
    ("L2 Cache Throughput", "%"): "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    ("Achieved Occupancy", "%"): "sm__warps_active.avg.pct_of_peak_sustained_active",
    ("Theoretical Occupancy", "%"): "sm__maximum_warps_per_active_cycle_pct",
    ("Waves Per SM", ""): "launch__waves_per_multiprocessor",
    ("Registers Per Thread", ""): "launch__registers_per_thread",
    ("Static Shared Memory Per Block", "bytes"): "launch__shared_mem_per_block_static",
    ("Dynamic Shared Memory Per Block", "bytes"): "launch__shared_mem_per_block_dynamic",
    ("Driver Shared Memory Per Block", "bytes"): "launch__shared_mem_per_block_driver",
    ("Local Memory Spilling Requests", ""): "derived__local_spilling_requests",
    ("Block Limit SM", ""): "launch__occupancy_limit_blocks",
    ("Block Limit Registers", ""): "launch__occupancy_limit_registers",
    ("Block Limit Shared Mem", ""): "launch__occupancy_limit_shared_mem",
    ("Block Limit Warps", ""): "launch__occupancy_limit_warps",
}
SECONDS = {
    "s": 1.0,
    "second": 1.0,
    "ms": 1e-3,
    "msecond": 1e-3,
    "us": 1e-6,
    "usecond": 1e-6,
    "ns": 1e-9,
    "nsecond": 1e-9,
}
PREFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}


@dataclass
class Launch:
    """One profiled kernel launch (or range)."""

    identifier: str
    kernel: str
    grid: str = ""
    block: str = ""
    # In base units, see the module docstring. Names of the details page without a metric here stay as they are.
    metrics: dict[str, float] = field(default_factory=dict)


def read_ncu(path: Path) -> list[Launch]:
    """Read all launches in the file's order.

    Raise ProfileError for other files, MissingData if there is no launch.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except OSError as error:
        raise system_error("cannot read the file", path, error) from None
    first = next((i for i, line in enumerate(lines) if line.lstrip().startswith(('"ID"', "ID,"))), None)
    if first is None:
        raise ProfileError(
            "not a CSV of Nsight Compute",
            str(path),
            'no line that begins with "ID"',
            "the text of ncu --csv",
            "ncu --import REPORT.ncu-rep --csv --page raw > FILE.csv",
        )
    table = csv.reader(line for line in lines[first:] if line.strip() and not line.startswith("=="))
    head, *rows = list(table)
    launches = _long(head, rows) if "Metric Name" in head else _wide(head, rows)
    if not launches:
        raise MissingData(
            f"{path.name} does not contain a kernel",
            hint="check that ncu's filters (-k, --nvtx-include) match a launch",
        )
    return launches


def _wide(head: list[str], rows: list[list[str]]) -> list[Launch]:
    """Parse the raw page: the first line has the units, without an ID."""
    units = dict(zip(head, rows[0])) if rows and not rows[0][0] else {}
    launches = []
    for row in rows[1 if units else 0 :]:
        cells = dict(zip(head, row))
        launch = _launch(cells)
        for name, text in cells.items():
            if "__" in name:  # the others describe process and launch
                _add(launch, name, units.get(name, ""), text)
        launches.append(launch)
    return launches


def _long(head: list[str], rows: list[list[str]]) -> list[Launch]:
    """Parse the details page or the output of --metrics: one line per metric; lines of rules have no metric."""
    launches: dict[str, Launch] = {}
    for row in rows:
        cells = dict(zip(head, row))
        launch = launches.setdefault(cells["ID"], _launch(cells))
        if cells["Metric Name"]:
            _add(launch, cells["Metric Name"], cells.get("Metric Unit", ""), cells.get("Metric Value", ""))
    return list(launches.values())


def _launch(cells: dict[str, str]) -> Launch:
    return Launch(
        cells.get("ID", ""),
        cells.get("Kernel Name", ""),
        cells.get("Grid Size", ""),
        cells.get("Block Size", ""),
    )


def _add(launch: Launch, name: str, unit: str, text: str) -> None:
    """Add a value under the metric's name, if it is a number."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return
    scale, kind = base_unit(unit)
    launch.metrics[DISPLAYED.get((name, kind), name)] = value * scale


def base_unit(unit: str) -> tuple[float, str]:
    """Return (factor to the base unit, kind).

    Base units are ns, bytes, and rates per second; other units are their own kind.
    """
    unit = unit.strip()
    if unit in SECONDS:
        return SECONDS[unit] * 1e9, "time"
    if unit == "%":
        return 1.0, "%"
    above, _, below = unit.partition("/")
    scale = 1.0
    found = re.fullmatch(r"([KMGTP]?)(byte|b|hz|cycle|inst)s?", above, re.IGNORECASE)
    if found:
        scale = PREFIXES[found[1].upper()]
    if below in SECONDS:
        return scale / SECONDS[below], "rate"
    return scale, {"byte": "bytes", "b": "bytes", "hz": "rate"}.get(found[2].lower(), "") if found else ""
