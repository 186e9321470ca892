# SPDX-License-Identifier: Apache-2.0
"""Show the use of time: nodes, ranges, events, devices, idle time, copies, memory.

Tables without data in the file (such as device operations in a recording without GPU) are listed as missing
and left out, never shown as zero. Exit status 1 if no table could be made. Definitions:
docs/profiling-reports.md.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

from ..model import selection
from ..model.profile import Profile
from ..model.window import Window, find_window
from ..output import (
    Result,
    as_json,
    as_readable_table,
    as_table,
    json_text,
    missing_text,
    terminal_width,
    write,
)
from ..output_kind import OF_FORMAT
from ..tables import device_use, range_use
from ..tables.sections import SECTIONS
from ..tables.timeline import timeline
from ..terminal import visible
from ._options import add_format, add_output, add_profile, add_value, check_outputs, chosen

NAME = "summary"
MAX_ROWS = 30  # per table in text
HELP = "show time per node, range and event, utilisation, idle time, copies, memory; or a text timeline"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_profile(parser)
    parser.add_argument(
        "-s", "--section", action="append", metavar="A,B", help=f"only these tables: {', '.join(SECTIONS)}"
    )
    add_format(parser, "table", "json")
    add_output(parser)
    about = "rows per table in text, 0 for all (default %s)"
    add_value(parser, "--rows", MAX_ROWS, "N", about)
    parser.add_argument(
        "--timeline",
        action="store_true",
        help="print one line per range, in order of time, instead of the tables",
    )
    parser.add_argument(
        "--operations", action="store_true", help="with --timeline, also print one line per device operation"
    )
    about = "longest kernel wait: idle time between queued operations (default %s)"
    add_value(parser, "--kernel-wait", f"{device_use.KERNEL_WAIT}ns", "TIME", about)
    about = "shortest gap between ranges to show (default %s)"
    add_value(parser, "--cpu-gap", f"{range_use.CPU_GAP}ns", "TIME", about)
    selection.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    names = chosen(arguments.section, SECTIONS, "--section", "table")
    check_outputs(arguments, ("--output", arguments.output, OF_FORMAT[arguments.format]))
    changed = {
        "utilisation": partial(
            device_use.utilisation, kernel_wait=selection.parse_time(arguments.kernel_wait)
        ),
        "gaps": partial(range_use.cpu_gaps, shortest=selection.parse_time(arguments.cpu_gap)),
    }
    with Profile.open(arguments.file) as profile:
        scope = selection.Scope(profile, selection.from_arguments(arguments))
        if arguments.timeline:
            result = timeline(scope, arguments.operations)
            write(as_table(result) if arguments.format == "table" else as_json(result), arguments.output)
            return 0
        window = find_window(scope)
        made, missing = scope.make_all({name: changed.get(name, SECTIONS[name].run) for name in names})
        recorded = profile.recorded_parts
    if arguments.format == "table":
        width = 0 if arguments.output else terminal_width()
        why = missing_text(missing, recorded, "  ")
        body = _as_text(window, made, why, arguments.rows, width)
    else:
        body = _as_json(window, made, missing, recorded)
    write(body, arguments.output)
    if not made:
        print(f"error: none of the tables could be made from {visible(str(arguments.file))}", file=sys.stderr)
    return 0 if made else 1


def _as_text(window: Window, made: dict[str, Result], missing: str, rows: int, width: int) -> str:
    parts = [f"window W: {window.what}, {window.length / 1e6:,.3f} ms from {window.start / 1e6:,.3f} ms\n"]
    for name, result in made.items():
        section = SECTIONS[name]
        table = as_readable_table(result, rows, width, f"--section {name} --rows 0")
        parts.append(f"\n** {section.about} ({name})\n\n{table}{section.note and section.note + chr(10)}")
    if missing:
        parts.append(f"\nmissing, not zero:\n{missing}")
    return "".join(parts)


def _as_json(window: Window, made: dict[str, Result], missing: dict[str, str], recorded: str) -> str:
    about = {"start_ns": window.start, "end_ns": window.end, "what": window.what}
    tables = {name: result.records() for name, result in made.items()}
    return json_text({"window": about, "tables": tables, "missing": missing, "recorded": recorded})
