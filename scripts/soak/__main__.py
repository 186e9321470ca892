# SPDX-License-Identifier: Apache-2.0
"""Endurance test: process a readout of any length (default 10 s, 20 million ticks a channel) with cfg/pipeline.jsonnet.

The detector has 154 channels. The readout comes through a pipe as consecutive frames; the input is not stored. Checks the
charge of every simulated event in it, and that memory and time per readout window do not grow. Exit status 0 if so.

    .venv/bin/python -m scripts.soak
    .venv/bin/python -m scripts.soak --ticks 200000
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.support.small_detector import small_detector, write_description

from . import check, run
from .readout import Readout, simulated

EVENTS, SEED = 8, 11
# Growth is significant beyond these limits, in units of the mean, and beyond four standard errors.
MEMORY_GROWTH, TIME_GROWTH = 0.02, 0.05
WARM_UP_S = 20.0  # memory may grow in this time
SAMPLE_S = 0.5


def has_grown(growth: tuple[float, float], limit: float) -> bool:
    """Tell whether a slope is beyond its limit and its error."""
    return growth[0] > limit and growth[0] > 4 * growth[1]


def main() -> int:
    """Run the test and print the result; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--ticks", type=int, default=20_000_000, help="length of the readout (default 20 million, 10 s)"
    )
    parser.add_argument(
        "--frame-ticks", type=int, default=6000, help="length of each input frame (default 6000)"
    )
    parser.add_argument(
        "--window", default="0", help="the job's argument `window` (default 0, the detector's)"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="spng-soak-") as name:
        folder = Path(name)
        flags = write_description(folder)
        readout = Readout(
            small_detector(folder), simulated(folder, flags, EVENTS, SEED), given.ticks, given.frame_ticks
        )
        cost = run.process_readout(folder, flags, readout, "signal.tar.gz", SAMPLE_S, window=given.window)
        found, ticks = check.charges(folder / "signal.tar.gz", readout)
        size = (folder / "signal.tar.gz").stat().st_size / 1e6
    print(
        f"{ticks} of {given.ticks} ticks, {len(readout.anode.channels)} channels, {len(cost.cpu_s)} readout windows, "
        f"{len(found.true)} events; {cost.wall_s:.0f} s wall, {cost.cpu_s.sum():.0f} s processor in nodes; output {size:.0f} MB"
    )
    steady = cost.memory_mb[int(WARM_UP_S / SAMPLE_S) :]
    is_long = len(steady) > 2 * WARM_UP_S / SAMPLE_S
    # The first readout window includes one-time work, and the last has the remaining ticks.
    time_growth = run.slope(cost.cpu_s[1:-1])
    memory_growth = run.slope(steady) if is_long else (0.0, 0.0)
    grown = (
        f"growth {memory_growth[0]:+.2%} +- {memory_growth[1]:.2%} of it"
        if is_long
        else "the run is too short to measure growth"
    )
    print(f"memory: {cost.memory_mb[-10:].mean():.0f} MB, peak {cost.peak_mb:.0f} MB, {grown}")
    print(
        f"time per readout window: {np.median(cost.cpu_s) * 1e3:.1f} ms of processor, growth {time_growth[0]:+.2%} +- "
        f"{time_growth[1]:.2%} of it"
    )
    without, with_seam, error = found.ratios()
    print("signal / true charge, events without a seam in them and with one:")
    for plane, letter in enumerate("UVW"):
        print(
            f"  {letter}  {without[plane]:.4f}  {with_seam[plane]:.4f}  difference {with_seam[plane] - without[plane]:+.4f} "
            f"+- {error[plane]:.4f}"
        )
    faults = []
    if ticks != given.ticks:
        faults.append("ticks are missing")
    if has_grown(memory_growth, MEMORY_GROWTH):
        faults.append("memory grows")
    if has_grown(time_growth, TIME_GROWTH):
        faults.append("time per readout window grows")
    if (np.abs(with_seam - without) > 4 * error + 0.002).any():
        faults.append("charge at seams differs")
    print("; ".join(faults) if faults else "all is well")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
