"""Least times of the steps for one ProtoDUNE-HD anode of 6000 ticks, to be read beside measured ones.

Computed, not measured: the minimal memory traffic and arithmetic of each step, with perfect fusion inside it. The CPU
bound is that of two Zen 4 cores with 59 GB/s and 195 GFLOP/s (torch copy and sgemm as measured there), the CUDA bound
that of an H200 with 4.3 TB/s. On another machine they scale with its memory bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass

MACHINES = "2 cores of Zen 4 at 59 GB/s and 195 GFLOP/s; H200 at 4.3 TB/s"


@dataclass(frozen=True)
class Bound:
    """of a node type, all its nodes together; times in ms"""

    what: str
    traffic_mb: float
    cpu: float
    cuda: float


BOUNDS = {
    "SPNGFrameToTorchSetFanout": Bound("int16 to float, pad", 96, 1.6, 0.022),
    "SPNGDecon": Bound("median, rfft2, product, inverse over channels", 1020, 17.5, 0.237),
    "SPNGApply1DSpectrum": Bound("three filters with inverse over ticks, two of them rebinned", 547, 10.8, 0.127),
    "SPNGThresholdROIs": Bound("noise of each channel, threshold", 35, 0.6, 0.008),
    "SPNGNoTileMPCoincidence": Bound("multi-plane on packed bits", 76, 1.3, 0.018),
    "SPNGApplyROI": Bound("mask times gauss, rebaseline", 434, 7.3, 0.100),
}
