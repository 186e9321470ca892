# SPDX-License-Identifier: Apache-2.0
"""Definition of the simulation in NumPy with float64, for a few depositions: dense, without special kernels.

Formulas: docs/simulation.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from tests.reference.detector import WirePlane
from tests.reference.files import read_json
from tests.reference.response import ADC_BITS, FULL_SCALE_V, cold_electronics

TICK_NS = 500.0
TICKS = 6000
DRIFT_SPEED = 1.60563e-3  # mm/ns
START_NS = -250e3 - 100 / DRIFT_SPEED
NSIGMA = 3.0
BINS = 10  # impact intervals of a wire region
VOLTS_PER_MV_FC = 1.602176634e-4 * 1e-3  # (mV/fC) -> V per electron


@dataclass(frozen=True)
class Deposition:
    """Charge at the response plane: time [ns], electrons, y, z, spreads along and across the drift [mm]."""

    time: float
    electrons: float
    y: float
    z: float
    along: float
    across: float


@lru_cache(maxsize=1)
def _plane_responses(path: Path) -> list[dict]:
    return read_json(path)["FieldResponse"]["planes"]


def impact_kernel(path: Path, plane: int) -> np.ndarray:
    """Return ADC counts per electron at the impact positions: (region = -10..10, position = -5..5, tick)."""
    planes = _plane_responses(path)
    response = next(p["PlaneResponse"] for p in planes if p["PlaneResponse"]["planeid"] == plane)
    current = {}
    for entry in response["paths"]:
        tenths = round(entry["PathResponse"]["pitchpos"] / (0.1 * response["pitch"]))
        region = math.ceil(tenths / 10)
        current[region, tenths - 10 * region] = np.array(
            entry["PathResponse"]["current"]["array"]["elements"]
        )
    table = np.array(
        [
            [current[region, step] if step <= 0 else current[-region, -step] for step in range(-5, 6)]
            for region in range(-10, 11)
        ]
    )
    table = 0.5 * (table + table[::-1, ::-1])  # the file has the centres of both regions
    electronics = cold_electronics((np.arange(500) + 0.5) * 0.1)
    spectrum = np.fft.rfft(table, 1500) * np.fft.rfft(electronics, 1500)
    kept = spectrum[..., :151] / 5
    kept[..., -1] = kept[..., -1].real
    return -np.fft.irfft(kept, 300) * 100.0 * VOLTS_PER_MV_FC / (FULL_SCALE_V / 2**ADC_BITS)


def shares(centre: float, sigma: float) -> tuple[int, np.ndarray, np.ndarray]:
    """Return integral and first moment, from its lower edge, of a unit Gaussian over unit bins within the
    cut.

    -> first bin, integrals (bin,), moments (bin,).
    """
    first = math.floor(centre - NSIGMA * sigma)
    edges = np.arange(first, math.ceil(centre + NSIGMA * sigma) + 1)
    scaled = (edges - centre) / sigma
    cumulative = np.array([0.5 * math.erfc(-u / math.sqrt(2)) for u in scaled])
    density = np.exp(-0.5 * scaled**2) / math.sqrt(2 * math.pi)
    integral = np.diff(cumulative)
    moment = centre * integral - sigma * np.diff(density) - edges[:-1] * integral
    return first, integral / integral.sum(), moment / integral.sum()


def waveforms(depositions: list[Deposition], plane: WirePlane, kernel: np.ndarray) -> dict[int, np.ndarray]:
    """Return noise-free ADC counts above the baseline of all wires with a signal: {wire: (TICKS,)}."""
    seen: dict[int, np.ndarray] = {}
    for each in depositions:
        wire = float(plane.wire_coordinate(np.array([each.z, each.y])))
        first_bin, across, moment = shares((wire + 0.5) * BINS, each.across / plane.pitch * BINS)
        sigma_ticks = each.along / DRIFT_SPEED / TICK_NS
        first_tick, along, _ = shares((each.time - START_NS) / TICK_NS, sigma_ticks)
        for index, (share, upper) in enumerate(zip(across, moment)):
            region, step = divmod(first_bin + index, BINS)
            for offset in range(-10, 11):
                target = region - offset
                if 0 <= region < len(plane.channel) and 0 <= target < len(plane.channel):
                    response = (share - upper) * kernel[offset + 10, step] + upper * kernel[
                        offset + 10, step + 1
                    ]
                    pulse = each.electrons * np.convolve(along, response)
                    row = seen.setdefault(target, np.zeros(TICKS))
                    low, high = max(first_tick, 0), min(first_tick + len(pulse), TICKS)
                    row[low:high] += pulse[low - first_tick : high - first_tick]
    return seen
