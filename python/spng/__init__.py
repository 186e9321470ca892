# SPDX-License-Identifier: Apache-2.0
"""SPNG: charge waveforms with regions of interest (ROIs) from raw waveforms of liquid-argon TPCs.

    import spng
    pipeline = spng.Pipeline(detector="pdhd", anode=0)
    for frame in spng.read_frames("adc.npz"):
        signal = pipeline(frame)["signal"]
"""

from ._native import _core  # first: it puts the folder of the native module on the path of this package
from .errors import Error
from .frame import Frame, SparseSamples, Traces
from .frame_files import read_frame, read_frames, write_frames
from .pictures import plot, show
from .pipeline import PendingFrame, Pipeline
from .channel_planes import planes_of_detector as planes
from .process import set_strict
from .simulation import Simulation, simulate

__all__ = ["Error", "Frame", "PendingFrame", "Pipeline", "Simulation", "SparseSamples", "Traces", "__version__", "planes", "plot", "read_frame", "read_frames", "set_strict", "show", "simulate", "write_frames"]

__version__: str = _core.version()
