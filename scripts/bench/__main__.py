"""./wcb bench: every step and the whole chain, the own operators, and what the chain is held against.

Set-up and build if needed. Then, in turn, the chain's yardstick (one real two-dimensional transform there and back of
the same planes) and the main job on copies of the frame in data/, one event in flight; then the programs of
build/bench. Prints tables and writes out/bench/bench.json. --all also varies what the cost depends on and writes the pages
of docs/benchmarks; --check compares with a reference. Without --check times never decide about success: the exit status
is 0 when all ran.
"""

from __future__ import annotations

import sys

from scripts.wcb import setup

from . import options as options_of


def main() -> int:
    """The command: its options, the set-up, and then what needs the packages of the environment."""
    return setup.run_in_environment("scripts.bench.command", options_of.command_line(__doc__))


if __name__ == "__main__":
    sys.exit(main())
