# SPDX-License-Identifier: Apache-2.0
"""Draw one frame: ADC, signal and truth per plane, and some waveforms with their regions of interest (ROIs).

python -m scripts.wcb.demo_plots --adc IN.tar.bz2 --signal OUT.npz [--truth TRUTH.npz] --out FOLDER
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend is chosen before)
import numpy as np  # noqa: E402
from matplotlib.colors import LinearSegmentedColormap  # noqa: E402
from matplotlib.layout_engine import ConstrainedLayoutEngine  # noqa: E402

from scripts.frames import Frame, FrameFile  # noqa: E402

ROI_COLOUR = "#ffe9b0"
SIGNAL_COLOUR = "#b5179e"
TRUTH_COLOUR = "#222222"
ADC_COLOUR = "#1d4e89"
CHARGE_COLOURS = LinearSegmentedColormap.from_list(
    "charge", ["#ffffff", "#f9a655", "#d9376e", "#6a1b9a", "#1a0033"]
)
IMAGE_ROWS = 900  # time bins of a picture; a screen shows no more


def times_us(frame: Frame) -> np.ndarray:
    """Return the start of each tick [us]."""
    return frame.start_ns / 1e3 + frame.tick_ns / 1e3 * np.arange(frame.samples.shape[1])


def part_of(frame: Frame, first: int, count: int) -> Frame:
    """Return `count` consecutive rows."""
    rows = slice(first, first + count)
    return replace(frame, samples=frame.samples[rows], channels=frame.channels[rows])


def read_frame(path: Path, tag: str | None = None) -> Frame:
    """Return the first frame of a file, or the first with the tag, as float32 and in ascending order of channels."""
    with FrameFile(path) as file:
        tags = [tag] if tag else file.tags()
        if not tags or not file.idents(tags[0]):
            raise SystemExit(
                f"{path}: no frame{f' with tag {tag}' if tag else ''}; the file has {', '.join(file.names)}"
            )
        frame = file.frame(tags[0], file.idents(tags[0])[0])
    order = np.argsort(frame.channels, kind="stable")
    return replace(frame, samples=frame.samples[order].astype(np.float32), channels=frame.channels[order])


def without_baseline(frame: Frame) -> Frame:
    """Return the ADC frame minus each channel's median."""
    return replace(frame, samples=frame.samples - np.median(frame.samples, axis=1, keepdims=True))


def picture_of(samples: np.ndarray) -> np.ndarray:
    """Return (time bin, channel): the sample farthest from zero in each bin, so that thin tracks stay visible."""
    step = max(1, samples.shape[1] // IMAGE_ROWS)
    bins = samples[:, : samples.shape[1] // step * step].reshape(samples.shape[0], -1, step)
    index = np.abs(bins).argmax(axis=2)[..., None]
    return np.take_along_axis(bins, index, axis=2)[..., 0].T


def plot_plane(plane: str, adc: Frame, signal: Frame, truth: Frame | None, path: Path) -> None:
    """Draw a plane: ADC, signal and truth side by side on the same axes."""
    # Limit the colour scales below the largest samples, so that ordinary tracks have colour too.
    charge_limit = (
        np.percentile(signal.samples[signal.samples > 0], 97) if (signal.samples > 0).any() else 1.0
    )
    adc_limit = max(20.0, float(np.percentile(np.abs(adc.samples), 99.7)))
    panels = [
        ("raw ADC minus baseline", adc, "RdBu_r", -adc_limit, adc_limit, "ADC counts"),
        ("signal: charge in ROIs", signal, CHARGE_COLOURS, 0.0, charge_limit, "electrons per tick"),
    ]
    if truth is not None:
        panels.append(("true charge", truth, CHARGE_COLOURS, 0.0, charge_limit, "electrons per tick"))

    figure, axes = plt.subplots(
        1,
        len(panels),
        figsize=(5.4 * len(panels), 6.6),
        sharex=True,
        sharey=True,
        layout=ConstrainedLayoutEngine(wspace=0.05),
    )
    for axis, (title, frame, colours, low, high, unit) in zip(axes, panels):
        times = times_us(frame)
        image = axis.imshow(
            picture_of(frame.samples),
            origin="lower",
            aspect="auto",
            cmap=colours,
            vmin=low,
            vmax=high,
            interpolation="nearest",
            extent=(
                frame.channels[0] - 0.5,
                frame.channels[-1] + 0.5,
                times[0],
                times[-1] + frame.tick_ns / 1e3,
            ),
        )
        axis.set_title(title)
        axis.set_xlabel("channel")
        figure.colorbar(image, ax=axis, label=unit, pad=0.02, extend="both" if low < 0 else "max")
    axes[0].set_ylabel("time [µs]")
    figure.suptitle(f"{plane} plane", fontsize=15, fontweight="bold")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def choose_rows(frame: Frame) -> list[int]:
    """Return two channels: the one with most charge, and an ordinary one (a quarter down the list)."""
    charge = frame.samples.clip(min=0).sum(axis=1)
    order = np.argsort(charge)[::-1]
    return [int(order[0]), int(order[max(1, int(np.count_nonzero(charge)) // 4)])]


def ticks_around_peak(charge: np.ndarray, tick_us: float) -> slice:
    """Return the ticks of 220 us around the largest charge."""
    half = int(110 / tick_us)
    middle = int(np.clip(charge.argmax(), half, max(half, len(charge) - half)))
    return slice(middle - half, min(len(charge), middle + half))


def shade_rois(axis: plt.Axes, times: np.ndarray, samples: np.ndarray, tick_us: float) -> None:
    """Shade the ROIs: runs of samples that are not zero."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (samples != 0).astype(np.int8), [0]])))
    for first, last in edges.reshape(-1, 2):
        axis.axvspan(times[first], times[last - 1] + tick_us, color=ROI_COLOUR, lw=0)


def plot_waveforms(planes: list[tuple[str, Frame, Frame, Frame | None]], path: Path) -> None:
    """Draw two channels of each plane: ADC above, charge with its ROIs and the truth below."""
    figure = plt.figure(figsize=(5.4 * len(planes), 9.5), layout="constrained")
    figure.suptitle("Waveforms: raw ADC above, charge below; shaded: ROIs", fontsize=15, fontweight="bold")
    columns = figure.subfigures(1, len(planes), squeeze=False)[0]
    for column, (plane, adc, signal, truth) in zip(columns, planes):
        axes = column.subplots(4, 1, height_ratios=[1, 1.5, 1, 1.5])
        reference = truth or signal
        for (upper, lower), row in zip((axes[:2], axes[2:]), choose_rows(reference)):
            tick_us = signal.tick_ns / 1e3
            ticks = ticks_around_peak(reference.samples[row], tick_us)
            times, charge = times_us(signal)[ticks], signal.samples[row, ticks]
            for axis in (upper, lower):
                shade_rois(axis, times, charge, tick_us)
                axis.set_xlim(times[0], times[-1])
                axis.axhline(0, color="0.8", lw=0.8, zorder=1)
            upper.step(times_us(adc)[ticks], adc.samples[row, ticks], where="post", color=ADC_COLOUR, lw=0.9)
            upper.set_ylabel("ADC counts")
            upper.set_title(f"{plane} plane, channel {signal.channels[row]}", fontsize=11)
            upper.tick_params(labelbottom=False)
            if truth is not None:
                lower.fill_between(times, truth.samples[row, ticks], color="0.75", step="post", label="truth")
                lower.step(times, truth.samples[row, ticks], where="post", color=TRUTH_COLOUR, lw=0.8)
            lower.step(times, charge, where="post", color=SIGNAL_COLOUR, lw=1.4, label="signal")
            lower.set_ylabel("electrons per tick")
            lower.set_xlabel("time [µs]")
            lower.legend(loc="upper right", frameon=False, fontsize=9)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--adc", type=Path, required=True, help="frame file with the raw ADC")
    parser.add_argument("--signal", type=Path, required=True, help="frame file with the signal")
    parser.add_argument("--tag", help="frame tag of the signal (default: the first tag of the file)")
    parser.add_argument("--truth", type=Path, help="frame file with the true charge")
    parser.add_argument(
        "--planes",
        default="U:800,V:800,W:960",
        help="name and number of channels of each plane, in channel order",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the pictures")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    adc = without_baseline(read_frame(options.adc))
    signal = read_frame(options.signal, options.tag)
    truth = read_frame(options.truth) if options.truth else None
    planes: list[tuple[str, Frame, Frame, Frame | None]] = []
    first = 0
    for item in options.planes.split(","):
        plane, count = item.split(":")[0], int(item.split(":")[1])
        true_part = part_of(truth, first, count) if truth else None
        planes.append((plane, part_of(adc, first, count), part_of(signal, first, count), true_part))
        first += count

    for plane, adc_part, part, true_part in planes:
        path = options.out / f"plane-{plane.lower()}.png"
        plot_plane(plane, adc_part, part, true_part, path)
        text = f"{plane}: signal {part.samples.sum() / 1e6:7.2f} million electrons"
        if true_part is not None and true_part.samples.sum() > 0:
            text += f", {part.samples.sum() / true_part.samples.sum():.3f} of the true charge"
        print(f"  {text}  ->  {path}")
    path = options.out / "waveforms.png"
    plot_waveforms(planes, path)
    print(f"  waveforms  ->  {path}")


if __name__ == "__main__":
    main()
