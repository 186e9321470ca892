# SPDX-License-Identifier: Apache-2.0
"""Pictures of frames: pages for a browser (show) and plots (plot)."""

from .page import Page, show
from .plots import plot

__all__ = ["Page", "plot", "show"]
