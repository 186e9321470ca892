# SPDX-License-Identifier: Apache-2.0
"""Fit of a straight line to costs over sizes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Line:
    """y = intercept + slope x; the residual is the largest |y - line| / y of a point."""

    slope: float
    intercept: float
    largest_residual: float

    def at(self, x: float) -> float:
        """Return the value of the line."""
        return self.intercept + self.slope * x


def fitted_line(points: list[tuple[float, float]]) -> Line:
    """Fit by least squares of the relative residuals (y - line) / y, so that short readouts count as much as long ones.

    Raise ValueError for fewer than two different x, or a y that is not positive.
    """
    if len({x for x, _ in points}) < 2 or any(y <= 0 for _, y in points):
        raise ValueError("a line needs two different sizes, and costs above zero")
    sizes, costs = np.array(points, dtype=float).T
    slope, intercept = np.polyfit(sizes, costs, 1, w=1 / costs)
    residuals = np.abs(costs - (intercept + slope * sizes)) / costs
    return Line(float(slope), float(intercept), float(residuals.max()))
