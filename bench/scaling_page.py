# SPDX-License-Identifier: Apache-2.0
"""The page of docs/benchmarks on the parameters of the cost."""

from __future__ import annotations

from pathlib import Path

from scripts.output import Table

from .line_fit import Line, fitted_line
from .page import device_of, provenance
from .plots import PLOTTED, picture
from .points import PointFigures, SeriesFigures, shown_command
from .tables import decimal

COLUMNS = (
    "without files [ms], min, p90, CPU [ms], with files [ms], CPU of files [ms], first [ms], "
    "start-up [s], peak [GB], operations, page faults"
).split(", ")
HOW_TO_READ = "\n".join(
    (
        "Figures are per readout.",
        "*Without files*: sum of the calls between source and sink, median over the readouts after the "
        "first of all runs, with the smallest and the 90th percentile; if events or nodes run at the "
        "same time the calls overlap and the sum means little.",
        "*With files*: wall time from the end of one readout to the end of the next, median over the "
        "runs; in steady state, so it is the time per readout of a long job.",
        "*CPU*: of all threads in those calls; *CPU of files*: of the threads that read and write in the"
        " background.",
        "*First*: the calls of the first readout, which includes one-time work.",
        "*Peak*: of the process.",
        "*Page faults*: pages of memory that the system handed out per event after the first.",
        "",
    )
)


def table_of(series: SeriesFigures) -> Table:
    """Return the table of all points; a failed point has its message."""
    return Table(
        series.title, [series.axis, *COLUMNS], [[point.label, *cells(point)] for point in series.points]
    )


def cells(point: PointFigures) -> list[str]:
    """Return the cells of a row."""
    if point.chain is None:
        return [f"failed: {point.failure[:100]}"] + [""] * (len(COLUMNS) - 1)
    return [
        decimal(point.chain_ms),
        decimal(point.chain.minimum),
        decimal(point.chain.p90),
        decimal(point.cpu_ms),
        decimal(point.with_files_ms),
        decimal(point.beside_ms),
        decimal(point.first_ms),
        decimal(point.start_up_s, 2),
        decimal(point.peak_gb, 2),
        decimal(point.operations, 0),
        decimal(point.page_faults, 0),
    ]


def line_through(series: SeriesFigures) -> Line | None:
    """Fit the cost of a readout [ms] over its ticks; return None for fewer than three points."""
    points = [(point.x, point.chain.median) for point in series.points if point.chain is not None]
    return fitted_line(points) if len(points) > 2 else None


def line_text(line: Line) -> str:
    """Return the line as text."""
    return (
        f"Straight line through these (least squares of relative residuals): {line.intercept:.1f} ms + {1e3 * line.slope:.2f} ms for each "
        f"1000 ticks; the point farthest from it is off by {100 * line.largest_residual:.0f} %."
    )


def heading(result: dict, scaling: dict) -> str:
    """Return the head of the page."""
    device = device_of(result)
    cuda = (
        ""
        if device.startswith("cuda")
        else (
            "CUDA: no figures, since no device was present. `./wcb bench --all --device cuda` on a machine that has one writes them.\n"
        )
    )
    return f"""# What the cost depends on: {device}

{provenance(result)}
| LibTorch | {result["versions"]["torch"]} |
| runs | {scaling["rounds"]} of each point, in turn: all points of all series one after the other, every second round in the opposite order |
| meanwhile | {scaling["load_text"]} |
| default | one ProtoDUNE-HD anode, 2560 channels x 6000 ticks, int16; Pgrapher, {result["cores"]} threads, `model=none`, float32, `.tar` in and out |

{cuda}{HOW_TO_READ}"""


def section(series: SeriesFigures, device: str, folder: Path) -> str:
    """Return the section of a series: table, picture, commands."""
    parts = [f"## {series.title}\n\n{series.text}\n\n{table_of(series).markdown()}\n"]
    line = line_through(series) if series.name == "ticks" else None
    if line is not None:
        parts.append(line_text(line) + "\n")
    if series.name in PLOTTED:
        parts.append(f"![{series.title}]({picture(device, series.name)})\n")
    parts.append(
        "<details><summary>commands</summary>\n\n```sh\n"
        + "\n".join(shown_command(point, folder) for point in series.points)
        + "\n```\n\n</details>\n"
    )
    return "\n".join(parts)


def cold_section(cold: dict) -> str:
    """Return the section on one-time costs."""
    rows = [
        ["start-up to the first event [s]", decimal(cold["start_up_s"], 2)],
        ["first event, without files [ms]", decimal(cold["first_event_ms"])],
        ["later events, median [ms]", decimal(cold["later_event_ms"])],
        ["paid once [ms]", decimal(cold["once_ms"])],
        ["written to compile caches [bytes]", str(cold["cached_bytes"])],
    ]
    rows += [
        [f"first call longer than later ones, {name} [ms]", decimal(extra)]
        for name, extra in list(cold["first_call_extra_ms"].items())[:4]
    ]
    return (
        "## Cold and warm\n\nA new process whose compile caches are empty (`./wcb bench --cold`).\n\n"
        + Table("Cold", ["", "median"], rows).markdown()
        + "\n"
    )


def scaling_page(result: dict, scaling: dict, series: list[SeriesFigures], folder: Path) -> str:
    """Return the page."""
    parts = [
        heading(result, scaling),
        *(section(one, result["run"]["device"].split(":")[0], folder) for one in series),
        cold_section(scaling["cold"]),
    ]
    return "\n".join(parts)
