# SPDX-License-Identifier: Apache-2.0
"""The command line of ./wcb physics. It is read before the set-up, so this module imports only the standard library."""

from __future__ import annotations

import argparse
from pathlib import Path

from scripts.wcb import setup
from scripts.wcb.checkout import OUT

from .sizes import FIRST_SEED, FULL


def command_line(description: str | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = setup.make_parser("physics", description)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="one event of each kind and fewer variants: an eighth of the time, larger errors",
    )
    parser.add_argument(
        "--seeds", type=int, metavar="N", help=f"noise seeds of the line scan (default {FULL.lines})"
    )
    parser.add_argument(
        "--events",
        type=int,
        metavar="N",
        help=f"events for each number of muons (default {FULL.muons}), of noise and with dead channels",
    )
    parser.add_argument(
        "--first-seed",
        type=int,
        metavar="N",
        default=FIRST_SEED,
        help=f"seed of the first event, {FIRST_SEED} (default) or more: seeds below are for training",
    )
    parser.add_argument(
        "--only",
        metavar="A,B",
        default="",
        help="only these samples, of: muons, noise, dead, roc, lines, default",
    )
    parser.add_argument(
        "--model",
        metavar="FILE",
        default="default",
        help="network of the variants with DNNROI; none: without these variants (default: data/dnnroi.ts if it exists)",
    )
    parser.add_argument(
        "--compare",
        metavar="OUTPUT[,TRUTH[,ADC]]",
        action="append",
        default=[],
        help="compare another program's frames with a truth (default: that of the default event), and ours "
        "from the same ADC counts; may be given several times",
    )
    parser.add_argument("--cores", type=int, default=2, help="processor cores to use, 0: all (default 2)")
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        default=OUT / "physics",
        help="folder of physics.json and physics.html (default out/physics)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the JSON file here instead")
    parser.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help="also write the tables as Markdown, such as docs/benchmarks/physics.md; text below its line `---` is kept",
    )
    parser.add_argument(
        "--build",
        type=Path,
        metavar="FOLDER",
        help="use wire-cell of this build folder without set-up and build",
    )
    setup.add_options(parser)
    options = parser.parse_args()
    for name in ("seeds", "events"):
        if getattr(options, name) is not None and getattr(options, name) < 1:
            parser.error(f"--{name} is at least 1")
    if options.first_seed < FIRST_SEED:
        parser.error(f"--first-seed is at least {FIRST_SEED}: lower seeds are for training and tuning")
    unknown = set(filter(None, options.only.split(","))) - set("muons noise dead roc lines default".split())
    if unknown:
        parser.error(f"--only: no sample {', '.join(sorted(unknown))}")
    return options
