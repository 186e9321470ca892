# SPDX-License-Identifier: Apache-2.0
"""./wcb bench --cold: measure the one-time costs of a process, apart from the cost of each event.

Each run is a new process with empty compile caches. The job compiles nothing at run time: the library contains our compiled
kernels, and the model file the compiled packages of AOTInductor. One-time costs are the driver's translation of PTX for a
GPU for which a library has no code, and the initialisation of libraries at first use. There is therefore no separate compile
time. Files stay in the system's page cache.
"""

from __future__ import annotations

import shutil
import statistics
from pathlib import Path

from . import programs
from .statistics_of_calls import chain_figures

# Of the driver, of compilers, and our own.
CACHES = ("CUDA_CACHE_PATH", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "SPNG_CACHE")
ROWS = 8
SCHEMA = "spng-bench-cold-1"


def empty_caches(folder: Path) -> dict[str, str]:
    """Return the variables that set every compile cache to an empty folder of its own under `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    found = {}
    for variable in CACHES:
        cache = folder / variable.lower()
        cache.mkdir(parents=True)
        found[variable] = str(cache)
    return found


def cold_run(command: list[str], folder: Path) -> tuple[dict, int]:
    """Run once with empty caches; return the timing report and the number of bytes written to the caches."""
    timing = programs.run_chain(command, empty_caches(folder))
    return timing, sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measured(command: list[str], folder: Path, rounds: int) -> dict:
    """Run `rounds` times; return cold_figures."""
    runs = [cold_run(command, folder) for _ in range(rounds)]
    return cold_figures([timing for timing, _ in runs], [size for _, size in runs])


def cold_figures(timings: list[dict], cached_bytes: list[int]) -> dict:
    """Return medians over the runs: start-up [s], event without files [ms], and by node the extra time of its first call [ms]."""
    chains = [chain_figures([timing]) for timing in timings]
    first, later = (
        statistics.median(values) for values in zip(*((chain.first, chain.wall.median) for chain in chains))
    )
    extra: dict[str, list[float]] = {}
    for timing in timings:
        for node in timing["nodes"]:
            if node["steady_mean_wall_ns"] is not None:
                extra.setdefault(node["name"], []).append(
                    1e-6 * (node["first_wall_ns"] - node["steady_mean_wall_ns"])
                )
    return {
        "start_up_s": statistics.median(timing["run"]["startup_seconds"] for timing in timings),
        "first_event_ms": first,
        "later_event_ms": later,
        "once_ms": first - later,
        "cached_bytes": max(cached_bytes),
        "first_call_extra_ms": {
            name: statistics.median(values)
            for name, values in sorted(extra.items(), key=lambda item: -statistics.median(item[1]))
        },
    }


def cold_text(figures: dict) -> str:
    """Return the figures as text."""
    lines = [
        f"  start-up to the first event   {figures['start_up_s']:10.3f} s",
        f"  first event, without files    {figures['first_event_ms']:10.1f} ms",
        f"  later events (median)         {figures['later_event_ms']:10.1f} ms",
        f"  paid once                     {figures['once_ms']:10.1f} ms",
        f"  written to compile caches     {figures['cached_bytes']:10d} bytes",
        "  extra time of the first call:",
    ]
    rows = list(figures["first_call_extra_ms"].items())[:ROWS]
    return "\n".join([*lines, *(f"    {extra:8.1f} ms  {name}" for name, extra in rows)])
