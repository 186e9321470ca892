# SPDX-License-Identifier: Apache-2.0
"""Sections of the page of physics figures. A section whose events were not simulated says "Not run."."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scripts.output import Table

from . import plots, tables
from .sizes import SEED_FACTORS

RULE_SEED_FACTOR = 4.0  # of the rule itself, among SEED_FACTORS
Result = dict[str, Any]


@dataclass
class Section:
    """A part of the page: text, pictures (title, SVG), tables. folded: the tables are collapsed."""

    anchor: str
    title: str
    text: list[str]
    pictures: list[tuple[str, str]] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    folded: bool = False


def sections_of(result: Result, osp: Result) -> list[Section]:
    """Return all sections, in order."""
    found = [
        _bars(result),
        _activity(result),
        _lines(result, osp),
        _coincidence(result),
        _noise(result),
        _curves(result),
        _fast(result),
        _dead(result),
        _default_event(result, osp),
    ]
    for section in found:
        if not section.tables and not section.pictures:
            section.text.append("Not run.")
    return found


def _muons(result: Result) -> list[dict[str, Any]]:
    """Return the samples of cosmic-like events, by number of muons."""
    return [sample for sample in result["samples"] if sample["name"].startswith("muons-")]


def _compared(result: Result) -> list[str]:
    """Return the variants on cosmic-like events except those of precision=fast."""
    samples = _muons(result)
    return (
        [name for name in result["figures"][samples[0]["name"]] if not name.endswith("-fast")]
        if samples
        else []
    )


def _network_note(result: Result) -> str:
    return "" if result["model"] else " There is no trained network here: figures of DNNROI are left out."


def _bars(result: Result) -> Section:
    return Section(
        "bars",
        "Promised and measured",
        [f"For {result['variants'][result['main_variant']]}.{_network_note(result)}"],
        tables=[tables.bars_table(result)],
    )


def _activity(result: Result) -> Section:
    section = Section(
        "activity",
        "Cosmic-like events, quiet to busy",
        ["Isotropic muons with noise, before and after DNNROI. Green: within the bar."],
        folded=True,
    )
    names = _compared(result)
    if names:
        section.pictures = [
            (
                "Charge bias, resolution, efficiency and purity over the number of muons",
                plots.activity(result, names),
            )
        ]
        section.tables = [
            tables.sample_table(result, sample["name"], sample["label"], names) for sample in _muons(result)
        ]
    return section


def _lines(result: Result, osp: Result) -> Section:
    section = Section(
        "lines",
        "Line scan",
        [
            "Single lines of 5000 electrons/mm by their angle to the pitch direction of the view; 90 degrees would be along the "
            "drift. Mean over noise seeds. Perfect ROIs are taken from the truth (true pixels above 100 electrons, two ticks wider), "
            "so the errors that remain do not come from ROI finding. OmnibusSigProc (OSP) and perfect ROIs on WCT's events are those "
            "of data/osp-linescan.json, one noisy line for each point."
        ],
        folded=True,
    )
    if result["lines"]:
        section.pictures = [
            ("Bias, resolution, efficiency and purity over the angle", plots.lines(result, osp))
        ]
        views = next(iter(result["lines"].values()))
        section.tables = [tables.line_table(result, osp, view) for view in views]
    return section


def _coincidence(result: Result) -> Section:
    section = Section(
        "coincidence",
        "With and without MP2 and MP3",
        [
            "The gain from the coincidence with the two other views, in the quietest and the busiest events. Rule without: every seed "
            "counts and no ROI extends to neighbouring wires. DNNROI without: the trained network with empty MP2 and MP3, for which "
            "it was not trained; this shows how much the network uses them, not how one trained without them would do."
        ],
        folded=True,
    )
    pairs = [name for name in _compared(result) if name.split("-")[0] in ("rule", "model")]
    samples = _muons(result)
    for sample in {sample["name"]: sample for sample in (*samples[:1], *samples[-1:])}.values():
        section.tables.append(tables.sample_table(result, sample["name"], sample["label"], pairs))
    return section


def _noise(result: Result) -> Section:
    section = Section("noise", "Noise alone", ["Every pixel that is kept is false."])
    if "noise" in result["figures"]:
        section.pictures = [("Share of pixels kept of noise", plots.noise(result))]
        section.tables = [tables.noise_table(result)]
    return section


def _curves(result: Result) -> Section:
    section = Section(
        "roc",
        "Efficiency against purity over the threshold",
        [
            "DNNROI: over the threshold on the network's output, 0.01 to 0.99; the diamond is the chain with the threshold of the network's file. Rule: "
            "over the threshold of its seeds, in units of the noise, written beside the points."
            + _network_note(result)
        ],
    )
    if "roc" in result["figures"] or result["roc"]:
        factors = {RULE_SEED_FACTOR: "rule", **{factor: f"rule-seed-{factor:g}" for factor in SEED_FACTORS}}
        section.pictures = [
            ("Efficiency against purity", plots.roc(result, [factors[factor] for factor in sorted(factors)]))
        ]
    return section


def _fast(result: Result) -> Section:
    section = Section(
        "fast",
        "precision=fast",
        ["The same events with precision=fast, whose effect depends on the device (docs/user-guide.md)."],
    )
    if _muons(result):
        section.tables = [tables.fast_table(result)]
    return section


def _dead(result: Result) -> Section:
    section = Section(
        "dead",
        "Dead channels",
        [
            "The same events with channels, chosen at random, at a constant value and in the mask `bad`; figures of the other "
            "channels. With dead_is_hit=true a dead wire counts as hit in the coincidence of other views."
        ],
    )
    if "dead" in result["figures"]:
        label = next(sample["label"] for sample in result["samples"] if sample["name"] == "dead")
        section.tables = [tables.sample_table(result, "dead", label)]
    return section


def _default_event(result: Result, osp: Result) -> Section:
    section = Section(
        "default-event",
        "Default event",
        [
            "Ten tracks simulated by WCT (data/README.md), processed by this program and by WCT's OmnibusSigProc (OSP). Some choices were "
            "made on this event (docs/physics.md, section Tuning)."
        ],
    )
    if "default_event" in result:
        section.tables = [tables.default_event_table(result, osp)]
    return section
