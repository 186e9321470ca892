"""Where the time went, over all files that are done: per node and per machine. Writes summary.json and summary.txt anew."""

from __future__ import annotations

import argparse
import sys

from .. import report, summary

NAME = "summary"
HELP = "where the time went, over all files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="the output folder")
    parser.add_argument(
        "--profiles",
        action="store_true",
        help="also join the profiles of all files, made by run --record, into one",
    )


def run(arguments: argparse.Namespace) -> int:
    layout = report.open_folder(arguments.folder)
    now = report.standing(layout)
    made = summary.make(now.records, now.failures)
    summary.write(layout, made)
    sys.stdout.write(summary.as_text(made))
    if arguments.profiles:
        print(f"profile of all files: {report.join_profiles(layout)}")
    return 0
