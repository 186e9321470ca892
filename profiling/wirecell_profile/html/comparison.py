# SPDX-License-Identifier: Apache-2.0
"""Page of a comparison: forest plot and tables, without script."""

from __future__ import annotations

import math
from collections.abc import Callable
from xml.etree.ElementTree import Element

from ..compare.comparison import Comparison
from ..compare.comparison_text import (
    COLUMNS,
    cells,
    conclusion,
    count_text,
    first_cells,
    only_lines,
    side_text,
    warnings_of,
)
from ..compare.count_rows import GREW, SAME
from ..compare.measurements import WHOLE_EVENT
from ..compare.time_rows import FASTER, SLOWER, TOO_FEW, TOO_SHORT, TimeRow
from ..units import counted, shortened
from .document import Block, Paragraph, Part, Picture, Table, document
from .svg import add, drawing, line, text

COLOURS = {SLOWER: "#b3261e", FASTER: "#1b6e3c"}
NEUTRAL = "#5f6b7a"
WIDTH, LEFT, RIGHT, ROW, TOP = 1100, 330, 190, 22, 34
FIRST_HEADS = ("node", "A", "B", "B/A")
COUNT_HEADS = ("node", "count", "A", "B", "operators", "verdict")


def html_page(comparison: Comparison) -> str:
    """Return the page."""
    verdicts = {row.verdict for row in comparison.times}
    state = "faster" if FASTER in verdicts else "few" if TOO_FEW in verdicts else ""
    state = "slower" if comparison.exit_status else state
    sides = [f"{name} = {side_text(side)}" for name, side in (("A", comparison.a), ("B", comparison.b))]
    top: list[Block] = [
        Paragraph("\n".join(sides)),
        Paragraph(conclusion(comparison), f"verdict {state}".strip()),
        *(Paragraph(line.removeprefix("warning: "), "warning") for line in warnings_of(comparison)),
    ]
    parts = []
    for metric in dict.fromkeys(row.metric for row in comparison.times):
        parts += _of_metric(metric, [row for row in comparison.times if row.metric == metric])
    parts.append(Part("Counts" if comparison.counts else "", _counts(comparison)))
    title = f"{comparison.b.name} against {comparison.a.name}"
    heading = f"Is {comparison.b.name} slower than {comparison.a.name}?"
    return document(title, heading, top, parts)


def _of_metric(metric: str, rows: list[TimeRow]) -> list[Part]:
    """Return the part of a metric, and that of its first events."""
    plot = forest_plot(rows)
    pictures: list[Block] = [] if plot is None else [Picture("", plot)]
    judged = [(cells(row), row.verdict if row.verdict in COLOURS else "") for row in rows]
    name = metric.capitalize()
    found = [Part(f"{name} time per event, B / A", [*pictures, Table(COLUMNS, judged)])]
    first = [(first_cells(row), "") for row in rows if row.has_first]
    if first:
        found.append(Part(f"First event, {metric} time (not judged)", [Table(FIRST_HEADS, first)]))
    return found


def _counts(comparison: Comparison) -> list[Block]:
    changed = [row for row in comparison.counts if row.verdict != SAME]
    rows = [
        (
            (row.node, row.count, count_text(row.a), count_text(row.b), row.detail, row.verdict),
            SLOWER if row.verdict == GREW else "",
        )
        for row in changed
    ]
    unchanged = len(comparison.counts) - len(changed)
    return [
        *([Table(COUNT_HEADS, rows)] if rows else []),
        *(
            [Paragraph(f"The same in every run and event: {counted(unchanged, 'count')}.")]
            if unchanged
            else []
        ),
        *(Paragraph(line.capitalize() + ".") for line in only_lines(comparison)),
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
