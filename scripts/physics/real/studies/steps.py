# SPDX-License-Identifier: Apache-2.0
"""Every subset of the five basic steps on all groups: no step may delete tracks."""

from __future__ import annotations

from itertools import combinations

from scripts.output import Table

from .. import measures
from ..bars import Limit
from ..datasets import CHIRPING, NOISY, RCRC
from ..jobs import WAVEFORM_TAG, Output
from ..microboone import EVERY_STEP, TWIN, run_twin
from ..study import Context, Findings, Study
from .chirping import channels_found
from .noisy import masked

NO_STEP = "none"
KEPT = 0.85  # of the charge; shared noise in ROIs is a part of the charge without steps
STEPS = ("sticky", "tails", "lines", "channels", "coherent")


def subsets() -> list[str]:
    """Return the 31 subsets of the steps, small ones first."""
    return [",".join(each) for count in range(1, len(STEPS) + 1) for each in combinations(STEPS, count)]


def row_of(steps: str, output: Output) -> list[str]:
    """Return a row of the table."""
    cells = [steps]
    for group in (CHIRPING, TWIN, RCRC):
        signal = output.rows(group.channels)
        cells += [f"{measures.charge(signal):.1f}", f"{100 * measures.roi_share(signal):.1f}"]
    signal, twin = output.rows(CHIRPING.channels), output.rows(TWIN.channels)[::-1]
    cells += [f"{channels_found(signal)}, {channels_found(twin)}"]
    cells += [", ".join(str(masked(output, group.channels).sum()) for group in (NOISY, CHIRPING, TWIN, RCRC))]
    cells += [f"{measures.quiet_noise(output.rows(CHIRPING.channels, WAVEFORM_TAG)):.0f}"]
    return cells


def run(context: Context, found: Findings) -> None:
    """Process the groups and the twin with every subset, and with the steps of the detector."""
    outputs = {steps: run_twin(context.jobs, context.folder, steps) for steps in (*subsets(), EVERY_STEP)}
    reference = run_twin(context.jobs, context.folder, NO_STEP)
    for group in (CHIRPING, TWIN, RCRC):
        charge = measures.charge(reference.rows(group.channels))
        found.values[group.name] = min(
            measures.ratio(measures.charge(each.rows(group.channels)), charge) for each in outputs.values()
        )
    found.values["masked"] = max(
        float(masked(each, group.channels).sum())
        for each in outputs.values()
        for group in (CHIRPING, TWIN, RCRC)
    )
    heads = ["noise_filter"]
    for name in ("chirping", "twin", "RC-RC"):
        heads += [f"{name}: charge [10^6 e]", "in ROIs [%]"]
    heads += ["tracks found: chirping, twin", "masked: noisy, chirping, twin, RC-RC", "quiet noise [e/tick]"]
    found.tables.append(Table("Subsets of steps", heads, [row_of(*each) for each in outputs.items()]))


STUDY = Study(
    "steps",
    "MicroBooNE: every subset of steps",
    (
        "The real groups and the twin in one frame.",
        "The charge without steps has noise in it, so a subset may have less; a deleted track would take most of it.",
        "One channel is dead and one chirps: more than these two must not be masked.",
        "Tracks found: channels, of 48, in which both crossing tracks are found; masked: channels, of 48.",
    ),
    (
        *(
            Limit(group.name, f"smallest charge of the {group.name} group / charge without steps", KEPT, None)
            for group in (CHIRPING, TWIN, RCRC)
        ),
        Limit("masked", "most masked channels, of 48, of these groups", None, 2, "", 0),
    ),
    run,
)
