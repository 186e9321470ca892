# SPDX-License-Identifier: Apache-2.0
"""Pictures of the study: figures of each view against noise, charge or gain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from matplotlib.axes import Axes

from ..plots import Curve, Row, grid
from .measurement import ALL

ROWS = [Row(quantity, f"{quantity} [%]") for quantity in ("charge", "efficiency", "purity")]
ROWS += [Row("false", "false share [1e-4]", 1e4)]


def against(result: dict[str, Any], points: dict[str, float], label: str, has_log_axis: bool) -> str:
    """Draw the figures of conditions against a value; points: condition -> value, in increasing order."""
    shown = {name: value for name, value in points.items() if name in result["conditions"]}

    def curves(row: Row, view: str) -> Iterator[Curve]:
        for variant, words in result["variants"].items():
            figures = [result["conditions"][name]["figures"].get(variant, {}).get(view, {}) for name in shown]
            cells = [figure.get(ALL, {}).get(row.quantity, {"value": None}) for figure in figures]
            yield Curve(variant, words, list(shown.values()), cells)

    def finish(axes: Axes, _row: Row, _view: str) -> None:
        if has_log_axis:
            axes.set_xscale("log")
            axes.set_xticks(list(shown.values()), [f"{value:g}" for value in shown.values()])
            axes.minorticks_off()

    return grid(ROWS, 10, curves, finish, lambda axes: axes.set_xlabel(label))
