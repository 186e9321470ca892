# SPDX-License-Identifier: Apache-2.0
"""Depositions of the training events: straight tracks, steep tracks and points.

The mixture is wide, from noise alone to 60 tracks, with more tracks near the drift direction than in nature, since a chain
without a network loses these. Figures of merit use events of the simulation's own generators.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

STEP_MM = (
    0.7  # between depositions: well below the impact positions, which are 0.47 mm apart, after diffusion
)
ELECTRONS_PER_MM = 5000.0  # of a minimum ionising particle, after recombination
# The drift volume of anode 0 of ProtoDUNE-HD, x along the drift, from 10 mm before the response plane.
LOW_MM = np.array([-3420.0, 90.0, 15.0])
HIGH_MM = np.array([-20.0, 6045.0, 2285.0])
# Unit vectors across the wires of U and V in (y, z): 35.707 degrees from the vertical.
_ANGLE = np.radians(35.707)
PITCH_DIRECTIONS = np.array([[-np.sin(_ANGLE), np.cos(_ANGLE)], [np.sin(_ANGLE), np.cos(_ANGLE)]])


@dataclass(frozen=True)
class Mixture:
    """Ranges from which an event is drawn."""

    empty: float = 0.03  # share of events without charge
    tracks: tuple[float, float] = (2.0, 60.0)  # isotropic; the logarithm is uniform
    steep: int = 12  # largest number of tracks near the drift direction
    # Angle between a steep track and the pitch direction of U or V; steeper tracks are more frequent, since their pulses differ more.
    steep_degrees: tuple[float, float] = (60.0, 89.8)
    points: int = 60  # largest number of depositions of one point
    point_electrons: tuple[float, float] = (3e3, 1e5)


def _inside(start: np.ndarray, direction: np.ndarray) -> tuple[float, float]:
    """Return the distances along the line at which it enters and leaves the drift volume."""
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = np.sort(np.stack([(LOW_MM - start) / direction, (HIGH_MM - start) / direction]), axis=0)
    return float(np.nanmax(crossings[0])), float(np.nanmin(crossings[1]))


def _line(rng: np.random.Generator, direction: np.ndarray, longest: float) -> np.ndarray:
    """Return depositions (4, n), x, y, z [mm] and electrons, of a track with fluctuating ionisation; a tenth ionise heavily."""
    through = rng.uniform(LOW_MM, HIGH_MM)
    begin, end = _inside(through, direction)
    length = min(end - begin, longest)
    begin += rng.random() * (end - begin - length)
    steps = max(int(length / STEP_MM), 1)
    distance = begin + (np.arange(steps) + 0.5) * length / steps
    points = through[:, None] + direction[:, None] * distance
    scale = (
        ELECTRONS_PER_MM * rng.uniform(0.85, 1.45) * (rng.uniform(1.5, 4.0) if rng.random() < 0.1 else 1.0)
    )
    # Fluctuations: a normal core and, about every 30 mm, a delta electron.
    fluctuation = rng.normal(1.0, 0.2, steps).clip(0.2)
    knocks = rng.random(steps) < STEP_MM / 30.0
    fluctuation[knocks] += rng.pareto(1.8, int(knocks.sum())).clip(max=30.0)
    return np.vstack([points, scale * length / steps * fluctuation])


def _isotropic(rng: np.random.Generator) -> np.ndarray:
    direction = rng.normal(size=3)
    return direction / np.linalg.norm(direction)


def _steep(rng: np.random.Generator, degrees: tuple[float, float]) -> np.ndarray:
    """Draw a direction at an angle to the pitch direction of U or V, near the plane of drift and pitch."""
    low, high = degrees
    angle = np.radians(high - (high - low) * rng.random() ** 2)
    across = PITCH_DIRECTIONS[rng.integers(2)] * rng.choice([-1.0, 1.0])
    along_wire = np.array([-across[1], across[0]]) * rng.normal(0.0, 0.15)
    y, z = np.cos(angle) * (across + along_wire)
    direction = np.array([np.sin(angle), y, z])
    return direction / np.linalg.norm(direction)


def depositions(seed: int, mixture: Mixture = Mixture()) -> np.ndarray:
    """Return one event as depo_data (7, n) float64: t [ns], q [electrons, negative], x, y, z [mm], two zeros for the widths."""
    rng = np.random.default_rng(seed)
    parts = [np.zeros((4, 0))]
    if rng.random() >= mixture.empty:
        low, high = np.log(mixture.tracks)
        for _ in range(int(round(np.exp(rng.uniform(low, high))))):
            longest = rng.uniform(50.0, 800.0) if rng.random() < 0.3 else np.inf
            parts.append(_line(rng, _isotropic(rng), longest))
        for _ in range(rng.integers(mixture.steep + 1)):
            parts.append(_line(rng, _steep(rng, mixture.steep_degrees), rng.uniform(200.0, 2000.0)))
        count = int(rng.integers(mixture.points + 1))
        low, high = np.log(mixture.point_electrons)
        electrons = np.exp(rng.uniform(low, high, count))
        parts.append(np.vstack([rng.uniform(LOW_MM, HIGH_MM, (count, 3)).T, electrons]))
    x, y, z, electrons = np.concatenate(parts, axis=1)
    nothing = np.zeros_like(x)
    return np.vstack([nothing, -electrons, x, y, z, nothing, nothing])
