# SPDX-License-Identifier: Apache-2.0
"""The result as tables of strings, printed in columns or as Markdown."""

from __future__ import annotations

from scripts.output import Table
from scripts.wcb.checkout import say

from . import frame_files
from .result import PASSING_ON_MS, SUMMED, WORDS
from .statistics_of_calls import FILE_NODES


def decimal(value: float | None, digits: int = 1) -> str:
    """Format a value; empty for None."""
    return "" if value is None else f"{value:.{digits}f}"


def summary_table(result: dict) -> Table:
    """Return the table of figures with a bar, and of related figures."""
    rows = []
    for key, value in result["summary"].items():
        bar = result["bars"].get(key)
        digits = 0 if key == "operations_per_event" else 2 if value < 10 else 1
        rows.append([WORDS[key], decimal(value, digits), "" if bar is None else f"{bar:g}"])
    return Table("Summary", ["one anode, one event in flight", "measured", "bar"], rows)


def type_table(result: dict) -> Table:
    """Return the table of steps with their unavoidable work and its least time; the last row sums all steps without file nodes.

    A step with a + runs inside another one, whose time contains its own; its operations are not those of the other.
    """

    def cells(name: str, row: dict) -> list[str]:
        return [
            name,
            str(row["nodes"]),
            decimal(row["wall_ms"]),
            decimal(row["cpu_ms"]),
            decimal(row["operations"], 0),
            decimal(row["moved_mb"], 0),
            decimal(row["transforms_gflop"] or None, 2),
            decimal(row["roofline_ms"]),
            decimal(row["wall_ms"] / row["roofline_ms"] if row["roofline_ms"] else None),
        ]

    bounded = [
        row for row in result["types"] if row["type"] not in FILE_NODES and row["wall_ms"] >= PASSING_ON_MS
    ]
    outer = [row for row in bounded if not row["nested"]]
    total = {key: sum(row[key] or 0.0 for row in outer) for key in ("nodes", *SUMMED, "roofline_ms")}
    total["operations"] = result["chain"]["operations"]
    rows = [
        cells(("+ " if row["nested"] else "") + row["type"], row)
        for row in result["types"]
        if row["wall_ms"] >= PASSING_ON_MS
    ]
    rows.append(cells("all without files", total))
    heads = "step, nodes, wall [ms], CPU [ms], operations, in and out [MB], transforms [GFLOP], roofline [ms]"
    return Table("Steps", [*heads.split(", "), "wall / roofline"], rows)


def node_table(result: dict) -> Table:
    """Return the table of all nodes."""
    rows = [
        [
            node["name"],
            decimal(node["first"]),
            decimal(node["wall"]["median"]),
            decimal(node["wall"]["minimum"]),
            decimal(node["wall"]["p90"]),
            decimal(node["cpu"]),
            decimal(node["operations"], 0),
            decimal(node["peak_bytes"] * 1e-6),
        ]
        for node in [result["chain"], *result["nodes"]]
        if node["wall"]["median"] >= 0.05
    ]
    heads = "node (times per event in ms), first event, median, min, p90, CPU, operations, memory [MB]"
    return Table("Nodes", heads.split(", "), rows)


def operator_table(result: dict) -> Table:
    """Return the table of our operators and expensive sub-steps."""
    rows = [
        [name, f"{times['wall']['median']:.3g}", f"{times['wall']['minimum']:.3g}"]
        for name, times in result["operators"].items()
        if not name.startswith(frame_files.PREFIX)
    ]
    return Table("Operators", ["operator (wall time in ms)", "median of 3", "min"], rows)


def start_up_table(result: dict) -> Table:
    """Return the table of the parts of the start-up; each row includes the rows before."""
    rows = [[part, decimal(seconds, 2)] for part, seconds in result["start_up_s"].items()]
    rows.append(["and the preparation, up to the first event", decimal(result["summary"]["start_up_s"], 2)])
    return Table("Start-up", ["from the start of the program", "s"], rows)


def notes(result: dict) -> list[str]:
    """Return notes on the figures."""
    runs = ", ".join(decimal(value, 0) for value in result["runs"])
    lines = [
        f"Load during the run: {result['load_text']}. Wall times measured beside other programs are upper limits.",
        f"Chain, median of each run: {runs} ms; yardstick, run in turn with it: "
        + (", ".join(decimal(value, 0) for value in result["yardstick_runs"]) or "not measured")
        + " ms.",
        "CPU time is that of all threads, including waits at OpenMP's barriers. Median, min and p90 exclude the "
        "first event of each run. Memory is the growth of tensor memory during a call. The time of a step with a + is "
        "also in the step that calls it.",
        f"Roofline: the least time for a step's bytes in and out or for its transforms, whichever is longer, at the peaks of this machine, "
        f"measured in the same run: {result['peaks_text']}.",
    ]
    if result["environment"]:
        lines.append(
            "Set in the environment: " + ", ".join(f"{k}={v}" for k, v in result["environment"].items()) + "."
        )
    return lines


def chain_tables(result: dict) -> list[Table]:
    """Return the tables of the chain."""
    return [summary_table(result), type_table(result), node_table(result), start_up_table(result)]


def print_result(result: dict) -> None:
    """Print tables and notes."""
    if "summary" in result:
        for table in chain_tables(result):
            say(f"\n{table.text()}")
        say("")
        for line in notes(result):
            say(line)
    if files := frame_files.table(result):
        say("\n".join(["", files.text(), *frame_files.NOTES]))
    if result["operators"]:
        say(f"\n{operator_table(result).text()}")
