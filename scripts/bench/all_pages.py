# SPDX-License-Identifier: Apache-2.0
"""./wcb bench --all: write the pages of docs/benchmarks on speed, with their pictures."""

from __future__ import annotations

import json
from pathlib import Path

from scripts.wcb.checkout import say

from . import cold, machine_load
from .page import write_page
from .plots import picture, plot_all
from .points import SeriesFigures, Setting, measure
from .scaling_page import line_through, table_of, write_scaling_page
from .sweeps import all_series

SCHEMA = "spng-bench-scaling-1"


def measured_series(
    setting: Setting, quick: bool, cores: int, rounds: int
) -> tuple[list[SeriesFigures], str]:
    """Measure all series; return them and the load of the machine."""
    series = all_series(quick, cores, setting.arguments["device"])
    say(f"\nSeries, {rounds} rounds of {sum(len(one.points) for one in series)} points")
    start = machine_load.now()
    found = measure(series, setting, rounds)
    return found, machine_load.since(start).text()


def cold_of(command: list[str], folder: Path, rounds: int) -> dict:
    """Measure the one-time costs of a process."""
    runs = [cold.cold_run(command, folder / "caches") for _ in range(rounds)]
    return cold.cold_figures([timing for timing, _ in runs], [size for _, size in runs])


def write_pages(
    result: dict, series: list[SeriesFigures], scaling: dict, pages: Path, folder: Path
) -> list[Path]:
    """Write pages and pictures into `pages` and the JSON file into `folder`; return the paths of the pages."""
    device = result["run"]["device"].split(":")[0]
    line = next(line_through(one) for one in series if one.name == "ticks")
    plot_all(result, series, line, pages)
    paths = [pages / f"{device}.md", pages / f"scaling-{device}.md"]
    write_page(result, paths[0], picture(device, "steps"))
    write_scaling_page(result, scaling, series, paths[1], folder)
    (folder / "scaling.json").write_text(
        json.dumps(
            {
                "schema": SCHEMA,
                **scaling,
                "line": None if line is None else vars(line),
                "series": [one.json() for one in series],
            },
            indent=1,
        )
        + "\n",
        encoding="utf-8",
    )
    return paths


def print_series(series: list[SeriesFigures]) -> None:
    """Print the tables of all series."""
    for one in series:
        say(f"\n{one.title}\n{table_of(one).text()}")
