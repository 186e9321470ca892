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
    found.values |= {
        "channels": min(float(channels_found(each.rows(CHIRPING.channels))) for each in outputs.values()),
        "twin": min(float(channels_found(each.rows(TWIN.channels)[::-1])) for each in outputs.values()),
        "rcrc": min(measures.charge(each.rows(RCRC.channels)) for each in outputs.values()),
    }
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
        "Tracks found: channels, of 48, in which both crossing tracks are found. Masked: channels, of 48.",
    ),
    (
        Limit(
            "channels",
            "fewest channels of the chirping group in which both crossing tracks are found",
            46,
            None,
            "",
            0,
        ),
        Limit("twin", "the same of the twin", 46, None, "", 0),
        Limit("rcrc", "smallest charge of the RC-RC group", 8.0, None, "10^6 e", 2),
    ),
    run,
)
