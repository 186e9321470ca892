"""The straight line through points of cost against size."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """y = intercept + slope x; the residual is the largest |y - line| / y of a point."""

    slope: float
    intercept: float
    largest_residual: float

    def at(self, x: float) -> float:
        """The line's value."""
        return self.intercept + self.slope * x


def fitted_line(points: list[tuple[float, float]]) -> Line:
    """Least squares of relative residuals, (y - line) / y, so that short readouts count as much as long ones.

    ValueError for fewer than two different x, or a y that is not positive.
    """
    if len({x for x, _ in points}) < 2 or any(y <= 0 for _, y in points):
        raise ValueError("a line needs two different sizes, and costs above zero")
    weights = [1 / (y * y) for _, y in points]
    total = sum(weights)
    mean_x = sum(w * x for w, (x, _) in zip(weights, points)) / total
    mean_y = sum(w * y for w, (_, y) in zip(weights, points)) / total
    slope = (sum(w * (x - mean_x) * (y - mean_y) for w, (x, y) in zip(weights, points))
             / sum(w * (x - mean_x) ** 2 for w, (x, _) in zip(weights, points)))
    line = Line(slope, mean_y - slope * mean_x, 0.0)
    return Line(line.slope, line.intercept, max(abs(y - line.at(x)) / y for x, y in points))
