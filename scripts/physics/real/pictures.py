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
from .jobs import Output

COLOURS = 256  # of a picture
TICK_US = 0.5
WIDTH, DPI = 9.0, 80  # inches, dots per inch
CHARGE_RANGE = (20.0, 5000.0)  # electrons per tick, of the colour scale


@dataclass(frozen=True)
class Panel:
    """An image of samples (channel, tick). first: channel of row 0. limit: ADC of the darkest colour; None: charge."""

    title: str
    samples: np.ndarray
    first: int
    limit: float | None = None
    tick_us: float = TICK_US


@dataclass(frozen=True)
class Curves:
    """Waveforms (tick,) by their labels, of ticks of 0.5 us. reach: of the axis in `unit`."""

    title: str
    samples: dict[str, np.ndarray]
    unit: str
    reach: tuple[float, float]

    def draw(self, axes: Axes) -> None:
        """Draw them over time."""
        for label, samples in self.samples.items():
            axes.plot(np.arange(len(samples)) * TICK_US / 1e3, samples, linewidth=0.8, label=label)
        axes.set_ylim(*self.reach)
        axes.set_title(self.title, fontsize=9, loc="left")
        axes.set_ylabel(self.unit)
        axes.legend(loc="upper left", fontsize=8)


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

    def images(
        self, name: str, panels: Sequence[Panel], columns: int = 1, curves: Curves | None = None
    ) -> str:
        """Draw images in columns with one time axis, and curves in a row of their own; return the name of the file."""
        with plt.rc_context(STYLE):
            rows, extra = -(-len(panels) // columns), curves is not None
            height = 1.8 * rows + (2.4 if extra else 0.4)
            figure, axes = plt.subplots(
                rows + extra, columns, figsize=(WIDTH, height), sharex=True, squeeze=False
            )
            for index, each in enumerate(axes.flat):
                each.set_visible(extra or index < len(panels))
            for panel, each in zip(panels, axes.flat):
                draw_image(each, panel)
            for each in axes[:, 0]:
                each.set_ylabel("channel")
            if curves is not None:
                curves.draw(axes[-1, 0])
            for each in axes[-1]:
                each.set_xlabel("time [ms]")
            return self.save(name, figure)

    def before_and_after(
        self,
        name: str,
        first: Panel,
        channels: np.ndarray,
        without: Output,
        best: Output,
        curves: Curves | None = None,
    ) -> str:
        """Draw waveforms, and the charge without steps and with all; return the name of the file."""
        panels = [
            first,
            Panel("charge, noise_filter=none", without.rows(channels), first.first),
            Panel("charge, all steps of the detector", best.rows(channels), first.first),
        ]
        return self.images(name, panels, curves=curves)


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
