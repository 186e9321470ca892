# SPDX-License-Identifier: Apache-2.0
"""Pictures of a network's figures: ROC, efficiency and purity over the threshold, confusion, loss; reliability."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend is chosen before)
import numpy as np  # noqa: E402
from wirecell_profile.output_file import output_file  # noqa: E402

from .evaluation import RELIABILITY_BINS, Counts, area_under_roc, merits, reliability  # noqa: E402
from .simulation import VIEWS  # noqa: E402

COLOURS = {"U": "#1d4e89", "V": "#d9376e"}


def _roc(axes: plt.Axes, counts: Counts, threshold: float) -> None:
    areas = area_under_roc(counts)
    for i, view in enumerate(VIEWS):
        efficiency = np.cumsum(counts.true[i, ::-1]) / counts.true[i].sum()
        false_rate = np.cumsum(counts.other[i, ::-1]) / counts.other[i].sum()
        axes.plot(false_rate, efficiency, color=COLOURS[view], label=f"{view}, area {areas[view]:.4f}")
        merit = merits(counts, threshold)[view]
        axes.plot(merit.false_rate, merit.efficiency, "o", color=COLOURS[view])
    axes.set(
        xscale="log",
        xlim=(1e-4, 1),
        ylim=(0.5, 1.005),
        xlabel="share of other samples in ROIs",
        ylabel="share of true samples in ROIs",
        title=f"ROC; dots: threshold {threshold:.2f}",
    )
    axes.legend(loc="lower right")


def _thresholds(axes: plt.Axes, counts: Counts, chosen: float) -> None:
    thresholds = np.arange(1, 500) / 500
    for view in VIEWS:
        each = [merits(counts, threshold)[view] for threshold in thresholds]
        axes.plot(
            thresholds, [merit.efficiency for merit in each], color=COLOURS[view], label=f"{view}, efficiency"
        )
        axes.plot(
            thresholds, [merit.purity for merit in each], "--", color=COLOURS[view], label=f"{view}, purity"
        )
    axes.axvline(chosen, color="#888888", linewidth=0.8)
    axes.set(
        xlim=(0, 1),
        ylim=(0.5, 1.005),
        xlabel="threshold on the probability",
        ylabel="share",
        title="Efficiency and purity",
    )
    axes.legend(loc="lower center")


def _confusion(axes: plt.Axes, counts: Counts, threshold: float) -> None:
    true, other = (part.sum() for part in counts.above(threshold))
    all_true, all_other = (part.sum() for part in counts.above(0))
    table = np.array([[true, all_true - true], [other, all_other - other]])
    shares = table / table.sum(axis=1, keepdims=True)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for (row, column), count in np.ndenumerate(table):
        axes.text(
            column,
            row,
            f"{count:,}\n{100 * shares[row, column]:.2f} %",
            ha="center",
            va="center",
            color="white" if shares[row, column] > 0.5 else "black",
        )
    axes.set(
        xticks=[0, 1],
        xticklabels=["in an ROI", "outside"],
        yticks=[0, 1],
        yticklabels=["true,\n> 500 e", "other"],
        title=f"Samples of U and V at threshold {threshold:.2f}",
    )


def _loss(axes: plt.Axes, losses: list[float]) -> None:
    width = max(len(losses) // 60, 1)
    smooth = np.convolve(losses, np.ones(width) / width, mode="valid")
    axes.plot(np.arange(len(smooth)) + width, smooth, color="#444444")
    axes.set(
        yscale="log", xlabel="step", ylabel="weighted cross entropy", title=f"Loss, mean of {width} steps"
    )


def _save(figure: plt.Figure, path: Path) -> None:
    with output_file(path) as partial:
        figure.savefig(partial, dpi=100)
    plt.close(figure)


def draw(path: Path, counts: Counts, threshold: float, losses: list[float]) -> None:
    """Draw ROC, thresholds, confusion and loss as one picture."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 9), constrained_layout=True)
    _roc(axes[0, 0], counts, threshold)
    _thresholds(axes[0, 1], counts, threshold)
    _confusion(axes[1, 0], counts, threshold)
    _loss(axes[1, 1], losses)
    _save(figure, path)


def draw_reliability(path: Path, counts: Counts) -> None:
    """Draw the share of target samples over the probability, and the number of samples."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), constrained_layout=True)
    left.plot([0, 1], [0, 1], color="#888888", linewidth=0.8, label="calibrated")
    edges = np.linspace(0, 1, RELIABILITY_BINS + 1)
    for view, each in reliability(counts).items():
        label = f"{view}, calibration error {each.error():.4f},\nbetween 0.05 and 0.95: {each.error(slice(1, -1)):.3f}"
        left.plot(each.predicted, each.found, "o-", markersize=4, color=COLOURS[view], label=label)
        right.stairs(each.samples, edges, color=COLOURS[view], label=view)
    left.set(
        xlim=(0, 1),
        ylim=(0, 1),
        xlabel="output of the network, mean of a bin",
        ylabel="share of the bin's samples in target ROIs",
        title="Reliability",
    )
    right.set(
        xlim=(0, 1), yscale="log", xlabel="output of the network", ylabel="samples in a bin", title="Samples"
    )
    left.legend(loc="upper left")
    right.legend(loc="upper center")
    _save(figure, path)
