# SPDX-License-Identifier: Apache-2.0
"""The page of real data as Markdown, with pictures in the folder images/ beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scripts.output import Table, hand_written

from .bars import EXCEPTED, MET, NOT_RUN
from .datasets import FILES, TERMS, TOOLKIT

IMAGES = "images"
Result = dict[str, Any]


def shown(bar: dict[str, Any]) -> str:
    """Format the value of a bar with its unit, or the reason why there is none."""
    if bar["verdict"] == NOT_RUN:
        return f"not run: {bar['problem']}".replace("|", "/")
    return f"{bar['value']:.{bar['digits']}f} {bar['unit']}".strip()


def bars_table(result: Result) -> Table:
    """Return the bars of all studies."""
    rows = [
        [
            *(bar["study"], bar["what"], f"{bar['limit']} {bar['unit']}".strip(), shown(bar)),
            f"{bar['verdict']}: {bar['exception']}" if bar["exception"] else bar["verdict"],
        ]
        for study in result["studies"].values()
        for bar in study["bars"]
    ]
    return Table("Bars", ["study", "figure", "bar", "measured", ""], rows, 5)


def bar_counts(result: Result) -> str:
    """Return how many bars are met, excepted and not run."""
    verdicts = [bar["verdict"] for study in result["studies"].values() for bar in study["bars"]]
    parts = [f"{verdicts.count(MET)} of {len(verdicts)} bars are met"]
    others = ((EXCEPTED, "are excepted"), (NOT_RUN, "were not run"))
    parts += [f"{verdicts.count(verdict)} {words}" for verdict, words in others if verdict in verdicts]
    return ", ".join(parts)


def files_table(result: Result) -> Table:
    """Return the files with their origin and checksum."""
    rows = [
        [
            f"`{file.name}`",
            file.what,
            f"`{file.origin}`",
            f"`{file.sha256[:16]}...`",
            result["files"][file.name],
        ]
        for file in FILES
        if file.name in result["files"]
    ]
    return Table("Files", ["file", "content", "in the repository", "SHA-256", "in this run"], rows, 5)


def study_parts(study: dict[str, Any]) -> list[str]:
    """Return the parts of a study: text, pictures, tables, problems."""
    parts = [f"## {study['title']}\n", "\n".join(study["text"]) + "\n"]
    parts += [
        f"![{picture['caption']}]({IMAGES}/{picture['file']})\n\n{picture['caption']}\n"
        for picture in study["pictures"]
    ]
    for table in study["tables"]:
        title = f"### {table['title']}\n\n" if len(study["tables"]) > 1 else ""
        parts.append(title + Table(**table).markdown() + "\n")
    parts += [f"Not run: {problem}\n".replace("|", "/") for problem in study["problems"]]
    return parts


def about(result: Result) -> str:
    """Return command, time, commit and machine, a sentence for each line."""
    return (
        f"Written by `{result['command']}`, except for the part below the line.\n"
        f"{result['time']}, commit {result['program']['commit']}, {result['machine']['cpu']}; {result['wall_seconds']:.0f} s on "
        f"{result['cores']} cores.\n"
    )


def to_markdown(result: Result, path: Path) -> str:
    """Return the page, and below it the hand-written part of the page at `path`, if there is one."""
    parts = [
        "# Real data\n",
        "Raw waveforms and published charge of real detectors, through this program.\n"
        "Bars were set before their values were measured, except two: the channels with tracks of the misconfigured twin, and the harm "
        "of the wave on a board.\n"
        "The exception for absent neighbours is part of the bar of few channels; how far it reaches was set afterwards.\n"
        "Some choices in the program were made with a look at the raw groups of MicroBooNE: rules of `coherent` on the chirping and the "
        "noisy group ([reasons](decisions/coherent-noise.md)), the order of `channels` and `coherent` and the limit of dead channels on "
        "the chirping group and its twin ([reasons](decisions/noise-order.md)), and the use of the noise of a view in `channels` on all "
        "three groups ([reasons](decisions/raw-data.md#dead-and-noisy-channels)).\n"
        "Seeds beside an ROI ([reasons](decisions/regions.md#seeds-beside-a-core)), the mean in place of single dead channels "
        "([reasons](decisions/few-channels.md#single-dead-channels)) and the bend of negative ROIs "
        "([reasons](decisions/levels.md#negative-rois)) answer single channels of the chirping group and its twin.\n"
        "For these choices the groups are no independent test.\n"
        "The misconfigured group and the events of ProtoDUNE were used for no choice, except for what their detectors publish.\n"
        + about(result),
        "## Bars\n",
        f"{bar_counts(result)}.\n",
        bars_table(result).markdown() + "\n",
    ]
    for study in result["studies"].values():
        parts += study_parts(study)
    parts += [
        "## Files\n",
        f"The files are from the public [Wire-Cell Toolkit]({TOOLKIT}) ({TERMS}), tests of its package `sigproc`.\n"
        "They are not in this repository; the pictures above were made from them.\n",
        files_table(result).markdown() + "\n",
    ]
    return "\n".join(parts) + hand_written(path)
