# SPDX-License-Identifier: Apache-2.0
"""Merge the profiles of several processes or GPUs into one file for the other commands.

  wirecell-profile merge rank0.sqlite rank1.sqlite -o job.sqlite
  wirecell-profile summary job.sqlite

Processes, threads and devices stay separate, equal strings are stored once, and times count from the start of the earliest
session.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import UsageError
from ..export.merging import merge
from ..model.identity import pid_of
from ..model.profile import Profile
from ..terminal import visible
from ..units import counted
from ._options import check_outputs

NAME = "merge"
HELP = "merge the profiles of several processes or GPUs into one"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="profiles of the recorder or nsys exports"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="file to write")
    parser.add_argument("--overwrite", action="store_true", help="replace the output if it exists")


def run(arguments: argparse.Namespace) -> int:
    """Merge, and print the content of the result."""
    if len(arguments.files) < 2:
        raise UsageError("nothing to merge", seen="one file", expected="two or more")
    check_outputs(arguments, ("--output", arguments.output, None))
    for note in merge(arguments.files, arguments.output):
        print(f"note: {visible(note)}")
    with Profile.open(arguments.output) as profile:
        ranges, operations = profile.or_empty("ranges"), profile.or_empty("operations")
        numbers = sorted({pid_of(thread) for thread in ranges.thread.tolist()} | set(profile.process_names))
        devices = sorted(set(operations.device.tolist()))
        print(
            f"{visible(str(arguments.output))}: {counted(len(arguments.files), 'file')}, processes {', '.join(map(str, numbers)) or 'none'}, "
            f"{counted(len(ranges), 'range')}, {counted(len(operations), 'device operation')}"
            + (f" on devices {', '.join(map(str, devices))}" if devices else "")
        )
    return 0
