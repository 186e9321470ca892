# SPDX-License-Identifier: Apache-2.0
"""Score an output against the simulated truth, by plane: charge (output / truth), efficiency (share of the true pixels that
are in ROIs) and purity (share of the pixels in ROIs that are true). Pixels are four ticks of a channel; true ones have a tick
above 500 electrons. Events belong together by their ids, channels by theirs; channels and events without truth are counted, not
scored. The output may be any program's.

Exit status: 0 done; 1 a file cannot be read, or the files do not fit together; 2 usage error.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spng.channel_planes import PDHD, planes_of_detector
from spng.compare.result import ranges
from spng.metrics import Figure
from spng.score import Score, known, score
from wirecell_profile.output import aligned, json_text, write
from wirecell_profile.output_kind import JSON
from wirecell_profile.terminal import visible

from .. import outputs

NAME = "score"
HELP = "compare an output with the truth: charge, efficiency, purity"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "output", metavar="OUTPUT", type=Path, help="frame file with charge in ROIs [electrons]"
    )
    parser.add_argument(
        "truth", metavar="TRUTH", type=Path, help="frame file with the true charge [electrons]"
    )
    about = "tags of the files (default: the first of signal, gauss0, gauss, and of truth, or the only tag)"
    parser.add_argument("--tag", metavar="TAG[:TRUTH_TAG]", help=about)
    planes = parser.add_mutually_exclusive_group()
    about = f"planes by counts of channels of an anode (default for whole anodes of 2560 channels: {PDHD})"
    planes.add_argument("--planes", default="", metavar="NAME:COUNT,...", help=about)
    about = "take the planes of a detector, as -A detname of wire-cell; WIRECELL_PATH names the folder of its files"
    planes.add_argument("--detname", metavar="NAME", help=about)
    about = "with --detname: anodes, with commas (default 0)"
    parser.add_argument("--tpcid", type=_numbers, default=[0], metavar="N,...", help=about)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures; -: print these only")
    outputs.add_overwrite(parser)


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    outputs.check(arguments, (arguments.output, arguments.truth), ("--json", arguments.json, JSON))
    detector = arguments.detname
    planes = planes_of_detector(detector, arguments.tpcid) if detector else arguments.planes
    result = score(arguments.output, arguments.truth, arguments.tag, planes)
    is_printed = str(arguments.json) == "-"
    if arguments.json:
        write(json_text(result.json()), None if is_printed else arguments.json)
    if not is_printed:
        sys.stdout.write(summary(result))
    return 0


def summary(result: Score) -> str:
    """Return the score as a table, with errors for several events."""
    files = " and ".join(f"{file} ({tag})" for file, tag in zip((result.output, result.truth), result.tags))
    matched = "id" if result.is_by_ident else "order"
    rows = [["plane", "charge", "efficiency", "purity", "kept"]]
    rows += [[plane, *map(_cell, row.values())] for plane, row in result.figures().items()]
    lines = [
        files,
        f"{_events(len(result.events))}, matched by {matched}",
        *(
            f"only in the {side}, not scored: {_events(len(idents))}: {ranges(idents)}"
            for side, idents in (("output", result.events_only_output), ("truth", result.events_only_truth))
            if idents
        ),
        *aligned(rows, [False, *[True] * 4]),
        "charge: output / truth; efficiency, purity: of pixels of 4 ticks, true above 500 electrons; kept: pixels in ROIs",
    ]
    if result.absent:
        lines.append(f"{result.absent} channels of the truth are not in the output and count as empty")
    if result.extra:
        lines.append(f"{result.extra} channels of the output are not in the truth and are not scored")
    return "\n".join(map(visible, lines)) + "\n"


def _events(count: int) -> str:
    return f"{count} event{'s' if count > 1 else ''}"


def _cell(figure: Figure) -> str:
    if known(figure.value) is None:
        return "-"
    error = "" if known(figure.error) is None else f" +- {100 * figure.error:.2f}"
    return f"{100 * figure.value:.2f}{error} %"
