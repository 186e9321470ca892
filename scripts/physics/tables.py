# SPDX-License-Identifier: Apache-2.0
"""Tables of the result as text, Markdown, and cells of the page."""

from __future__ import annotations

from typing import Any

from scripts.output import Table

from .wires import VIEWS

PERCENT = 100.0


MET, SHORT = "met", "short"


def percent(cell: dict[str, Any] | None, offset: float = 0.0, sign: bool = False) -> str:
    """Format a value with its error in per cent; empty without a value."""
    if not cell or cell["value"] is None:
        return ""
    value = PERCENT * (cell["value"] - offset)
    error = "" if cell["error"] is None else f" ± {PERCENT * cell['error']:.1f}"
    return (f"{value:+.1f}" if sign else f"{value:.1f}") + error


def small(cell: dict[str, Any]) -> str:
    """Format a share that may be tiny."""
    if cell["value"] is None:
        return ""
    return f"{cell['value']:.1e}" + ("" if cell["error"] is None else f" ± {cell['error']:.0e}")


def plain(cell: dict[str, Any], digits: int = 2) -> str:
    """Format a value with its error."""
    if cell["value"] is None:
        return ""
    return f"{cell['value']:.{digits}f}" + ("" if cell["error"] is None else f" ± {cell['error']:.{digits}f}")


CHARGE_HEADS = (
    "view, charge bias [%], median channel [%], resolution [%], efficiency [%], purity [%], "
    "late by [ticks], pixels kept [%]"
).split(", ")


def charge_row(view: str, row: dict[str, Any]) -> list[str]:
    """Return the cells of CHARGE_HEADS."""
    median = "" if row["median_channel"] is None else f"{PERCENT * (row['median_channel'] - 1):+.1f}"
    return [
        view,
        percent(row["charge"], 1.0, True),
        median,
        percent(row["resolution"]),
        percent(row["efficiency"]),
        percent(row["purity"]),
        plain(row["late_by_ticks"]),
        percent(row["kept"]),
    ]


def sample_table(result: dict[str, Any], sample: str, title: str, only: list[str] | None = None) -> Table:
    """Return the table of every variant and view of a sample."""
    rows = [
        [result["variants"][name], *charge_row(view, views[view])]
        for name, views in result["figures"][sample].items()
        if only is None or name in only
        for view in VIEWS
    ]
    return Table(title, ["variant", *CHARGE_HEADS], rows, 2)


def default_event_table(result: dict[str, Any], osp: dict[str, Any]) -> Table:
    """Make the table of the event in data/, with OmnibusSigProc (OSP) below."""
    rows = [
        [result["variants"][name], *charge_row(view, views[view])]
        for name, views in result["default_event"].items()
        for view in VIEWS
    ]
    rows += [["OSP", *charge_row(view, osp["default_event"][view])] for view in VIEWS]
    return Table("Default event", ["variant", *CHARGE_HEADS], rows, 2)


def line_table(result: dict[str, Any], osp: dict[str, Any], view: str) -> Table:
    """Make the table of one view by angle: bias, efficiency and purity of our variants and of OmnibusSigProc (OSP)."""
    names = [name for name, views in result["lines"].items() if view in views]
    heads, columns = ["angle [degrees]"], []
    for name in names:
        heads += [f"{name}: {what} [%]" for what in ("bias", "resolution", "efficiency", "purity")]
        columns.append(result["lines"][name][view])
    heads += [f"OSP: {what} [%]" for what in ("bias", "resolution", "efficiency", "purity")]
    columns.append(osp["lines"][view])
    rows = []
    for index, first in enumerate(columns[0]):
        row = [str(first["theta_xz_deg"])]
        for column in columns:
            cell = column[index]
            row += [
                percent(cell["bias"], 0.0, True),
                percent(cell["resolution"]),
                percent(cell["efficiency"]),
                percent(cell["purity"]),
            ]
        rows.append(row)
    return Table(f"Line scan, view {view}", heads, rows)


def noise_table(result: dict[str, Any]) -> Table:
    """Return the table of the pixels kept of noise."""
    rows = [
        [
            result["variants"][name],
            view,
            small(row["kept"]),
            plain(row["regions_per_channel"], 3),
            plain(row["charge_per_channel"], 1),
        ]
        for name, views in result["figures"]["noise"].items()
        for view, row in views.items()
    ]
    heads = "variant, view, share of pixels kept, false regions per channel and readout"
    return Table("Noise alone", [*heads.split(", "), "charge per channel [electrons]"], rows, 2)


def bars_table(result: dict[str, Any]) -> Table:
    """Return the table of promised and measured figures, and by how much a bar is missed."""
    rows = []
    for bar in result["bars"]:
        scale, digits, unit = (1.0, 2, " s") if bar["group"] == "speed" else (PERCENT, 1, " %")
        error = "" if bar["error"] is None else f" ± {scale * bar['error']:.{digits}f}"
        rows.append(
            [
                bar["group"],
                bar["what"],
                f"{scale * bar['measured']:.{digits}f}{error}{unit}",
                f"{'at most' if bar['at_most'] else 'at least'} {scale * bar['bar']:.{digits}f}{unit}",
                MET if bar["met"] else SHORT,
                "" if bar["met"] else f"{scale * bar['short_by']:.{digits}f}{unit}",
            ]
        )
    return Table("Bars", ["", "what", "measured", "bar", "", "short by"], rows, 2)


def fast_table(result: dict[str, Any]) -> Table:
    """Return the table of the main variant with exact and fast precision."""
    main = result["main_variant"]
    names = [main, f"{main}-fast"]
    rows = []
    for sample in result["samples"]:
        views = result["figures"].get(sample["name"], {})
        if all(name in views for name in names):
            rows += [
                [sample["label"], result["variants"][name], *charge_row(view, views[name][view])]
                for view in VIEWS
                for name in names
            ]
    return Table("precision=fast", ["events", "variant", *CHARGE_HEADS], rows, 3)
