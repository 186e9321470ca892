# SPDX-License-Identifier: Apache-2.0
"""Many events and a long readout: memory, open files, threads and time do not grow, and the charge at seams is complete."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from spng import read_frames
from tests.support import figures, wire_cell
from tests.support.measured_runs import choose
from tests.support.small_site import Site
from tests.support.soak import check, run
from tests.support.soak.readout import Readout, simulated

pytestmark = [wire_cell.needs_program, pytest.mark.reliability]

FRAME_TICKS = 6000
FIRST = 50  # events in which memory may grow
GROWTH_MB, GROWTH_SHARE = 20.0, 0.01
READ_AHEAD = 10  # events; at the end of the input its file is closed
SAMPLE_S = 0.1
SEED, EVENTS = 11, 8
# Of a long readout: what is allowed from its first to its last part, besides four standard errors.
MEMORY_GROWTH, TIME_GROWTH = 0.02, 0.05
WARM_UP_S = 20.0  # memory may grow in this time


@pytest.mark.parametrize(
    "arguments",
    [{"model": wire_cell.DATA / "dnnroi.ts", "engine": "Pgrapher"}, {"model": "none", "engine": "TbbFlow"}],
    ids=["Pgrapher with the network", "TbbFlow without"],
)
def test_many_events(site: Site, arguments: dict[str, Any]) -> None:
    """Compare the first samples after event 50 with the last ones; the input is read a few frames ahead."""
    events = choose(1000, 120)
    templates = simulated(site.folder, site.flags, EVENTS, SEED)
    readout = Readout(site.anode, templates, events * FRAME_TICKS, FRAME_TICKS)
    given = {"series": "false", "frames": "sparse", **arguments}
    cost = run.process_readout(site.folder, site.flags, readout, "signal.npz", SAMPLE_S, **given)
    late = (cost.frames >= FIRST) & (cost.frames < events - READ_AHEAD)
    share = max(3, int(late.sum()) // 20)
    before, after = (cost.memory_mb[late][part].mean() for part in (slice(share), slice(-share, None)))
    figures.note("events", events)
    figures.note("memory after event 50 [MB]", before)
    figures.note("growth [MB]", after - before)
    figures.note("open files", cost.descriptors[late].max())
    figures.note("threads", cost.threads[late].max())
    figures.note("processor time of an event [ms]", 1e3 * float(np.median(cost.cpu_s)))
    assert sum(1 for _ in read_frames(site.folder / "signal.npz")) == events
    assert after - before <= max(GROWTH_MB, GROWTH_SHARE * before)
    assert np.ptp(cost.descriptors[late]) == 0 and np.ptp(cost.threads[late]) == 0


def test_long_readout(site: Site) -> None:
    """Ten seconds unless SPNG_SOAK_TICKS gives another length, in readout windows; events lie on their seams and elsewhere."""
    ticks = int(os.environ.get("SPNG_SOAK_TICKS", choose(20_000_000, 600_000)))
    templates = simulated(site.folder, site.flags, EVENTS, SEED)
    readout = Readout(site.anode, templates, ticks, FRAME_TICKS)
    cost = run.process_readout(site.folder, site.flags, readout, "signal.tar.gz", SAMPLE_S)
    charges, found = check.charges(site.folder / "signal.tar.gz", readout)
    without, with_seam, error = charges.ratios()
    time_growth = run.slope(cost.cpu_s[1:-1])  # the first has one-time work, and the last the remaining ticks
    figures.note("ticks", found)
    figures.note("peak of the memory [MB]", cost.peak_mb)
    figures.note("growth of the time per readout window", time_growth[0])
    for plane, letter in enumerate("UVW"):
        figures.note(f"signal / true charge at seams, {letter}", with_seam[plane])
        figures.note(f"elsewhere, {letter}", without[plane])
    assert found == ticks
    assert not has_grown(time_growth, TIME_GROWTH)
    steady = cost.memory_mb[int(WARM_UP_S / SAMPLE_S) :]
    if len(steady) > 2 * WARM_UP_S / SAMPLE_S:  # a short run has no growth to measure
        memory_growth = run.slope(steady)
        figures.note("growth of the memory", memory_growth[0])
        assert not has_grown(memory_growth, MEMORY_GROWTH)
    assert (np.abs(with_seam - without) <= 4 * error + 0.002).all(), (with_seam, without, error)


def has_grown(growth: tuple[float, float], limit: float) -> bool:
    """Tell whether a slope is beyond its limit and its error."""
    return growth[0] > limit and growth[0] > 4 * growth[1]
