# SPDX-License-Identifier: Apache-2.0
"""Describe frame files: events, tags, shapes, channels, times, masks, notes and the range of the samples. All samples
are read, one event at a time, so that damage is found.

Exit status: 0 done; 1 a file cannot be read; 2 usage error.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spng.frame_info import describe
from wirecell_profile.output import json_text

from spng import Error

NAME = "info"
HELP = "describe files: events, tags, channels, times, masks, notes"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="frame file")
    parser.add_argument("--json", action="store_true", help="print every event as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Describe each file; report a file that cannot be read and go on."""
    found, status = [], 0
    for path in arguments.files:
        try:
            found.append(describe(path))
        except Error as error:
            print(error, file=sys.stderr)
            status = 1
    if arguments.json:
        sys.stdout.write(json_text([info.json() for info in found]))
    else:
        sys.stdout.write("\n".join(info.text() for info in found))
    return status
