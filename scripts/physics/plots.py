# SPDX-License-Identifier: Apache-2.0
"""The pictures of the page, each as SVG."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend is chosen before)
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from . import bars  # noqa: E402
from .wires import VIEWS  # noqa: E402

if TYPE_CHECKING:
    from matplotlib.typing import RcKeyType

COLOURS = {
    "simple": "#9aa5b1",
    "rule-alone": "#7fb3d5",
    "rule": "#1d4e89",
    "model-alone": "#e3a6d6",
    "model": "#b5179e",
    "osp": "#d97706",
    "perfect": "#15803d",
    "ideal": "#84a98c",
}
MARKERS = {
    "simple": "v",
    "rule-alone": "s",
    "rule": "o",
    "model-alone": "s",
    "model": "D",
    "osp": "^",
    "perfect": "x",
    "ideal": "+",
}
INK, GRID = "#333333", "#e4e7eb"
STYLE: dict[RcKeyType, Any] = {
    "font.size": 9,
    "axes.edgecolor": "#9aa5b1",
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.grid": True,
    "grid.color": GRID,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "spng",
    "figure.constrained_layout.use": True,
}
CURVE: dict[str, Any] = {"markersize": 4, "linewidth": 1.2}
NOTE: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7}
PERCENT = 100.0
FALLBACK = "#555555"
NOISE_FLOOR = 1e-6
BAR: dict[str, Any] = {"color": "#16a34a", "alpha": 0.08}  # what is within a bar
ENLARGED_BIAS, RESOLUTION = (-16, 16), (0, 60)  # [%]


def to_svg(figure: Figure) -> str:
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    plt.close(figure)
    text = stream.getvalue()
    return text[text.index("<svg") :]


def draw_curve(axes: Axes, curve: Curve, row: Row) -> None:
    """Draw one curve with error bars, without points that have no value."""
    points = [
        (position, row.scale * (cell["value"] - row.offset), row.scale * (cell["error"] or 0.0))
        for position, cell in zip(curve.positions, curve.cells)
        if cell and cell["value"] is not None
    ]
    if points:
        across, up, error = zip(*points)
        axes.errorbar(
            across,
            up,
            yerr=error,
            label=curve.label,
            color=COLOURS.get(curve.name, FALLBACK),
            marker=MARKERS.get(curve.name, "o"),
            capsize=2,
            linestyle="--" if curve.name in ("osp", "ideal") else "-",
            **CURVE,
        )


def draw_legend(figure: Figure, axes: Any) -> None:
    found: dict[str, Any] = {}
    for each in axes.flat:
        for handle, label in zip(*each.get_legend_handles_labels()):
            found.setdefault(label, handle)
    figure.legend(found.values(), found.keys(), loc="outside upper center", ncols=min(len(found), 4))


@dataclass(frozen=True)
class Curve:
    """Cells with value and error at positions. name: of a variant, which has a colour."""

    name: str
    label: str
    positions: Sequence[float]
    cells: Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Row:
    """A row of panels. offset and scale: what is drawn is (value - offset) * scale; limits: of the axis."""

    quantity: str
    title: str
    scale: float = PERCENT
    offset: float = 0.0
    limits: tuple[float, float] | None = None


def grid(
    rows: Sequence[Row],
    height: float,
    curves: Callable[[Row, str], Iterable[Curve]],
    finish: Callable[[Axes, Row, str], None],
    label: Callable[[Axes], object],
) -> str:
    """Draw a panel for each row and view; return the picture as SVG.

    curves, finish  give the curves of a panel, and draw what it has besides
    label           labels the common axis of a column, below its last panel
    """
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(
            len(rows), len(VIEWS), figsize=(10.5, height), sharex=True, sharey="row", squeeze=False
        )
        for line, row in enumerate(rows):
            axes[line, 0].set_ylabel(row.title)
            for column, view in enumerate(VIEWS):
                for curve in curves(row, view):
                    draw_curve(axes[line, column], curve, row)
                if row.limits is not None:
                    axes[line, column].set_ylim(*row.limits)
                finish(axes[line, column], row, view)
        for column, view in enumerate(VIEWS):
            axes[0, column].set_title(f"view {view}")
            label(axes[-1, column])
        draw_legend(figure, axes)
        return to_svg(figure)


def activity(result: dict[str, Any], names: list[str]) -> str:
    """Draw charge bias, resolution, efficiency and purity of each view over the number of muons."""
    samples = [sample for sample in result["samples"] if sample["name"].startswith("muons-")]
    rows = [Row("charge", "charge bias [%]", offset=1.0)]
    rows += [Row(quantity, f"{quantity} [%]") for quantity in ("resolution", "efficiency", "purity")]
    positions = range(len(samples))
    bands = {
        "charge": (-bars.CHARGE, bars.CHARGE),
        "efficiency": (bars.EFFICIENCY, 1.0),
        "purity": (bars.PURITY, 1.0),
    }

    def curves(row: Row, view: str) -> Iterator[Curve]:
        for index, name in enumerate(names):
            cells = [result["figures"][sample["name"]][name][view][row.quantity] for sample in samples]
            shift = 0.06 * (index - (len(names) - 1) / 2)
            yield Curve(name, result["variants"][name], [position + shift for position in positions], cells)

    def finish(axes: Axes, row: Row, view: str) -> None:
        if row.quantity == "charge":
            axes.axhline(0, color=INK, linewidth=0.8)
        if row.quantity in bands and (view != "W" or row.quantity == "charge"):
            low, high = bands[row.quantity]
            axes.axhspan(PERCENT * low, PERCENT * high, linewidth=0, **BAR)

    def label(axes: Axes) -> None:
        axes.set_xticks(positions, [str(sample["simulation"]["tracks"]) for sample in samples])
        axes.set_xlabel("muons in the event")

    return grid(rows, 10, curves, finish, label)


def lines(result: dict[str, Any], osp: dict[str, Any]) -> str:
    """Bias, resolution, efficiency, purity of each view over the angle, OmnibusSigProc (OSP) beside ours."""
    shown = {
        **{name: (result["variants"][name], result["lines"][name]) for name in result["lines"]},
        "osp": ("OSP (one line each)", osp["lines"]),
        "ideal": ("perfect ROIs, WCT's events (one line each)", osp["ideal"]),
    }
    rows = [
        Row("bias", "charge bias [%]"),
        Row("bias", "charge bias, enlarged [%]", limits=ENLARGED_BIAS),
        Row("resolution", "resolution [%]", limits=RESOLUTION),
        Row("efficiency", "efficiency [%]"),
        Row("purity", "purity [%]"),
    ]

    def curves(row: Row, view: str) -> Iterator[Curve]:
        for name, (label, views) in shown.items():
            cells = [figures.get(row.quantity) for figures in views.get(view, [])]
            yield Curve(name, label, range(len(cells)), cells)

    angles = [figures["theta_xz_deg"] for figures in osp["lines"][VIEWS[0]]]

    def finish(axes: Axes, row: Row, view: str) -> None:
        if row.quantity == "bias":
            axes.axhline(0, color=INK, linewidth=0.8)
            band = PERCENT * bars.LINE_BIAS[view]
            flat = [position for position, angle in enumerate(angles) if angle <= bars.LINE_ANGLES[1]]
            axes.fill_between([flat[0] - 0.3, flat[-1] + 0.3], -band, band, linewidth=0, **BAR)

    def label(axes: Axes) -> None:
        axes.set_xticks(range(len(angles)), list(map(str, angles)), fontsize=7)
        axes.set_xlabel("angle to the pitch direction [degrees]")

    return grid(rows, 13, curves, finish, label)


def roc(result: dict[str, Any], seed_variants: list[str]) -> str:
    """Draw efficiency against purity: of the network by its mask threshold, of the rule by its seed threshold."""
    shades = ["#e3a6d6", "#cf62bb", "#b5179e", "#6a0f5c", "#3d0735"]
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.6), sharey=True, squeeze=False)
        for column, view in enumerate(VIEWS[:2]):
            each = axes[0, column]
            each.fill_between([bars.PURITY, 1.0], bars.EFFICIENCY, 1.01, linewidth=0, **BAR)
            labels = {sample["name"]: sample["label"] for sample in result["samples"]}
            shown = [
                (sample, found)
                for sample, variants in result["roc"].items()
                for found in variants.values()
                if sample.startswith("muons-")
            ]
            for shade, (sample, found) in zip(shades, shown):
                curve = found.get(view)
                if curve:
                    points = [
                        (p, e)
                        for p, e in zip(curve["purity"], curve["efficiency"])
                        if p is not None and e is not None
                    ]
                    label = f"DNNROI, {labels[sample]}"
                    each.plot(*zip(*points), color=shade, marker=".", label=label, **CURVE)
                    cut = result["figures"][sample]["model"][view]
                    at = cut["purity"]["value"], cut["efficiency"]["value"]
                    each.plot(*at, color=shade, marker="D", markersize=6)
            rule = result["figures"].get("roc", {})
            seeds = [
                (rule[name][view]["purity"]["value"], rule[name][view]["efficiency"]["value"], name)
                for name in seed_variants
                if name in rule
            ]
            if seeds:
                across, up, names = zip(*seeds)
                label = f"rule, seeds above 3 to 12 sigma, {labels['roc']}"
                each.plot(across, up, color=COLOURS["rule"], marker="o", label=label, **CURVE)
                for x, y, name in zip(across, up, names):
                    factor = "4" if name == "rule" else name.rsplit("-", 1)[1]
                    each.annotate(factor, (x, y), xytext=(4, -9), color=COLOURS["rule"], **NOTE)
            each.set_title(f"view {view}")
            each.set_xlabel("purity")
            each.set_xlim(0.3, 1.0)
            each.set_ylim(0.5, 1.01)
        axes[0, 0].set_ylabel("efficiency")
        draw_legend(figure, axes)
        return to_svg(figure)


def noise(result: dict[str, Any]) -> str:
    """Draw the share of pixels kept in events of noise alone."""
    figures = result["figures"]["noise"]
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 1, figsize=(10.5, 3.4), squeeze=False)
        each, width = axes[0, 0], 0.8 / len(figures)
        for index, (name, views) in enumerate(figures.items()):
            shares = [views[view]["kept"]["value"] for view in VIEWS]
            errors = [views[view]["kept"]["error"] or 0.0 for view in VIEWS]
            across = [view + (index - (len(figures) - 1) / 2) * width for view in range(len(VIEWS))]
            each.bar(
                across,
                shares,
                0.9 * width,
                yerr=errors,
                capsize=2,
                color=COLOURS.get(name, FALLBACK),
                label=result["variants"][name],
            )
            for x, share in zip(across, shares):
                if not share:
                    each.annotate("none", (x, NOISE_FLOOR), xytext=(0, 2), ha="center", color=INK, **NOTE)
        each.set_yscale("log")
        each.set_ylim(bottom=NOISE_FLOOR)
        each.set_xticks(range(len(VIEWS)), [f"view {view}" for view in VIEWS])
        each.set_ylabel("share of pixels kept")
        draw_legend(figure, axes)
        return to_svg(figure)
