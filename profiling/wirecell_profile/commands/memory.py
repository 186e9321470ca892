# SPDX-License-Identifier: Apache-2.0
"""Show memory of host and devices over time: peaks, leaks, values per node, all points.

Sources are allocation events of devices (nsys --cuda-memory-usage=true), the recorder's samples (resident
memory, memory of devices and of the caching allocator) and the high-water marks of node calls. Missing data are
listed. For snapshots of LibTorch's caching allocator there is python -m torch.cuda._memory_viz.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from ..model import selection
from ..model.profile import Profile
from ..output import Result, as_table, json_text, missing_text, write
from ..output_kind import OF_FORMAT
from ..tables import memory_use, node_use
from ._options import add_format, add_output, add_profile, check_outputs, chosen

NAME = "memory"
HELP = "show memory of host and device over time, leaks and high-water marks per node"

TABLES: dict[str, tuple[str, Callable[[selection.Scope], Result]]] = {
    "peaks": ("highest values", memory_use.peaks),
    "leaks": ("device memory that was not freed in the recording", memory_use.leaks),
    "nodes": ("high-water per node", node_use.memory),
    "timeline": ("every point", memory_use.timeline),
}
DEFAULT = ("peaks", "leaks", "nodes")
NEXT = "compute-sanitizer --tool memcheck --leak-check full PROGRAM"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_profile(parser)
    about = f"tables: {', '.join(TABLES)} (default: {','.join(DEFAULT)})"
    parser.add_argument("-t", "--table", action="append", metavar="A,B", help=about)
    add_format(parser, "table", "json")
    add_output(parser)
    selection.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    check_outputs(arguments, ("--output", arguments.output, OF_FORMAT[arguments.format]))
    names = chosen(arguments.table or list(DEFAULT), TABLES, "--table", "table")
    with Profile.open(arguments.file) as profile:
        scope = selection.Scope(profile, selection.from_arguments(arguments))
        made, missing = scope.make_all({name: TABLES[name][1] for name in names})
        recorded = profile.recorded_parts
    if arguments.format == "json":
        tables = {name: result.records() for name, result in made.items()}
        body = json_text({"tables": tables, "missing": missing, "recorded": recorded})
    else:
        body = "\n".join(
            f"** {TABLES[name][0]} ({name})\n\n{as_table(result)}" for name, result in made.items()
        )
        if "leaks" in made and made["leaks"].rows:
            body += f"\nnext, to see who allocated it:\n  {NEXT}\n"
        if missing:
            body += f"\nmissing, not zero:\n{missing_text(missing, recorded, '  ')}"
    write(body, arguments.output)
    return 0 if made else 1
