# SPDX-License-Identifier: Apache-2.0
"""Write a trained network as a file for SPNGTorchService: with probabilities instead of logits, and metadata."""

from __future__ import annotations

import io
import json
import subprocess
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import nn
from wirecell_profile.output_file import output_file

from .network import ELECTRONS, INPUTS, REBIN, DNNROINet, operations_per_sample, parameters

METADATA = "extra/metadata.json"  # a record of a TorchScript file


class Probability(nn.Module):
    """(view, 4, channel, tick) ROI images -> (view, 1, channel, tick) probabilities of an ROI."""

    def __init__(self, network: DNNROINet) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return probabilities."""
        return torch.sigmoid(self.network(images))


def commit(root: Path) -> str:
    """Return the commit of the checkout, with -dirty if this package differs from it; unknown without git."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
        return done.stdout.strip()

    name = git("rev-parse", "--short=12", "HEAD")
    changed = git("status", "--porcelain", "--", str(Path(__file__).parent))
    return (name or "unknown") + ("-dirty" if name and changed else "")


def metadata(
    network: DNNROINet, training: dict[str, Any], figures: dict[str, Any], measured: dict[str, Any]
) -> dict[str, Any]:
    """Return the metadata: keys that SPNGTorchService reads (spng/nodes/dnn/model.h), and provenance.

    measured: keys of noise.metadata, the unit of the input, of calibration.metadata, and of job_input.job_input.
    """
    return {
        **measured,
        "name": "dnnroi",
        "inputs": list(INPUTS),
        "scale": 1 / ELECTRONS,
        "rebin": REBIN,
        "multiple": max(network.multiple),  # of both axes; one is a multiple of the other
        "halo": network.halo(),
        "transpose": False,
        "output": "probability of a region of interest",
        "parameters": parameters(network),
        "operations_per_sample": operations_per_sample(network),
        "training": training,
        "figures": figures,
        "torch": torch.__version__,
    }


def script(network: DNNROINet) -> torch.jit.ScriptModule:
    """Return the network for inference in TorchScript, on the CPU, with constants folded and without training state."""
    module = Probability(network).cpu().eval()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # TorchScript is deprecated; SPNGTorchService still reads it
        return torch.jit.freeze(torch.jit.script(module))


def write_torch_script(path: Path, network: DNNROINet, about: dict[str, Any]) -> int:
    """Write the file completely or not at all (see output_file); return its size."""
    # The folder inside the archive is named after the file: save to a buffer, whose name is always "archive".
    content = with_metadata(script(network).save_to_buffer(), about)
    write_whole(path, content)
    return len(content)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file completely or not at all (see output_file)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with output_file(path) as partial:
        partial.write_bytes(content)


def _records(content: bytes) -> dict[str, bytes]:
    """Return the records of a TorchScript file by name, without those that the writer adds and without those for error
    messages, which name source files of this machine.
    """
    reader = torch._C.PyTorchFileReader(io.BytesIO(content))
    own = ("version", "byteorder", ".data/serialization_id")
    return {
        name: reader.get_record(name)
        for name in reader.get_all_records()
        if name not in own and not name.endswith(".debug_pkl")
    }


def read_metadata(content: bytes) -> dict[str, Any]:
    """Return the metadata of a TorchScript file; empty if it has none."""
    return json.loads(_records(content).get(METADATA, b"{}"))


def with_metadata(content: bytes, about: dict[str, Any]) -> bytes:
    """Return the TorchScript file with other metadata and the same bytes of code and weights."""
    records = _records(content)
    records[METADATA] = json.dumps(about, indent=2, sort_keys=True).encode()
    stream = io.BytesIO()
    writer = torch._C.PyTorchFileWriter(stream)
    for name, record in records.items():
        writer.write_record(name, record, len(record))
    writer.write_end_of_file()
    return stream.getvalue()
