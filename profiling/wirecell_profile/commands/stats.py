# SPDX-License-Identifier: Apache-2.0
"""Print reports with nsys's names and definitions, from wire-cell's recordings and from nsys exports.

Reports without data in the file are listed and left out, never shown as zero. Exit status 1 if no report
could be made. Options follow a report's name: cuda_gpu_kern_sum:base, :mangled, :nvtx-name, um_sum:rows=20.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors import MissingData, UsageError
from ..model import selection
from ..model.profile import Profile
from ..output import FORMATS, missing_text, render, write
from ..reports import all_reports, find
from ._options import add_format, add_overwrite, add_profile, check_outputs, kind_of_table

NAME = "stats"
HELP = "print reports with nsys's names: tables of kernels, API calls, ranges"

DEFAULT = tuple(
    "nvtx_sum osrt_sum cuda_api_sum cuda_gpu_kern_sum cuda_gpu_mem_time_sum cuda_gpu_mem_size_sum".split()
)
ENDINGS = {"table": "txt", "csv": "csv", "json": "json"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_profile(parser, "?")
    parser.add_argument(
        "-r",
        "--report",
        action="append",
        metavar="A,B",
        help=f"reports to make (default: {','.join(DEFAULT)}; all: every one)",
    )
    add_format(parser, *FORMATS)
    parser.add_argument(
        "-o", "--output", metavar="PREFIX", help="one file PREFIX_REPORT.txt/.csv/.json per report"
    )
    add_overwrite(parser)
    parser.add_argument(
        "--list", action="store_true", help="list the reports with their old names and options"
    )
    selection.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    if arguments.list:
        write(list_reports(), None)
        return 0
    if arguments.file is None:
        raise UsageError("no file given", hint="wirecell-profile stats FILE.sqlite")
    wanted = [name for text in arguments.report or [",".join(DEFAULT)] for name in text.split(",")]
    if wanted == ["all"]:
        wanted = list(all_reports())
    chosen = [(text, *find(text)) for text in wanted]
    style = arguments.format
    made, missing = [], dict[str, str]()
    with Profile.open(arguments.file) as profile:
        scope = selection.Scope(profile, selection.from_arguments(arguments))
        for text, report, options in chosen:
            try:
                made.append((text, report.about, report.run(scope, options), _file(arguments, text)))
            except MissingData as error:
                missing[text] = f"does not apply: {error.what}"
        told = missing_text(missing, profile.recorded_parts, "SKIPPED ")
    outputs = (("--output", path, kind_of_table(result, style)) for _, _, result, path in made)
    check_outputs(arguments, *outputs)
    for text, about, result, path in made:
        heading = f"\n** {about} ({text})\n\n" if style == "table" and not path else ""
        write(heading + render(result, style), path)
    print(told, end="", file=sys.stderr)
    return 0 if made else 1


def _file(arguments: argparse.Namespace, report: str) -> Path | None:
    """Return the file of a report, None for standard output."""
    if not arguments.output:
        return None
    name = "_".join([arguments.output, *report.split(":")])
    return Path(f"{name}.{ENDINGS[arguments.format]}")


def list_reports() -> str:
    """Return names, descriptions, old names and options of all reports."""
    lines = []
    for report in all_reports().values():
        lines.append(f"{report.name:<24}{report.about}")
        if report.aliases:
            lines.append(f"{'':<24}  formerly {', '.join(report.aliases)}")
        if report.options:
            lines.append(f"{'':<24}  options {' '.join(':' + option for option in report.options)}")
    return "\n".join(lines) + "\n"
