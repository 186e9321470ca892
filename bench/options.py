# SPDX-License-Identifier: Apache-2.0
"""The command line of ./wcb bench. It is read before the set-up, so this module imports only the standard library."""

from __future__ import annotations

import argparse
from pathlib import Path

from scripts.wcb import setup
from scripts.wcb.checkout import ROOT

REFERENCE = ROOT / "docs" / "benchmarks" / "reference.json"
PAGES = ROOT / "docs" / "benchmarks"
CHECKED_EVENTS, CHECKED_RUNS = 4, 8  # with fewer runs, tests of all steps together cannot be significant


def command_line(description: str | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = setup.make_parser("bench", description)
    parser.add_argument("--events", type=int, default=6, help="events of a run of the chain (default 6)")
    parser.add_argument(
        "--runs", type=int, default=3, help="runs of the chain, each after a run of the yardstick (default 3)"
    )
    parser.add_argument("--quick", action="store_true", help="one run of three events, no operators")
    parser.add_argument(
        "--cold",
        action="store_true",
        help="measure only the one-time costs of a new process with empty compile caches (also the driver's). "
        "Nothing is compiled at run time, so these are the first use of libraries and memory",
    )
    parser.add_argument(
        "--recording",
        action="store_true",
        help="measure only the cost of ranges: without a tool, with --record, and under nsys if it is on the path, in turn",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="also vary ticks, anodes, batch, threads, events in flight, files, model and instruction set, and write the pages with "
        "pictures into --pages; about 8 minutes on two idle cores, with --quick two",
    )
    parser.add_argument(
        "--pages",
        type=Path,
        metavar="FOLDER",
        default=PAGES,
        help="folder of the pages of --all (default docs/benchmarks)",
    )
    parser.add_argument(
        "--check",
        type=Path,
        metavar="FILE",
        nargs="?",
        const=REFERENCE,
        help="only compare counts exactly, and times in units of the yardstick, with a reference (default "
        "docs/benchmarks/reference.json); status 1 if a count grew or a step is slower beyond noise and margin",
    )
    parser.add_argument("--update", action="store_true", help="with --check: make this build the reference")
    parser.add_argument("--cores", type=int, default=2, help="processor cores to use, 0: all (default 2)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:N or auto (default cpu)")
    parser.add_argument("--dtype", default="float32", help="float32 or float64 (default float32)")
    parser.add_argument("--model", default="none", help="none, standin or a model file (default none)")
    parser.add_argument("--engine", default="Pgrapher", help="Pgrapher or TbbFlow (default Pgrapher)")
    parser.add_argument(
        "--only", metavar="WORD", default="", help="only operators with WORD in their name, without the chain"
    )
    parser.add_argument(
        "--page",
        type=Path,
        help="also write this page (Markdown), such as docs/benchmarks/cpu.md; with --only, its section on frame files",
    )
    setup.add_build_option(parser)
    setup.add_options(parser)
    options = parser.parse_args()
    if options.events < 1 or options.runs < 1 or options.cores < 0:
        parser.error("--events and --runs are at least 1, --cores at least 0")
    if options.update and options.check is None:
        parser.error("--update needs --check")
    if options.check is not None:
        options.events, options.runs = CHECKED_EVENTS, CHECKED_RUNS
    elif options.quick:
        options.events, options.runs = 3, 1
    if options.cold and options.events < 2:
        parser.error("--cold compares the first event with later ones: --events is at least 2")
    return options
