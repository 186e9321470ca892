# SPDX-License-Identifier: Apache-2.0
"""./wcb physics: compare the output of the chain on simulated events with the truth.

Does set-up and build if needed. Simulates events (cfg/simulate.jsonnet), processes them with variants of the main job
(cfg/pipeline.jsonnet) and compares the output with the truth: cosmic-like events with few to many tracks, line scans by
angle, noise alone, dead channels, thresholds, precision=fast. Writes physics.json and the page physics.html into
out/physics. With --robustness it measures what holds outside of nominal conditions, with --detectors every detector, with --real FOLDER real data. Exit status 0 means that all jobs ran, not that all bars are met: the page lists the bars that are missed.
"""

from __future__ import annotations

import sys

from scripts.wcb import setup

from . import options as options_of


def main() -> int:
    """Read the options, do the set-up, then run the command, which needs the environment's packages."""
    return setup.run_in_environment("scripts.physics.command", options_of.command_line(__doc__))


if __name__ == "__main__":
    sys.exit(main())
