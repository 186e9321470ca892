"""./wcb physics: what the chain makes of simulated charge, beside the truth and beside other programs.

Set-up and build if needed. Then events are simulated (cfg/simulate.jsonnet), processed by variants of the main job
(cfg/pipeline.jsonnet) and compared with their truth: cosmic-like events from quiet to busy, line scans by angle, noise
alone, dead channels, thresholds, precision=fast. Writes physics.json and one page, physics.html, into out/physics. The
exit status says that all ran, not that the figures are good: the page says by how much they fall short.
"""

from __future__ import annotations

import sys

from scripts.wcb import setup

from . import options as options_of


def main() -> int:
    """The command: its options, the set-up, and then what needs the packages of the environment."""
    return setup.run_in_environment("scripts.physics.command", options_of.command_line(__doc__))


if __name__ == "__main__":
    sys.exit(main())
