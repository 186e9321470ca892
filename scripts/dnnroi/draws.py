# SPDX-License-Identifier: Apache-2.0
"""Random values of the training events."""

from __future__ import annotations

import numpy as np


def log_uniform(
    rng: np.random.Generator, limits: tuple[float, float], count: int | None = None
) -> np.ndarray:
    """Draw `count` values between the limits with a uniform logarithm; None: one value."""
    low, high = np.log(limits)
    return np.exp(rng.uniform(low, high, count))
