# SPDX-License-Identifier: Apache-2.0
"""The command line of ./wcb physics. It is read before the set-up, so this module imports only the standard library."""

from __future__ import annotations

import argparse
from pathlib import Path

from scripts.wcb import setup
from scripts.wcb.checkout import OUT

from .sizes import (
    DETECTORS,
    DETECTORS_EVENTS,
    DETECTORS_SEED,
    FIRST_SEED,
    FULL,
    REAL_STUDIES,
    ROBUSTNESS_EVENTS,
    ROBUSTNESS_GROUPS,
    ROBUSTNESS_SEED,
)

SAMPLES = ("muons", "noise", "dead", "roc", "lines", "default")  # of --only
NOT_FOR_STUDIES = ("seeds",)  # --robustness, --detectors
NOT_FOR_REAL = (*NOT_FOR_STUDIES, "events", "first_seed", "quick")


def command_line(description: str | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = setup.make_parser("physics", description)
    studies = parser.add_mutually_exclusive_group()
    studies.add_argument(
        "--robustness",
        action="store_true",
        help="measure outside of nominal conditions instead: noise, charge, gain, drift, steep lines, ends of the readout, wrong "
        "responses; writes robustness.json and robustness.html",
    )
    studies.add_argument(
        "--detectors",
        action="store_true",
        help="measure every detector instead, simulated and processed with its own files; writes detectors.json and detectors.html",
    )
    studies.add_argument(
        "--real",
        type=Path,
        metavar="FOLDER",
        help="process real detector data instead: a folder with the files that docs/real-data.md lists, or sigproc/test of a clone "
        "of the Wire-Cell Toolkit; writes real.json, docs/real-data.md and its pictures",
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="with --detectors and --real: folder of the public wire-cell-data, for the detectors whose files are not in data/; with "
        "--real by default the folder `detector` beside FOLDER",
    )
    parser.add_argument(
        "--frames",
        metavar="DETECTOR,ANODE,ADC,TRUTH",
        action="append",
        default=[],
        help="with --detectors: also process these frames and compare them with their truth; may be given several times",
    )
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
        help=f"events for each number of muons (default {FULL.muons}), of noise and with dead channels; with --robustness of "
        f"each condition (default {ROBUSTNESS_EVENTS}), with --detectors of each detector (default {DETECTORS_EVENTS})",
    )
    parser.add_argument(
        "--first-seed",
        type=int,
        metavar="N",
        help=f"seed of the first event, {FIRST_SEED} or more: seeds below are for training (default {FIRST_SEED}; with "
        f"--robustness {ROBUSTNESS_SEED}, with --detectors {DETECTORS_SEED})",
    )
    parser.add_argument(
        "--only",
        metavar="A,B",
        default="",
        help=f"only these samples, of: {', '.join(SAMPLES)}; with --robustness these conditions, of: {', '.join(ROBUSTNESS_GROUPS)}; "
        f"with --detectors these detectors, of: {', '.join(DETECTORS)}; with --real these studies, of: {', '.join(REAL_STUDIES)}",
    )
    parser.add_argument(
        "--model",
        metavar="FILE",
        default="default",
        help="network of the variants with DNNROI; none: without these variants (default: data/dnnroi.ts if it exists)",
    )
    parser.add_argument("--compare", help=argparse.SUPPRESS)  # of earlier versions
    parser.add_argument("--cores", type=int, default=2, help="processor cores to use, 0: all (default 2)")
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        default=OUT / "physics",
        help="folder of the JSON file and the HTML page (default out/physics)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the JSON file here instead")
    parser.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help="also write the tables as Markdown, such as docs/benchmarks/physics.md; text below its line `---` is kept "
        "(with --real the page: default docs/real-data.md, or with --only one in the output folder)",
    )
    setup.add_build_option(parser)
    setup.add_options(parser)
    options = parser.parse_args()
    if options.compare:
        parser.error(
            "--compare is now a command of its own: wirecell-frame score OUTPUT TRUTH --detname NAME prints charge, efficiency and "
            "purity of each plane; to process frames by a detector: --detectors --frames DETECTOR,ANODE,ADC,TRUTH"
        )
    for name in ("seeds", "events"):
        if getattr(options, name) is not None and getattr(options, name) < 1:
            parser.error(f"--{name} is at least 1")
    if options.robustness:
        seed, events, known, word = ROBUSTNESS_SEED, ROBUSTNESS_EVENTS, ROBUSTNESS_GROUPS, "condition"
    elif options.detectors:
        seed, events, known, word = DETECTORS_SEED, DETECTORS_EVENTS, DETECTORS, "detector"
    elif options.real:
        _reject(parser, options, NOT_FOR_REAL, "has no meaning with --real")
        seed, events, known, word = FIRST_SEED, None, REAL_STUDIES, "study"
    else:
        seed, events, known, word = FIRST_SEED, None, SAMPLES, "sample"
    if options.first_seed is None:
        options.first_seed = seed
    if options.first_seed < FIRST_SEED:
        parser.error(f"--first-seed is at least {FIRST_SEED}: lower seeds are for training and tuning")
    unknown = set(filter(None, options.only.split(","))) - set(known)
    if unknown:
        parser.error(f"--only: no {word} {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    if events is not None:
        study = "--robustness" if options.robustness else "--detectors"
        _reject(parser, options, NOT_FOR_STUDIES, f"has no meaning with {study}")
        options.events = options.events or (1 if options.quick else events)
    if not options.detectors:
        _reject(parser, options, ("frames",), "needs --detectors")
        if not options.real:
            _reject(parser, options, ("data",), "needs --detectors or --real")
    return options


def _reject(
    parser: argparse.ArgumentParser, options: argparse.Namespace, names: tuple[str, ...], why: str
) -> None:
    """End with an error if one of these options is given."""
    for name in names:
        if getattr(options, name):
            parser.error(f"--{name.replace('_', '-')} {why}")
