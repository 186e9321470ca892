# SPDX-License-Identifier: Apache-2.0
"""Show memory of host and devices over time: peaks, leaks, values per node, all points, or a picture.

Sources are allocation events of devices (nsys --cuda-memory-usage=true), the recorder's samples (resident
memory, memory of devices and of the caching allocator) and the high-water marks of node calls. Missing data
are listed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from ..html.memory import draw
from ..model import selection
from ..model.profile import Profile
from ..model.window import find_window
from ..output import Result, as_table, json_text, write
from ..tables import memory_use, node_use
from ._options import add_format, add_output, add_profile, chosen

NAME = "memory"
HELP = "show memory of host and device over time, leaks and high-water marks per node; table, JSON or SVG"

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
    parser.add_argument(
        "-t",
        "--table",
        action="append",
        metavar="A,B",
        help=f"tables: {', '.join(TABLES)} (default: {','.join(DEFAULT)})",
    )
    add_format(parser, "table", "json", "svg")
    add_output(parser)
    selection.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    names = chosen(arguments.table or list(DEFAULT), TABLES, "--table", "table")
    with Profile.open(arguments.file) as profile:
        scope = selection.Scope(profile, selection.from_arguments(arguments))
        if arguments.format == "svg":
            title = f"Memory, {arguments.file.name}"
            write(draw(memory_use.all_series(scope), find_window(scope), title), arguments.output)
            return 0
        made, missing = scope.make_all({name: TABLES[name][1] for name in names})
    if arguments.format == "json":
        tables = {name: result.records() for name, result in made.items()}
        body = json_text({"tables": tables, "missing": missing})
    else:
        body = "\n".join(
            f"** {TABLES[name][0]} ({name})\n\n{as_table(result)}" for name, result in made.items()
        )
        if "leaks" in made and made["leaks"].rows:
            body += f"\nnext, to see who allocated it:\n  {NEXT}\n"
        if missing:
            body += "\nmissing, not zero:\n" + "".join(
                f"  {name:<10}{why}\n" for name, why in missing.items()
            )
    write(body, arguments.output)
    return 0 if made else 1
