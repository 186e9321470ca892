# SPDX-License-Identifier: Apache-2.0
"""Text of a comparison for the terminal, at most about 100 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from wirecell_profile.output import aligned
from wirecell_profile.terminal import visible

from .result import Comparison, ranges
from .samples import THRESHOLDS, SampleFigures

MAX_EVENTS = 10
TOTAL = "total"
ROI_HEADS = (
    "event",
    "plane",
    "charge A",
    "charge B",
    "B/A",
    "not 0 in A",
    "not 0 in B",
    "overlap",
    "A in B",
    "B in A",
)
DIFFERENCE_HEADS = (
    "event", "plane", "union", *(f"> {100 * threshold:g} %" for threshold in THRESHOLDS), "only A", "only B",
    "largest",
)  # fmt: skip
LOCATION_HEADS = ("event", "tag", "channel", "tick", "A", "B", "B - A")
EXPLANATION = (
    "Sums are over the channels and ticks of both. Overlap: samples that are not 0 in both, divided by\n"
    "those that are not 0 in A or in B (union). A in B: share of A's samples that B has too. > x %:\n"
    "share of the union whose |A - B| is above x % of the larger of |A| and |B|. Largest: of |A - B|."
)
Row = tuple[str, ...]
FigureRow = tuple[str, str, SampleFigures]  # event, plane, figures
Cells = Callable[[str, str, SampleFigures], Row]


def share(value: float | None, digits: int = 4) -> str:
    """Return a share as a number, "-" for none; 1 and 0 only if they are exact."""
    if value is None:
        return "-"
    if value in (0.0, 1.0):
        return f"{value:g}"
    text = f"{value:.{digits}f}"
    if float(text) == 1.0:
        return f"<{text}"
    return text if float(text) else f"<{10.0**-digits:.{digits}f}"


def percent(value: float) -> str:
    """Return a share in percent; 0 and 100 only if they are exact."""
    text = f"{100 * value:.2g}" if value < 0.00995 else f"{100 * value:.1f}"
    if value in (0.0, 1.0):
        return f"{100 * value:g} %" if value else "0"
    return ">99.9 %" if text == "100.0" else f"{text} %"


def ratio(value: float | None) -> str:
    """Return a ratio; 1 only if it is exact."""
    if value is None:
        return "-"
    text = f"{value:.5f}"
    return "1" if value == 1.0 else text if float(text) != 1.0 else f"1{value - 1:+.0e}"


def number(value: float) -> str:
    """Return a value with five digits."""
    return f"{value:.5g}"


def roi_cells(event: str, plane: str, figures: SampleFigures) -> Row:
    """Return a row under ROI_HEADS."""
    return (
        event,
        plane,
        number(figures.charge_a),
        number(figures.charge_b),
        ratio(figures.charge_ratio),
        f"{figures.in_a:,}",
        f"{figures.in_b:,}",
        share(figures.overlap),
        share(figures.found_of_a),
        share(figures.found_of_b),
    )


def difference_cells(event: str, plane: str, figures: SampleFigures) -> Row:
    """Return a row under DIFFERENCE_HEADS."""
    return (
        event,
        plane,
        f"{figures.union:,}",
        *map(percent, figures.shares_above()),
        f"{figures.only_a:,}",
        f"{figures.only_b:,}",
        number(figures.largest),
    )


def rows(comparison: Comparison, tag: str) -> Iterator[FigureRow]:
    """Yield (event, plane, figures): all events of a tag, then the totals. One plane needs no row for all."""
    events = [(event.name, each.planes) for event, each in comparison.each_tag(tag)]
    if len(events) == 1:
        events = []
    for name, planes in (*events, (TOTAL, comparison.totals(tag))):
        for plane, figures in planes.items():
            yield name, plane, figures
        if len(planes) > 1:
            yield name, "all", sum(planes.values(), SampleFigures())


def location_rows(comparison: Comparison) -> list[Row]:
    """Return the rows under LOCATION_HEADS."""
    return [
        (str(p.event), p.tag, str(p.channel), str(p.tick), *(f"{v:.7g}" for v in (p.a, p.b, p.b - p.a)))
        for p in comparison.locations
    ]


def heading(comparison: Comparison) -> list[str]:
    """Return the lines that say which events were compared."""
    count = len(comparison.events)
    how = "by id" if comparison.is_by_ident else "in their order, as no id is in both or ids repeat"
    lines = [f"{count} event{'s' if count != 1 else ''} compared, matched {how}"]
    for side, idents in (("A", comparison.events_only_a), ("B", comparison.events_only_b)):
        if idents:
            lines.append(
                f"only in {side}: {len(idents)} event{'s' if len(idents) > 1 else ''}: {ranges(idents)}"
            )
    return lines


def remarks(comparison: Comparison) -> list[str]:
    """Return what differs but counts as equal, each once, with the count of its events."""
    found: dict[str, int] = {}
    for event in comparison.events:
        lines = [f"tag {tag.tag}: {remark}" for tag in event.tags for remark in tag.remarks]
        lines += [f"notes differ: {', '.join(event.notes)}"] if event.notes else []
        for line in lines:
            found[line] = found.get(line, 0) + 1
    events = len(comparison.events)
    return [line if count == events else f"{line} ({count} events)" for line, count in found.items()]


def differences(comparison: Comparison, limit: int = MAX_EVENTS) -> list[str]:
    """Return what differs by more than the tolerance, for at most `limit` events."""
    failed = [(event.name, event.failures()) for event in comparison.events if event.failures()]
    lines = [f"event {name}: {line}" for name, failures in failed[:limit] for line in failures]
    if len(failed) > limit:
        lines.append(f"{len(failed) - limit} more events differ")
    return lines


def conclusion(comparison: Comparison) -> str:
    """Return the verdict in one sentence."""
    limits = comparison.tolerance
    words = [f"{name} {value:g}" for name, value in vars(limits).items() if value]
    within = f" within the tolerance ({', '.join(words)})" if words else ""
    if not comparison.events:
        return "A and B have no event to compare."
    if comparison.is_equal:
        return f"A and B are equal{within}."
    failed = sum(bool(event.failures()) for event in comparison.events)
    count = len(comparison.events)
    parts = [f"{failed} of {count} events differ" if count > 1 else "the event differs"] if failed else []
    for side, idents in (("A", comparison.events_only_a), ("B", comparison.events_only_b)):
        parts += [f"{len(idents)} only in {side}"] if idents else []
    return f"A and B differ{within}: {', '.join(parts)}."


def text_report(comparison: Comparison) -> str:
    """Return the report."""
    lines = [f"A = {comparison.a}", f"B = {comparison.b}", *heading(comparison)]
    lines += [f"not counted: {line}" for line in remarks(comparison)]
    for tag in comparison.tags():
        every = list(rows(comparison, tag))
        if not every:
            lines += ["", f"tag {tag}: no channel in common"]
            continue
        names = list(dict.fromkeys(event for event, _, _ in every))
        shown = {*names[:MAX_EVENTS], TOTAL}
        chosen = [row for row in every if row[0] in shown]
        lines += ["", f"tag {tag}", *_figure_table(ROI_HEADS, roi_cells, chosen), ""]
        lines += _figure_table(DIFFERENCE_HEADS, difference_cells, chosen)
        if len(names) > len(shown):
            lines.append(f"{len(names) - len(shown)} more events: see --json or --html")
    lines += ["", *EXPLANATION.splitlines()] if comparison.events else []
    if comparison.locations:
        count = len(comparison.locations)
        title = f"the first {count} samples that differ" if count > 1 else "the sample that differs"
        lines += ["", title, *_table(LOCATION_HEADS, location_rows(comparison))]
    found = differences(comparison)
    lines = [*lines, *([""] if found else []), *found, "", conclusion(comparison)]
    return "\n".join(map(visible, lines)) + "\n"  # names in files may hold newlines


def _table(heads: Row, rows_: list[Row]) -> list[str]:
    """Align rows, the first two columns to the left, under a rule."""
    lines = aligned([heads, *rows_], [index >= 2 for index in range(len(heads))])
    return [lines[0], "-" * max(map(len, lines)), *lines[1:]]


def _figure_table(heads: Row, cells: Cells, chosen: list[FigureRow]) -> list[str]:
    """Align figures; an event is named in its first row only."""
    lasts = ["", *(event for event, _, _ in chosen)]
    shown = [cells("" if row[0] == last else row[0], *row[1:]) for last, row in zip(lasts, chosen)]
    return _table(heads, shown)
