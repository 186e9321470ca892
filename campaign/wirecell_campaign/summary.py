# SPDX-License-Identifier: Apache-2.0
"""Time spent in a campaign: per node over all files, and per machine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from wirecell_profile.output import Result, as_table, columns
from wirecell_profile.terminal import visible
from wirecell_profile.units import counted

from . import input_warnings, outliers
from .layout import SUMMARY, SUMMARY_TEXT, Layout, write_json, write_whole
from .progress import duration, shortened

SCHEMA = "spng-campaign-summary-1"
MS = 1e6  # ns
CHANGED = "outputs were made with different contents of"


def make(records: dict[str, dict], failures: list[dict]) -> dict:
    """Return statistics over the timings in records. Each machine measured its durations by a monotonic clock; times of
    different machines are never subtracted.
    """
    walls: dict[str, list[int]] = {}
    cpu: dict[str, int] = {}
    hosts: dict[str, dict] = {}
    for record in records.values():
        host = hosts.setdefault(
            record["host"], {"files": 0, "events": 0, "busy_seconds": 0.0, "peak_bytes": 0}
        )
        host["files"] += 1
        host["events"] += record["events"]
        host["busy_seconds"] += record["seconds"]
        host["peak_bytes"] = max(host["peak_bytes"], record["timing"].get("process_peak_bytes") or 0)
        for node, spent in record["timing"].get("nodes", {}).items():
            walls.setdefault(node, []).extend(spent["wall_ns"])
            cpu[node] = cpu.get(node, 0) + spent["cpu_ns"]
    nodes = {node: statistics(values) | {"cpu_ns": cpu[node]} for node, values in walls.items() if values}
    return {
        "schema": SCHEMA,
        "files": len(records),
        "files_with_timing": sum(bool(record["timing"].get("nodes")) for record in records.values()),
        "events": sum(record["events"] for record in records.values()),
        "input_bytes": sum(record["input"]["size"] for record in records.values()),
        "output_bytes": sum(product["size"] for record in records.values() for product in record["products"]),
        "busy_seconds": round(sum(host["busy_seconds"] for host in hosts.values()), 6),
        "seconds_per_file": statistics([record["seconds"] for record in records.values()]) if records else {},
        "later_attempts": sum(record.get("number", 1) > 1 for record in records.values()),
        "nodes": dict(sorted(nodes.items(), key=lambda item: -item[1]["total"])),
        "hosts": {
            name: host | {"busy_seconds": round(host["busy_seconds"], 6)}
            for name, host in sorted(hosts.items())
        },
        "outliers": outliers.find(records),
        "changed_files": changed_files(records),
        "warnings": {name: lines for name, record in records.items() if (lines := record.get("warnings"))},
        "failed": [{"name": one["name"], "block": one["block"]} for one in failures],
    }


def changed_files(records: dict[str, dict]) -> list[str]:
    """Return the detector and network files of which outputs were made with more than one content."""
    seen: dict[str, set[str]] = {}
    for record in records.values():
        for file in record["timing"].get("provenance", {}).get("files", []):
            seen.setdefault(file["path"], set()).add(file["sha256"])
    return sorted(path for path, checksums in seen.items() if len(checksums) > 1)


def statistics(values: Sequence[float]) -> dict[str, float]:
    """Return calls, mean, p50, p95 (interpolated) and total, in the unit of the values."""
    array = np.asarray(values, dtype=np.float64)
    p50, p95 = np.percentile(array, (50, 95))
    return {
        "calls": len(values),
        "mean": float(array.mean()),
        "p50": float(p50),
        "p95": float(p95),
        "total": float(array.sum()),
    }


def as_text(summary: dict) -> str:
    """Return the summary as text."""
    lines = [
        f"{counted(summary['files'], 'file')} done, {counted(summary['events'], 'event')}, {duration(summary['busy_seconds'])} of work, "
        f"{summary['input_bytes'] / 1e6:.1f} MB in, {summary['output_bytes'] / 1e6:.1f} MB out"
    ]
    if summary["seconds_per_file"]:
        spent = summary["seconds_per_file"]
        lines.append(
            f"a file takes {spent['mean']:.2f} s on average, p50 {spent['p50']:.2f} s, p95 {spent['p95']:.2f} s"
        )
    if summary["later_attempts"]:
        lines.append(f"{summary['later_attempts']} files needed more than one attempt")
    if summary["changed_files"]:
        lines.append(f"{CHANGED}: {shortened(summary['changed_files'])}")
    if summary["outliers"]:
        lines.append(f"outliers: {outliers.as_line(summary['outliers'])}")
    if summary["nodes"]:
        whole = sum(node["total"] for node in summary["nodes"].values())
        rows = [
            (
                name,
                node["calls"],
                *(node[key] / MS for key in ("mean", "p50", "p95")),
                node["total"] / 1e9,
                100 * node["total"] / whole if whole else 0.0,
            )
            for name, node in summary["nodes"].items()
        ]
        head = columns(
            "node", "calls", "mean (ms):2", "p50 (ms):2", "p95 (ms):2", "total (s):2", "share (%):1"
        )
        lines += ["", as_table(Result(head, rows)).rstrip()]
        lines.append("share: of the sum over nodes; the time of a node includes that of nodes it calls")
    if summary["hosts"]:
        rows = [
            (
                name,
                host["files"],
                host["events"],
                host["busy_seconds"],
                host["busy_seconds"] / host["files"],
                host["peak_bytes"] / 1e6,
            )
            for name, host in summary["hosts"].items()
        ]
        head = columns("machine", "files", "events", "work (s):1", "per file (s):2", "process peak (MB):0")
        lines += ["", as_table(Result(head, rows)).rstrip()]
    if summary["warnings"]:
        lines += ["", f"{counted(len(summary['warnings']), 'file')} with warnings:"]
        lines += input_warnings.as_lines(summary["warnings"])
    if summary["failed"]:
        lines += ["", f"{counted(len(summary['failed']), 'file')} failed:"]
        lines += [f"\n{visible(one['name'])}\n{one['block']}" for one in summary["failed"]]
    return "\n".join(lines) + "\n"


def write(layout: Layout, summary: dict) -> None:
    """Write summary.json and summary.txt. Raise OSError."""
    write_json(layout.root / SUMMARY, summary)
    write_whole(layout.root / SUMMARY_TEXT, as_text(summary))
