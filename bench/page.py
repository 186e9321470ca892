# SPDX-License-Identifier: Apache-2.0
"""The result as a page of docs/benchmarks."""

from __future__ import annotations

from . import frame_files
from .tables import chain_tables, notes, operator_table


def device_of(result: dict) -> str:
    """Return the device, with its name if it has one."""
    run = result["run"]
    return run["device"] if not run["device_name"] else f"{run['device']}, {run['device_name']}"


def provenance(result: dict) -> str:
    """Return the origin of a page in Markdown: the command, and the first rows of a table, to which a page adds its own."""
    machine, program = result["machine"], result["program"]
    return f"""Written by `{result["command"]}` (see [README.md](README.md)); do not edit.

| | |
| --- | --- |
| date | {result["time"]} |
| commit | {program["commit"]} ({program["build"]}) |
| machine | {machine["cpu"]}, {result["cores"]} of {machine["cores"]} cores used, {machine["system"]} |"""


def heading(result: dict) -> str:
    """Return the head of the page."""
    run = result["run"]
    return f"""# Speed: {device_of(result)}, {run["precision"]}

{provenance(result)}
| LibTorch | {result["versions"]["torch"]}, {run["intra_op_threads"]} threads per operation |
| engine | {run["engine"]}, {result["settings"]["events_in_flight"]} event in flight |
| input | copies of the default event: one ProtoDUNE-HD anode, 2560 channels x 6000 ticks, int16 |
"""


def page(result: dict, picture_of_steps: str = "") -> str:
    """Return the page. picture_of_steps: path of the picture by plots.plot_steps, if any."""
    parts = [heading(result)]
    for table in chain_tables(result):
        parts.append(f"## {table.title}\n\n{table.markdown()}\n")
        if table.title == "Steps" and picture_of_steps:
            parts.append(f"![Steps]({picture_of_steps})\n")
        if table.title == "Summary":
            parts.append("\n\n".join(notes(result)) + "\n")
    if files := frame_files.table(result):
        parts.append(frame_files.section(files))
    if result["operators"]:
        table = operator_table(result)
        parts.append(
            f"## {table.title}\n\nEach operator alone, at the sizes of one anode.\n\n{table.markdown()}\n"
        )
    return "\n".join(parts)
