# SPDX-License-Identifier: Apache-2.0
"""SPNG: charge waveforms with regions of interest (ROIs) from raw waveforms of liquid-argon TPCs."""

from .frame import Frame, SparseSamples, Traces

__all__ = ["Frame", "SparseSamples", "Traces"]
