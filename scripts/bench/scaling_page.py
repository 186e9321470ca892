"""The page of docs/benchmarks on what the cost depends on."""

from __future__ import annotations

from pathlib import Path

from .line_fit import Line, fitted_line
from .page import device_of, provenance
from .plots import PLOTTED, picture
from .points import PointFigures, SeriesFigures, shown_command
from .tables import Table, number

COLUMNS = [
    "without files [ms]",
    "min",
    "p90",
    "CPU [ms]",
    "with files [ms]",
    "CPU of files [ms]",
    "first [ms]",
    "start-up [s]",
    "peak [GB]",
    "operations",
    "page faults",
]
HOW_TO_READ = """Figures are per readout. *Without files*: sum of the calls between source and sink, median over the readouts after the first of all runs, with
the smallest and the 90th percentile; where events or nodes run at the same time the calls overlap and the sum says little. *With files*: wall
time from the end of one readout to the end of the next, median over the runs; in steady state, so it is the time per readout of a long job. *CPU*: of all threads in
those calls; *CPU of files*: beside them, on the threads that read ahead and write behind. *First*: the calls of the first readout, which pays for what is made at
first use. *Peak*: of the process. *Page faults*: pages of memory that the system handed out per event after the first.
"""


def table_of(series: SeriesFigures) -> Table:
    """Every point, or why there is none."""
    return Table(
        series.title, [series.axis, *COLUMNS], [[point.label, *cells(point)] for point in series.points]
    )


def cells(point: PointFigures) -> list[str]:
    """The figures of a row."""
    if point.chain is None:
        return [f"failed: {point.failure[:100]}"] + [""] * (len(COLUMNS) - 1)
    return [
        number(point.chain.median),
        number(point.chain.minimum),
        number(point.chain.p90),
        number(point.cpu_ms),
        number(point.with_files.median),
        number(point.beside_ms),
        number(point.first_ms),
        number(point.start_up_s, 2),
        number(point.peak_gb, 2),
        number(point.operations, 0),
        number(point.page_faults, 0),
    ]


def line_through(series: SeriesFigures) -> Line | None:
    """Cost of a readout [ms] against its ticks; None with fewer than three points."""
    points = [(point.x, point.chain.median) for point in series.points if point.chain is not None]
    return fitted_line(points) if len(points) > 2 else None


def line_text(line: Line) -> str:
    """For people."""
    return (
        f"Straight line through these (least squares of relative residuals): {line.intercept:.1f} ms + {1e3 * line.slope:.2f} ms for each "
        f"1000 ticks; the point farthest from it is off by {100 * line.largest_residual:.0f} %."
    )


def heading(result: dict, scaling: dict) -> str:
    """What was measured, where, with what."""
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
    """One series: table, picture, commands."""
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
    """What a process pays once."""
    rows = [
        ["start-up to the first event [s]", number(cold["start_up_s"], 2)],
        ["first event, without files [ms]", number(cold["first_event_ms"])],
        ["later events, median [ms]", number(cold["later_event_ms"])],
        ["paid once [ms]", number(cold["once_ms"])],
        ["written to compile caches [bytes]", str(cold["cached_bytes"])],
    ]
    rows += [
        [f"first call longer than later ones, {name} [ms]", number(extra)]
        for name, extra in list(cold["first_call_extra_ms"].items())[:4]
    ]
    return (
        "## Cold and warm\n\nA new process whose compile caches are empty (`./wcb bench --cold`).\n\n"
        + Table("Cold", ["", "median"], rows).markdown()
        + "\n"
    )


def write_scaling_page(
    result: dict, scaling: dict, series: list[SeriesFigures], page: Path, folder: Path
) -> None:
    """Write the page."""
    parts = [
        heading(result, scaling),
        *(section(one, result["run"]["device"].split(":")[0], folder) for one in series),
        cold_section(scaling["cold"]),
    ]
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(parts), encoding="utf-8")
