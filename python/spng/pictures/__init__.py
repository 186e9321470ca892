# SPDX-License-Identifier: Apache-2.0
"""Pictures of frames: a page at full resolution, and figures."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .layers import Layer, Source, label_of, layers_of
from .page import frames_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FramesPage", "Layer", "frames_page", "layers_of", "plot", "show"]

PAGE_HEIGHT = 1150  # of the part of the page in a notebook, in pixels


class FramesPage:
    """A page of frames: the picture of a notebook's cell, or a file."""

    def __init__(self, html: str) -> None:
        """Take the text of the page."""
        self.html = html

    def _repr_html_(self) -> str:
        content = base64.b64encode(self.html.encode()).decode()
        return (
            f'<iframe src="data:text/html;charset=utf-8;base64,{content}" title="frames" '
            f'style="width: 100%; height: {PAGE_HEIGHT}px; border: 0"></iframe>'
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page and return its path."""
        path = Path(path)
        path.write_text(self.html, encoding="utf-8")
        return path


def named_sources(sources: Sequence[Source], named: Mapping[str, Source]) -> dict[str, Source]:
    """Return sources by label: a file is called by its name, others by their position."""
    found: dict[str, Source] = {}
    for index, source in enumerate(sources):
        label = label_of(source) if isinstance(source, (str, os.PathLike)) else f"frame {index}"
        found[label if label not in found else f"{label} ({index})"] = source
    return found | dict(named)


def show(
    *sources: Source,
    planes: Mapping[str, np.ndarray] | str = "",
    title: str = "Frames",
    max_events: int = 1,
    **named: Source,
) -> FramesPage:
    """Return a page of frames, to look at in a notebook or to save.

    sources, named  files, frames, or iterables of frames; keywords are their labels: show(adc=frame, signal=result)
    planes          channel ids by name, such as Pipeline.planes; default: by the channel ids
    max_events      events of each source; one of ProtoDUNE-HD with ADC takes about 20 MB

    Raise spng.Error for files that cannot be read.
    """
    layers = layers_of(named_sources(sources, named), {}, max_events)
    return FramesPage(frames_page(layers, planes, title))


def plot(
    *sources: Source,
    channels: Sequence[int] | None = None,
    planes: Mapping[str, np.ndarray] | str = "",
    event: int = 0,
    waveforms: bool = False,
    **named: Source,
) -> Figure:
    """Return a figure of one event: its planes, or with waveforms=True some of its channels.

    Arguments as for show(). channels: those of the waveforms; default: the one with most charge of each plane
    """
    from .plots import plot_planes, plot_waveforms

    layers = layers_of(named_sources(sources, named), {}, event + 1)
    if waveforms or channels is not None:
        return plot_waveforms(layers, channels, planes, event)
    return plot_planes(layers, planes, event)
