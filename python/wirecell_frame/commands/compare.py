# SPDX-License-Identifier: Apache-2.0
"""Compare the frames of two files: charge, ROIs, samples, times and masks, by event, tag and plane. Events belong
together by their ids, channels by theirs. A sample differs if |A - B| is above the tolerance.

Exit status: 0 equal within the tolerance; 1 they differ; 2 usage error, or a file that cannot be read.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spng.compare import Tolerance, compare
from spng.compare.page import html_page
from spng.compare.text import text_report
from wirecell_profile.errors import ProfileError
from wirecell_profile.output import json_text, write
from wirecell_profile.output_kind import HTML, JSON

from spng import Error

from .. import outputs

NAME = "compare"
HELP = "compare two files: charge, ROIs and samples"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("a", metavar="A", type=Path, help="frame file, the reference")
    parser.add_argument("b", metavar="B", type=Path, help="frame file")
    about = (
        "tag to compare, of each file if they differ; repeatable (default: all common tags, or the only ones)"
    )
    parser.add_argument("--tag", action="append", metavar="TAG|A_TAG:B_TAG", help=about)
    about = "planes by counts of channels of an anode, such as U:800,V:800,W:960 (default for 2560 channels)"
    parser.add_argument("--planes", default="", metavar="NAME:COUNT,...", help=about)
    for option, about in (
        ("--tolerance", "accepted difference, relative to the larger of |A| and |B| (default 0)"),
        ("--absolute", "accepted difference in units of the samples (default 0)"),
        ("--share", "share of the samples of a tag that may differ by more (default 0)"),
    ):
        parser.add_argument(option, type=_size, default=0.0, metavar="X", help=about)
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page with figures")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures; -: print these only")
    outputs.add_overwrite(parser)


def _size(text: str) -> float:
    """Parse a number that is not negative."""
    value = float(text)
    if not 0 <= value < float("inf"):
        raise ValueError(text)
    return value


def run(arguments: argparse.Namespace) -> int:
    """Run the command. All errors have exit status 2, because 1 means different."""
    tolerance = Tolerance(arguments.tolerance, arguments.absolute, arguments.share)
    try:
        files = (("--html", arguments.html, HTML), ("--json", arguments.json, JSON))
        outputs.check(arguments, (arguments.a, arguments.b), *files)
        result = compare(arguments.a, arguments.b, arguments.tag, arguments.planes, tolerance)
        if arguments.html:
            write(html_page(result), arguments.html)
        is_printed = str(arguments.json) == "-"
        if arguments.json:
            write(json_text(result.json()), None if is_printed else arguments.json)
        if not is_printed:
            sys.stdout.write(text_report(result))
    except (Error, ProfileError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if result.is_equal else 1
