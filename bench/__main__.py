# SPDX-License-Identifier: Apache-2.0
"""./wcb bench: measure every step, the whole chain and our operators, and compare the chain with a yardstick.

Does set-up and build if needed, always of the library, wire-cell and all programs of build/bench, without tests; the first
build takes minutes, and --build measures a finished one. Runs in turn the yardstick (one real two-dimensional transform and
its inverse of the same planes) and the main job on copies of the frame in data/, one event in flight; then the programs of
build/bench. Prints tables and writes out/bench/bench.json. --all also varies the parameters of the cost and writes the pages
of docs/benchmarks; --check compares with a reference. Without --check the exit status does not depend on times: it is 0 if
all programs ran.
"""

from __future__ import annotations

import sys

from scripts.wcb import setup

from . import options as options_of


def main() -> int:
    """Read the options, do the set-up, then run the command, which needs the environment's packages."""
    return setup.run_in_environment("bench.command", options_of.command_line(__doc__))


if __name__ == "__main__":
    sys.exit(main())
