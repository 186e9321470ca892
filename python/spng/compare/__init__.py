# SPDX-License-Identifier: Apache-2.0
"""Comparison of frames: charge, ROIs and samples, by plane and event."""

from .comparison import compare
from .result import Comparison, EventComparison, Location, TagComparison
from .samples import SampleFigures, Tolerance, compare_samples

__all__ = [
    "Comparison",
    "EventComparison",
    "Location",
    "SampleFigures",
    "TagComparison",
    "Tolerance",
    "compare",
    "compare_samples",
]
