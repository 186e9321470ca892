# SPDX-License-Identifier: Apache-2.0
"""Compile a trained network to machine code for one kind of device: an AOTInductor package (.pt2) for SPNGTorchService.

Such a file needs no TorchScript, which is deprecated, but works only with the same release of LibTorch and the same kind of
processor and device. It is therefore made on the machine that uses it.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import torch
from wirecell_profile.output_file import output_file

from .export import Probability
from .network import INPUTS, DNNROINet

LARGEST = 65536  # channels or ticks, in units of the network's `multiple`


def write_package(path: Path, network: DNNROINet, about: dict[str, Any], device: str = "cpu") -> int:
    """Compile for any number of views and any size; write the file completely or not at all (see output_file); return its size.

    Takes a minute or two, a C++ compiler, and for device "cuda" a GPU.
    """
    module = Probability(network).to(device).eval()
    multiple = max(network.multiple)
    example = torch.zeros(2, len(INPUTS), 4 * multiple, 6 * multiple, device=device)
    size = torch.export.Dim
    # The numbers of blocks are free: the service pads its input to whole blocks.
    shapes = {
        0: size("view", min=1, max=64),
        2: multiple * size("channel_blocks", min=1, max=LARGEST),
        3: multiple * size("tick_blocks", min=1, max=LARGEST),
    }
    with torch.no_grad():
        exported = torch.export.export(module, (example,), dynamic_shapes=(shapes,))
        path.parent.mkdir(parents=True, exist_ok=True)
        options = {"aot_inductor.metadata": {"metadata.json": json.dumps(about, sort_keys=True)}}
        # The package stores its first file name, which must end in .pt2.
        with tempfile.TemporaryDirectory() as folder, output_file(path) as partial:
            package = Path(folder) / f"{path.stem}.tmp.pt2"
            torch._inductor.aoti_compile_and_package(
                exported, package_path=str(package), inductor_configs=options
            )
            shutil.copyfile(package, partial)
            return package.stat().st_size
