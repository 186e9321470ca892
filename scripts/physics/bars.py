# SPDX-License-Identifier: Apache-2.0
"""Promised physics figures (bars) compared with measured ones."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

CHARGE = 0.05  # |bias| of every view
LINE_BIAS = {"U": 0.08, "V": 0.08, "W": 0.05}  # |bias| of lines of 0 to 80 degrees
LINE_ANGLES = (0, 80)
STEEP_ANGLE, STEEP_BIAS = 84, -0.25
LINE_ERROR = 0.01  # statistical error of a bias
EFFICIENCY, PURITY = 0.95, 0.80  # of induction views, cosmic-like events
SECONDS = 2.5  # one anode with the model, two cores, float32


@dataclass(frozen=True)
class Bar:
    """One promise: `measured` must be at most or at least `bar`."""

    group: str
    what: str
    measured: float
    error: float | None
    bar: float
    at_most: bool

    @property
    def short_by(self) -> float:
        """Return by how much the bar is missed, in its unit; 0 if it is met."""
        return max(0.0, self.measured - self.bar if self.at_most else self.bar - self.measured)

    def json(self) -> dict[str, Any]:
        """Return the content of the JSON file."""
        return {**asdict(self), "met": self.short_by == 0.0, "short_by": self.short_by}


def _at_most(group: str, what: str, figure: dict[str, Any], bar: float, offset: float = 0.0) -> Bar:
    """Return the bar of |figure - offset|."""
    return Bar(group, what, abs(figure["value"] - offset), figure["error"], bar, True)


def _at_least(group: str, what: str, figure: dict[str, Any], bar: float) -> Bar:
    return Bar(group, what, figure["value"], figure["error"], bar, False)


def _charge_bars(label: str, views: dict[str, Any]) -> list[Bar]:
    return [
        _at_most("charge", f"{label}, {view}: charge bias, either sign", row["charge"], CHARGE, offset=1.0)
        for view, row in views.items()
    ]


def _region_bars(label: str, views: dict[str, Any]) -> list[Bar]:
    return [
        _at_least("regions", f"{label}, {view}: {quantity}", views[view][quantity], bar)
        for view in ("U", "V")
        for quantity, bar in (("efficiency", EFFICIENCY), ("purity", PURITY))
    ]


def _line_bars(view: str, rows: list[dict[str, Any]]) -> list[Bar]:
    flat = [row for row in rows if LINE_ANGLES[0] <= row["theta_xz_deg"] <= LINE_ANGLES[1]]
    worst = max(flat, key=lambda row: abs(row["bias"]["value"]))
    steep = next(row for row in rows if row["theta_xz_deg"] == STEEP_ANGLE)
    angles = f"{LINE_ANGLES[0]} to {LINE_ANGLES[1]} degrees"
    what = f"{view}, {angles}: largest bias, either sign (at {worst['theta_xz_deg']} degrees)"
    found = [
        _at_most("line scan", what, worst["bias"], LINE_BIAS[view]),
        _at_least("line scan", f"{view}, {STEEP_ANGLE} degrees: bias", steep["bias"], STEEP_BIAS),
    ]
    errors = [row["bias"]["error"] for row in flat if row["bias"]["error"] is not None]
    if errors:
        what = f"{view}, {angles}: largest statistical error of a bias"
        found.append(Bar("line scan", what, max(errors), None, LINE_ERROR, True))
    return found


def bars_of(result: dict[str, Any], chain_seconds: float | None) -> list[dict[str, Any]]:
    """Return the bars of the main variant for which the result has figures."""
    main = result["main_variant"]
    found: list[Bar] = []
    for sample in result["samples"]:
        views = result["figures"].get(sample["name"], {}).get(main)
        if views and sample["name"].startswith("muons-"):
            found += _charge_bars(sample["label"], views) + _region_bars(sample["label"], views)
    default = result.get("default_event", {}).get(main)
    if default:
        found += _charge_bars("default event (ten tracks)", default)
    for view, rows in result["lines"].get(main, {}).items():
        found += _line_bars(view, rows)
    if chain_seconds is not None:
        what = "one anode with the model, two cores, float32 [s]"
        found.append(Bar("speed", what, chain_seconds, None, SECONDS, True))
    order = ("charge", "regions", "line scan", "speed")
    return [bar.json() for bar in sorted(found, key=lambda bar: order.index(bar.group))]
