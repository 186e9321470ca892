# SPDX-License-Identifier: Apache-2.0
"""Tables of the study: promised and measured, and figures by condition."""

from __future__ import annotations

from typing import Any

from scripts.output import Table

from ..tables import MET, PERCENT, SHORT, percent, small
from ..wires import VIEWS
from . import promises
from .measurement import ALL
from .promises import Limit, Promise

FIGURE_HEADS = ["charge [%]", "efficiency [%]", "purity [%]"]
Result = dict[str, Any]


def _shown(promise: Promise, cell: dict[str, Any]) -> str:
    """Format a measured value; a charge that must be close to 1 as its bias with sign."""
    if promise.quantity == "false":
        return small(cell)
    if promise.limit is Limit.WITHIN:
        return percent(cell, 1.0, True)
    return percent(cell, 0.0, promise.quantity == "bias")


def _limit(promise: Promise, value: float) -> str:
    return f"{value:.0e}" if promise.quantity == "false" else f"{PERCENT * value:.1f} %"


def promise_row(result: Result, promise: Promise, bars: dict[str, Any]) -> list[str]:
    """Return a row of bars_table. The last column is the largest shortfall of the views."""
    cells = promise.figures(result)
    short_by = max(bar.short_by for bar in bars.values())
    if promise.quantity == "false":
        words, missing = "false share", f"{short_by:.1e}"
    else:
        words = "charge bias" if promise.limit is Limit.WITHIN else promise.words()
        words, missing = f"{words} [%]", f"{PERCENT * short_by:.1f} %"
    return [
        promise.title(result),
        words,
        *(_shown(promise, cells[view]) if view in cells else "" for view in VIEWS),
        f"{promise.limit.value} {_limit(promise, promise.bar)}",
        MET if short_by == 0 else SHORT,
        "" if short_by == 0 else missing,
    ]


def bars_table(result: Result) -> Table:
    """Return the table of promised and measured figures of the main variant."""
    rows = [promise_row(result, *each) for each in promises.measured_promises(result)]
    for bar in promises.warning_bars(result):
        is_met = bar.short_by == 0
        rows.append(
            [
                bar.group,
                promises.WARNS,
                "yes" if is_met else "no",
                "",
                "",
                "yes",
                MET if is_met else SHORT,
                "",
            ]
        )
    return Table("Promised and measured", ["condition", "figure", *VIEWS, "bar", "", "short by"], rows, 2)


def figure_table(
    result: Result, title: str, conditions: list[str], parts: list[str], with_false: bool = True
) -> Table:
    """Return charge, efficiency, purity and false share of conditions, by variant, view and part."""
    rows = []
    for name in conditions:
        condition = result["conditions"].get(name, {"figures": {}})
        for variant, views in condition["figures"].items():
            for view, found in views.items():
                for part in (part for part in parts if part in found):
                    cell = found[part]
                    row = [condition["label"], result["variants"][variant], view]
                    row += [] if parts == [ALL] else [part.removeprefix("angle-")]
                    row += [percent(cell[quantity]) for quantity in ("charge", "efficiency", "purity")]
                    row += [small(cell["false"])] if with_false else []
                    row += [percent(cell["bias"], 0.0, True)] if "bias" in cell else []
                    rows.append(row)
    heads = ["condition", "variant", "view", *([] if parts == [ALL] else ["part"]), *FIGURE_HEADS]
    heads += ["false share"] if with_false else []
    heads += ["bias of inner channels [%]"] if rows and len(rows[0]) > len(heads) else []
    return Table(title, heads, rows, 3)


def warning_table(result: Result) -> Table:
    """Return the warnings of all conditions, of the main variant."""
    rows = [
        [condition["label"], text.replace("|", "/").replace("\n", " ")]
        for condition in result["conditions"].values()
        for text in condition["warnings"].get(result["main_variant"], [])
    ]
    return Table("Warnings", ["condition", "warning"], rows, 2)
