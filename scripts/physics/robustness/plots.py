# SPDX-License-Identifier: Apache-2.0
"""Pictures of the study: figures of each view against noise, charge or gain."""

from __future__ import annotations

from typing import Any

from ..plots import PERCENT, STYLE, draw_curve, draw_legend, make_grid, plt, to_svg
from ..wires import VIEWS
from .measurement import ALL

ROWS = (
    ("charge", "charge [%]", PERCENT),
    ("efficiency", "efficiency [%]", PERCENT),
    ("purity", "purity [%]", PERCENT),
    ("false", "false share [1e-4]", 1e4),
)


def against(result: dict[str, Any], points: dict[str, float], label: str, has_log_axis: bool) -> str:
    """Draw the figures of conditions against a value; points: condition -> value, in increasing order."""
    shown = {name: value for name, value in points.items() if name in result["conditions"]}
    with plt.rc_context(STYLE):
        figure, axes = make_grid([title for _, title, _ in ROWS], 10)
        for row, (quantity, _, scale) in enumerate(ROWS):
            for column, view in enumerate(VIEWS):
                each = axes[row, column]
                for variant, words in result["variants"].items():
                    cells = [
                        result["conditions"][name]["figures"].get(variant, {}).get(view, {}).get(ALL, {})
                        for name in shown
                    ]
                    draw_curve(
                        each,
                        variant,
                        words,
                        list(shown.values()),
                        [cell.get(quantity, {"value": None}) for cell in cells],
                        float,
                        scale,
                    )
                if has_log_axis:
                    each.set_xscale("log")
                    each.set_xticks(list(shown.values()), [f"{value:g}" for value in shown.values()])
                    each.minorticks_off()
                if row == len(ROWS) - 1:
                    each.set_xlabel(label)
        draw_legend(figure, axes)
        return to_svg(figure)
