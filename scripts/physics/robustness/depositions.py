# SPDX-License-Identifier: Apache-2.0
"""Depositions of short straight tracks with a fixed charge, at random positions in front of anode 0 of ProtoDUNE-HD."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Corners of the volume of the centres [mm]: the drift volume of anode 0 without 30 mm or more at its borders.
LOW, HIGH = np.array([-3390.0, 120.0, 45.0]), np.array([-50.0, 6015.0, 2255.0])
POINTS = 150  # in an event
POINT_LENGTH = 4.5 / 25_400  # of the track of an electron [mm for each free electron]
SHORTEST_MM = 0.3
STEP_MM = 0.5


@dataclass(frozen=True)
class ShortTracks:
    """Tracks of an event: their count, and length [mm] and charge [electrons] of each."""

    count: int
    length: float
    electrons: float


def points(electrons: float) -> ShortTracks:
    """Return points: tracks as long as that of an electron that frees this charge."""
    return ShortTracks(POINTS, max(electrons * POINT_LENGTH, SHORTEST_MM), electrons)


def depositions(tracks: ShortTracks, seed: int) -> np.ndarray:
    """Return the depositions (7, n) of one event: t [ns], q [electrons, negative], x, y, z [mm], and two widths of 0.

    Tracks end at the borders of the volume.
    """
    generator = np.random.default_rng(seed)
    count = max(round(tracks.length / STEP_MM), 1)
    along = ((np.arange(count) + 0.5) / count - 0.5) * tracks.length
    centres = generator.uniform(LOW, HIGH, (tracks.count, 3))
    directions = generator.standard_normal((tracks.count, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    position = (centres[:, None] + along[:, None] * directions[:, None]).reshape(-1, 3)
    position = position[((position > LOW - 20) & (position < HIGH + 20)).all(axis=1)]
    found = np.zeros((7, len(position)))
    found[1] = -tracks.electrons / count
    found[2:5] = position.T
    return found
