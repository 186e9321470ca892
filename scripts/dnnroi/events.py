# SPDX-License-Identifier: Apache-2.0
"""Depositions of the training events: straight tracks, steep tracks and points.

The mixture is wide, from noise alone to 60 tracks, with more tracks near the drift direction and with less charge than in
nature, since a chain without a network loses these. In half of the events the charge arrives at any time, so that the ends
of the readout cut tracks. Figures of merit use events of the simulation's own generators.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .draws import log_uniform

STEP_MM = (
    0.7  # between depositions: well below the impact positions, which are 0.47 mm apart, after diffusion
)
ELECTRONS_PER_MM = 5000.0  # of a minimum ionising particle, after recombination
POINT_MM_PER_ELECTRON = 1.8e-4  # length of a track that stops, by its charge
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
    steep: int = 8  # largest number of tracks near the drift direction
    # Angle between a steep track and the pitch direction of U or V; steeper tracks are more frequent, since their pulses differ more.
    steep_degrees: tuple[float, float] = (60.0, 89.8)
    points: int = 100  # largest number of short tracks, at most POINT_MM_PER_ELECTRON long
    point_electrons: tuple[float, float] = (4e3, 1.2e5)
    weak: float = 0.25  # share of tracks with less ionisation than a minimum ionising particle
    weak_scale: tuple[float, float] = (0.2, 0.9)  # of their ionisation
    out_of_time: float = 0.5  # share of events in which charge arrives at any time
    delay_ms: tuple[float, float] = (-1.5, 1.5)  # of a track in these events


def _inside(start: np.ndarray, direction: np.ndarray) -> tuple[float, float]:
    """Return the distances along the line at which it enters and leaves the drift volume."""
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = np.sort(np.stack([(LOW_MM - start) / direction, (HIGH_MM - start) / direction]), axis=0)
    return float(np.nanmax(crossings[0])), float(np.nanmin(crossings[1]))


def _line(rng: np.random.Generator, direction: np.ndarray, longest: float, mixture: Mixture) -> np.ndarray:
    """Return depositions (4, n), x, y, z [mm] and electrons, of a track with fluctuating ionisation; a tenth ionise heavily."""
    through = rng.uniform(LOW_MM, HIGH_MM)
    begin, end = _inside(through, direction)
    length = min(end - begin, longest)
    begin += rng.random() * (end - begin - length)
    steps = max(int(length / STEP_MM), 1)
    distance = begin + (np.arange(steps) + 0.5) * length / steps
    points = through[:, None] + direction[:, None] * distance
    scale = ELECTRONS_PER_MM * rng.uniform(0.85, 1.45)
    kind = rng.random()
    if kind < 0.1:
        scale *= rng.uniform(1.5, 4.0)
    elif kind < 0.1 + mixture.weak:
        scale *= float(log_uniform(rng, mixture.weak_scale))
    # Fluctuations: a normal core and, about every 30 mm, a delta electron.
    fluctuation = rng.normal(1.0, 0.2, steps).clip(0.2)
    knocks = rng.random(steps) < STEP_MM / 30.0
    fluctuation[knocks] += rng.pareto(1.8, int(knocks.sum())).clip(max=30.0)
    return np.vstack([points, scale * length / steps * fluctuation])


def _point(rng: np.random.Generator, mixture: Mixture) -> np.ndarray:
    """Return depositions (4, n), as _line, of a short track."""
    electrons = float(log_uniform(rng, mixture.point_electrons))
    length = rng.random() * POINT_MM_PER_ELECTRON * electrons
    steps = max(int(length / STEP_MM), 1)
    along = ((np.arange(steps) + 0.5) / steps - 0.5) * length
    points = rng.uniform(LOW_MM, HIGH_MM)[:, None] + _isotropic(rng)[:, None] * along
    return np.vstack([points, np.full(steps, electrons / steps)])


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
        for _ in range(int(round(float(log_uniform(rng, mixture.tracks))))):
            longest = rng.uniform(50.0, 800.0) if rng.random() < 0.3 else np.inf
            parts.append(_line(rng, _isotropic(rng), longest, mixture))
        for _ in range(rng.integers(mixture.steep + 1)):
            parts.append(_line(rng, _steep(rng, mixture.steep_degrees), rng.uniform(200.0, 2000.0), mixture))
        parts += [_point(rng, mixture) for _ in range(rng.integers(mixture.points + 1))]
    low, high = mixture.delay_ms if rng.random() < mixture.out_of_time else (0.0, 0.0)
    delays_ns = np.concatenate([np.full(part.shape[1], rng.uniform(low, high) * 1e6) for part in parts])
    x, y, z, electrons = np.concatenate(parts, axis=1)
    nothing = np.zeros_like(x)
    return np.vstack([delays_ns, -electrons, x, y, z, nothing, nothing])
