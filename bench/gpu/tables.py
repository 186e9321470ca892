# SPDX-License-Identifier: Apache-2.0
"""Tables of a section, each from the entries of one name in the result file; without entries a table has no rows."""

from __future__ import annotations

import re
from typing import Any

from scripts.output import Table, cell

from .agreement import Agreement
from .result_file import Result

DETAILED = ("exact", "graph", "fast")  # modes whose nodes are listed
LISTED_NODES, LISTED_KERNELS, LISTED_CALLS = 16, 24, 12
SHORTEST_MS = 0.05  # of a node that is listed
NAME_LENGTH = 100
LAUNCH = re.compile(r"cuda(Launch|GraphLaunch)|cuLaunch")  # calls that launch a kernel or a graph


def checks(result: Result) -> Table:
    """Return the table of checks."""
    rows = [[check["name"], check["status"], cell(check["note"])] for check in result["checks"]]
    return Table("Checks", ["check", "status", "figures, failure or reason"], rows, words=3)


def targets(result: Result) -> Table:
    """Return the figures that have a target (README.md)."""
    jobs = {job["name"]: job for job in result.get("jobs", [])}
    figures: list[tuple[str, float, str]] = []
    for name, what, target in (("exact", "exact", "15"), ("fast", "fast", "5")):
        if name in jobs:
            figures.append(
                (f"an anode, precision {what}, on the device [ms]", jobs[name]["device_ms"], target)
            )
    for profile in result.get("profiles", []):
        per_event = {
            report: sum(row["Total Time (ns)"] for row in rows) * 1e-6 / profile["events"]
            for report, rows in profile["reports"].items()
            if report in ("cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum")
        }
        launches = sum(
            row["Num Calls"]
            for row in profile["reports"].get("cuda_api_sum", [])
            if LAUNCH.match(row["Name"])
        )
        if per_event:
            figures.append((f"{profile['name']}: kernels and copies alone [ms]", sum(per_event.values()), ""))
            figures.append((f"{profile['name']}: launches of an event", launches / profile["events"], "300"))
    rates = [1e3 / job["with_files_ms"] for job in jobs.values() if job["with_files_ms"]]
    if rates:
        figures.append(("anodes per second with files, fastest job", max(rates), "200"))
    rows = [[what, f"{value:.1f}", target] for what, value, target in figures]
    return Table("Figures and targets", ["figure", "measured", "target"], rows)


def agreements(result: Result) -> Table:
    """Return the table of compared outputs."""
    rows = []
    for entry in result.get("agreements", []):
        known = {key: entry[key] for key in Agreement.__dataclass_fields__}
        one = Agreement(**known)
        rows.append(
            [
                entry["job"],
                entry["reference"],
                one.tag,
                str(one.frames),
                str(one.same_bytes),
                f"{one.both} / {one.either}",
                f"{one.share:.6f}",
                f"{one.charge_ratio:.7f}",
                f"{one.worst_sd:.1e}",
                f"{one.differing} / {one.channels}",
            ]
        )
    heads = "output, reference, tag, frames, same bytes, samples in ROIs of both, share, charge, largest difference [sd]"
    return Table("Agreement", [*heads.split(", "), "channels whose ROIs differ"], rows, words=3)


def jobs(result: Result) -> Table:
    """Return the table of measured jobs."""
    rows = []
    for job in result.get("jobs", []):
        settings = job["settings"]
        what = [settings["engine"], settings["precision"], f"model {settings['model']}"]
        what += ["CUDA graphs"] if settings["cuda_graph"] != "off" else []
        what += [settings["device"]] if "," in settings["device"] else []
        rows.append(
            [
                job["name"],
                ", ".join(what),
                str(settings["events_in_flight"]),
                f"{job['steady']} of {job['events']}",
                str(job["slow"]),
                milliseconds(job["device_ms"]),
                milliseconds(job["host_ms"]),
                milliseconds(job["with_files_ms"]),
                f"{job['operations']:.0f}",
                f"{job['device_peak_gb']:.2f}",
                f"{job['process_peak_gb']:.2f}",
                f"{job['start_up_s']:.1f}",
                f"{job['warm_up_s']:.2f}",
            ]
        )
    heads = (
        "job, settings, in flight, steady events, slow, device [ms], host [ms], with files [ms], operations, "
        "device peak [GB], process peak [GB], start-up [s], warm-up [s]"
    )
    return Table("Time and memory of an event", heads.split(", "), rows, words=2)


def nodes(result: Result) -> Table:
    """Return the table of the slowest nodes of the detailed modes; a nested node is marked +."""
    rows = []
    for job in result.get("jobs", []):
        if job["name"] in DETAILED:
            slow = [node for node in job["nodes"] if max(node["device_ms"], node["host_ms"]) >= SHORTEST_MS]
            for node in slow[:LISTED_NODES]:
                name = f"+ {node['name']}" if node["nested"] else node["name"]
                times = [f"{node[key]:.3f}" for key in ("device_ms", "host_ms")]
                rows.append([job["name"], name, *times, f"{node['operations']:.0f}"])
    return Table("Nodes", ["job", "node", "device [ms]", "host [ms]", "operations"], rows, words=2)


def kernels(result: Result) -> Table:
    """Return the table of the kernels that take the most time, by profile."""
    rows = []
    for profile in result.get("profiles", []):
        entries = profile["reports"].get("cuda_gpu_kern_sum", [])
        for entry in sorted(entries, key=lambda one: -one["Total Time (ns)"])[:LISTED_KERNELS]:
            rows.append(
                [
                    profile["name"],
                    short(entry["Name"]),
                    f"{entry['Instances'] / profile['events']:.1f}",
                    f"{entry['Avg (ns)'] * 1e-3:.1f}",
                    f"{entry['Total Time (ns)'] * 1e-6 / profile['events']:.3f}",
                    f"{entry['Time (%)']:.1f}",
                ]
            )
    heads = ["recording", "kernel", "launches per event", "mean [us]", "per event [ms]", "share [%]"]
    return Table("Kernels", heads, rows, words=2)


def copies(result: Result) -> Table:
    """Return the table of copies by direction, by profile."""
    rows = []
    for profile in result.get("profiles", []):
        sizes = {row["Operation"]: row for row in profile["reports"].get("cuda_gpu_mem_size_sum", [])}
        for entry in profile["reports"].get("cuda_gpu_mem_time_sum", []):
            megabytes = sizes.get(entry["Operation"], {}).get("Total (MB)", 0.0)
            rows.append(
                [
                    profile["name"],
                    entry["Operation"].strip("[]"),
                    f"{entry['Count'] / profile['events']:.1f}",
                    f"{megabytes / profile['events']:.2f}",
                    f"{entry['Total Time (ns)'] * 1e-6 / profile['events']:.3f}",
                ]
            )
    heads = ["recording", "operation", "count per event", "MB per event", "ms per event"]
    return Table("Copies", heads, rows, words=2)


def calls(result: Result) -> Table:
    """Return the table of the calls of the CUDA API that take the most time, by profile."""
    rows = []
    for profile in result.get("profiles", []):
        entries = profile["reports"].get("cuda_api_sum", [])
        for entry in sorted(entries, key=lambda one: -one["Total Time (ns)"])[:LISTED_CALLS]:
            count = entry.get("Num Calls", entry.get("Count", 0))
            rows.append(
                [
                    profile["name"],
                    entry["Name"],
                    f"{count / profile['events']:.1f}",
                    f"{entry['Total Time (ns)'] * 1e-6 / profile['events']:.3f}",
                ]
            )
    return Table("Calls of the CUDA API", ["recording", "call", "per event", "ms per event"], rows, words=2)


def sanitizer(result: Result) -> Table:
    """Return the table of what compute-sanitizer found."""
    rows = []
    for entry in result.get("sanitizer", []):
        found = ", ".join(f"{name}: {count}" for name, count in sorted(entry["kernels"].items()))
        rows.append([entry["name"], "; ".join(entry["summaries"]) or "none", found or "none"])
    return Table("Findings", ["pass", "summary", "reports by kernel"], rows, words=3)


def transfers(result: Result) -> Table:
    """Return the table of the speed of copies."""
    rows = [
        [row["direction"], row["memory"], str(row["mb"]), f"{row['gb_s']:.1f}"]
        for row in result.get("transfers", [])
    ]
    return Table("Speed of copies", ["direction", "memory of the host", "MB", "GB/s"], rows, words=2)


def network(result: Result) -> Table:
    """Return the table of ways of the network."""
    rows = [
        [row["type"], row["layout"], "yes" if row["search"] else "no", milliseconds(row["ms"])]
        for row in result.get("network", [])
    ]
    heads = ["type", "layout", "cuDNN searches the fastest algorithm", "ms"]
    return Table("The network on the input of an anode", heads, rows, words=3)


def depthwise(result: Result) -> Table:
    """Return the table of depthwise convolutions, one row for each shape and type."""
    times: dict[tuple[str, str], dict[str, float]] = {}
    for row in result.get("depthwise", []):
        times.setdefault((row["shape"], row["type"]), {})[row["layout"]] = row["ms"]
    layouts = sorted({layout for by_layout in times.values() for layout in by_layout}, reverse=True)
    rows = [
        [*key, *(f"{by_layout[layout]:.3f}" if layout in by_layout else "" for layout in layouts)]
        for key, by_layout in times.items()
    ]
    heads = ["images of two views, kernel", "type", *(f"{layout} [ms]" for layout in layouts)]
    return Table("Depthwise convolutions", heads, rows, words=2)


def counters(result: Result) -> Table:
    """Return the table of kernels under ncu."""
    rows = [
        [
            short(row["Kernel"]),
            row.get("Verdict") or "",
            str(row["Launches"]),
            f"{row['Time (ns)'] * 1e-3 / row['Launches']:.1f}",
            *(percent(row.get(key)) for key in ("SM (%)", "Memory (%)", "DRAM (%)", "Occupancy (%)")),
        ]
        for row in result.get("ncu", [])[:LISTED_KERNELS]
    ]
    heads = "kernel, verdict, launches, mean [us], SM [%], memory [%], DRAM [%], occupancy [%]"
    return Table("Kernels under ncu", heads.split(", "), rows, words=2)


def milliseconds(value: float | None) -> str:
    """Format a time; empty for None and NaN."""
    return "" if value is None or value != value else f"{value:.2f}"


def percent(value: Any) -> str:
    """Format a share; empty if it was not measured."""
    return "" if value is None else f"{value:.0f}"


def short(name: str) -> str:
    """Return a name of a kernel that fits into a table."""
    cut = name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 3]}..."
    return f"`{cut.replace('|', '/')}`"
