# SPDX-License-Identifier: Apache-2.0
"""The command line of ./wcb reliability. It is read before the set-up, so this module imports only the standard library."""

from __future__ import annotations

import argparse
from pathlib import Path

from scripts.wcb import setup
from scripts.wcb.checkout import OUT, ROOT

ROWS = tuple(f"R{index}" for index in range(1, 21))
PAGE = ROOT / "docs" / "reliability.md"


def rows_of(text: str) -> tuple[str, ...]:
    """Return the named rows in their order. @throws argparse.ArgumentTypeError for an unknown one."""
    names = text.upper().split(",")
    if unknown := [name for name in names if name not in ROWS]:
        raise argparse.ArgumentTypeError(f"no row {unknown[0]}; rows are R1 to R20")
    return tuple(name for name in ROWS if name in names)


def command_line(description: str | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = setup.make_parser("reliability", description)
    parser.add_argument(
        "--only", type=rows_of, default=ROWS, metavar="R7,R12", help="measure these rows only"
    )
    parser.add_argument(
        "--quick", action="store_true", help="fewer runs and events, under 5 minutes, marked on the page"
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="also take rows that were measured at other commits; each keeps its date and commit",
    )
    parser.add_argument(
        "--page", type=Path, default=PAGE, metavar="FILE", help="the page (default docs/reliability.md)"
    )
    parser.add_argument(
        "--build", type=Path, metavar="DIR", help="folder of a finished build; no set-up, no build"
    )
    parser.add_argument(
        "--output", type=Path, default=OUT / "reliability", metavar="DIR", help="folder of the JSON files"
    )
    setup.add_options(parser)
    return parser.parse_args()
