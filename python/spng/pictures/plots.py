# SPDX-License-Identifier: Apache-2.0
"""Plots of one event with Matplotlib: images of the planes, and waveforms of chosen channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..arguments import checked
from ..channel_planes import Planes, planes_of
from ..errors import Error
from ..frame import runs_of
from ..packages import required
from . import colours, statistics
from .layers import ADC, CHARGE, TRUTH, Event, Input, Layer, events_of, sources_of
from .planes import choose, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_COLUMNS, MAX_ROWS = 450, 600  # of an image; a plot shows no more without dropping some
AROUND_PEAK_US = 110.0
COLUMNS = 3  # of waveforms, unless the planes are the columns

Window = tuple[float, float] | None  # first and last time [us]


@dataclass(frozen=True)
class Drawn:
    """A layer with all samples minus the medians of ADC counts: (channel, tick) float32."""

    layer: Layer
    samples: np.ndarray
    colour: str

    @classmethod
    def of(cls, layer: Layer, colour: str) -> Drawn:
        """Return a layer in the form that is drawn."""
        samples = np.asarray(layer.traces.dense()).astype(np.float32)
        samples -= statistics.baselines(layer)[:, None]
        return cls(layer, samples, colour)

    @property
    def tick_us(self) -> float:
        """Return the length of a tick [us]."""
        return self.layer.traces.tick_ns / 1e3

    def rows(self, channels: np.ndarray) -> np.ndarray:
        """Return the samples (channel, tick) of these channels; NaN for those that the layer lacks."""
        order = np.argsort(self.layer.traces.channels, kind="stable")
        ids = self.layer.traces.channels[order]
        found = np.searchsorted(ids, channels).clip(max=len(ids) - 1)
        rows = self.samples[order[found]]
        rows[ids[found] != channels] = np.nan
        return rows

    def ticks(self, window: Window) -> slice:
        """Return the ticks between two times."""
        times, count = self.layer.traces.times_us, self.samples.shape[1]
        if window is None:
            return slice(0, count)
        first, last = np.searchsorted(times, window)
        return slice(max(0, int(first)), min(count, int(last) + 1))


@checked
def plot(
    *frames: Input,
    adc: Input | None = None,
    signal: Input | None = None,
    truth: Input | None = None,
    layers: Mapping[str, Input] | None = None,
    planes: Planes = None,
    plane: str | None = None,
    channels: tuple[int, int] | None = None,
    waveforms: Sequence[int] | Literal["auto"] | None = None,
    time_us: Window = None,
) -> Figure:
    """Return a figure of the first event: an image of each plane and layer, or waveforms.

    Inputs, planes and channels are as in show().

    @param waveforms  draw the waveforms of these channels in place of the images; "auto": of two channels of each plane
    @param time_us    first and last time; None: all, or for waveforms 220 us around the largest pulse
    @throws Error if an input cannot be read, planes or channels do not fit it, or Matplotlib is not installed
    """
    roles = {ADC: adc, CHARGE: signal, TRUTH: truth}
    (event, *_) = events_of(sources_of(frames, layers or {}, roles), 1)
    parts = choose(planes_of(event.channels, planes), [plane] if plane else None, channels)
    return figure_of(event, parts, waveforms, time_us)


def figure_of(
    event: Event,
    planes: dict[str, np.ndarray],
    waveforms: Sequence[int] | Literal["auto"] | None,
    time_us: Window,
) -> Figure:
    """Return the figure of one event. See plot()."""
    required("matplotlib.figure", "plots need", "Configuration")
    line_colours = colours.line_colours([layer.role for layer in event.layers])
    drawn = [Drawn.of(layer, colour) for layer, colour in zip(event.layers, line_colours)]
    if waveforms is None:
        return _images(event, drawn, planes, time_us)
    if waveforms == "auto":
        pairs = [_two_channels(event, drawn, part) for part in planes.values()]
        chosen = [pair[i] for i in range(2) for pair in pairs if i < len(pair)]
        return _waveforms(drawn, planes, chosen, len(planes), time_us)
    if not len(waveforms):
        raise Error(
            "Usage", "there is no channel to draw", "argument waveforms", "an empty list", "channel ids"
        )
    for channel in waveforms:
        choose(planes, channels=(int(channel), int(channel)))
    return _waveforms(drawn, planes, list(waveforms), min(COLUMNS, len(waveforms)), time_us)


def pooled(samples: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Return at most (rows, columns): the sample farthest from 0 in each bin, so that thin tracks stay visible."""
    for axis, count in ((0, rows), (1, columns)):
        step = -(-samples.shape[axis] // count)
        if step < 2:
            continue
        starts = np.arange(0, samples.shape[axis], step)
        high, low = np.fmax.reduceat(samples, starts, axis), np.fmin.reduceat(samples, starts, axis)
        samples = np.where(high >= -low, high, low)
    return samples


def _images(event: Event, drawn: list[Drawn], planes: dict[str, np.ndarray], window: Window) -> Figure:
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    from .notebook_figure import NotebookFigure

    height = 6.6 if len(planes) == 1 else 4.4
    figure = NotebookFigure(
        figsize=(5.4 * len(drawn), height * len(planes)),
        layout=ConstrainedLayoutEngine(wspace=0.05, hspace=0.04),
    )
    rows = figure.subfigures(len(planes), 1, squeeze=False)[:, 0]
    limits = _limits(drawn)
    for row, (name, channels) in zip(rows, planes.items()):
        row.suptitle(title(name), fontsize=14, fontweight="bold")
        axes = row.subplots(1, len(drawn), sharex=True, sharey=True, squeeze=False)[0]
        for axis, each in zip(axes, drawn):
            _image(axis, each, channels, window, limits[each.layer.unit])
            _masks(axis, event, channels)
            about = " minus median" if each.layer.role == ADC else ""
            axis.set_title(f"{each.layer.label}{about}", fontsize=12)
            axis.set_xlabel("channel")
        axes[0].set_ylabel("time [µs]")
        if event.masks:
            axes[0].legend(loc="upper left", fontsize=8)
    return figure


def _limits(drawn: list[Drawn]) -> dict[str, float]:
    """Return the range of the colours by unit: that of the first layer that is not the truth."""
    limits: dict[str, float] = {}
    for each in sorted(drawn, key=lambda each: each.layer.role == TRUTH):
        limits.setdefault(
            each.layer.unit, statistics.colour_range(each.layer, statistics.baselines(each.layer))
        )
    return limits


def _image(axis: Axes, drawn: Drawn, channels: np.ndarray, window: Window, limit: float) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    is_signed = drawn.layer.role == ADC
    table = LinearSegmentedColormap.from_list(
        "samples", colours.ADC if is_signed else colours.CHARGE
    ).with_extremes(bad="#eceff2")
    ticks = drawn.ticks(window)
    first, last = drawn.layer.traces.times_us[ticks][[0, -1]]
    image = axis.imshow(
        pooled(drawn.rows(channels)[:, ticks], MAX_COLUMNS, MAX_ROWS).T,
        origin="lower",
        aspect="auto",
        cmap=table,
        vmin=-limit if is_signed else 0,
        vmax=limit,
        interpolation="nearest",
        extent=(*_edges(channels), first, last + drawn.tick_us),
    )
    if not _is_consecutive(channels):
        axis.xaxis.set_major_formatter(
            lambda x, _: str(channels[round(x)]) if 0 <= round(x) < len(channels) else ""
        )
    extend = "both" if is_signed else "max"
    axis.figure.colorbar(image, ax=axis, label=drawn.layer.unit, pad=0.02, extend=extend)


def _is_consecutive(channels: np.ndarray) -> bool:
    return bool(channels[-1] - channels[0] == len(channels) - 1)


def _edges(channels: np.ndarray) -> tuple[float, float]:
    """Return the ends of the channel axis: channel ids, or positions if ids are left out."""
    first = float(channels[0]) if _is_consecutive(channels) else 0.0
    return first - 0.5, first + len(channels) - 0.5


def _masks(axis: Axes, event: Event, channels: np.ndarray) -> None:
    """Draw the masked ranges as bars over the image."""
    limits = axis.axis()
    for position, (name, mask) in enumerate(event.masks.items()):
        mask = mask[np.isin(mask[:, 0], channels)]
        x = _edges(channels)[0] + 0.5 + np.searchsorted(channels, mask[:, 0])
        colour = colours.MASKS[position % len(colours.MASKS)]
        axis.bar(
            x,
            mask[:, 2] - mask[:, 1],
            1.0,
            mask[:, 1],
            color=colour,
            alpha=0.45,
            label=f"mask {name}",
            linewidth=0,
        )
    axis.axis(limits)


def _two_channels(event: Event, drawn: list[Drawn], channels: np.ndarray) -> list[int]:
    """Return the channel of a plane with the most charge, and an ordinary one: a quarter down the list."""
    reference = _reference(drawn)
    amounts = np.nan_to_num(np.abs(reference.rows(channels))).sum(axis=1)
    order = np.argsort(amounts, kind="stable")[::-1]
    ordinary = order[min(len(order) - 1, max(1, int(np.count_nonzero(amounts)) // 4))]
    return list(dict.fromkeys([int(channels[order[0]]), int(channels[ordinary])]))


def _reference(drawn: list[Drawn]) -> Drawn:
    """Return the layer that decides what is shown: the truth, else charge, else ADC."""
    return min(drawn, key=lambda each: (TRUTH, CHARGE, ADC).index(each.layer.role))


def _waveforms(
    drawn: list[Drawn], planes: dict[str, np.ndarray], channels: list[int], columns: int, window: Window
) -> Figure:
    """Draw the channels row by row: a plot for each unit, ADC above charge."""
    from .notebook_figure import NotebookFigure

    units = list(dict.fromkeys(each.layer.unit for each in drawn))
    rows = -(-len(channels) // columns)
    heights = [1.0 if unit == drawn[0].layer.unit and len(units) > 1 else 1.5 for unit in units]
    figure = NotebookFigure(figsize=(5.4 * columns, 0.6 + 1.78 * sum(heights) * rows), layout="constrained")
    about = "ADC above, charge below; " if len(units) > 1 else ""
    figure.suptitle(f"Waveforms: {about}shaded: ROIs", fontsize=15, fontweight="bold")
    cells = figure.subfigures(rows, columns, squeeze=False).ravel()
    for cell, channel in zip(cells, channels):
        axes = cell.subplots(len(units), 1, height_ratios=heights, sharex=True, squeeze=False)[:, 0]
        times = window or _around_peak(_reference(drawn), channel)
        for axis, unit in zip(axes, units):
            _lines(axis, [each for each in drawn if each.layer.unit == unit], channel, times)
            _shade(axis, drawn, channel, times)
            axis.set_ylabel(unit)
            axis.set_xlim(times)
        plane = next(name for name, part in planes.items() if channel in part)
        axes[0].set_title(f"{title(plane)}, channel {channel}", fontsize=11)
        axes[-1].set_xlabel("time [µs]")
    return figure


def _around_peak(drawn: Drawn, channel: int) -> tuple[float, float]:
    """Return the times around the largest sample of a channel, within the readout."""
    (samples,) = np.abs(np.nan_to_num(drawn.rows(np.array([channel]))))
    times = drawn.layer.traces.times_us
    half = min(AROUND_PEAK_US, (times[-1] - times[0]) / 2)
    middle = float(np.clip(times[samples.argmax()], times[0] + half, times[-1] - half))
    return middle - half, middle + half


def _lines(axis: Axes, drawn: list[Drawn], channel: int, window: tuple[float, float]) -> None:
    axis.axhline(0, color="0.8", lw=0.8, zorder=1)
    for each in sorted(drawn, key=lambda each: each.layer.role != TRUTH):
        if channel not in each.layer.traces.channels:
            continue
        ticks = each.ticks(window)
        times, samples = each.layer.traces.times_us[ticks], each.rows(np.array([channel]))[0, ticks]
        is_truth = each.layer.role == TRUTH
        if is_truth:
            axis.fill_between(times, samples, color="0.75", step="post")
        label = f"{each.layer.label} minus median" if each.layer.role == ADC else each.layer.label
        axis.step(times, samples, where="post", color=each.colour, lw=0.8 if is_truth else 1.3, label=label)
    if axis.get_legend_handles_labels()[1]:
        axis.legend(loc="upper right", frameon=False, fontsize=9)


def _shade(axis: Axes, drawn: list[Drawn], channel: int, window: tuple[float, float]) -> None:
    """Shade the ROIs: ranges of samples of the first layer of charge that are not 0."""
    charge = next((each for each in drawn if each.layer.role == CHARGE), None)
    if charge is None or channel not in charge.layer.traces.channels:
        return
    ticks = charge.ticks(window)
    times = charge.layer.traces.times_us[ticks]
    _, begins, ends = runs_of(charge.rows(np.array([channel]))[:, ticks] != 0).T
    for begin, end in zip(begins, ends):
        axis.axvspan(times[begin], times[end - 1] + charge.tick_us, color=colours.ROI, lw=0, zorder=0)
