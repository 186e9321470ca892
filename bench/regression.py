# SPDX-License-Identifier: Apache-2.0
"""./wcb bench --check: compare the work and the times of this build with a reference.

Counts (operations, copies, bytes at the ports, bytes allocated and held, launches) are compared exactly: a count that grew is
a failure on any machine. Times are divided by that of the yardstick, which runs in turn with the chain, and compared with
wirecell-profile's statistics: a step counts as slower only by all of the 95 % interval of the ratio, Mann and Whitney's test
over all steps, twice the noise of equal code, and the margin. It is a failure only on the processor of the reference, since
yardstick and steps scale differently between processors.
"""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from wirecell_profile.compare import count_rows, time_rows
from wirecell_profile.compare.comparison import compare
from wirecell_profile.compare.measurements import WHOLE_EVENT, Run, read_timing
from wirecell_profile.output_file import output_file

SCHEMA = "spng-bench-reference-1"
MARGIN = 0.15  # relative slowdown of a step that is accepted
UNIT = 1e8  # times are stored in units of the yardstick / UNIT
TIME_CONDITIONS = ("processor", "cores")  # must be equal for times to be comparable
COUNT_CONDITIONS = tuple(
    "device, engine, precision, threads per operation, argument model".split(", ")
)  # must be equal for counts to be comparable
COPIES = ("aten::copy_", "aten::_to_copy", "aten::clone")


def measured_run(timing: dict, yardstick_ms: float, index: int) -> Run:
    """Return a timing report with times in units of the yardstick / UNIT, and with further counts."""
    run = read_timing(timing, f"run {index}")
    run.times = {
        "wall": {name: values * 1e-6 / yardstick_ms * UNIT for name, values in run.times["wall"].items()}
    }
    events = len(run.events)
    run.counts["copies"] = {
        node["name"]: np.full(events, sum(node["operations"].get(name, 0) for name in COPIES) / events)
        for node in timing["nodes"]
    }
    run.counts["bytes allocated"] = {
        node["name"]: np.array(
            [
                sum(
                    (
                        call["cpu_allocated_bytes"]
                        if call["device_allocated_bytes"] is None
                        else call["device_allocated_bytes"]
                    )
                    for call in node["per_call"]
                    if call["event"] == event
                )
                for event in run.events
            ],
            dtype=np.float64,
        )
        for node in timing["nodes"]
    }
    run.conditions = {name: run.conditions.get(name, "") for name in (*TIME_CONDITIONS, *COUNT_CONDITIONS)}
    return run


def measured_runs(timings: list[dict], yardsticks_ms: list[list[float]]) -> list[Run]:
    """Return the runs, each relative to the yardstick that ran before it."""
    return [
        measured_run(timing, statistics.median(times), index)
        for index, (timing, times) in enumerate(zip(timings, yardsticks_ms, strict=True))
    ]


def write_reference(runs: list[Run], command: str, path: Path) -> None:
    """Write the runs as the reference of later checks."""
    text = json.dumps(
        {
            "schema": SCHEMA,
            "command": command,
            "time": runs[0].time,
            "commit": runs[0].commit,
            "conditions": runs[0].conditions,
            "runs": [run.json() for run in runs],
        },
        separators=(",", ":"),
    )
    with output_file(path) as partial:
        partial.write_text(text.replace('{"source"', '\n{"source"') + "\n", encoding="utf-8")


def read_reference(path: Path) -> list[Run]:
    """Read a reference. Raise ValueError if the file is none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data.get("schema") != SCHEMA:
            raise ValueError(f"schema {data.get('schema')}, expected {SCHEMA}")
        return [Run.from_json(run) for run in data["runs"]]
    except (OSError, AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None


@dataclass(frozen=True)
class Verdict:
    """Result of a check as lines of text."""

    failures: list[str]
    notes: list[str]

    def text(self) -> str:
        """Return the result as text."""
        end = f"{len(self.failures)} failed" if self.failures else "no regression"
        return "\n".join(
            [*(f"  {line}" for line in self.notes), *(f"  FAILED {line}" for line in self.failures), end]
        )


def check(reference: list[Run], now: list[Run], margin: float = MARGIN) -> Verdict:
    """Compare the runs with the reference. Raise ValueError if they are of another job."""
    differing = [
        f"{name}: {reference[0].conditions[name]} in the reference, {now[0].conditions[name]} now"
        for name in COUNT_CONDITIONS
        if reference[0].conditions[name] != now[0].conditions[name]
    ]
    if differing:
        raise ValueError("; ".join(differing))
    result = compare(
        reference,
        now,
        time_rows.Criteria(threshold=margin, metrics=("wall",)),
        ("reference", "now"),
        force=True,
    )
    failures = [
        f"{row.count} of {row.node}: {shown(row.a)} in the reference, {shown(row.b)} now"
        + (f" ({row.detail})" if row.detail else "")
        for row in result.grown
    ]
    failures += [
        f"{node} is not a node of the reference; if it is intended, use --update" for node in result.only_b
    ]
    notes = [
        f"{row.count} of {row.node} shrank: {shown(row.a)} in the reference, {shown(row.b)} now; --update stores it"
        for row in result.counts
        if row.verdict == count_rows.SHRANK
    ]
    notes += [f"{node} is absent now" for node in result.only_a]
    times_are_comparable = all(
        reference[0].conditions[name] == now[0].conditions[name] for name in TIME_CONDITIONS
    )
    for row in result.times:
        line = (
            f"{row.node}: {row.ratio:.2f} of the reference's share of the yardstick (95 % between {row.low:.2f} and {row.high:.2f}; noise of equal "
            f"code {100 * row.noise:.0f} %)"
        )
        if row.verdict == time_rows.SLOWER and times_are_comparable:
            failures.append(line)
        elif row.verdict in (time_rows.SLOWER, time_rows.FASTER):
            notes.append(line + ("" if times_are_comparable else "; another processor than the reference's"))
        elif row.node == WHOLE_EVENT:
            notes.append(line)
    return Verdict(failures, notes)


def shown(limits: tuple[float, float]) -> str:
    """Format a count or its range."""
    least, most = limits
    return f"{least:g}" if least == most else f"{least:g} to {most:g}"
