# SPDX-License-Identifier: Apache-2.0
"""Show memory of host and devices over time: peaks, leaks, values per node, all points, or a picture.

Sources are allocation events of devices (nsys --cuda-memory-usage=true), the recorder's samples (resident
memory, memory of devices and of the caching allocator) and the high-water marks of node calls; or, instead of a
profile, a snapshot of LibTorch's caching allocator. Missing data are listed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from ..errors import MissingData, UsageError
from ..html.memory import draw
from ..model import selection
from ..model.profile import Profile
from ..model.window import find_window
from ..output import Result, as_table, json_text, missing_text, write
from ..output_kind import OF_FORMAT
from ..tables import allocator_snapshot, memory_use, node_use
from ._options import add_format, add_output, add_profile, check_outputs, chosen

NAME = "memory"
HELP = "show memory of host and device over time, leaks and high-water marks per node; table, JSON or SVG"

TABLES: dict[str, tuple[str, Callable[[selection.Scope], Result]]] = {
    "peaks": ("highest values", memory_use.peaks),
    "leaks": ("device memory that was not freed in the recording", memory_use.leaks),
    "nodes": ("high-water per node", node_use.memory),
    "timeline": ("every point", memory_use.timeline),
}
DEFAULT = ("peaks", "leaks", "nodes")
SNAPSHOT_TABLES: dict[str, tuple[str, Callable[[list[allocator_snapshot.Device]], Result]]] = {
    "devices": ("memory of each device", allocator_snapshot.devices),
    "at-peak": (
        "requested memory at the peak, by the function that allocated it",
        allocator_snapshot.at_peak,
    ),
    "blocks": (f"{allocator_snapshot.MAX_BLOCKS} largest blocks in use", allocator_snapshot.blocks),
}
NEXT = "compute-sanitizer --tool memcheck --leak-check full PROGRAM"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_profile(parser, nargs="?")
    parser.add_argument(
        "--snapshot",
        type=Path,
        metavar="FILE",
        help="instead of a profile: file of wire-cell --memory-snapshot, or of torch.cuda.memory._dump_snapshot",
    )
    parser.add_argument(
        "-t",
        "--table",
        action="append",
        metavar="A,B",
        help=f"tables: {', '.join(TABLES)} (default: {','.join(DEFAULT)}); "
        f"of a snapshot: {', '.join(SNAPSHOT_TABLES)} (default: all)",
    )
    add_format(parser, "table", "json", "svg")
    add_output(parser)
    selection.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    if (arguments.file is None) == (arguments.snapshot is None):
        raise UsageError("memory reads one file", expected="a profile, or --snapshot FILE")
    check_outputs(arguments, ("--output", arguments.output, OF_FORMAT[arguments.format]))
    if arguments.snapshot is not None:
        return _run_snapshot(arguments)
    names = chosen(arguments.table or list(DEFAULT), TABLES, "--table", "table")
    with Profile.open(arguments.file) as profile:
        scope = selection.Scope(profile, selection.from_arguments(arguments))
        if arguments.format == "svg":
            title = f"Memory, {profile.name}"
            write(draw(memory_use.all_series(scope), find_window(scope), title), arguments.output)
            return 0
        made, missing = scope.make_all({name: TABLES[name][1] for name in names})
        recorded = profile.recorded_parts
    shown = {name: (TABLES[name][0], result) for name, result in made.items()}
    return _show(arguments, shown, missing, recorded)


def _run_snapshot(arguments: argparse.Namespace) -> int:
    names = chosen(arguments.table, SNAPSHOT_TABLES, "--table", "table")
    if arguments.format == "svg" or not selection.from_arguments(arguments).is_everything:
        raise UsageError(
            "a snapshot has only tables, of the whole run",
            "--snapshot",
            expected="neither --format svg nor a part of the profile",
            hint="pytorch.org/memory_viz draws snapshots",
        )
    found = allocator_snapshot.read(arguments.snapshot)
    made: dict[str, tuple[str, Result]] = {}
    missing: dict[str, str] = {}
    for name in names:
        title, make = SNAPSHOT_TABLES[name]
        try:
            made[name] = title, make(found)
        except MissingData as error:
            missing[name] = error.what
    return _show(arguments, made, missing)


def _show(
    arguments: argparse.Namespace,
    made: dict[str, tuple[str, Result]],
    missing: dict[str, str],
    recorded: str = "",
) -> int:
    """Write the tables, given by name with their titles."""
    if arguments.format == "json":
        tables = {name: result.records() for name, (_, result) in made.items()}
        body = json_text({"tables": tables, "missing": missing, "recorded": recorded})
    else:
        body = "\n".join(
            f"** {title} ({name})\n\n{as_table(result)}" for name, (title, result) in made.items()
        )
        if "leaks" in made and made["leaks"][1].rows:
            body += f"\nnext, to see who allocated it:\n  {NEXT}\n"
        if missing:
            body += f"\nmissing, not zero:\n{missing_text(missing, recorded, '  ')}"
    write(body, arguments.output)
    return 0 if made else 1
