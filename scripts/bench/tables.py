"""The result as tables: rows of words, printed in columns or as Markdown."""

from __future__ import annotations

from dataclasses import dataclass

from scripts.wcb.checkout import say

from .result import PASSING_ON_MS, WORDS
from .statistics_of_calls import FILE_NODES


@dataclass(frozen=True)
class Table:
    """The first column holds words, the others numbers."""

    title: str
    heads: list[str]
    rows: list[list[str]]

    def text(self) -> str:
        """In columns."""
        lines = [self.heads, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.heads))]
        return "\n".join(self.in_columns(line, widths) for line in lines)

    @staticmethod
    def in_columns(line: list[str], widths: list[int]) -> str:
        """Words to the left, numbers to the right."""
        numbers = [word.rjust(width) for word, width in zip(line[1:], widths[1:])]
        return "  ".join([line[0].ljust(widths[0]), *numbers]).rstrip()

    def markdown(self) -> str:
        """As GitHub and GitLab show it."""
        lines = [self.heads, ["---"] + ["---:"] * (len(self.heads) - 1), *self.rows]
        return "\n".join(f"| {' | '.join(word.strip() for word in line)} |" for line in lines)


def number(value: float | None, digits: int = 1) -> str:
    """Empty when there is none."""
    return "" if value is None else f"{value:.{digits}f}"


def summary_table(result: dict) -> Table:
    """What has a bar, and what explains it."""
    rows = []
    for key, value in result["summary"].items():
        bar = result["bars"].get(key)
        digits = 0 if key == "operations_per_event" else 2 if value < 10 else 1
        rows.append([WORDS[key], number(value, digits), "" if bar is None else f"{bar:g}"])
    return Table("Summary", ["one anode, one event in flight", "measured", "bar"], rows)


def type_table(result: dict) -> Table:
    """Steps beside what they cannot avoid and the least time for it on this machine; all but file input and output together last."""

    def cells(name: str, row: dict) -> list[str]:
        return [
            name,
            str(row["nodes"]),
            number(row["wall_ms"]),
            number(row["cpu_ms"]),
            number(row["operations"], 0),
            number(row["moved_mb"], 0),
            number(row["transforms_gflop"] or None, 2),
            number(row["roofline_ms"]),
            number(row["wall_ms"] / row["roofline_ms"] if row["roofline_ms"] else None),
        ]

    bounded = [
        row for row in result["types"] if row["type"] not in FILE_NODES and row["wall_ms"] >= PASSING_ON_MS
    ]
    total = {
        key: sum(row[key] or 0.0 for row in bounded)
        for key in ("nodes", "wall_ms", "cpu_ms", "operations", "moved_mb", "transforms_gflop", "roofline_ms")
    }
    rows = [cells(row["type"], row) for row in result["types"] if row["wall_ms"] >= PASSING_ON_MS]
    rows.append(cells("all without files", total))
    return Table(
        "Steps",
        [
            "step",
            "nodes",
            "wall [ms]",
            "CPU [ms]",
            "operations",
            "in and out [MB]",
            "transforms [GFLOP]",
            "roofline [ms]",
            "wall / roofline",
        ],
        rows,
    )


def node_table(result: dict) -> Table:
    """Every node."""
    rows = [
        [
            node["name"],
            number(node["first"]),
            number(node["wall"]["median"]),
            number(node["wall"]["minimum"]),
            number(node["wall"]["p90"]),
            number(node["cpu"]),
            number(node["operations"], 0),
            number(node["peak_bytes"] * 1e-6),
        ]
        for node in [result["chain"], *result["nodes"]]
        if node["wall"]["median"] >= 0.05
    ]
    return Table(
        "Nodes",
        [
            "node (times per event in ms)",
            "first event",
            "median",
            "min",
            "p90",
            "CPU",
            "operations",
            "memory [MB]",
        ],
        rows,
    )


def operator_table(result: dict) -> Table:
    """Own operators and heavy sub-steps alone."""
    rows = [
        [name, f"{times['wall']['median']:.3g}", f"{times['wall']['minimum']:.3g}"]
        for name, times in result["operators"].items()
    ]
    return Table("Operators", ["operator (wall time in ms)", "median of 3", "min"], rows)


def start_up_table(result: dict) -> Table:
    """What start-up consists of, each line holding the one before."""
    rows = [[what, number(seconds, 2)] for what, seconds in result["start_up_s"].items()]
    rows.append(["and what is prepared, up to the first event", number(result["summary"]["start_up_s"], 2)])
    return Table("Start-up", ["from the start of the program", "s"], rows)


def notes(result: dict) -> list[str]:
    """How to read the figures."""
    runs = ", ".join(number(value, 0) for value in result["runs"])
    lines = [
        f"The machine meanwhile: {result['load_text']}. Wall times taken next to other programs are upper limits.",
        f"Chain, median of each run: {runs} ms; yardstick, run in turn with it: "
        + (", ".join(number(value, 0) for value in result["yardstick_runs"]) or "not measured")
        + " ms.",
        "CPU time is that of all threads, waiting at OpenMP's barriers included. Median, min and p90 leave the "
        "first event of each run out. Memory is the growth of tensor memory during a call.",
        f"Roofline: the least time for a step's bytes in and out or for its transforms, whichever is longer, at the peaks of this machine, "
        f"measured in the same run: {result['peaks_text']}.",
    ]
    if result["environment"]:
        lines.append(
            "Set in the environment: " + ", ".join(f"{k}={v}" for k, v in result["environment"].items()) + "."
        )
    return lines


def chain_tables(result: dict) -> list[Table]:
    """What follows from runs of the chain."""
    return [summary_table(result), type_table(result), node_table(result), start_up_table(result)]


def print_result(result: dict) -> None:
    """For the terminal."""
    if "summary" in result:
        for table in chain_tables(result):
            say(f"\n{table.text()}")
        say("")
        for line in notes(result):
            say(line)
    if result["operators"]:
        say(f"\n{operator_table(result).text()}")
