# SPDX-License-Identifier: Apache-2.0
"""Run the points of all series in turn, and compute their figures."""

from __future__ import annotations

import json
import math
import shlex
import statistics
from dataclasses import asdict, dataclass, field
from pathlib import Path

from scripts.wcb.checkout import ROOT, say

from . import programs
from .frames import make_input
from .statistics_of_calls import FILE_NODES, Spread, chain_nodes, per_event, split_first, spread
from .sweeps import Point, Series


@dataclass(frozen=True)
class Setting:
    """Settings common to all points."""

    build: Path
    folder: Path
    frame: Path
    arguments: dict[str, str]  # of the job; a point may add to them or override them


@dataclass
class PointFigures:
    """Figures per readout, of all readouts after the first; times in ms.

    chain  sum of the calls without file nodes; with several events in flight the calls overlap
    """

    label: str
    x: float
    command: list[str]
    chain: Spread | None = None
    cpu_ms: float = 0.0
    with_files: Spread | None = None  # from the end of one to the end of the next
    beside_ms: float = 0.0  # processor time of background reading and writing
    first_ms: float = 0.0
    start_up_s: float = 0.0
    peak_gb: float = 0.0
    operations: float = 0.0
    page_faults: float | None = None
    failure: str = ""  # reason for missing figures

    @property
    def chain_ms(self) -> float:
        """The median of `chain`, NaN without figures."""
        return self.chain.median if self.chain else math.nan

    @property
    def with_files_ms(self) -> float:
        """The median of `with_files`, NaN without figures."""
        return self.with_files.median if self.with_files else math.nan

    def json(self) -> dict:
        """Return the content of the JSON file."""
        return asdict(self)


@dataclass
class SeriesFigures:
    """A series with its figures."""

    name: str
    title: str
    axis: str
    text: str
    points: list[PointFigures] = field(default_factory=list)

    def json(self) -> dict:
        """Return the content of the JSON file."""
        return asdict(self)


def command_of(point: Point, setting: Setting) -> list[str]:
    """Return the command of a point."""
    arguments = {
        "input": str(make_input(setting.frame, point.input, setting.folder)),
        "output": str(setting.folder / f"signal{point.output}"),
        **setting.arguments,
        **point.arguments,
    }
    return programs.chain_command(
        setting.build / "bin" / "wire-cell", arguments, setting.folder / "timing.json", point.words
    )


def measure(series: list[Series], setting: Setting, rounds: int) -> list[SeriesFigures]:
    """Run all points in each round, every second round in the opposite order, so that a drift of the machine affects all.

    A point that fails gets its message instead of figures; the others continue.
    """
    found = [
        SeriesFigures(
            one.name,
            one.title,
            one.axis,
            one.text,
            [PointFigures(point.label, point.x, command_of(point, setting)) for point in one.points],
        )
        for one in series
    ]
    jobs = [
        (point, figures)
        for one, its_figures in zip(series, found)
        for point, figures in zip(one.points, its_figures.points)
    ]
    timings: dict[int, list[dict]] = {id(figures): [] for _, figures in jobs}
    for index in range(rounds):
        for _, figures in jobs if index % 2 == 0 else reversed(jobs):
            if not figures.failure:
                timing, figures.failure = run(figures)
                if timing is not None:
                    timings[id(figures)].append(timing)
        say(f"  round {index + 1} of {rounds}")
    for point, figures in jobs:
        if not figures.failure:
            fill(figures, timings[id(figures)], point.input.events)
    return found


def run(figures: PointFigures) -> tuple[dict | None, str]:
    """Return the timing report and an error text, one of them empty."""
    status, errors = programs.run_quietly(figures.command, {})
    if status:
        lines = [line for line in errors.splitlines() if line.startswith("error")] or errors.splitlines()[-1:]
        return None, " ".join(lines) or f"status {status}"
    return json.loads(Path(figures.command[-1]).read_text(encoding="utf-8")), ""


def readouts(timing: dict, count: int) -> tuple[list[float], list[float], float]:
    """Return times [ms] of the calls between source and sink: wall and processor time of the later readouts, wall of the first.

    A readout that is longer than a readout window is several consecutive events of the job.
    """
    shares = (count, timing["run"]["events"])
    nodes = chain_nodes(timing)
    first, walls = split_first(per_event(nodes, "wall_ns", *shares))
    _, cpus = split_first(per_event(nodes, "cpu_ns", *shares))
    return walls, cpus, first


def fill(figures: PointFigures, timings: list[dict], count: int) -> None:
    """Compute the figures of a point from its runs, each of `count` readouts."""
    walls, cpus, firsts, periods = [], [], [], []
    for timing in timings:
        wall, cpu, first = readouts(timing, count)
        walls += wall
        cpus += cpu
        firsts.append(first)
        periods.append(1e-6 * timing["run"]["event_with_files_ns"] * timing["run"]["events"] / count)
    runs = [timing["run"] for timing in timings]
    figures.chain = spread(walls)
    figures.with_files = spread(periods)
    figures.cpu_ms = statistics.median(cpus)
    figures.first_ms = statistics.median(firsts)
    figures.beside_ms = statistics.median(
        1e-6 * sum(run["background_cpu_ns"].values()) / count for run in runs
    )
    figures.start_up_s = statistics.median(run["startup_seconds"] for run in runs)
    figures.peak_gb = max(run["process_peak_bytes"] for run in runs) * 1e-9
    figures.operations = (
        sum(node["leaf_operations"] for node in timings[0]["nodes"] if node["type"] not in FILE_NODES) / count
    )
    figures.page_faults = statistics.median(run["page_faults_per_later_event"] for run in runs)


def shown_command(figures: PointFigures, folder: Path) -> str:
    """Return the command as a user can type it in the checkout."""
    return shlex.join(figures.command).replace(f"{folder}/", "out/bench/").replace(f"{ROOT}/", "")
