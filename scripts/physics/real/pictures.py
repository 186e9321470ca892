# SPDX-License-Identifier: Apache-2.0
"""Pictures of waveforms and charge, written as PNG files with few colours so that they stay small."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from PIL import Image
from wirecell_profile.output_file import output_file

from ..plots import STYLE, plt

COLOURS = 256  # of a picture
WIDTH, DPI = 9.0, 80  # inches, dots per inch
CHARGE_RANGE = (20.0, 5000.0)  # electrons per tick, of the colour scale


@dataclass(frozen=True)
class Panel:
    """An image of samples (channel, tick). first: channel of row 0. limit: ADC of the darkest colour; None: charge."""

    title: str
    samples: np.ndarray
    first: int
    limit: float | None = None
    tick_us: float = 0.5


@dataclass(frozen=True)
class Curve:
    """A waveform (tick,) with its label."""

    label: str
    samples: np.ndarray
    tick_us: float = 0.5


@dataclass
class Gallery:
    """Folder of the pictures."""

    folder: Path

    def save(self, name: str, figure: Figure) -> str:
        """Write a figure as `name`.png with few colours; return the name of the file."""
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=DPI)
        plt.close(figure)
        file = f"{name}.png"
        self.folder.mkdir(parents=True, exist_ok=True)
        with Image.open(stream) as picture, output_file(self.folder / file) as partial:
            few = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
            few.save(partial, format="png", optimize=True)
        return file

    def images(self, name: str, panels: Sequence[Panel], columns: int = 1, height: float = 1.8) -> str:
        """Draw images in columns with one time axis; return the name of the file."""
        with plt.rc_context(STYLE):
            rows = -(-len(panels) // columns)
            figure, axes = plt.subplots(
                rows, columns, figsize=(WIDTH, height * rows + 0.4), sharex=True, squeeze=False
            )
            for index, each in enumerate(axes.flat):
                each.set_visible(index < len(panels))
            for panel, each in zip(panels, axes.flat):
                draw_image(each, panel)
            for each in axes[:, 0]:
                each.set_ylabel("channel")
            for each in axes[-1]:
                each.set_xlabel("time [ms]")
            return self.save(name, figure)

    def images_and_curves(
        self,
        name: str,
        panels: Sequence[Panel],
        title: str,
        curves: Sequence[Curve],
        unit: str,
        reach: tuple[float, float],
    ) -> str:
        """Draw images, and below them waveforms over the same time; return the name of the file. reach: of the axis in `unit`."""
        with plt.rc_context(STYLE):
            count = len(panels)
            figure, axes = plt.subplots(count + 1, 1, figsize=(WIDTH, 1.8 * count + 2.4), sharex=True)
            for panel, each in zip(panels, axes):
                draw_image(each, panel)
                each.set_ylabel("channel")
            for curve in curves:
                ticks = np.arange(len(curve.samples))
                axes[-1].plot(ticks * curve.tick_us / 1e3, curve.samples, linewidth=0.8, label=curve.label)
            axes[-1].set_ylim(*reach)
            axes[-1].set_title(title, fontsize=9, loc="left")
            axes[-1].set_ylabel(unit)
            axes[-1].set_xlabel("time [ms]")
            axes[-1].legend(loc="upper left", fontsize=8)
            return self.save(name, figure)


def draw_image(axes: Axes, panel: Panel) -> None:
    """Draw one panel: ADC around the median of each channel in two colours, or charge in one, with a logarithmic scale."""
    samples = np.asarray(panel.samples, dtype=np.float32)
    rows, ticks = samples.shape
    extent = (
        0.0,
        ticks * panel.tick_us / 1e3,
        panel.first + rows - 0.5,
        panel.first - 0.5,
    )  # the bins nearly fill it
    norm: Normalize
    shown: np.ndarray
    if panel.limit is None:
        shown = np.ma.masked_less(largest_of_bins(samples), CHARGE_RANGE[0])
        norm, colours, unit = LogNorm(*CHARGE_RANGE), "viridis_r", "electrons / tick"
    else:
        shown = extreme_of_bins(samples - np.median(samples, axis=1, keepdims=True))
        norm, colours, unit = Normalize(-panel.limit, panel.limit), "RdBu_r", "ADC"
    picture = axes.imshow(
        shown, aspect="auto", extent=extent, norm=norm, cmap=colours, interpolation="nearest"
    )
    axes.grid(False)
    axes.set_title(panel.title, fontsize=9, loc="left")
    axes.figure.colorbar(picture, ax=axes, label=unit, pad=0.01)


ROW_BINS, TICK_BINS = 120, 640  # of an image


def bins_of(samples: np.ndarray) -> np.ndarray:
    """Return the samples of each bin (row bin, tick bin, sample); rows and ticks after the last whole bin are dropped."""
    high, wide = (max(1, size // bins) for size, bins in zip(samples.shape, (ROW_BINS, TICK_BINS)))
    rows, ticks = samples.shape[0] // high, samples.shape[1] // wide
    parts = samples[: rows * high, : ticks * wide].reshape(rows, high, ticks, wide)
    return parts.transpose(0, 2, 1, 3).reshape(rows, ticks, high * wide)


def largest_of_bins(samples: np.ndarray) -> np.ndarray:
    """Return the largest sample of each bin (row bin, tick bin), so that a short pulse is seen."""
    return bins_of(samples).max(axis=2)


def extreme_of_bins(samples: np.ndarray) -> np.ndarray:
    """Return the sample with the largest magnitude of each bin (row bin, tick bin)."""
    parts = bins_of(samples)
    at = np.abs(parts).argmax(axis=2, keepdims=True)
    return np.take_along_axis(parts, at, axis=2)[:, :, 0]
