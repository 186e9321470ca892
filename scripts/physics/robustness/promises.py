# SPDX-License-Identifier: Apache-2.0
"""Promised figures (bars) outside of nominal conditions, compared with measured ones."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..bars import Bar
from . import measurement
from .conditions import NOMINAL
from .measurement import ALL, FIRST, LAST, part_of_angle

INDUCTION, COLLECTION = ("U", "V"), ("W",)
WARNS = "the job warns"


class Limit(Enum):
    """Kind of a bar. WITHIN: largest deviation from 1, either sign."""

    WITHIN = "within"
    AT_LEAST = "at least"
    AT_MOST = "at most"


@dataclass(frozen=True)
class Promise:
    """A bar of a quantity of some views under a condition.

    part  of the view, as in measurement.Measured
    """

    condition: str
    quantity: str
    limit: Limit
    bar: float
    views: tuple[str, ...] = INDUCTION
    part: str = ALL

    def figures(self, result: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Return view -> value and error of the main variant; without views that have no value."""
        views = result["conditions"][self.condition]["figures"].get(result["main_variant"], {})
        cells = {view: views[view][self.part][self.quantity] for view in self.views if view in views}
        return {view: cell for view, cell in cells.items() if cell["value"] is not None}

    def title(self, result: dict[str, Any]) -> str:
        """Return the description of the condition."""
        label = result["conditions"][self.condition]["label"]
        details = {
            ALL: "",
            FIRST: f", first {measurement.END_TICKS} ticks",
            LAST: f", last {measurement.END_TICKS} ticks",
        }
        return label + details.get(self.part, f", {self.part.removeprefix('angle-')} degrees")

    def bars(self, result: dict[str, Any]) -> dict[str, Bar]:
        """Return the bar of each view that has a value."""
        found = {}
        for view, cell in self.figures(result).items():
            value = abs(cell["value"] - 1) if self.limit is Limit.WITHIN else cell["value"]
            found[view] = Bar(
                self.title(result),
                f"{view}: {self.words()}",
                value,
                cell["error"],
                self.bar,
                self.limit is not Limit.AT_LEAST,
            )
        return found

    def words(self) -> str:
        """Return the name of the quantity."""
        words = {
            "false": "false share",
            "bias": "bias of inner channels",
            "charge": "charge bias, either sign" if self.limit is Limit.WITHIN else "charge",
        }
        return words.get(self.quantity, self.quantity)


def _lines(view: str) -> list[Promise]:
    steep = [
        Promise(f"lines-{view}", "charge", Limit.WITHIN, 0.08, (view,), part_of_angle(angle))
        for angle in (85, 86, 87, 88)
    ]
    return [*steep, Promise(f"lines-{view}", "charge", Limit.AT_LEAST, 0.5, (view,), part_of_angle(89))]


PROMISES = (
    Promise("noise-1.5", "charge", Limit.WITHIN, 0.04),
    Promise("noise-1.5", "purity", Limit.AT_LEAST, 0.78),
    Promise("noise-2", "charge", Limit.WITHIN, 0.08),
    Promise("noise-2", "purity", Limit.AT_LEAST, 0.75),
    Promise("alone-2", "false", Limit.AT_MOST, 1e-5),
    Promise("noise-0.7", "charge", Limit.WITHIN, 0.04),
    Promise("noise-0.7", "purity", Limit.AT_LEAST, 0.78),
    Promise("noisy", "false", Limit.AT_MOST, 1e-4),
    Promise("drift-5", "charge", Limit.WITHIN, 0.05),
    Promise("drift-5-alone", "false", Limit.AT_MOST, 1e-4),
    Promise("drift-20", "charge", Limit.WITHIN, 0.10),
    Promise("drift-20-alone", "false", Limit.AT_MOST, 1e-4),
    Promise("steps", "charge", Limit.WITHIN, 0.05),
    Promise("steps-alone", "false", Limit.AT_MOST, 1e-4),
    Promise("points-10000", "charge", Limit.AT_LEAST, 0.5),
    Promise("points-25000", "charge", Limit.AT_LEAST, 0.95),
    Promise("points-50000", "charge", Limit.AT_LEAST, 0.98),
    Promise("charge-0.5", "charge", Limit.WITHIN, 0.04),
    Promise("charge-0.25", "charge", Limit.WITHIN, 0.12),
    *_lines("U"),
    *_lines("V"),
    Promise("ends", "charge", Limit.AT_LEAST, 0.92, part=FIRST),
    Promise("ends", "charge", Limit.AT_LEAST, 0.92, part=LAST),
    Promise("few", "purity", Limit.AT_LEAST, 0.82),
    Promise("few", "efficiency", Limit.AT_LEAST, 0.99),
    Promise(NOMINAL, "purity", Limit.AT_LEAST, 0.85, COLLECTION),
    Promise(NOMINAL, "efficiency", Limit.AT_LEAST, 0.995, COLLECTION),
    Promise("lines-W", "bias", Limit.AT_LEAST, -0.08, COLLECTION, part_of_angle(89)),
)
# Conditions that the job must name in a warning, or reject, and the test of its warnings.
WARNINGS = {
    "heavy": measurement.is_saturation,
    "shaping": measurement.is_misfit,
    "collecting": measurement.is_misfit,
}


def measured_promises(result: dict[str, Any]) -> list[tuple[Promise, dict[str, Bar]]]:
    """Return the promises whose conditions were measured, with the bar of each view."""
    found = []
    for promise in PROMISES:
        if promise.condition in result["conditions"]:
            bars = promise.bars(result)
            if bars:
                found.append((promise, bars))
    return found


def warning_bars(result: dict[str, Any]) -> list[Bar]:
    """Return the bars of the conditions that the job must name."""
    found = []
    for name, is_named in WARNINGS.items():
        condition = result["conditions"].get(name)
        if condition is not None:
            warnings = condition["warnings"].get(result["main_variant"], [])
            found.append(Bar(condition["label"], WARNS, float(is_named(warnings)), None, 1.0, False))
    return found


def bars_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all bars as JSON."""
    found = [bar for _, bars in measured_promises(result) for bar in bars.values()]
    return [bar.json() for bar in (*found, *warning_bars(result))]
