# SPDX-License-Identifier: Apache-2.0
"""Report of a comparison: as text for the terminal, as Markdown, and as a suite of checks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import output
from ..ci_report import Check, markdown, markdown_table
from ..terminal import visible
from ..units import counted, short_time
from .comparison import Comparison, Side
from .count_rows import GREW, SAME, CountRow
from .time_rows import NO_EVIDENCE, SLOWER, TOO_FEW, TOO_SHORT, TimeRow

COLUMNS = ("node", "A", "B", "B/A", "95 % interval", "A/A noise", "delta", "p adj", "detectable", "verdict")


def percent(value: float) -> str:
    """Return a share in percent."""
    return "-" if math.isnan(value) else "none" if math.isinf(value) else f"{100 * value:.1f} %"


def cells(row: TimeRow) -> tuple[str, ...]:
    """Return the cells of a row in the order of COLUMNS."""
    judged = row.verdict != TOO_SHORT
    return (
        row.node,
        short_time(row.a),
        short_time(row.b),
        f"{row.ratio:.3f}",
        f"{row.low:.3f} .. {row.high:.3f}" if judged else "-",
        percent(row.noise),
        f"{row.delta:+.2f}" if judged else "-",
        f"{row.p_adjusted:.2g}" if judged else "-",
        percent(row.detectable),
        row.verdict,
    )


def first_cells(row: TimeRow) -> tuple[str, ...]:
    """Return node, A, B and B/A of the first event."""
    return row.node, short_time(row.first_a), short_time(row.first_b), f"{row.first_b / row.first_a:.3f}"


def side_text(side: Side) -> str:
    """Return 'main, commit 51fb00a: 12 runs, 6 events each after the warm-up, 12:01 to 12:20'."""
    commit = f", commit {side.commit}" if side.commit else ""
    times = dict.fromkeys(filter(None, (side.first_run, side.last_run)))
    period = f", {' to '.join(times)}" if times else ""
    events = counted(side.events, "event") + (" each" if side.runs > 1 else "")
    return f"{visible(side.name)}{commit}: {counted(side.runs, 'run')}, {events} after the warm-up{period}"


def count_text(limits: tuple[float, float]) -> str:
    """Return one value, or minimum to maximum."""
    low, high = (f"{value:,.0f}" for value in limits)
    return low if low == high else f"{low} .. {high}"


def count_line(row: CountRow) -> str:
    """'SPNGDecon:induction: operations 7 -> 9, grew (aten::copy_ +2)'."""
    detail = f" ({row.detail})" if row.detail else ""
    return f"{row.node}: {row.count} {count_text(row.a)} -> {count_text(row.b)}, {row.verdict}{detail}"


def text_report(comparison: Comparison, every_row: bool = False) -> str:
    """Return the report. Without `every_row`, nodes too short to judge are only counted."""
    lines = [f"A = {side_text(comparison.a)}", f"B = {side_text(comparison.b)}"]
    lines += warnings_of(comparison)
    for metric in dict.fromkeys(row.metric for row in comparison.times):
        rows = [row for row in comparison.times if row.metric == metric]
        shown = [row for row in rows if every_row or row.verdict != TOO_SHORT]
        lines += ["", f"{metric} time per event", *aligned([COLUMNS, *map(cells, shown)])]
        if len(shown) < len(rows):
            lines.append(
                f"too short to judge, under {100 * comparison.criteria.least_share:g} % of an event: "
                f"{counted(len(rows) - len(shown), 'node')} (--all shows them)"
            )
        first_events = [first_cells(row) for row in shown if row.has_first]
        if first_events:
            lines += [
                "",
                f"first event, {metric} time (not judged)",
                *aligned([("node", "A", "B", "B/A"), *first_events]),
            ]
    lines += ["", *count_lines(comparison)]
    return "\n".join([*lines, *only_lines(comparison), "", conclusion(comparison)]) + "\n"


def warnings_of(comparison: Comparison) -> list[str]:
    """Return the lines of conditions that differ, and of the validity of the comparison."""
    return [
        *(f"warning: differs, compared by force: {text}" for text in comparison.forced),
        *(f"warning: {text}" for text in comparison.notes),
    ]


def only_lines(comparison: Comparison) -> list[str]:
    """Return the lines of nodes that one side lacks."""
    return [
        f"only in {name}: {node}, {short_time(time)} per event"
        for name, nodes in (("A", comparison.only_a), ("B", comparison.only_b))
        for node, time in nodes.items()
    ]


def count_lines(comparison: Comparison) -> list[str]:
    """Return the lines of changed counts, and the count of unchanged ones."""
    changed = [count_line(row) for row in comparison.counts if row.verdict != SAME]
    same = len(comparison.counts) - len(changed)
    return [
        *(["counts"] if comparison.counts else []),
        *(f"  {line}" for line in changed),
        *([f"  the same in every run and event: {counted(same, 'count')}"] if same else []),
    ]


def conclusion(comparison: Comparison) -> str:
    """Return one sentence per verdict."""
    criteria, lines = comparison.criteria, []
    for verdict in ("slower", "faster"):
        rows = [row for row in comparison.times if row.verdict == verdict]
        if rows:
            lines.append(
                f"B is {verdict}: " + ", ".join(f"{row.node} ({row.metric} x{row.ratio:.3f})" for row in rows)
            )
    if comparison.grown:
        lines.append("counts grew: " + ", ".join(f"{row.node} ({row.count})" for row in comparison.grown))
    too_few = sum(row.verdict == TOO_FEW for row in comparison.times)
    if too_few:
        sides = f"{comparison.a.runs} of A and {comparison.b.runs} of B"
        lines.append(
            f"too few runs: {sides}; make at least {comparison.needed_runs} of each to judge {counted(too_few, 'time')}"
        )
    if not lines:
        judged = [row for row in comparison.times if row.verdict == NO_EVIDENCE]
        best = judged[0] if judged else None
        seen = (
            f"; for {best.node} an effect of {percent(best.detectable)} would have been found"
            if best and math.isfinite(best.detectable)
            else ""
        )
        lines.append("no evidence of a difference" + seen)
    return "\n".join(
        [
            *lines,
            f"(a verdict needs: interval without 1, |B/A - 1| of at least {100 * criteria.threshold:g} % and twice "
            f"the A/A noise, adjusted p < {criteria.level:g})",
        ]
    )


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align columns, the first to the left, the others to the right, with a rule below the heading."""
    lines = output.aligned(rows, [index > 0 for index in range(len(rows[0]))])
    return [lines[0], "-" * len(lines[0]), *lines[1:]]


def markdown_report(comparison: Comparison, every_row: bool = False) -> str:
    """Return the report as Markdown, the conclusion first."""
    title = f"## Is {markdown(comparison.b.name)} slower than {markdown(comparison.a.name)}?"
    sides = [f"A = {side_text(comparison.a)}", f"B = {side_text(comparison.b)}"]
    answers = [f"**{markdown(line)}**" for line in conclusion(comparison).splitlines()[:-1]]
    parts = [title, *answers, "\n".join(f"- {markdown(line)}" for line in [*sides, *warnings_of(comparison)])]
    for metric in dict.fromkeys(row.metric for row in comparison.times):
        rows = [row for row in comparison.times if row.metric == metric]
        shown = [cells(row) for row in rows if every_row or row.verdict != TOO_SHORT]
        is_text = [name in ("node", "verdict") for name in COLUMNS]
        parts += [f"### {metric} time per event", markdown_table(COLUMNS, shown, is_text).rstrip()]
    parts += [
        "\n".join(
            f"- {markdown(line.strip())}" for line in [*count_lines(comparison)[1:], *only_lines(comparison)]
        )
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def junit_suite(comparison: Comparison) -> tuple[str, str, list[Check]]:
    """Return the suite of a comparison for junit(): a check per time and count."""
    checks = []
    for row in comparison.times:
        text = f"{short_time(row.a)} -> {short_time(row.b)}, x{row.ratio:.3f}, {row.verdict}"
        checks.append(
            Check(
                f"{row.metric} time of {row.node}",
                failure=text if row.verdict == SLOWER else "",
                skipped=text if row.verdict in (TOO_FEW, TOO_SHORT) else "",
                text=text,
            )
        )
    for count in comparison.counts:
        line = count_line(count)
        checks.append(
            Check(f"{count.count} of {count.node}", failure=line if count.verdict == GREW else "", text=line)
        )
    return f"{comparison.b.name} against {comparison.a.name}", text_report(comparison), checks
