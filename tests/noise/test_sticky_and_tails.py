# SPDX-License-Identifier: Apache-2.0
"""Sticky codes and tails of the RC coupling, injected into frames with known charge, are repaired by the job."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.support import synthetic, wire_cell
from tests.support.small_site import Site

pytestmark = wire_cell.needs_program

TICKS = 3000
RATIO = 500.0 / 1.1e6  # of tick and RC constant, tests/support/small_detector.py
NOISE_COUNTS, WIDTH = 12.0, 4  # running means, because white noise cannot be interpolated
STICKY_SHARE, STUCK_SHARE = 0.1, 0.2  # of the channels, and of the samples in them


@pytest.fixture(name="site", scope="module")
def fixture_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site.at(tmp_path_factory.mktemp("small"))


def ideal_frame(site: Site) -> np.ndarray:
    """A frame with two tracks of much charge along the drift, and one across the wires behind them."""
    planes, delay = site.anode.planes(), site.anode.delay_ticks
    along = [np.array([[z, z], [z + 40.0, z + 40.0]]) for z in (40.0, 100.0)]
    across = np.array([[30.0, 40.0], [160.0, 150.0]])
    tracks = [
        synthetic.straight_track(planes, 0, ends, (300 - delay, 1000 - delay), 80_000.0) for ends in along
    ]
    tracks.append(synthetic.straight_track(planes, 0, across, (1800 - delay, 1900 - delay), 5_000.0))
    samples = site.samples(synthetic.joined(tracks), TICKS, noise_counts=0.0)
    noise = np.random.default_rng(3).normal(0, NOISE_COUNTS, (len(samples), TICKS + WIDTH - 1))
    smooth = np.lib.stride_tricks.sliding_window_view(noise, WIDTH, axis=1).sum(axis=2) / np.sqrt(WIDTH)
    return np.round(samples + smooth).astype(np.int16)


def coupled(samples: np.ndarray) -> np.ndarray:
    """Behind one RC coupling: y(n) = x(n) - r sum_{k <= n} exp(-r (n - k)) x(k), with the baseline before it."""
    baseline = np.median(samples, axis=1, keepdims=True)
    rest = samples - baseline
    charge = np.zeros(len(samples))
    result = np.empty_like(rest)
    for tick in range(TICKS):
        charge = charge * np.exp(-RATIO) + rest[:, tick]
        result[:, tick] = rest[:, tick] - RATIO * charge
    return np.floor(result + baseline + 0.5).astype(np.int16)


def with_stuck_bits(samples: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Stick samples at the nearer of 0 and 63 in their six lowest bits; return the frame and the channels."""
    rows = rng.permutation(len(samples))[: int(STICKY_SHARE * len(samples))]
    result = samples.copy()
    own = result[rows]
    stuck = np.where((own & 63) < 32, own & ~63, own | 63)
    result[rows] = np.where(rng.random(own.shape) < STUCK_SHARE, stuck, own)
    return result, rows


def interpolated(row: np.ndarray) -> np.ndarray:
    """The formula of the physics notes in float64, one sample at a time."""
    result = row.astype(np.float64)
    usable = np.flatnonzero(~np.isin(row & 63, (0, 63)))
    for tick in np.flatnonzero(np.isin(row & 63, (0, 63))):
        behind = np.searchsorted(usable, tick)
        nodes = usable[max(behind - 2, 0) : behind + 2]
        left, right = usable[behind - 1 : behind], usable[behind : behind + 1]
        if len(left) == 0 or len(right) == 0:
            value = float(row[np.concatenate([left, right])[0]])
        elif len(nodes) == 4 and behind >= 2 and right[0] - left[0] <= 7:
            value = sum(
                row[node] * np.prod([(tick - other) / (node - other) for other in nodes if other != node])
                for node in nodes
            )
        else:
            value = np.interp(tick, [left[0], right[0]], [row[left[0]], row[right[0]]])
        lowest = row[tick] & ~63
        result[tick] = np.clip(value, lowest, lowest + 63)
    return result


def adc_of(site: Site, ident: int) -> np.ndarray:
    """The dumped waveforms behind the steps, (channel, tick)."""
    rows = np.empty((len(site.anode.channels), TICKS))
    for group in ("induction", "collection"):
        tap = wire_cell.read_arrays(site.folder / f"output-adc-{group}.npz")
        ids = tap[f"{group}_ids_{ident}"].reshape(-1)
        rows[np.searchsorted(site.anode.channels, ids)] = tap[f"{group}_{ident}"].reshape(-1, TICKS)
    return rows


def error_rms(seen: np.ndarray, truth: np.ndarray) -> float:
    return float(np.sqrt(((seen - truth) ** 2).mean()))


def test_sticky_codes_are_interpolated(site: Site) -> None:
    """Every sample is that of the reference, up to rounding; ideal channels keep their bits."""
    ideal = ideal_frame(site)
    faulty, rows = with_stuck_bits(ideal, np.random.default_rng(1))
    output = site.job(
        wire_cell.event(faulty, site.anode.channels), noise_filter="sticky", dump="adc", model="none"
    )
    seen = adc_of(site, 0)
    others = np.setdiff1d(np.arange(len(ideal)), rows)
    assert np.array_equal(seen[others], ideal[others])
    expected = np.round([interpolated(row) for row in faulty[rows]])
    assert np.abs(seen[rows] - expected).max() <= 1
    assert (seen[rows] == expected).mean() > 0.99, "values halfway between two counts"
    before, after = error_rms(faulty[rows], ideal[rows]), error_rms(seen[rows], ideal[rows])
    assert before > 6 and after < 0.45 * before, (before, after)
    note = json.loads(bytes(output["notes_spng_0"]))["sticky_codes"]
    samples, channels = (
        sum(map(int, re.findall(rf"(\d+) {what}", note))) for what in ("samples", "channels")
    )
    assert (samples, channels) == (np.isin(faulty[rows] & 63, (0, 63)).sum(), len(rows)), note


def test_both_steps_restore_the_charge(site: Site) -> None:
    ideal = ideal_frame(site)
    faulty, _ = with_stuck_bits(coupled(ideal), np.random.default_rng(2))
    events = [
        wire_cell.event(samples, site.anode.channels, ident) for ident, samples in enumerate((ideal, faulty))
    ]
    arrays = events[0] | events[1]
    unfiltered = site.job(arrays, noise_filter="none", model="none")
    filtered = site.job(arrays, noise_filter="tails,sticky", dump="adc", model="none")
    w = np.searchsorted(site.anode.channels, site.anode.views[2].channels)
    between = slice(1300, 1700)  # the tracks along the drift and the one across the wires
    tail = (coupled(ideal) - ideal.astype(float))[w][:, between].mean(axis=1)
    left = (adc_of(site, 1) - ideal)[w][:, between].mean(axis=1)
    has_tail = tail < -20
    assert has_tail.sum() >= 10
    assert np.abs(left).max() < 4, left
    crossing = [
        output[f"frame_signal_{ident}"][w[has_tail], between.stop :].sum()
        for output, ident in ((unfiltered, 0), (unfiltered, 1), (filtered, 1))
    ]
    assert crossing[1] < 0.985 * crossing[0]
    assert crossing[2] == pytest.approx(crossing[0], rel=0.01)


def test_tails_need_the_constant_of_the_detector(tmp_path: Path) -> None:
    block = wire_cell.rejected(
        "-c", wire_cell.PIPELINE, "-A", "noise_filter=tails", folder=tmp_path, status=2
    )
    assert "detector 'pdhd' lacks rc_tails" in block
