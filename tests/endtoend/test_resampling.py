# SPDX-License-Identifier: Apache-2.0
"""Frames with ticks of 512 ns give the charge of the same waves with ticks of 500 ns, at the right times and with masks
at the right ticks. The waves have no frequency above both Nyquist frequencies, so NumPy samples them exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.endtoend import long_readout
from tests.support import synthetic, wire_cell
from tests.support.small_site import Site, smeared_charge

pytestmark = wire_cell.needs_program

RAW_NS, CHAIN_NS = 512.0, 500.0
START_NS = 1000.0
TICKS, RAW_TICKS = 1024, 1000  # equally long
LONG_TICKS, LONG_RAW_TICKS = 4736, 4625
WINDOW = "1000,250,500"
NOISE_COUNTS = 2.5
GROUPS = ("induction", "collection")
SHORT, MASKED, LATE, LONG = range(4)  # events of a file
DEAD, GAP, NOT_FINITE, SATURATED = 10, 70, 120, 140  # channels
GAP_TICKS, SATURATED_TICKS = (300, 312), (400, 403)


def waves(site: Site, ticks: int, seed: int) -> np.ndarray:
    """Return periodic waves of a track and noise at ticks of 500 ns, (channel, tick) [ADC], below 0.9 MHz."""
    anode = site.anode
    ends = np.array([[30.0, 40.0], [160.0, 150.0]])
    starts = np.arange(300, ticks - 300, 900) - anode.delay_ticks
    tracks = [
        synthetic.straight_track(anode.planes(), 0, ends, (start, start + 250), 8000.0) for start in starts
    ]
    charge = synthetic.joined(tracks)
    samples = np.random.default_rng(seed).normal(0, NOISE_COUNTS, (len(anode.channels), ticks))
    for view in anode.views:
        rows = np.searchsorted(anode.channels, view.channels)
        samples[rows] += synthetic.BASELINE_COUNTS[view.plane]
        samples[rows] += synthetic.waveforms(
            view, anode.kernel(view.plane), smeared_charge(view, charge, ticks)
        )
    spectrum = np.fft.rfft(samples)
    spectrum[:, np.fft.rfftfreq(ticks, CHAIN_NS * 1e-3) > 0.9] = 0
    return np.fft.irfft(spectrum, ticks)


def sampled(samples: np.ndarray, ticks: int) -> np.ndarray:
    """Return periodic waves at another count of equally spaced times."""
    return np.fft.irfft(np.fft.rfft(samples), ticks) * ticks / samples.shape[1]


def counts(samples: np.ndarray) -> np.ndarray:
    """Round to counts as a digitiser does."""
    return np.clip(np.floor(samples + 0.5), 0, 2**14 - 1).astype(np.int16)


@dataclass(frozen=True)
class Runs:
    """The waves at ticks of 500 ns, and what the jobs make of them at 500 ns and at 512 ns.

    adc  input of the deconvolution by group, with the rows' channels as group_ids
    """

    short: np.ndarray
    chain: wire_cell.Arrays
    raw: wire_cell.Arrays
    adc: wire_cell.Arrays


@pytest.fixture(name="runs", scope="module")
def fixture_runs(site: Site) -> Runs:
    """Process the waves with ticks of both lengths; the events with defects have only ticks of 512 ns."""
    channels = site.anode.channels
    short, long = waves(site, TICKS, 1), waves(site, LONG_TICKS, 2)
    real, real_long = short.astype(np.float32), long.astype(np.float32)
    chain = wire_cell.event(real, channels, SHORT, start_ns=START_NS)
    chain |= wire_cell.event(real_long, channels, LONG, start_ns=START_NS)
    whole = site.job(chain, window=-1, tags="signal,roi", output="chain.npz")

    raw, raw_long = sampled(short, RAW_TICKS), sampled(long, LONG_RAW_TICKS)
    damaged = counts(raw)
    damaged[SATURATED, slice(*SATURATED_TICKS)] = 2**14 - 1
    late = raw.astype(np.float32)
    late[NOT_FINITE, 5] = np.nan
    frames: wire_cell.Arrays = {}
    for ident, samples in {
        SHORT: raw.astype(np.float32),
        MASKED: damaged,
        LATE: late,
        LONG: raw_long.astype(np.float32),
    }.items():
        frames |= wire_cell.event(samples, channels, ident, start_ns=START_NS, tick_ns=RAW_NS)
        if ident == MASKED:
            bad = [[DEAD, 0, RAW_TICKS], [GAP, *GAP_TICKS]]
            frames[f"chanmask_bad_{ident}"] = np.array(bad, dtype=np.int32)
        if ident == LATE:
            frames[f"tickinfo_*_{ident}"][2] = 3.0
            frames[f"chanmask_bad_{ident}"] = np.array(
                [[GAP, *(tick + 3 for tick in GAP_TICKS)]], dtype=np.int32
            )
    wire_cell.write_arrays(site.folder / "raw.npz", frames)
    found = wire_cell.job(
        site.folder,
        *site.raw_flags(RAW_NS, RAW_TICKS),
        input="raw.npz",
        output="raw-output.npz",
        window=WINDOW,
        tags="signal,roi",
        dump="adc",
        threads=1,
    )
    adc: wire_cell.Arrays = {}
    for group in GROUPS:
        adc |= wire_cell.read_arrays(site.folder / f"raw-output-adc-{group}.npz")
    return Runs(short, whole, found, adc)


def by_channel(runs: Runs, ident: int) -> np.ndarray:
    """Return the waveforms of an event behind the resampler, (channel, tick) by channel id."""
    rows = [(runs.adc[f"{group}_ids_{ident}"], runs.adc[f"{group}_{ident}"]) for group in GROUPS]
    result = np.zeros((sum(ids.size for ids, _ in rows), rows[0][1].shape[-1]))
    for ids, samples in rows:
        result[ids.reshape(-1)] = samples.reshape(ids.size, -1)
    return result


def test_waveforms_are_the_waves_at_the_other_ticks(runs: Runs) -> None:
    """Measured: an RMS of 0.006 counts, and up to 0.17 at the ends, because the resampler does not know that the waves are
    periodic.
    """
    off = by_channel(runs, SHORT) - runs.short
    assert off[:, 50:-50].std() < 0.01
    assert np.abs(off).max() < 0.4


def test_charge_is_that_of_ticks_of_500_ns(site: Site, runs: Runs) -> None:
    """Measured: 4e-5 of the charge on U, less on V and W."""
    expected, seen = runs.chain[f"frame_signal_{SHORT}"], runs.raw[f"frame_signal_{SHORT}"]
    np.testing.assert_array_equal(runs.raw[f"tickinfo_signal_{SHORT}"], [START_NS, CHAIN_NS, 0])
    assert seen.shape == expected.shape
    for view in site.anode.views:
        mine, other = seen[view.channels], expected[view.channels]
        assert mine.sum() / other.sum() == pytest.approx(1, abs=3e-4), view.name
        assert np.abs(mine - other).sum() / np.abs(other).sum() < 1e-3, view.name


def test_masks_cover_the_same_times(runs: Runs) -> None:
    """A mask of the file, one that the job finds in integers, and one that it finds in real numbers."""

    def masks(ident: int) -> dict[str, list[list[int]]]:
        return {
            name.split("_")[1]: sorted(array.tolist())
            for name, array in runs.raw.items()
            if name.startswith("chanmask_") and name.endswith(f"_{ident}")
        }

    def covering(channel: int, begin: int, end: int) -> list[int]:
        return [channel, int(begin * RAW_NS // CHAIN_NS), int(-(-end * RAW_NS // CHAIN_NS))]

    assert masks(MASKED) == {
        "bad": [[DEAD, 0, TICKS], covering(GAP, *GAP_TICKS)],
        "saturated": [covering(SATURATED, *SATURATED_TICKS)],
    }
    assert masks(LATE) == {"nan": [[NOT_FINITE, 0, TICKS]], "bad": [covering(GAP, *GAP_TICKS)]}
    assert not runs.raw[f"frame_signal_{MASKED}"][DEAD].any()


def test_first_tick_is_in_the_start(runs: Runs) -> None:
    """The first sample is that of tick 3 of 512 ns, a time at which no tick of 500 ns begins."""
    np.testing.assert_array_equal(runs.raw[f"tickinfo_signal_{LATE}"], [START_NS + 3 * RAW_NS, CHAIN_NS, 0])


def test_readout_windows_follow_each_other(site: Site, runs: Runs) -> None:
    """Their charge differs from that of the whole readout by what readout windows change: 3e-4 on U."""
    parts = {name: array for name, array in runs.raw.items() if int(name.rpartition("_")[2]) >= LONG}
    assert len(long_readout.idents(parts)) > 2
    signal = long_readout.whole(parts, "signal")
    expected = runs.chain[f"frame_signal_{LONG}"]
    assert signal.shape == expected.shape
    for view in site.anode.views:
        mine, other = signal[view.channels], expected[view.channels]
        assert mine.sum() / other.sum() == pytest.approx(1, abs=0.003), view.name


@pytest.mark.parametrize("is_raw", [True, False], ids=["raw", "chain"])
def test_frames_with_the_other_period_are_rejected(site: Site, tmp_path: Path, is_raw: bool) -> None:
    """With the ticks that were found and expected, and the detector that takes the frame."""
    seen, expected = (CHAIN_NS, RAW_NS) if is_raw else (RAW_NS, CHAIN_NS)
    channels = site.anode.channels
    samples = np.full((len(channels), 100), 2350, dtype=np.int16)
    wire_cell.write_arrays(tmp_path / "adc.npz", wire_cell.event(samples, channels, tick_ns=seen))
    arguments = ["-A", "device=cpu", "-A", "input=adc.npz", "-A", "output=output.npz"]
    flags = site.raw_flags(RAW_NS, RAW_TICKS) if is_raw else site.flags
    block = wire_cell.rejected("-c", wire_cell.PIPELINE, *flags, *arguments, folder=tmp_path, status=1)
    assert "the sampling period of the frame" in block and "event 0" in block
    assert f"seen:     {seen:g} ns" in block and f"expected: {expected:g} ns" in block
    assert is_raw or "detname=pdhd-data" in block
    assert sorted(path.name for path in tmp_path.iterdir()) == ["adc.npz"]


def test_readout_windows_between_ticks_are_rejected(site: Site, tmp_path: Path) -> None:
    """Readout windows begin where ticks of both lengths begin."""
    block = wire_cell.rejected(
        "-c",
        wire_cell.PIPELINE,
        *site.raw_flags(RAW_NS, RAW_TICKS),
        "--check-configuration",
        "-A",
        "window=1001,250,500",
        folder=tmp_path,
        status=2,
    )
    assert "a multiple of 125 ticks" in block
