# SPDX-License-Identifier: Apache-2.0
"""The page of physics figures: one HTML file with embedded pictures, and its tables as Markdown for docs/."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wirecell_profile.html.document import Block, Folded, Paragraph, Part, Picture, Table, document
from wirecell_profile.output import json_text

from scripts.output import hand_written, page_path, write

from .sections import Section
from .tables import MET, SHORT

DEFINITIONS = "\n".join(
    (
        "Pixel: four consecutive ticks of a channel.",
        "ROI pixel: at least one of its ticks has a non-zero output.",
        "True pixel: at least one of its ticks has a true charge above 500 electrons.",
        "Charge bias: total output / total true charge - 1, over all channels and ticks of a view.",
        "Median channel and resolution: median and half the central 68 % of the same ratio over channels with more than 5000 "
        "electrons (line scan: standard deviation over the inner channels of the line).",
        "Efficiency: true pixels that are ROI pixels.",
        "Purity: ROI pixels that are true.",
        "Late by: peak of the cross-correlation with the truth.",
        "Errors are one standard deviation, from the spread between events.",
    )
)


@dataclass(frozen=True)
class Wording:
    """Title and heading of a page, the command that writes it with pictures, its file name, and the definitions."""

    title: str
    heading: str
    command: str
    file: str
    definitions: str


PHYSICS = Wording(
    "SPNG: physics figures",
    "Physics: charge in regions of interest",
    "./wcb physics",
    "physics.html",
    DEFINITIONS,
)


def about_lines(result: dict[str, Any]) -> list[str]:
    """Return the origin of the figures: time, commit, machine, command, model, events."""
    events = "; ".join(
        f"{sample['label']}: {sample['events']} (seeds {sample['seeds'][0]} to {sample['seeds'][1]})"
        for sample in result["samples"]
    )
    return [
        f"{result['time']}, commit {result['program']['commit']}, {result['machine']['cpu']}, "
        f"{result['precision']}; {result['wall_seconds']:.0f} s on {result['cores']} cores with {result['cpu_seconds']:.0f} s "
        f"of processor time, while {result['load_text']}.",
        f"Command: {result['command']}",
        f"Model: {result['model'] or 'none'}",
        f"Events: {events or 'none'}.",
    ]


def to_html(result: dict[str, Any], sections: list[Section], wording: Wording = PHYSICS) -> str:
    """Return the page as one self-contained HTML file."""
    parts = [Part(section.title, _blocks(section), section.anchor) for section in sections]
    parts.append(Part("Definitions", [Paragraph(wording.definitions)], "definitions"))
    top: list[Block] = [Paragraph(line, "about") for line in about_lines(result)]
    return document(wording.title, wording.title, top, parts)


def _blocks(section: Section) -> list[Block]:
    blocks: list[Block] = [Paragraph(text) for text in section.text]
    blocks += [Picture(title, svg) for title, svg in section.pictures]
    is_titled = len(section.tables) > 1 and not section.folded
    for table in section.tables:
        # The verdict, if the table has one, is in the last column but one.
        rows = [(row, row[-2] if len(row) > 1 and row[-2] in (MET, SHORT) else "") for row in table.rows]
        block = Table(table.heads, rows, table.words, 2, table.title if is_titled else "")
        blocks.append(Folded(table.title, [block]) if section.folded else block)
    return blocks


def to_markdown(
    result: dict[str, Any], sections: list[Section], path: Path, wording: Wording = PHYSICS
) -> str:
    """Return the tables, and below them the hand-written part of the page at `path`, if there is one."""
    parts = [
        f"# {wording.heading}\n",
        f"Written by `{result['command']}`, except for the part below the line.\n{about_lines(result)[0]}\n"
        f"{about_lines(result)[2]}.\n{about_lines(result)[3]}\n`{wording.command}` writes the same with pictures to "
        f"out/physics/{wording.file}.\n",
    ]
    for section in sections:
        parts.append(f"## {section.title}\n")
        parts += [f"{text}\n" for text in section.text]
        for table in section.tables:
            parts.append(
                (f"### {table.title}\n\n" if len(section.tables) > 1 else "") + table.markdown() + "\n"
            )
    parts.append(f"## Definitions\n\n{wording.definitions}\n")
    return "\n".join(parts) + hand_written(path)


def publish(
    options: argparse.Namespace, result: dict[str, Any], sections: list[Section], wording: Wording = PHYSICS
) -> None:
    """Write the JSON file, the page in HTML, and that in Markdown if an option asks for it."""
    html = options.output / wording.file
    write(options.json or html.with_suffix(".json"), json_text(result))
    write(html, to_html(result, sections, wording))
    if options.page is not None:
        target = page_path(options.page)
        write(target, to_markdown(result, sections, target, wording))
