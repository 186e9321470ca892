# SPDX-License-Identifier: Apache-2.0
"""Show the time spent over all finished files, per node and per machine. Rewrites summary.json and summary.txt."""

from __future__ import annotations

import argparse
import sys

from wirecell_profile.terminal import visible

from .. import report, summary

NAME = "summary"
HELP = "show the time spent per node and per machine, over all files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="the output folder")
    parser.add_argument(
        "--profiles",
        action="store_true",
        help="also merge the profiles of all files, made by run --record, into one",
    )


def run(arguments: argparse.Namespace) -> int:
    layout = report.open_folder(arguments.folder)
    now = report.read_status(layout)
    content = summary.make(now.records, now.failures)
    summary.write(layout, content)
    sys.stdout.write(summary.as_text(content))
    if arguments.profiles:
        print(f"profile of all files: {visible(str(report.join_profiles(layout)))}")
    return 0
