# SPDX-License-Identifier: Apache-2.0
"""SPNG: charge waveforms with regions of interest (ROIs) from raw waveforms of liquid-argon TPCs.

import spng

with spng.Pipeline(detector="pdhd", anode=0) as pipeline:
    for frame in spng.read_frames("adc.npz"):
        signal = pipeline(frame)["signal"]
"""

import os
from pathlib import Path

from wirecell_profile import __version__  # one version for library, program and packages

from .channel_planes import planes_of_detector as planes
from .compare import compare
from .errors import Error
from .frame import Frame, SparseSamples, Traces
from .frame_files import read_frames, write_frames
from .pictures import plot, show
from .pipeline import PendingFrame, Pipeline
from .process import set_strict
from .score import score
from .simulation import Simulation, simulate, waveforms_from_charge

__all__ = [
    "Error",
    "Frame",
    "PendingFrame",
    "Pipeline",
    "Simulation",
    "SparseSamples",
    "Traces",
    "__version__",
    "compare",
    "planes",
    "plot",
    "read_frames",
    "score",
    "set_strict",
    "show",
    "simulate",
    "waveforms_from_charge",
    "write_frames",
]

# A checkout has the native module in its build folder, a wheel beside this file.
_BUILD = os.environ.get("SPNG_BUILD") or Path(__file__).parents[2] / "build"
__path__ = [*__path__, str(Path(_BUILD) / "python" / "spng")]
