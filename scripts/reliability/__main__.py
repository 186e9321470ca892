# SPDX-License-Identifier: Apache-2.0
"""./wcb reliability: measure the reliability of the present build and write docs/reliability.md.

Does set-up and build if needed. Each of the rows R1 to R20 has a bar, and its figures come from runs of the program. Writes
out/reliability/R1.json to R20.json, and the page from them: a row that is not run again is taken from its file if that is of
the same commit. Exit status 0 means that all rows ran, not that all bars are met: the page lists those that are missed.
"""

from __future__ import annotations

import sys

from scripts.wcb import setup

from . import options as options_of


def main() -> int:
    """Read the options, do the set-up, then run the command, which needs the environment's packages."""
    return setup.run_in_environment("scripts.reliability.command", options_of.command_line(__doc__))


if __name__ == "__main__":
    sys.exit(main())
