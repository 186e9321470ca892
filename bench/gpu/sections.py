# SPDX-License-Identifier: Apache-2.0
"""The section of a stage on the page, from its result file. The same result gives the same text."""

from __future__ import annotations

from collections.abc import Callable

from scripts.output import Table

from . import tables
from .result_file import Result

TITLES = {
    "smoke": "Does it start, and does it agree with the CPU?",
    "modes": "Every way to run the chain",
    "sanitize": "compute-sanitizer",
    "speed": "Speed",
}
# The tables of a section in their order; a table without rows is left out.
TABLES: tuple[Callable[[Result], Table], ...] = (
    tables.checks,
    tables.targets,
    tables.agreements,
    tables.jobs,
    tables.nodes,
    tables.kernels,
    tables.copies,
    tables.calls,
    tables.sanitizer,
    tables.transfers,
    tables.network,
    tables.depthwise,
    tables.counters,
)


def section(result: Result) -> str:
    """Return the section as Markdown."""
    parts = [f"## {TITLES[result['stage']]}\n", provenance(result).markdown() + "\n"]
    for make_table in TABLES:
        table = make_table(result)
        if table.rows:
            parts.append(f"### {table.title}\n\n{table.markdown()}\n")
    return "\n".join(parts)


def provenance(result: Result) -> Table:
    """Return the table of date, program and machine."""
    machine, program = result["machine"], result["program"]
    facts = {
        "date": result["time"],
        "command": f"{result['command']}; {result['seconds']:.0f} s",
        "commit": f"{program.get('commit', 'unknown')} ({program.get('build', 'unknown')})",
        "LibTorch": program.get("LibTorch", "unknown"),
        **{f"GPU {index}": gpu_text(gpu) for index, gpu in enumerate(machine.get("gpus", []))},
        **{key: str(value) for key, value in machine.items() if key != "gpus"},
    }
    return Table("", ["", ""], [[key, value] for key, value in facts.items()], words=2)


def gpu_text(gpu: dict[str, str]) -> str:
    """Describe a GPU in one line."""
    rest = ", ".join(f"{key} {value}" for key, value in gpu.items() if key != "GPU")
    return f"{gpu['GPU']}: {rest}"
