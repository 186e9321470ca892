# SPDX-License-Identifier: Apache-2.0
"""HTML page of a comparison, without script."""

from __future__ import annotations

from pathlib import Path

from wirecell_profile.html.document import Block, Folded, Paragraph, Part, Picture, Table, document

from . import figures, text
from .result import Comparison

MAX_EVENTS = 200  # events of a table; the JSON file has all
OPEN_EVENTS = 10  # tables of at most so many events are shown at once


def html_page(comparison: Comparison) -> str:
    """Return the page. Raise ProfileError if Jinja2 is not installed."""
    title = f"Comparison of {Path(comparison.a).name} and {Path(comparison.b).name}"
    verdict = "\n\n".join([text.conclusion(comparison), *text.differences(comparison)])
    top: list[Block] = [
        Paragraph(f"A = {comparison.a}\nB = {comparison.b}"),
        Paragraph(verdict, f"verdict {'faster' if comparison.is_equal else 'slower'}"),
        Paragraph("\n".join(f"{line}." for line in text.heading(comparison))),
        *(Paragraph(f"Not counted: {line}.", "warning") for line in text.remarks(comparison)),
    ]
    parts = [Part(f"Tag {tag}", _of_tag(comparison, tag)) for tag in comparison.tags()]
    if rows := text.location_rows(comparison):
        table = Table(text.LOCATION_HEADS, [(row, "") for row in rows], 2)
        parts.append(Part("The first samples that differ", [table]))
    parts.append(Part("", [Paragraph(text.EXPLANATION.replace("\n", " "), "about")]))
    heading = "The frames are equal" if comparison.is_equal else "The frames differ"
    return document(title, heading, top, parts)


def _of_tag(comparison: Comparison, tag: str) -> list[Block]:
    every = list(text.rows(comparison, tag))
    totals = [row for row in every if row[0] == text.TOTAL]
    if not totals:
        return [Paragraph("No channel in common.")]
    events = [row for row in every if row[0] != text.TOTAL]
    names = list(dict.fromkeys(event for event, _, _ in events))
    blocks = [*_tables(totals), *_pictures(comparison, tag)]
    if names:
        shown = set(names[:MAX_EVENTS])
        folded: list[Block] = [*_tables([row for row in events if row[0] in shown])]
        if len(names) > len(shown):
            folded.append(Paragraph(f"{len(names) - len(shown)} more events: see the JSON file."))
        blocks.append(Folded(f"All {len(names)} events", folded, len(names) <= OPEN_EVENTS))
    return blocks


def _tables(rows: list[text.FigureRow]) -> list[Block]:
    return [
        Table(heads, [(cells(*row), "") for row in rows], 2)
        for heads, cells in ((text.ROI_HEADS, text.roi_cells), (text.DIFFERENCE_HEADS, text.difference_cells))
    ]


def _pictures(comparison: Comparison, tag: str) -> list[Block]:
    events = [(event.name, each) for event, each in comparison.each_tag(tag)]
    found: list[Block] = [
        Picture("Samples that are not 0", figures.overlap_bars(comparison.totals(tag))),
        Picture("Sizes of the differences, all planes", figures.histogram(comparison.total(tag))),
    ]
    ratios = figures.charge_ratios([(name, each.planes) for name, each in events])
    found += [] if ratios is None else [Picture("Charge of B / charge of A", ratios)]
    for name, picture in [(name, each.picture) for name, each in events if each.picture][:1]:
        about = f"Where samples differ, event {name} (darker: more samples)"
        found.append(Picture(about, figures.difference_map(picture)))
        for waveform in picture.waveforms:
            about = f"First difference in channel {waveform.channel}, event {name} [units of the file]"
            found.append(Picture(about, figures.waveforms(waveform)))
    return found
