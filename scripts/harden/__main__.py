# SPDX-License-Identifier: Apache-2.0
"""./wcb harden: run the C++ tests, the main job and four events in flight under sanitizers, and fuzz the readers.

The builds are in build-asan (addresses, leaks, undefined behaviour) and build-tsan (threads). Everything takes 30 to 40
minutes on two cores, of which half is the first build. Reports of sanitizers and inputs that fail are kept below
out/harden; the result is out/harden/harden.json. Exit with status 0 if nothing is found.
"""

from __future__ import annotations

import argparse
import sys

from scripts.wcb import setup

PARTS = ("asan", "tsan", "fuzz")
FUZZ_SECONDS = 600.0


def parse() -> argparse.Namespace:
    """Parse the command line."""
    parser = setup.make_parser("harden", __doc__)
    parser.add_argument("--only", action="append", choices=PARTS, help="run only this part")
    parser.add_argument(
        "--tests", metavar="WORD", default="", help="only C++ tests with WORD in their name, no jobs"
    )
    parser.add_argument(
        "--seconds", type=float, default=FUZZ_SECONDS, help="time of the fuzzing (default %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the fuzzing (default %(default)s)")
    setup.add_options(parser)
    parser.set_defaults(build=None)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(setup.run_in_environment("scripts.harden.command", parse()))
