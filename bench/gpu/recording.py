# SPDX-License-Identifier: Apache-2.0
"""Check a recording of the recorder (--record), and read its kernels, copies and calls through wirecell_profile."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from .jobs import event_file, run_job
from .outcome import Failed
from .stage import Stage

EVENTS, FIRST = 6, 3  # of the recording; the reports leave out the events before FIRST
REPORTS = ("cuda_gpu_kern_sum:base", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "cuda_api_sum")

# Statements that return 0 for a consistent recording, and what is wrong otherwise.
FAULTS = {
    "kernels without a launch": "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId NOT IN "
    "(SELECT correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME)",
    "calls that share a correlation id": "SELECT COUNT(*) - COUNT(DISTINCT correlationId) "
    "FROM CUPTI_ACTIVITY_KIND_RUNTIME",
    "kernels that begin before their launch": "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN "
    "CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId) WHERE k.start < r.start",
    "kernels that end before they begin": "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE end < start",
    "kernels after the session": "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE end > "
    "(SELECT duration FROM ANALYSIS_DETAILS)",
}


def check(stage: Stage, name: str, **arguments: Any) -> str:
    """Record a job, check the recording and keep its reports; return the figures in one line."""
    file = stage.logs / f"{name}.sqlite"
    file.unlink(missing_ok=True)
    from_events = {"input": event_file(stage, EVENTS), **arguments}
    run_job(stage, name, "--record", str(file), **from_events)
    facts = consistency(file)
    if facts["tier"] != "cupti":
        stage.needs_hardware(facts["faults"][0])
    stage.add("recordings", {"name": name, **facts})
    reports = {} if facts["tier"] != "cupti" else read_reports(stage, name, file)
    stage.add("profiles", {"name": name, "events": EVENTS - FIRST, "reports": reports})
    if facts["faults"]:
        raise Failed("; ".join(facts["faults"]))
    return f"{facts['kernels']} kernels, {facts['calls']} calls, none dropped; recorded by {facts['tier']}"


def consistency(file: Path) -> dict[str, Any]:
    """Return facts of a recording, with its faults in words."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        run = dict(database.execute("SELECT key, value FROM SPNG_RUN"))
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        needed = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME"}
        facts: dict[str, Any] = {"tier": run.get("tier", "none"), "kernels": 0, "calls": 0, "faults": []}
        if facts["tier"] != "cupti" or not needed <= tables:
            facts["faults"].append(f"no device records: {run.get('tier_reason') or 'tables are missing'}")
            return facts
        facts["kernels"] = database.execute("SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]
        facts["calls"] = database.execute("SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchone()[0]
        for key in ("cuda.dropped_records", "cuda.unknown_records"):
            if run.get(key) != "0":
                facts["faults"].append(f"{key} is {run.get(key)}")
        for what, statement in FAULTS.items():
            count = database.execute(statement).fetchone()[0]
            if count:
                facts["faults"].append(f"{count} {what}")
        if facts["kernels"] == 0:
            facts["faults"].append("no kernels")
    return facts


def read_reports(stage: Stage, name: str, file: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the reports of wirecell_profile on the later events, by name."""
    reports = {}
    for report in REPORTS:
        command = [sys.executable, "-m", "wirecell_profile", "stats", str(file), "-r", report]
        command += ["--format", "json", "--event", f"{FIRST}-{EVENTS - 1}"]
        done = stage.run(f"{name}-{report.split(':')[0]}", command, 60)
        if done.status:
            raise Failed(f"wirecell-profile stats -r {report}: {done.failure()}")
        reports[report.split(":")[0]] = json.loads(done.text[done.text.index("[") :])
    return reports
