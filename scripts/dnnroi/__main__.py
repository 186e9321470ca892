# SPDX-License-Identifier: Apache-2.0
"""Train the network of SPNGDNNROI on simulated events and write it as a TorchScript file.

    .venv/bin/python -m scripts.dnnroi [--setting small] [--output FILE.ts]
    .venv/bin/python -m scripts.dnnroi --evaluate FILE.ts
    .venv/bin/python -m scripts.dnnroi --calibrate FILE.ts --output NEW.ts

Simulates the events that the data folder lacks, trains (an interrupted training resumes at its last checkpoint), calibrates
the probabilities, measures the network on held-out events, draws the figures and writes the file. The other forms measure or
calibrate an existing file without training. docs/dnnroi.md describes the result.
"""

from __future__ import annotations

import sys

from .command import main

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:], __doc__))
