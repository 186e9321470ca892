# SPDX-License-Identifier: Apache-2.0
"""The part of wire-cell's timing files that a campaign keeps."""

from __future__ import annotations

from pathlib import Path

from .layout import read_json

SCHEMA = "spng-timing-1"


def read(path: Path) -> dict:
    """Return {} for an absent or foreign file, else the run's commit, wall_seconds, startup_seconds, process_peak_bytes,
    nodes (name -> wall times of all calls [ns] and processor time [ns]), provenance (configuration and data files by path
    and SHA-256), warnings about the input, and the number of events that have some.
    """
    found = read_json(path)
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        return {}
    run = found.get("run", {})
    nodes = {
        node["name"]: {"wall_ns": [call["wall_ns"] for call in node["per_call"]], "cpu_ns": node["cpu_ns"]}
        for node in found.get("nodes", [])
    }
    kept = {
        key: run[key]
        for key in ("wall_seconds", "startup_seconds", "process_peak_bytes", "device")
        if key in run
    }
    return kept | {
        "commit": found.get("program", {}).get("commit", ""),
        "nodes": nodes,
        "provenance": found.get("provenance", {}),
        "warnings": found.get("input", {}).get("warnings", []),
        "doubtful_events": found.get("input", {}).get("doubtful_events", 0),
    }
