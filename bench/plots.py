# SPDX-License-Identifier: Apache-2.0
"""Pictures of the benchmarks."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen before)
from matplotlib.figure import Figure  # noqa: E402

from .line_fit import Line  # noqa: E402
from .points import PointFigures, SeriesFigures  # noqa: E402

IMAGES = "images"  # folder beside the pages
PLOTTED = ("ticks", "in_flight", "files")
BLUE, ORANGE, GREY = "#3568a8", "#d9822b", "#8a8f98"


def picture(device: str, what: str) -> str:
    """Return the path of a picture relative to the pages."""
    return f"{IMAGES}/{device}-{what.replace('_', '-')}.png"


def new_figure(columns: int, height: float = 3.6) -> tuple[Figure, np.ndarray]:
    """Return a figure and its panels as [0, column]. height: inches."""
    pyplot.rcParams.update(
        {
            "font.size": 9.5,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": "#e3e5e8",
            "axes.axisbelow": True,
            "axes.titlesize": 10.5,
            "legend.frameon": False,
        }
    )
    return pyplot.subplots(1, columns, figsize=(4.6 * columns, height), layout="constrained", squeeze=False)


def save(figure: Figure, path: Path) -> None:
    """Write the picture without a date, so that equal figures give equal files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    pyplot.close(figure)


def measured_points(series: SeriesFigures) -> list[PointFigures]:
    """Return the points that have figures."""
    return [point for point in series.points if point.chain is not None]


def plot_ticks(series: SeriesFigures, line: Line | None, path: Path) -> None:
    """Draw time with its line, and memory, over ticks."""
    points = measured_points(series)
    ticks = [point.x / 1000 for point in points]
    figure, axes = new_figure(3)
    time, per_tick, memory = axes[0]
    time.plot(ticks, [point.chain_ms for point in points], "o", color=BLUE, label="measured, without files")
    if line is not None:
        ends = [0.0, max(ticks)]
        time.plot(
            ends,
            [line.at(1000 * tick) for tick in ends],
            "-",
            color=GREY,
            label=f"{line.intercept:.0f} ms + {1e3 * line.slope:.1f} ms per 1000 ticks",
        )
    time.set(
        title="Time of a readout", xlabel="ticks [thousands]", ylabel="ms", ylim=(0, None), xlim=(0, None)
    )
    time.legend(loc="lower right")
    per_tick.plot(ticks, [point.chain_ms / tick for point, tick in zip(points, ticks)], "o-", color=BLUE)
    per_tick.set(
        title="Time per 1000 ticks", xlabel="ticks [thousands]", ylabel="ms", ylim=(0, None), xscale="log"
    )
    per_tick.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    per_tick.minorticks_off()
    memory.plot(ticks, [point.peak_gb for point in points], "o-", color=ORANGE)
    memory.set(
        title="Peak of the process", xlabel="ticks [thousands]", ylabel="GB", ylim=(0, None), xlim=(0, None)
    )
    save(figure, path)


def plot_in_flight(series: SeriesFigures, path: Path) -> None:
    """Draw readouts per second and memory by engine and events in flight."""
    points = measured_points(series)
    labels = [point.label.replace(", ", "\n") for point in points]
    figure, axes = new_figure(2)
    rate, memory = axes[0]
    rate.bar(labels, [1e3 / point.with_files_ms for point in points], color=BLUE, width=0.6)
    rate.set(title="Throughput, with files", ylabel="readouts per second", xlabel="engine, events in flight")
    memory.bar(labels, [point.peak_gb for point in points], color=ORANGE, width=0.6)
    memory.set(title="Peak of the process", ylabel="GB", xlabel="engine, events in flight")
    for axis in axes[0]:
        axis.grid(axis="x", visible=False)
    save(figure, path)


def plot_files(series: SeriesFigures, path: Path) -> None:
    """Draw the time of a readout with its files, processed beside the computation or in turn with it."""
    points = measured_points(series)
    endings = list(dict.fromkeys(point.label.split(", ")[0] for point in points))
    by_label = {point.label: point for point in points}
    figure, axes = new_figure(1)
    axis = axes[0][0]
    for shift, word, colour, text in (
        (-0.2, "beside", BLUE, "beside the computation"),
        (0.2, "in turn", ORANGE, "in turn with it"),
    ):
        heights = [
            by_label[f"{ending}, {word}"].with_files_ms if f"{ending}, {word}" in by_label else 0
            for ending in endings
        ]
        bars = axis.bar(
            [index + shift for index in range(len(endings))], heights, 0.38, color=colour, label=text
        )
        axis.bar_label(bars, fmt="%.0f", padding=2, fontsize=8, color="#444")
    axis.set_xticks(range(len(endings)), endings)
    axis.grid(axis="x", visible=False)
    axis.set(title="A readout with its files\n\n", ylabel="ms", xlabel="format of input and output")
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    save(figure, path)


def plot_steps(result: dict, path: Path) -> None:
    """Draw the time of each step and its lower bound."""
    rows = [row for row in result["types"] if row["roofline_ms"] and row["wall_ms"] >= 0.5][::-1]
    figure, axes = new_figure(1, 4.2)
    axis = axes[0][0]
    axis.barh(
        [row["type"].removeprefix("SPNG") for row in rows],
        [row["wall_ms"] for row in rows],
        color=BLUE,
        label="measured",
    )
    axis.barh(
        [row["type"].removeprefix("SPNG") for row in rows],
        [row["roofline_ms"] for row in rows],
        height=0.35,
        color=ORANGE,
        label="least on this machine",
    )
    axis.grid(axis="y", visible=False)
    axis.set(title="Steps of one anode", xlabel="wall time [ms]")
    axis.legend(loc="lower right")
    figure.set_size_inches(7, 4.2)
    save(figure, path)


def plot_all(result: dict, series: list[SeriesFigures], line: Line | None, folder: Path) -> None:
    """Draw all pictures of the pages into `folder`."""
    by_name = {one.name: one for one in series}
    device = result["run"]["device"].split(":")[0]
    plot_steps(result, folder / picture(device, "steps"))
    plot_ticks(by_name["ticks"], line, folder / picture(device, "ticks"))
    plot_in_flight(by_name["in_flight"], folder / picture(device, "in_flight"))
    plot_files(by_name["files"], folder / picture(device, "files"))
