# SPDX-License-Identifier: Apache-2.0
"""SPNG: charge waveforms with regions of interest (ROIs) from raw waveforms of liquid-argon TPCs."""

import os
from pathlib import Path

from .errors import Error
from .frame import Frame, SparseSamples, Traces
from .frame_files import read_frames, write_frames
from .pictures import plot, show

__all__ = ["Error", "Frame", "SparseSamples", "Traces", "plot", "read_frames", "show", "write_frames"]

# A checkout has the native module in its build folder, a wheel beside this file.
_BUILD = os.environ.get("SPNG_BUILD") or Path(__file__).parents[2] / "build"
__path__ = [*__path__, str(Path(_BUILD) / "python" / "spng")]
