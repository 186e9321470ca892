# SPDX-License-Identifier: Apache-2.0
"""Sections of the page of the study."""

from __future__ import annotations

from typing import Any

from ..page import Wording
from ..sections import Section
from ..wires import VIEWS
from . import plots, tables
from .conditions import (
    ANGLES,
    CHARGE_FACTORS,
    DRIFTS_ADC,
    GAINS,
    NOISE_ALONE_FACTORS,
    NOISE_FACTORS,
    NOMINAL,
    POINT_ELECTRONS,
)
from .measurement import ALL, FIRST, LAST, part_of_angle

Result = dict[str, Any]

WORDING = Wording(
    "SPNG: figures outside of nominal conditions",
    "Robustness: figures outside of nominal conditions",
    "./wcb physics --robustness",
    "robustness.html",
    "\n".join(
        (
            "Charge: total output / total true charge of a view, over all events; charge bias: charge - 1.",
            "Pixel: four consecutive ticks of a channel; ROI pixel: its output is not zero; true pixel: more than 500 true "
            "electrons in a tick.",
            "Efficiency: true pixels that are ROI pixels.",
            "Purity: ROI pixels that are true.",
            "False share: of the pixels farther than 3 channels or 12 pixels from each tick with more than 10 true electrons, the "
            "share of ROI pixels; of frames without charge, of all pixels.",
            "Charge of a line: output / true charge, both over all ticks of all channels that the line reaches.",
            "Bias of inner channels: that of the line scan, mean over the channels with at least 95 % of the median charge of the line.",
            "Errors are one standard deviation, from the spread between events.",
        )
    ),
)


def sections_of(result: Result) -> list[Section]:
    """Return all sections, in order; those without a measured condition are left out."""
    found = [_bars(result), _noise(result), _charge(result), _gain(result), _baseline(result)]
    found += [_lines(result), _ends(result), _others(result), _warnings(result)]
    for section in found:
        section.tables = [table for table in section.tables if table.rows]
    return [section for section in found if section.tables]


def _bars(result: Result) -> Section:
    main = result["variants"][result["main_variant"]]
    text = f"For {main}, on events that no choice was made on."
    return Section("bars", "Promised and measured", [text], tables=[tables.bars_table(result)])


def _pictures(
    result: Result, title: str, points: dict[str, float], label: str, log: bool = False
) -> list[tuple[str, str]]:
    if len([name for name in points if name in result["conditions"]]) < 2:
        return []
    return [(title, plots.against(result, points, label, log))]


def _series(result: Result, factors: dict[str, float]) -> dict[str, float]:
    """Return the conditions of a series and the nominal one by increasing factor; none if no condition of the series was measured."""
    if not any(name in result["conditions"] for name in factors):
        return {}
    return dict(sorted({**factors, NOMINAL: 1.0}.items(), key=lambda each: each[1]))


def _noise(result: Result) -> Section:
    points = {f"noise-{factor:g}": factor for factor in NOISE_FACTORS}
    alone = [f"alone-{factor:g}" for factor in NOISE_ALONE_FACTORS]
    return Section(
        "noise",
        "Against noise",
        ["The noise of the same muons, times a factor."],
        _pictures(result, "Figures against the factor of the noise", points, "factor of the noise"),
        [tables.figure_table(result, "Noise", [*points, *alone], [ALL])],
    )


def _charge(result: Result) -> Section:
    points = _series(result, {f"charge-{factor:g}": factor for factor in CHARGE_FACTORS})
    electrons = {f"points-{charge}": charge / 1000 for charge in POINT_ELECTRONS}
    return Section(
        "charge",
        "Against deposited charge",
        [
            "The signal of the same muons, times a factor, with the same noise; and points: 150 tracks in an event with the range of "
            "an electron of this charge, 0.9 to 13.5 mm long."
        ],
        [
            *_pictures(
                result,
                "Figures against the factor of the charge of muons",
                points,
                "factor of the charge",
                log=True,
            ),
            *_pictures(
                result,
                "Figures against the charge of points",
                electrons,
                "charge of a point [1000 electrons]",
                log=True,
            ),
        ],
        [
            tables.figure_table(result, "Muons", list(points), [ALL]),
            tables.figure_table(result, "Points", list(electrons), [ALL]),
        ],
    )


def _gain(result: Result) -> Section:
    points = _series(result, {f"gain-{gain:g}": gain for gain in GAINS})
    return Section(
        "gain",
        "Against gain",
        [
            "Signal and noise of the same muons, times a factor. The true charge stays, so the charge follows the gain."
        ],
        _pictures(result, "Figures against the gain", points, "gain"),
        [tables.figure_table(result, "Gain", list(points), [ALL])],
    )


def _baseline(result: Result) -> Section:
    names = ["noisy"]
    for stem in (*(f"drift-{height:g}" for height in DRIFTS_ADC), "steps"):
        names += [stem, f"{stem}-alone"]
    return Section(
        "baseline",
        "Noisy channels, drift and steps of the baseline",
        [
            "The same muons, or their noise alone. Drift: amplitudes of 1 / frequency and random phases below 5 kHz, for each channel. "
            "Steps: up or down at a random tick, to the end of the readout."
        ],
        tables=[tables.figure_table(result, "Baseline", names, [ALL])],
    )


def _lines(result: Result) -> Section:
    parts = [part_of_angle(angle) for angle in ANGLES]
    return Section(
        "lines",
        "Steep lines",
        [
            "Lines of 5000 electrons/mm, 1 m long, at an angle in degrees to the pitch direction of the view; 90 would be along the drift."
        ],
        tables=[
            tables.figure_table(result, "Lines", [f"lines-{view}" for view in VIEWS], parts, with_false=False)
        ],
    )


def _ends(result: Result) -> Section:
    return Section(
        "ends",
        "Ends of the readout",
        [
            "Muons that start at a random time from 1.5 ms before to 1.5 ms after the trigger; first and last 40 of 6000 ticks."
        ],
        tables=[tables.figure_table(result, "Ends", ["ends"], [FIRST, LAST], with_false=False)],
    )


def _others(result: Result) -> Section:
    return Section(
        "others",
        "Few muons, heavy ionisation, another response",
        [
            "Heavy ionisation: a track of 600 mm with 20 times the charge of a minimum ionising particle. Another response: simulated "
            "with a shaping time of 2.4 us, or with anode 0 of `pdhd_badAPA1`, and processed as `pdhd`."
        ],
        tables=[tables.figure_table(result, "Others", ["few", "heavy", "shaping", "collecting"], [ALL])],
    )


def _warnings(result: Result) -> Section:
    return Section(
        "warnings",
        "Warnings of the jobs",
        ["A job with a wrong response or with saturated channels must name it."],
        tables=[tables.warning_table(result)],
        folded=True,
    )
