# SPDX-License-Identifier: Apache-2.0
"""Response of a channel to drifting charge: field response averaged over wire regions, times the electronics.

Formulas: docs/physics-notes.md#field-response, #electronics-response and #frer-spectrum, with the fine time step, the padded
length and rounded positions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from tests.reference.files import read_json

FINE_PERIOD_NS = 100.0  # the file states 99.999 ns; the ratio to the tick must be an integer
TICK_NS = 500.0
ELECTRONS_PER_FEMTOCOULOMB = 1e-15 / 1.602176634e-19
FULL_SCALE_V = 1.4
ADC_BITS = 14


@lru_cache(maxsize=4)
def _plane_responses(path: str) -> list[dict]:
    return read_json(path)["FieldResponse"]["planes"]


@lru_cache(maxsize=8)
def wire_region_average(path: str | Path, plane: int) -> np.ndarray:
    """Return the field response averaged over each wire's region: (wire = -10..10, sample) current in 1/ns per
    electron, the same array for every call.

    The file holds paths at multiples of a tenth of the pitch on one side of each wire; the other side is
    its mirror image; a path without current has that of the nearest one.  Each path covers the interval half way to its neighbours, and a wire's region is
    half a pitch either way.
    """
    planes = _plane_responses(str(path))
    response = next(p["PlaneResponse"] for p in planes if p["PlaneResponse"]["planeid"] == plane)
    paths = [entry["PathResponse"] for entry in response["paths"]]
    tenths = [round(path["pitchpos"] / (0.1 * response["pitch"])) for path in paths]
    currents = [np.array(path["current"]["array"]["elements"]) for path in paths]
    computed = [index for index, current in enumerate(currents) if current.any()]
    collected: dict[int, list[np.ndarray]] = {}
    for index, tenth in enumerate(tenths):
        nearest = min(computed, key=lambda other: (abs(tenths[other] - tenths[index]), other != index))
        current = currents[nearest]
        for key in {tenth, -tenth}:
            collected.setdefault(key, []).append(current)
    keys = np.array(sorted(collected))
    means = np.stack([np.mean(collected[key], axis=0) for key in keys])
    middle = 0.5 * (keys[1:] + keys[:-1])
    low = np.concatenate([[-np.inf], middle]) / 10
    high = np.concatenate([middle, [np.inf]]) / 10
    reach = int(np.floor(keys[-1] / 10))
    wires = np.arange(-reach, reach + 1)[:, None]
    overlap = np.clip(np.minimum(high, wires + 0.5) - np.maximum(low, wires - 0.5), 0, None)
    return overlap @ means


def cold_electronics(
    time_us: np.ndarray, gain_mv_per_fc: float = 14.0, shaping_us: float = 2.2
) -> np.ndarray:
    """Return the impulse response of the cold electronics [mV/fC] at `time_us`; zero outside 0 < t < 10 us (docs/physics-notes.md#electronics-response)."""
    r = np.asarray(time_us) / shaping_us
    fast = np.exp(-2.82833 * r)
    slow = np.exp(-2.40318 * r)
    shape = (
        4.31054 * np.exp(-2.94809 * r)
        + fast * (1.524912 * np.sin(1.19361 * r) - 5.24040 * np.cos(1.19361 * r))
        + slow * (0.929848 * np.cos(2.5928 * r) - 0.655368 * np.sin(2.5928 * r))
    )
    inside = (np.asarray(time_us) > 0) & (np.asarray(time_us) < 10.0)
    return np.where(inside, 10.12 * gain_mv_per_fc * shape, 0.0)


def warm_electronics(time_us: np.ndarray, gain_mv_per_fc: float, shaping_us: float) -> np.ndarray:
    """Return the impulse response of electronics outside of the cryostat [mV/fC]; zero outside 0 < t < 10 us (docs/physics-notes.md#electronics-response)."""
    time_us = np.asarray(time_us)
    square = (time_us / shaping_us) ** 2
    shape = (1 - np.exp(-0.405 * square)) * np.exp(-0.125 * square)
    return np.where((time_us > 0) & (time_us < 10.0), gain_mv_per_fc * shape, 0.0)


def sampled_electronics(time_us: np.ndarray, path: str | Path, postgain: float) -> np.ndarray:
    """Return the impulse response [mV/fC] that a file has as samples in the units of the Wire-Cell Toolkit: ns, and 1e9 mV
    per electron.
    """
    samples = read_json(path)
    millivolts = 1e9 * np.array(samples["amplitudes"]) * ELECTRONS_PER_FEMTOCOULOMB
    return postgain * np.interp(1000 * np.asarray(time_us), samples["times"], millivolts, left=0, right=0)


def resample_spectrally(waveform: np.ndarray, factor: int) -> np.ndarray:
    """Keep every `factor`-th sample of a band-limited version of `waveform` (..., sample); length must
    divide.

    The lowest frequencies are kept; the new Nyquist bin is the mean of its positive and negative parts
    (real).
    """
    length = waveform.shape[-1] // factor
    spectrum = np.fft.rfft(waveform)[..., : length // 2 + 1] / factor
    if length % 2 == 0:
        spectrum[..., -1] = spectrum[..., -1].real
    return np.fft.irfft(spectrum, length)


@lru_cache(maxsize=16)
def response_kernel(
    path: str | Path, plane: int, gain_mv_per_fc: float = 14.0, shaping_us: float = 2.2
) -> np.ndarray:
    """Return the response in ADC counts per electron at (wire -10..10, tick), positive for collected
    charge. -> (21,
    300).

    Time zero is an electron at the response plane.  The 21 rows are centred: row 10 is the wire the
    electron arrives at.  Every call returns the same array, which cannot be written.
    """
    kernel = kernel_of(
        path, plane, partial(cold_electronics, gain_mv_per_fc=gain_mv_per_fc, shaping_us=shaping_us)
    )
    kernel.flags.writeable = False
    return kernel


def kernel_of(path: str | Path, plane: int, electronics: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return the response as in response_kernel() for any electronics: a function from times [us] to mV/fC."""
    field = wire_region_average(path, plane)
    fine = (np.arange(500) + 0.5) * FINE_PERIOD_NS / 1000.0
    volts_per_electron = electronics(fine) * 1e-3 / ELECTRONS_PER_FEMTOCOULOMB
    ratio = round(TICK_NS / FINE_PERIOD_NS)
    length = -(-(field.shape[1] + len(fine) - 1) // ratio) * ratio  # of the convolution, in whole ticks
    product = np.fft.rfft(field, length) * np.fft.rfft(volts_per_electron, length)
    convolved = np.fft.irfft(product, length) * FINE_PERIOD_NS
    volts_per_count = FULL_SCALE_V / 2**ADC_BITS
    return -resample_spectrally(convolved, ratio) / volts_per_count


def response_spectrum(kernel: np.ndarray, channels: int, ticks: int) -> np.ndarray:
    """Return the two-dimensional spectrum of a centred kernel on a (channels, ticks) grid. -> (channels, ticks//2 + 1)
    complex.

    The wire of interest is moved to row 0 and negative wires wrap to the end, so the kernel shifts no
    channel.
    """
    wires, length = kernel.shape
    padded = np.zeros((channels, ticks))
    padded[:wires, :length] = kernel
    return np.fft.rfft2(np.roll(padded, -(wires // 2), axis=0))
