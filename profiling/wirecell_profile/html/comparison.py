# SPDX-License-Identifier: Apache-2.0
"""Page of a comparison: forest plot and tables, without script."""

from __future__ import annotations

import math
from collections.abc import Callable
from xml.etree.ElementTree import Element

from ..compare import comparison_text
from ..compare.comparison import Comparison
from ..compare.count_rows import SAME
from ..compare.measurements import WHOLE_EVENT
from ..compare.time_rows import FASTER, SLOWER, TOO_FEW, TOO_SHORT, TimeRow
from ..units import short_time, shortened
from .render import render
from .svg import add, drawing, line, text

COLOURS = {SLOWER: "#b3261e", FASTER: "#1b6e3c"}
NEUTRAL = "#5f6b7a"
WIDTH, LEFT, RIGHT, ROW, TOP = 1100, 330, 190, 22, 34
TableRows = list[tuple[tuple[str, ...], str]]  # cells, and the class of the last one


def html_page(comparison: Comparison) -> str:
    """Return the page."""
    verdicts = {row.verdict for row in comparison.times}
    is_faster, is_few = FASTER in verdicts, TOO_FEW in verdicts
    metrics = []
    for metric in dict.fromkeys(row.metric for row in comparison.times):
        rows = [row for row in comparison.times if row.metric == metric]
        metrics.append((metric, forest_plot(rows), _time_rows(rows), _first_events(rows)))
    changed = [row for row in comparison.counts if row.verdict != SAME]
    return render(
        "comparison.html",
        title=f"{comparison.b.name} against {comparison.a.name}",
        comparison=comparison,
        sides=[comparison_text.side_text(side) for side in (comparison.a, comparison.b)],
        state="slower" if comparison.exit_status else "faster" if is_faster else "few" if is_few else "",
        conclusion=comparison_text.conclusion(comparison),
        columns=comparison_text.COLUMNS,
        metrics=metrics,
        changed=_count_rows(changed),
        unchanged=len(comparison.counts) - len(changed),
        only=[
            (side, node, short_time(time))
            for side, nodes in (("A", comparison.only_a), ("B", comparison.only_b))
            for node, time in nodes.items()
        ],
    )


def _time_rows(rows: list[TimeRow]) -> TableRows:
    return [(comparison_text.cells(row), row.verdict if row.verdict in COLOURS else "") for row in rows]


def _first_events(rows: list[TimeRow]) -> TableRows:
    return [
        (
            (
                row.node,
                short_time(row.first_a),
                short_time(row.first_b),
                f"{row.first_b / row.first_a:.3f}",
            ),
            "",
        )
        for row in rows
        if row.has_first
    ]


def _count_rows(changed: list) -> TableRows:
    return [
        (
            (
                row.node,
                row.count,
                comparison_text.count_text(row.a),
                comparison_text.count_text(row.b),
                row.detail,
                row.verdict,
            ),
            SLOWER if row.verdict == "grew" else "",
        )
        for row in changed
    ]


def forest_plot(rows: list[TimeRow]) -> Element | None:
    """Draw ratio and interval of each judged row on a logarithmic axis, with a grey band of twice the A/A
    noise."""
    rows = [row for row in rows if row.verdict != TOO_SHORT]
    if not rows:
        return None
    bounds = [max(row.high, row.ratio, 1 / row.low, 1 / row.ratio) for row in rows if row.low > 0]
    reach = min(math.log(max(1.08, *bounds)) * 1.05, math.log(4))
    bottom = TOP + ROW * len(rows)
    svg = drawing(WIDTH, bottom + 40, "ratio B / A with 95 % intervals")

    def x(ratio: float) -> float:
        bounded = max(-reach, min(reach, math.log(max(ratio, 1e-9))))  # beyond the axis: at its edge
        return LEFT + (WIDTH - LEFT - RIGHT) * (bounded + reach) / (2 * reach)

    for tick in ratio_ticks(reach):
        line(svg, (x(tick), x(tick)), (TOP - 6, bottom), stroke="#e3e7ec")
        text(svg, x(tick), bottom + 18, f"{tick:g}", text_anchor="middle")
    line(svg, (x(1), x(1)), (TOP - 6, bottom), stroke="#1c2430")
    text(svg, x(1) - 12, TOP - 14, "\u2190 B is faster", text_anchor="end")
    text(svg, x(1) + 12, TOP - 14, "B is slower \u2192")
    axis = "time B / time A, 95 % interval; band: twice the A/A noise; triangle: beyond the axis"
    text(svg, (LEFT + WIDTH - RIGHT) / 2, bottom + 36, axis, text_anchor="middle")
    for index, row in enumerate(rows):
        _forest_row(svg, row, TOP + ROW * (index + 0.5), x)
    return svg


def _forest_row(svg: Element, row: TimeRow, middle: float, x: Callable[[float], float]) -> None:
    colour, band = COLOURS.get(row.verdict, NEUTRAL), max(2 * row.noise, 0)
    low, high = x(max(1 - band, 1e-9)), x(1 + band)
    add(svg, "rect", x=low, width=high - low, y=middle - 8, height=16, fill="#edf0f3")
    line(svg, (x(row.low), x(row.high)), (middle, middle), stroke=colour, stroke_width=2)
    interval = f"{row.node}: {row.ratio:.3f} ({row.low:.3f} .. {row.high:.3f})"
    at, edge = x(row.ratio), x(math.inf if row.ratio > 1 else 0)
    if at == edge:
        out = math.copysign(1, row.ratio - 1)
        points = " ".join(
            f"{at + 8 * out * along:.1f},{middle + 6 * up:.1f}" for along, up in ((1, 0), (0, 1), (0, -1))
        )
        add(svg, "polygon", title=interval, points=points, fill=colour)
        anchor = "end" if out > 0 else "start"
        halo = {"stroke": "#fff", "stroke_width": 5, "paint_order": "stroke"}  # the interval runs behind it
        text(svg, at - 8 * out, middle + 4, f"{row.ratio:.3g}", fill=colour, text_anchor=anchor, **halo)
    else:
        add(svg, "circle", title=interval, cx=at, cy=middle, r=4, fill=colour)
    weight = 600 if row.node == WHOLE_EVENT else 400
    name = shortened(row.node, 20, 23)
    text(svg, LEFT - 14, middle + 4, name, text_anchor="end", font_weight=weight)
    verdict = f"{row.ratio:.3f}  {row.verdict}"
    text(svg, WIDTH - RIGHT + 14, middle + 4, verdict, fill=colour)


def ratio_ticks(reach: float) -> list[float]:
    """Return round ratios within the axis."""
    for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0):
        upper = math.exp(reach)
        marks = [
            1 + step * index for index in range(-int((1 - 1 / upper) / step), int((upper - 1) / step) + 1)
        ]
        if len(marks) <= 11:
            return [round(mark, 4) for mark in marks if mark > 0]
    return [0.25, 0.5, 1, 2, 4]
