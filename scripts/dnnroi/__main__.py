# SPDX-License-Identifier: Apache-2.0
"""Train the network of SPNGDNNROI on simulated events and write it as a TorchScript file.

    .venv/bin/python -m scripts.dnnroi [--setting small] [--output FILE.ts]

Simulates the events that the data folder lacks, trains (an interrupted training resumes at its last checkpoint), measures
the network on held-out events, draws the figures and writes the file. docs/dnnroi.md describes the result.
"""

from __future__ import annotations

import sys

from .command import main

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:], __doc__))
