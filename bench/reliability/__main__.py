# SPDX-License-Identifier: Apache-2.0
"""./wcb reliability: run the tests of the targets R1 to R20 and write docs/reliability.md from their results.

Does set-up and build if needed. Each target names its tests (bench/reliability/rows.py): tests that ./wcb test runs too, and
longer ones with the mark `reliability`. Writes out/reliability/R1.json to R20.json, and the page from them: a row that is not
run again is taken from its file if that is of the same commit. Exit status 0 means that all tests of these rows passed or
were skipped; the page has the reasons of those that were skipped.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scripts.wcb import setup
from scripts.wcb.checkout import OUT, ROOT

from . import rows

ROWS = tuple(row.name for row in rows.ROWS)
PAGE = ROOT / "docs" / "reliability.md"


def rows_of(text: str) -> tuple[str, ...]:
    """Return the named rows in their order. @throws argparse.ArgumentTypeError for an unknown one."""
    names = text.upper().split(",")
    if unknown := [name for name in names if name not in ROWS]:
        raise argparse.ArgumentTypeError(f"no row {unknown[0]}; rows are R1 to R20")
    return tuple(name for name in ROWS if name in names)


def command_line() -> argparse.Namespace:
    """Parse the command line, before the set-up."""
    parser = setup.make_parser("reliability", __doc__)
    parser.add_argument("--only", type=rows_of, default=ROWS, metavar="R7,R12", help="run these rows only")
    parser.add_argument("--quick", action="store_true", help="fewer runs and events, marked on the page")
    parser.add_argument(
        "--keep",
        action="store_true",
        help="also take rows that were run at other commits; each keeps its date and commit",
    )
    parser.add_argument(
        "--page", type=Path, default=PAGE, metavar="FILE", help="the page (default docs/reliability.md)"
    )
    parser.add_argument(
        "--output", type=Path, default=OUT / "reliability", metavar="DIR", help="folder of the JSON files"
    )
    setup.add_build_option(parser)
    setup.add_options(parser)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(setup.run_in_environment("bench.reliability.command", command_line()))
