# SPDX-License-Identifier: Apache-2.0
"""./wcb bench --all: write the pages of docs/benchmarks on speed, with their pictures."""

from __future__ import annotations

from pathlib import Path

from wirecell_profile.output import json_text

from scripts.output import write
from scripts.wcb.checkout import say

from . import machine_load
from .page import page
from .plots import picture, plot_all
from .points import SeriesFigures, Setting, measure
from .scaling_page import line_through, scaling_page, table_of
from .sweeps import all_series

SCHEMA = "spng-bench-scaling-1"


def measured_series(
    setting: Setting, quick: bool, cores: int, rounds: int
) -> tuple[list[SeriesFigures], str]:
    """Measure all series; return them and the load of the machine."""
    series = all_series(quick, cores)
    say(f"\nSeries, {rounds} rounds of {sum(len(one.points) for one in series)} points")
    start = machine_load.now()
    found = measure(series, setting, rounds)
    return found, machine_load.since(start).text()


def write_pages(
    result: dict, series: list[SeriesFigures], scaling: dict, pages: Path, folder: Path
) -> list[Path]:
    """Write pages and pictures into `pages` and the JSON file into `folder`; return the paths of the pages."""
    device = result["run"]["device"].split(":")[0]
    line = next(line_through(one) for one in series if one.name == "ticks")
    plot_all(result, series, line, pages)
    paths = [pages / ("cpu.md" if device == "cpu" else f"steps-{device}.md"), pages / f"scaling-{device}.md"]
    write(paths[0], page(result, picture(device, "steps")))
    write(paths[1], scaling_page(result, scaling, series, folder))
    found = {"line": None if line is None else vars(line), "series": [one.json() for one in series]}
    write(folder / "scaling.json", json_text({"schema": SCHEMA, **scaling, **found}))
    return paths


def print_series(series: list[SeriesFigures]) -> None:
    """Print the tables of all series."""
    for one in series:
        say(f"\n{one.title}\n{table_of(one).text()}")
