# SPDX-License-Identifier: Apache-2.0
"""Inputs and jobs of MicroBooNE: the raw groups, and a twin of misconfigured channels made from good ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from spng import Frame

from .datasets import CHIRPING, GROUPS, MISCONFIGURED, TICK_NS, Folder, Group, raw_frame
from .jobs import WAVEFORM_TAG, Jobs, Output

DETECTOR = "microboone-data"
TWIN = Group("misconfigured twin", MISCONFIGURED.first, "")
NO_STEP = "none"
EVERY_STEP = "default"  # those of the detector
GAIN, MISCONFIGURED_GAIN = 14.0, 4.7  # mV/fC
SHAPING, MISCONFIGURED_SHAPING = 2.2, 1.0  # us
TWIN_AREA = (
    MISCONFIGURED_GAIN * MISCONFIGURED_SHAPING / (GAIN * SHAPING)
)  # of the responses: twin / good channels
KEPT_SHARE = 0.01  # of the largest response; weaker frequencies are damped, because the ratio would amplify their noise
OVERSAMPLING = 100  # of the response


def cold_response(gain: float, shaping_us: float, times_us: np.ndarray) -> np.ndarray:
    """Return the response of the cold electronics [mV/fC] (docs/physics-notes.md, Electronics response)."""
    r = times_us / shaping_us
    response = 4.31054 * np.exp(-2.94809 * r)
    response += np.exp(-2.82833 * r) * (-5.24040 * np.cos(1.19361 * r) + 1.524912 * np.sin(1.19361 * r))
    response += np.exp(-2.40318 * r) * (0.929848 * np.cos(2.5928 * r) - 0.655368 * np.sin(2.5928 * r))
    return np.where((times_us > 0) & (times_us < 10), 10.12 * gain * response, 0.0)


def response_spectrum(gain: float, shaping_us: float, ticks: int) -> np.ndarray:
    """Return the spectrum of the sampled response up to half the sampling frequency."""
    tick_us = TICK_NS / 1e3
    fine = tick_us / OVERSAMPLING
    times = (np.arange(ticks * OVERSAMPLING) + 0.5) * fine
    return np.fft.rfft(cold_response(gain, shaping_us, times))[: ticks // 2 + 1]


def misconfigured(samples: np.ndarray) -> np.ndarray:
    """Return waveforms (channel, tick) int16 [ADC] as electronics of 4.7 mV/fC and 1 us would have given them.

    The ratio of both responses; frequencies with less than KEPT_SHARE of the largest response are damped.
    """
    ticks = samples.shape[1]
    good = response_spectrum(GAIN, SHAPING, ticks)
    bad = response_spectrum(MISCONFIGURED_GAIN, MISCONFIGURED_SHAPING, ticks)
    power = np.abs(good) ** 2
    ratio = bad * np.conj(good) / (power + (KEPT_SHARE * np.abs(good).max()) ** 2)
    baseline = np.median(samples, axis=1, keepdims=True)
    changed = np.fft.irfft(np.fft.rfft(samples - baseline, axis=1) * ratio, ticks, axis=1)
    return np.rint(changed + baseline).astype(np.int16)


def groups_frame(folder: Folder) -> Frame:
    """Return the raw groups."""
    return raw_frame({group.first: folder.microboone(group) for group in GROUPS})


def twin_frame(folder: Folder) -> Frame:
    """Return the raw groups, and the chirping group once more as misconfigured channels, mirrored."""
    rows = {group.first: folder.microboone(group) for group in GROUPS}
    rows[TWIN.first] = misconfigured(rows[CHIRPING.first])[::-1]
    return raw_frame(dict(sorted(rows.items())))


def misconfigured_frame(folder: Folder) -> Frame:
    """Return the raw groups and the misconfigured group."""
    groups = sorted((*GROUPS, MISCONFIGURED), key=lambda group: group.first)
    return raw_frame({group.first: folder.microboone(group) for group in groups})


def run_groups(jobs: Jobs, folder: Folder, noise_filter: str) -> Output:
    """Process the raw groups; write charge and waveforms. Raise DataMissing or JobFailed."""
    return _run(jobs, "microboone", partial(groups_frame, folder), GROUPS, noise_filter)


def run_twin(jobs: Jobs, folder: Folder, noise_filter: str) -> Output:
    """Process the raw groups with the twin; write charge and waveforms. Raise DataMissing or JobFailed."""
    return _run(jobs, "microboone-twin", partial(twin_frame, folder), (*GROUPS, TWIN), noise_filter)


def run_misconfigured(jobs: Jobs, folder: Folder, noise_filter: str) -> Output:
    """Process the raw groups with the misconfigured one; write charge and waveforms. Raise DataMissing or JobFailed."""
    groups = (*GROUPS, MISCONFIGURED)
    return _run(jobs, "microboone-misconfigured", partial(misconfigured_frame, folder), groups, noise_filter)


def _run(
    jobs: Jobs, name: str, make: Callable[[], Frame], groups: Iterable[Group], noise_filter: str
) -> Output:
    keep = np.concatenate([group.channels for group in groups])
    tags = f"signal,{WAVEFORM_TAG}"
    return jobs.pipeline(jobs.input(name, make), keep, detname=DETECTOR, noise_filter=noise_filter, tags=tags)
