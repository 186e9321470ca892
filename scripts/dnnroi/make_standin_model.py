# SPDX-License-Identifier: Apache-2.0
"""Write data/dnnroi-standin.ts, a network with the interface of a trained one and weights chosen by hand.

Tests and `model=standin` use it to run the chain with a network that needs no training. It applies a smooth threshold to
the charge image, lower where the other views confirm the charge; like a U-Net it has a fine and a pooled branch.
metadata.json in the file marks it as untrained by "stand_in": true.

The bytes depend on the version of torch only, not on folder or time of the run.

Run from the repository root: .venv/bin/python -m scripts.dnnroi.make_standin_model [FILE]
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import torch

ELECTRONS = 4000.0  # one unit of the charge image; metadata "scale" is its inverse

# Thresholds in units of the charge image. The noise of the loose image of ProtoDUNE-HD is 500 to 600 electrons.
LONE_THRESHOLD = 3000 / ELECTRONS
CONFIRMED_THRESHOLD = 1600 / ELECTRONS
STEEPNESS = 20.0

METADATA = {
    "name": "dnnroi-standin",
    "stand_in": True,
    "inputs": ["loose", "mp2", "mp3"],
    "scale": 1 / ELECTRONS,
    "rebin": 4,
    "multiple": 4,
    "halo": 4,
    "transpose": False,
}

SOURCE = """
def forward(self, features):
    charge = features[:, 0:1]
    confirmed = torch.max_pool2d(torch.amax(features[:, 1:3], [1], True), [1, 3], [1, 1], [0, 1])
    fine = torch.conv2d(charge, self.fine, None, [1, 1], [0, 2])
    pooled = torch.conv2d(charge, self.mean, None, [1, 4])
    coarse = torch.repeat_interleave(torch.conv2d(pooled, self.coarse, None, [1, 1], [0, 1]), 4, 3)
    threshold = self.lone - (self.lone - self.confirmed) * confirmed
    return torch.sigmoid(self.steepness * (torch.maximum(fine, coarse) - threshold))
"""


class StandIn(torch.jit.ScriptModule):
    """(view, 3, channel, tick) -> (view, 1, channel, tick). Compiled from a string so that no source path enters the file."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("fine", torch.tensor([1.0, 2.0, 3.0, 2.0, 1.0]).div(9).view(1, 1, 1, 5))
        self.register_buffer("mean", torch.ones(4).div(4).view(1, 1, 1, 4))
        self.register_buffer("coarse", torch.ones(3).div(3).view(1, 1, 1, 3))
        self.register_buffer("lone", torch.tensor(LONE_THRESHOLD))
        self.register_buffer("confirmed", torch.tensor(CONFIRMED_THRESHOLD))
        self.register_buffer("steepness", torch.tensor(STEEPNESS))
        self.define(SOURCE)


def main() -> None:
    """Write the file named on the command line, by default the one in data/."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("data/dnnroi-standin.ts")
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # TorchScript is deprecated; SPNGTorchService still reads it
        model = StandIn().eval()
        text = json.dumps(METADATA, indent=2, sort_keys=True)
        # The folder inside the archive is named after the file: save to a buffer, whose name is always "archive".
        content = model.save_to_buffer(_extra_files={"metadata.json": text})
    file.write_bytes(content)
    print(f"{file}: {len(content)} bytes")


if __name__ == "__main__":
    main()
