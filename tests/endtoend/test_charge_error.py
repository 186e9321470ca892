# SPDX-License-Identifier: Apache-2.0
"""The tag `error` (docs/physics-notes.md#charge-error): equal to a NumPy reference, and as large as the deviations of the charge of
pulses in the noise of ProtoDUNE-HD.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from tests.reference import roi, simulate
from tests.support import noisy_frames, synthetic, wire_cell
from tests.support.small_site import Site

pytestmark = wire_cell.needs_program

TICKS = 6000
SIGMA_TICKS, ELECTRONS_PER_TICK = 3.0, 2500.0
# Lengths of pulses [ticks] of each event, far apart. All wires of a view have the same charge, as from a sheet along the wires.
LENGTHS = ((8,) * 16 + (60,) * 4, (60, 60, 60, 200), (60, 330), (200, 200))
EDGE = 8  # channels beside which the sheet ends
SIZE_LAGS, MIN_TICKS = (16, 64, 256), 1024


def charge_of_channel(lengths: tuple[int, ...]) -> np.ndarray:
    """Return the electrons in each tick, at the wires."""
    gap = (TICKS - sum(lengths)) // (len(lengths) + 1)
    ends = np.cumsum(np.array(lengths) + gap)
    image = np.zeros(TICKS)
    for end, length in zip(ends, lengths):
        image[end - length : end] = ELECTRONS_PER_TICK
    smear = np.exp(-0.5 * (2 * np.pi * SIGMA_TICKS * np.fft.rfftfreq(TICKS)) ** 2)
    return np.fft.irfft(np.fft.rfft(image) * smear, TICKS)


def readout(site: Site, charge: np.ndarray, seed: int) -> np.ndarray:
    """Return ADC counts of an event in noise, int16 (channel, tick)."""
    rng = np.random.default_rng(seed)
    samples = np.zeros((len(site.anode.channels), TICKS))
    for view in site.anode.views:
        image = np.tile(np.roll(charge, -round(site.anode.delay_ticks)), (len(view.channels), 1))
        rows = np.searchsorted(site.anode.channels, view.channels)
        samples[rows] = synthetic.waveforms(view, site.anode.kernel(view.plane), image)
        samples[rows] += simulate.noise(rng, noisy_frames.NOISE, view.plane, len(rows), TICKS)
        samples[rows] += synthetic.BASELINE_COUNTS[view.plane]
    return noisy_frames.counts(samples)


@dataclass(frozen=True)
class View:
    """Waveforms of one view, (channel, tick): without ROIs, inside ROIs, its error, mask."""

    gauss: np.ndarray
    signal: np.ndarray
    error: np.ndarray
    roi: np.ndarray  # bool

    def runs(self) -> list[tuple[int, int, int]]:
        """Return channel, first tick and end of each ROI."""
        steps = np.diff(np.pad(self.roi.astype(np.int8), ((0, 0), (1, 1))), axis=1)
        channel, first = np.nonzero(steps == 1)
        return list(zip(channel.tolist(), first.tolist(), np.nonzero(steps == -1)[1].tolist()))


@pytest.fixture(name="events", scope="module")
def fixture_events(site: Site) -> list[dict[str, View]]:
    """Process the events; return the views of each by name."""
    arrays: wire_cell.Arrays = {}
    for ident, lengths in enumerate(LENGTHS):
        arrays |= wire_cell.event(
            readout(site, charge_of_channel(lengths), 20261125 + ident), site.anode.channels, ident
        )
    tags = ("decon_charge", "signal", "error", "roi")
    out = site.job(arrays, model="none", tags=",".join(tags), check_input="false")
    return [
        {
            view.name: View(
                *(out[f"frame_{tag}_{ident}"][view.channels] for tag in tags[:-1]),
                out[f"frame_roi_{ident}"][view.channels] > 0,
            )
            for view in site.anode.views
        }
        for ident in range(len(LENGTHS))
    ]


def sizes_of_channels(gauss: np.ndarray, quiet: np.ndarray, is_line: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the size of the noise on each length of SIZE_LAGS and the count of its measurements, (lag, channel)."""
    sizes, counts = [], []
    for lag in SIZE_LAGS:
        if is_line:
            parts = [slice(begin, begin + TICKS - 2 * lag, lag // 16) for begin in (0, lag, 2 * lag)]
            values = gauss[:, parts[1]] - (gauss[:, parts[0]] + gauss[:, parts[2]]) / 2
            counted = np.logical_and.reduce([quiet[:, part] for part in parts])
        else:
            blocks = TICKS // lag
            values = gauss[:, : blocks * lag].reshape(-1, blocks, lag).mean(axis=-1)
            counted = quiet[:, : blocks * lag].reshape(-1, blocks, lag).all(axis=-1)
        count = counted.sum(axis=1)
        least = MIN_TICKS // (lag // 16 if is_line else lag)
        sizes.append(
            np.where(count < least, np.nan, (values**2 * counted).sum(axis=1) / np.maximum(count, 1))
        )
        counts.append(count / (16 if is_line else 1))
    return np.stack(sizes), np.stack(counts)


def lower_median(values: np.ndarray) -> np.ndarray:
    """Return the lower median of the values that are not NaN, (..., channel) -> (..., 1)."""
    count = (~np.isnan(values)).sum(axis=-1, keepdims=True)
    return np.take_along_axis(np.sort(values, axis=-1), (count - 1) // 2, axis=-1)


def noise_of_view(view: View, is_line: bool, reach: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariance of the noise by lag, and the factors of each channel on it by SIZE_LAGS, from ticks outside of ROIs."""
    quiet = ~np.repeat(roi.pad_in_time(view.roi[:, ::4], reach), 4, axis=1)
    gauss = view.gauss.astype(np.float64)
    gauss -= (gauss * quiet).sum(axis=1, keepdims=True) / quiet.sum(axis=1, keepdims=True)
    sizes, counts = sizes_of_channels(gauss, quiet, is_line)
    drift = sizes[1:] / sizes[0]
    shape = ~(drift > 3 * lower_median(drift)).any(axis=0)
    weight = shape / np.maximum(sizes[0], 2 * lower_median(sizes[0]))
    waves, squares, mask = (
        np.fft.rfft(each, 2 * TICKS) for each in (gauss * quiet, gauss**2 * quiet, quiet.astype(float))
    )
    differences = weight @ (squares * mask.conj() - np.abs(waves) ** 2).real
    variogram = np.fft.irfft(differences) / np.fft.irfft((weight * sizes[0]) @ np.abs(mask) ** 2)
    covariance = variogram[TICKS // 8 : TICKS // 4].mean() - variogram[:TICKS]
    if is_line:
        expected = np.array([2 * variogram[lag] - variogram[2 * lag] / 2 for lag in SIZE_LAGS])
    else:
        expected = np.array([variance_of_sum(covariance, lag) / lag**2 for lag in SIZE_LAGS])
    ratio = sizes / sizes[0] / expected[:, None]
    factors = (ratio * counts + 10) / (counts + 10) * sizes[0]
    factors[0] = sizes[0]
    for index in range(1, len(factors)):
        factors[index] = np.where(np.isnan(factors[index]), factors[index - 1], factors[index])
    return covariance, factors


def factor_of_length(factors: np.ndarray, ticks: int) -> float:
    """Return the factor of one channel, (lag,), between the lags."""
    return float(np.exp(np.interp(np.log(ticks), np.log(SIZE_LAGS), np.log(factors))))


def variance(covariance: np.ndarray, weights: np.ndarray) -> float:
    """Return the variance of a sum of ticks with these weights, by its definition."""
    lag = np.abs(np.subtract.outer(np.arange(len(weights)), np.arange(len(weights))))
    return float(weights @ covariance[lag] @ weights)


def variance_of_sum(covariance: np.ndarray, ticks: int) -> float:
    """Return the variance of the sum of adjacent ticks."""
    lag = np.arange(1, ticks)
    return float(ticks * covariance[0] + 2 * ((ticks - lag) * covariance[lag]).sum())


for_each_view = pytest.mark.parametrize("name", ["U", "V", "W"])


@for_each_view
def test_equals_the_reference(events: list[dict[str, View]], name: str) -> None:
    """The variance of the sum with the weights of each tick in it, from the covariance of the noise."""
    for views in events[::2]:
        view = views[name]
        covariance, factors = noise_of_view(view, name != "W")
        for channel, first, end in view.runs()[::7]:
            if name == "W":
                ticks, long = end - first, TICKS // 8
                outside = TICKS - view.roi[channel].sum()
                mean = variance_of_sum(covariance, long) / long / outside
                # Not smaller than that of a shorter ROI.
                of_roi = max(variance_of_sum(covariance, count) for count in range(4, ticks + 1, 4))
                expected = of_roi + ticks**2 * mean
            else:
                around = slice(max(first - 20, 0), end + 20)
                here = view.roi[channel, around]
                run = np.arange(around.start, around.start + len(here))
                # Linear while the charge is positive.
                units, mask = np.eye(len(here)), np.tile(here, (len(here), 1))
                pulse = 100.0 * mask
                charge = roi.rebaseline_linear(units + pulse, mask) - roi.rebaseline_linear(pulse, mask)
                expected = variance(covariance, charge[:, (run >= first) & (run < end)].sum(axis=1))
            errors = view.error[channel, first:end].astype(np.float64)
            assert (errors == errors[0]).all()
            expected *= factor_of_length(factors[:, channel], end - first)
            assert (errors**2).sum() == pytest.approx(expected, rel=1e-3)
        assert not view.error[~view.roi].any()


@for_each_view
def test_pulls(events: list[dict[str, View]], name: str) -> None:
    """The charge deviates from the truth by as much as the error, at all lengths of ROIs."""
    found = []
    for lengths, views in zip(LENGTHS, events):
        view, true = views[name], charge_of_channel(lengths)
        for channel, first, end in view.runs():
            if EDGE <= channel < len(view.roi) - EDGE and true[first:end].sum() > 10_000:
                charge = view.signal[channel, first:end].sum(dtype=np.float64)
                error = np.sqrt((view.error[channel, first:end].astype(np.float64) ** 2).sum())
                found.append((end - first, (charge - true[first:end].sum()) / error))
    length, pull = np.array(found).T
    for low, high in ((12, 40), (40, 100), (100, 250), (250, 420)):
        chosen = pull[(length >= low) & (length < high)]
        assert len(chosen) > 20, (low, high)
        assert chosen.std() == pytest.approx(1, abs=0.05 + 3 / np.sqrt(2 * len(chosen))), (low, high)
        assert abs(chosen.mean()) < 0.5, (low, high)
