# SPDX-License-Identifier: Apache-2.0
"""Figures of one event with matplotlib: planes of ADC, signal and truth side by side, and waveforms of channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..conversion import numpy_array
from ..errors import Error, input_error
from ..frame import Traces
from ..channel_planes import planes_of
from .layers import Layer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROI_COLOUR = "#ffe9b0"
CHARGE_COLOURS = ("#b5179e", "#222222", "#e07b00", "#1b6e3c")
ADC_COLOUR = "#1d4e89"
CHARGE_SCALE = ("#ffffff", "#f9a655", "#d9376e", "#6a1b9a", "#1a0033")
IMAGE_ROWS = 900  # time bins of a picture; a screen shows no more
WAVEFORM_US = 220.0  # shown around the largest sample


def plot_planes(layers: Sequence[Layer], planes: Mapping[str, np.ndarray] | str = "", event: int = 0) -> Figure:
    """Draw one event: a row for each plane, a column for each layer, on the same axes.

    planes  channel ids by name, or their form as in planes_of()
    event   position in the layers

    Raise spng.Error if the event or matplotlib is missing.
    """
    matplotlib = _matplotlib()
    shown = _events(layers, event)
    named = _planes(shown, planes)
    figure = matplotlib.figure.Figure(
        figsize=(5.4 * len(shown), 4.6 * len(named) + 0.6), layout="constrained"
    )
    axes = figure.subplots(len(named), len(shown), squeeze=False, sharex="row", sharey=True)
    for row, (plane, ids) in enumerate(named.items()):
        for column, (layer, traces) in enumerate(shown):
            _draw_picture(axes[row, column], layer, _part(traces, ids), f"{plane}: {layer.label}")
        axes[row, 0].set_ylabel("time [µs]")
    for axis in axes[-1]:
        axis.set_xlabel("channel")
    return figure


def plot_waveforms(
    layers: Sequence[Layer],
    channels: Sequence[int] | None = None,
    planes: Mapping[str, np.ndarray] | str = "",
    event: int = 0,
) -> Figure:
    """Draw channels of one event: ADC above, charge with its ROIs below.

    channels  default: the channel with most charge of each plane
    """
    matplotlib = _matplotlib()
    shown = _events(layers, event)
    named = _planes(shown, planes)
    chosen = list(channels) if channels is not None else [_brightest(shown, ids) for ids in named.values()]
    adc = [(layer, traces) for layer, traces in shown if layer.kind == "adc"]
    charge = [(layer, traces) for layer, traces in shown if layer.kind == "charge"]
    rows = bool(adc) + bool(charge)
    figure = matplotlib.figure.Figure(figsize=(5.4 * len(chosen), 2.9 * rows + 0.4), layout="constrained")
    axes = figure.subplots(rows, len(chosen), squeeze=False, sharex="col")
    for column, channel in enumerate(chosen):
        _require_channel(shown, channel)
        plane = next((name for name, ids in named.items() if channel in ids), "")
        axes[0, column].set_title(f"{plane} channel {channel}".strip(), fontsize=11)
        axes[-1, column].set_xlabel("time [µs]")
        _draw_channel(axes[:, column], adc, charge, channel)
    return figure


def _matplotlib() -> object:
    try:
        import matplotlib.figure
    except ImportError as error:
        raise Error(
            "Usage",
            "figures need the Python package matplotlib",
            seen=str(error),
            hint="pip install matplotlib",
        ) from None
    return matplotlib


def _events(layers: Sequence[Layer], event: int) -> list[tuple[Layer, Traces]]:
    """Return each layer that has the event with its traces: NumPy, dense, without the baseline of ADC."""
    shown = []
    for layer in layers:
        if event >= len(layer.events):
            continue
        traces = layer.events[event][1]
        samples = numpy_array(traces.dense()).astype(np.float32)
        if layer.kind == "adc":
            samples -= np.median(samples, axis=1, keepdims=True)
        order = np.argsort(traces.channels, kind="stable")
        shown.append((layer, replace(traces, samples=samples[order], channels=traces.channels[order])))
    if not shown:
        raise input_error("no layer has the event", seen=f"event {event}", expected="the position of an event, from 0")
    return shown


def _planes(
    shown: Sequence[tuple[Layer, Traces]], planes: Mapping[str, np.ndarray] | str
) -> dict[str, np.ndarray]:
    channels = np.unique(np.concatenate([traces.channels for _, traces in shown]))
    named = planes_of(channels, planes) if isinstance(planes, str) else planes
    return {name: ids for name, ids in named.items() if len(np.intersect1d(ids, channels))}


def _part(traces: Traces, ids: np.ndarray) -> Traces:
    rows = np.isin(traces.channels, ids)
    return replace(traces, samples=traces.samples[rows], channels=traces.channels[rows])


def picture_of(samples: np.ndarray) -> np.ndarray:
    """Return (time bin, channel): the sample farthest from zero in each bin, so that thin tracks stay visible."""
    step = max(1, samples.shape[1] // IMAGE_ROWS)
    bins = samples[:, : samples.shape[1] // step * step].reshape(samples.shape[0], -1, step)
    index = np.abs(bins).argmax(axis=2)[..., None]
    return np.take_along_axis(bins, index, axis=2)[..., 0].T


def _draw_picture(axis: Axes, layer: Layer, traces: Traces, title: str) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    axis.set_title(title)
    if not len(traces.channels):
        return
    samples = traces.samples
    is_adc = layer.kind == "adc"
    # Limit the colours below the largest samples, so that ordinary tracks have colour too.
    if is_adc:
        limit = max(20.0, float(np.percentile(np.abs(samples), 99.7)))
    else:
        limit = float(np.percentile(samples[samples > 0], 97)) if (samples > 0).any() else 1.0
    times = traces.times_us
    image = axis.imshow(
        picture_of(samples),
        origin="lower",
        aspect="auto",
        cmap="RdBu_r" if is_adc else LinearSegmentedColormap.from_list("charge", CHARGE_SCALE),
        vmin=-limit if is_adc else 0.0,
        vmax=limit,
        interpolation="nearest",
        extent=(
            traces.channels[0] - 0.5,
            traces.channels[-1] + 0.5,
            times[0],
            times[-1] + traces.tick_ns / 1e3,
        ),
    )
    unit = {"adc": "ADC counts above the baseline", "charge": "electrons per tick", "mask": "mask"}[layer.kind]
    axis.figure.colorbar(image, ax=axis, label=unit, pad=0.02, extend="both" if is_adc else "max")


def _brightest(shown: Sequence[tuple[Layer, Traces]], ids: np.ndarray) -> int:
    """Return the channel with most charge, or with the largest sample if there is no charge."""
    layer, traces = next((pair for pair in shown if pair[0].kind == "charge"), shown[0])
    part = _part(traces, ids)
    sizes = part.samples.clip(min=0).sum(axis=1) if layer.kind == "charge" else np.abs(part.samples).max(axis=1)
    return int(part.channels[np.argmax(sizes)])


def _require_channel(shown: Sequence[tuple[Layer, Traces]], channel: int) -> None:
    if not any(channel in traces.channels for _, traces in shown):
        channels = np.concatenate([traces.channels for _, traces in shown])
        raise input_error(
            "no layer has the channel", seen=str(channel), expected=f"a channel from {channels.min()} to {channels.max()}"
        )


def _row(traces: Traces, channel: int) -> np.ndarray | None:
    rows = np.flatnonzero(traces.channels == channel)
    return traces.samples[rows[0]] if len(rows) else None


def _draw_channel(
    axes: Sequence[Axes],
    adc: Sequence[tuple[Layer, Traces]],
    charge: Sequence[tuple[Layer, Traces]],
    channel: int,
) -> None:
    reference = [*charge, *adc][0][1]
    samples = _row(reference, channel)
    if samples is None:
        samples = np.zeros(reference.samples.shape[1], np.float32)
    middle, half = reference.times_us[int(np.abs(samples).argmax())], WAVEFORM_US / 2
    for axis in axes:
        axis.axhline(0, color="0.8", lw=0.8, zorder=1)
        axis.set_xlim(middle - half, middle + half)
        if charge:
            _shade_rois(axis, reference, samples)
    upper, lower = axes[0], axes[-1]
    for layer, traces in adc:
        row = _row(traces, channel)
        if row is not None:
            upper.step(traces.times_us, row, where="post", color=ADC_COLOUR, lw=0.9, label=layer.label)
            upper.set_ylabel("ADC counts")
    for (layer, traces), colour in zip(charge, CHARGE_COLOURS):
        row = _row(traces, channel)
        if row is not None:
            lower.step(traces.times_us, row, where="post", color=colour, lw=1.3, label=layer.label)
            lower.set_ylabel("electrons per tick")
    for axis in axes:
        axis.legend(loc="upper right", frameon=False, fontsize=9)


def _shade_rois(axis: Axes, traces: Traces, samples: np.ndarray) -> None:
    """Shade the ROIs: runs of samples that are not zero."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (samples != 0).astype(np.int8), [0]])))
    times, tick = traces.times_us, traces.tick_ns / 1e3
    for first, last in edges.reshape(-1, 2):
        axis.axvspan(times[first], times[last - 1] + tick, color=ROI_COLOUR, lw=0)
