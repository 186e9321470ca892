# SPDX-License-Identifier: Apache-2.0
"""HTML page of a comparison, without script."""

from __future__ import annotations

from pathlib import Path

from wirecell_profile.html.render import render

from . import figures, text
from .result import Comparison

MAX_EVENTS = 200  # events of a table; the JSON file has all
TableRows = list[tuple[tuple[str, ...], str]]  # cells, and the class of the last one


def html_page(comparison: Comparison) -> str:
    """Return the page. Raise ProfileError if Jinja2 is not installed."""
    return render(
        "frames.html",
        Path(__file__).parent / "templates",
        title=f"Comparison of {Path(comparison.a).name} and {Path(comparison.b).name}",
        comparison=comparison,
        conclusion=text.conclusion(comparison),
        state="faster" if comparison.is_equal else "slower",
        heading=text.heading(comparison),
        remarks=text.remarks(comparison),
        differences=text.differences(comparison),
        tags=[_tag(comparison, tag) for tag in comparison.tags()],
        roi_heads=text.ROI_HEADS,
        difference_heads=text.DIFFERENCE_HEADS,
        location_heads=text.LOCATION_HEADS,
        locations=[(row, "") for row in text.location_rows(comparison)],
        explanation=text.EXPLANATION,
    )


def _tag(comparison: Comparison, tag: str) -> dict[str, object]:
    """Return the values of a tag for the template."""
    every = list(text.rows(comparison, tag))
    totals = [row for row in every if row[0] == text.TOTAL]
    events = [row for row in every if row[0] != text.TOTAL]
    names = list(dict.fromkeys(event for event, _, _ in events))
    shown = set(names[:MAX_EVENTS])
    pictured = next(
        ((event.name, each.picture) for event, each in comparison.each_tag(tag) if each.picture), None
    )
    return {
        "name": tag,
        "roi_totals": _table(text.roi_cells, totals),
        "difference_totals": _table(text.difference_cells, totals),
        "roi_events": _table(text.roi_cells, [row for row in events if row[0] in shown]),
        "difference_events": _table(text.difference_cells, [row for row in events if row[0] in shown]),
        "events": len(names),
        "left_out": len(names) - len(shown),
        "overlap": figures.overlap_bars(comparison.totals(tag)),
        "histogram": figures.histogram(comparison.total(tag)),
        "ratios": figures.charge_ratios(
            [(event.name, each.planes) for event, each in comparison.each_tag(tag)]
        ),
        "pictured": pictured[0] if pictured else "",
        "map": figures.difference_map(pictured[1]) if pictured else None,
        "waveforms": [(each.channel, figures.waveforms(each)) for each in pictured[1].waveforms]
        if pictured
        else [],
    }


def _table(cells: text.Cells, rows: list[text.FigureRow]) -> TableRows:
    return [(cells(*row), "") for row in rows]
