"""A comparison as one self-contained HTML page: forest plot, tables, conditions. No script, works offline and printed."""

from __future__ import annotations

import math
from html import escape

from ..compare import comparison_text as text
from ..compare.comparison import FASTER, SAME, SLOWER, TOO_SHORT, WHOLE_EVENT, Comparison, TimeRow

COLOURS = {SLOWER: "#b3261e", FASTER: "#1b6e3c"}
NEUTRAL = "#5f6b7a"
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #1c2430; max-width: 1280px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .2rem } h2 { font-size: 1.15rem; margin-top: 2rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13.5px }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid #e3e7ec; white-space: nowrap }
th:first-child, td:first-child { text-align: left } th { background: #f4f6f8; position: sticky; top: 0 }
.slower { color: #b3261e; font-weight: 600 } .faster { color: #1b6e3c; font-weight: 600 }
.verdict { padding: .8rem 1rem; border-left: 5px solid #5f6b7a; background: #f4f6f8; white-space: pre-line }
.verdict.slower { border-color: #b3261e } .verdict.faster { border-color: #1b6e3c } .verdict { font-weight: 400; color: inherit }
.warning { color: #8a5300 } .scroll { overflow-x: auto } svg text { font: 12.5px system-ui, sans-serif; fill: #1c2430 }
"""
WIDTH, LEFT, RIGHT, ROW, TOP = 1100, 330, 190, 22, 34


def html_page(comparison: Comparison) -> str:
    """The page."""
    state = (
        "slower"
        if comparison.exit_status
        else "faster"
        if any(r.verdict == FASTER for r in comparison.times)
        else ""
    )
    parts = [
        f"<h1>Is {escape(comparison.b.name)} slower than {escape(comparison.a.name)}?</h1>",
        f"<p>A = {escape(text.side_text(comparison.a))}<br>B = {escape(text.side_text(comparison.b))}</p>",
        f'<div class="verdict {state}">{escape(text.conclusion(comparison))}</div>',
    ]
    parts += [
        f'<p class="warning">{escape(line)}</p>'
        for line in [f"Differs, compared by force: {line}" for line in comparison.forced] + comparison.notes
    ]
    for metric in dict.fromkeys(row.metric for row in comparison.times):
        rows = [row for row in comparison.times if row.metric == metric]
        parts += [
            f"<h2>{metric.capitalize()} time per event, B / A</h2>",
            forest_plot([r for r in rows if r.verdict != TOO_SHORT]),
            table(text.COLUMNS, [(text.cells(row), row.verdict) for row in rows]),
            f"<h2>First event, {metric} time (not judged)</h2>",
            table(
                ("node", "A", "B", "B/A"),
                [
                    (
                        (
                            row.node,
                            text.time_text(row.first_a),
                            text.time_text(row.first_b),
                            f"{row.first_b / row.first_a:.3f}" if row.first_a > 0 else "-",
                        ),
                        "",
                    )
                    for row in rows
                ],
            ),
        ]
    parts += counts(comparison)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(comparison.b.name)} against '
        f"{escape(comparison.a.name)}</title><style>{STYLE}</style></head><body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def table(heads: tuple[str, ...], rows: list[tuple[tuple[str, ...], str]]) -> str:
    """Rows of texts, each with the class of its last cell."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        "<tr>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells[:-1])
        + f'<td class="{kind if kind in COLOURS else ""}">{escape(cells[-1])}</td></tr>'
        for cells, kind in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def counts(comparison: Comparison) -> list[str]:
    """Counts that changed, and nodes of one side."""
    changed = [row for row in comparison.counts if row.verdict != SAME]
    parts = ["<h2>Counts</h2>"] if comparison.counts else []
    if changed:
        parts.append(
            table(
                ("node", "count", "A", "B", "operators", "verdict"),
                [
                    (
                        (
                            row.node,
                            row.count,
                            text.count_text(row.a),
                            text.count_text(row.b),
                            row.detail,
                            row.verdict,
                        ),
                        SLOWER if row.verdict == "grew" else "",
                    )
                    for row in changed
                ],
            )
        )
    if len(comparison.counts) > len(changed):
        parts.append(
            f"<p>{len(comparison.counts) - len(changed)} counts are the same in every run and event.</p>"
        )
    for name, nodes in (("A", comparison.only_a), ("B", comparison.only_b)):
        parts += [
            f"<p>Only in {name}: {escape(node)}, {text.time_text(time)} per event.</p>"
            for node, time in nodes.items()
        ]
    return parts


def forest_plot(rows: list[TimeRow]) -> str:
    """Ratio and interval of each row, on a logarithmic axis; the grey band is what a verdict does not look at."""
    if not rows:
        return ""
    reach = math.log(
        max(1.08, *(max(row.high, row.ratio, 1 / row.low, 1 / row.ratio) for row in rows if row.low > 0))
    )
    reach = min(reach * 1.05, math.log(4))  # beyond a factor of four only that it is beyond matters
    height = TOP + ROW * len(rows) + 40

    def x(ratio: float) -> float:
        bounded = max(-reach, min(reach, math.log(max(ratio, 1e-9))))
        return LEFT + (WIDTH - LEFT - RIGHT) * (bounded + reach) / (2 * reach)

    bottom = TOP + ROW * len(rows)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" width="100%" role="img" aria-label="ratio B / A with 95 % intervals">'
    ]
    for tick in ticks(reach):
        parts.append(
            f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{TOP - 6}" y2="{bottom}" stroke="#e3e7ec"/>'
            f'<text x="{x(tick):.1f}" y="{bottom + 18}" text-anchor="middle">{tick:g}</text>'
        )
    parts += [
        f'<line x1="{x(1):.1f}" x2="{x(1):.1f}" y1="{TOP - 6}" y2="{bottom}" stroke="#1c2430"/>',
        f'<text x="{x(1) - 12:.1f}" y="{TOP - 14}" text-anchor="end">\u2190 B is faster</text>',
        f'<text x="{x(1) + 12:.1f}" y="{TOP - 14}">B is slower \u2192</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.1f}" y="{height - 4}" text-anchor="middle">time B / time A, 95 % interval; '
        "band: twice the A/A noise</text>",
    ]
    for number, row in enumerate(rows):
        middle, colour = TOP + ROW * (number + 0.5), COLOURS.get(row.verdict, NEUTRAL)
        band = max(2 * row.noise, 0)
        weight = ' font-weight="600"' if row.node == WHOLE_EVENT else ""
        low, high = x(max(1 - band, 1e-9)), x(1 + band)
        parts.append(
            f'<rect x="{low:.1f}" width="{high - low:.1f}" y="{middle - 8:.1f}" height="16" fill="#edf0f3"/>'
            f'<line x1="{x(row.low):.1f}" x2="{x(row.high):.1f}" y1="{middle:.1f}" y2="{middle:.1f}" stroke="{colour}" stroke-width="2"/>'
            f'<circle cx="{x(row.ratio):.1f}" cy="{middle:.1f}" r="4" fill="{colour}"><title>{escape(row.node)}: {row.ratio:.3f} '
            f"({row.low:.3f} .. {row.high:.3f})</title></circle>"
            f'<text x="{LEFT - 14}" y="{middle + 4:.1f}" text-anchor="end"{weight}>{escape(shortened(row.node))}</text>'
            f'<text x="{WIDTH - RIGHT + 14}" y="{middle + 4:.1f}" style="fill:{colour}">{row.ratio:.3f}  {escape(row.verdict)}</text>'
        )
    return "\n".join([*parts, "</svg>"])


def shortened(name: str) -> str:
    """What fits left of the plot."""
    return name if len(name) <= 44 else name[:20] + "\u2026" + name[-23:]


def ticks(reach: float) -> list[float]:
    """Round ratios within the axis."""
    for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0):
        upper = math.exp(reach)
        marks = [
            1 + step * number for number in range(-int((1 - 1 / upper) / step), int((upper - 1) / step) + 1)
        ]
        if len(marks) <= 11:
            return [round(mark, 4) for mark in marks if mark > 0]
    return [0.25, 0.5, 1, 2, 4]
