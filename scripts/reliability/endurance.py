# SPDX-License-Identifier: Apache-2.0
"""R7: memory, open files and threads during many events."""

from __future__ import annotations

from typing import Any

import numpy as np

from scripts.output import Table
from scripts.soak import run
from scripts.soak.readout import Readout, simulated
from spng import read_frames
from tests.support import wire_cell

from .row import NO_DEVICE, Outcome, judge
from .work import Work

FRAME_TICKS = 6000
FIRST = 50  # events in which memory may grow
GROWTH_MB, GROWTH_SHARE = 20.0, 0.01
READ_AHEAD = 10  # events; at the end of the input its file is closed
SAMPLE_S = 0.1
ENGINES: dict[str, dict[str, Any]] = {
    "Pgrapher, network": {"model": wire_cell.DATA / "dnnroi.ts", "engine": "Pgrapher"},
    "TbbFlow, model=none": {"model": "none", "engine": "TbbFlow"},
}


def soak(work: Work) -> Outcome:
    """Measure R7."""
    events = work.choose(1000, 120)
    site = work.site
    templates = simulated(site.folder, site.flags, 8, 11)
    readout = Readout(site.anode, templates, events * FRAME_TICKS, FRAME_TICKS)
    rows, figures, misses = [], [], []
    for name, arguments in ENGINES.items():
        cost = run.process_readout(
            site.folder,
            site.flags,
            readout,
            "signal.npz",
            SAMPLE_S,
            series="false",
            frames="sparse",
            **arguments,
        )
        completed = sum(1 for _ in read_frames(site.folder / "signal.npz"))
        late = (cost.frames >= FIRST) & (cost.frames < events - READ_AHEAD)
        # The first samples after event 50 against the last ones; the input is read a few frames ahead.
        share = max(3, int(late.sum()) // 20)
        before, after = (cost.memory_mb[late][part].mean() for part in (slice(share), slice(-share, None)))
        growth = after - before
        spread = [
            f"{values.min():.0f} to {values.max():.0f}" if np.ptp(values) else f"{values[0]:.0f}"
            for values in (cost.descriptors[late], cost.threads[late])
        ]
        rows.append(
            [
                name,
                str(completed),
                f"{before:.0f}",
                f"{after:.0f}",
                f"{growth:+.1f} ({growth / before:+.1%})",
                f"{cost.memory_mb[late].max():.0f}",
                *spread,
                f"{1e3 * np.median(cost.cpu_s):.0f}",
            ]
        )
        figures.append(
            f"{name}: {growth:+.1f} MB ({growth / before:+.1%}), open files {spread[0]}, threads {spread[1]}"
        )
        if completed != events:
            misses.append(f"{name}: {completed} of {events} events")
        if growth > max(GROWTH_MB, GROWTH_SHARE * before):
            misses.append(f"{name}: memory grows by {growth:.0f} MB instead of {GROWTH_MB:.0f}")
        misses += [
            f"{name}: {what} {values}"
            for what, values in zip(("open files", "threads"), spread, strict=True)
            if "to" in values
        ]
    return judge(
        "; ".join(figures),
        misses,
        f"{events} events of {FRAME_TICKS} ticks of the small detector (154 channels), through a pipe; a sample each {SAMPLE_S:g} s.\n"
        f"Growth of the memory of a GPU: {NO_DEVICE}.",
        [
            Table(
                f"From event {FIRST} to {events}",
                [
                    "job",
                    "events",
                    "memory then [MB]",
                    "at the end [MB]",
                    "growth [MB]",
                    "highest [MB]",
                    "open files",
                    "threads",
                    "processor time of an event [ms]",
                ],
                rows,
            )
        ],
    )
