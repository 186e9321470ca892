# SPDX-License-Identifier: Apache-2.0
"""Every subset of the five basic steps on all groups: tracks that a subset finds must be found with one more step."""

from __future__ import annotations

from itertools import combinations

from scripts.output import Table

from .. import measures
from ..bars import at_least, at_most
from ..datasets import CHIRPING, NOISY, RCRC, Group
from ..jobs import WAVEFORM_TAG, Output
from ..microboone import EVERY_STEP, NO_STEP, TWIN, TWIN_AREA, run_twin
from ..study import Context, Findings, Study
from .chirping import FOUND_ELECTRONS, GOOD_CHANNELS, IS_GOOD, channels_found
from .noisy import masked

TRACKS = (CHIRPING, TWIN)  # groups in which two tracks cross all channels
STEPS = ("sticky", "tails", "lines", "channels", "coherent")


def subsets() -> list[str]:
    """Return the 31 subsets of the steps, small ones first."""
    return [",".join(each) for count in range(1, len(STEPS) + 1) for each in combinations(STEPS, count)]


def tracks_in(output: Output, group: Group, steps: str) -> int:
    """Return the count of good channels of a group in which both crossing tracks are found."""
    signal = output.rows(group.channels)
    if group is not TWIN:
        return channels_found(signal)
    area = 1.0 if steps == EVERY_STEP else TWIN_AREA  # no other step corrects the response
    return channels_found(signal[::-1], area * FOUND_ELECTRONS)


def largest_loss(found: dict[str, int]) -> int:
    """Return the most channels that a subset of steps finds and the same subset with one step more does not.

    found  channels by steps, NO_STEP and the subsets
    """
    losses = [0]
    for steps in subsets():
        chosen = steps.split(",")
        for step in chosen:
            without = ",".join(each for each in chosen if each != step) or NO_STEP
            losses.append(found[without] - found[steps])
    return max(losses)


def good_and_masked(output: Output) -> int:
    """Return the count of masked channels in the groups with tracks, without the dead and the chirping channel and their twins."""
    return int(
        sum(
            (masked(output, group.channels) & is_good).sum()
            for group, is_good in ((CHIRPING, IS_GOOD), (TWIN, IS_GOOD[::-1]), (RCRC, True))
        )
    )


def row_of(steps: str, output: Output) -> list[str]:
    """Return a row of the table."""
    cells = [steps]
    for group in (CHIRPING, TWIN, RCRC):
        signal = output.rows(group.channels)
        cells += [f"{measures.charge(signal):.1f}", f"{100 * measures.roi_share(signal):.1f}"]
    cells += [", ".join(str(tracks_in(output, group, steps)) for group in TRACKS)]
    cells += [", ".join(str(masked(output, group.channels).sum()) for group in (NOISY, CHIRPING, TWIN, RCRC))]
    cells += [f"{measures.quiet_noise(output.rows(CHIRPING.channels, WAVEFORM_TAG)):.0f}"]
    return cells


def run(context: Context, found: Findings) -> None:
    """Process the groups and the twin without steps, with every subset, and with the steps of the detector."""
    outputs = {
        steps: run_twin(context.jobs, context.folder, steps) for steps in (NO_STEP, *subsets(), EVERY_STEP)
    }
    for group in TRACKS:
        counts = {steps: tracks_in(output, group, steps) for steps, output in outputs.items()}
        found.values[group.name] = float(largest_loss(counts))
    charges = {steps: measures.charge(output.rows(RCRC.channels)) for steps, output in outputs.items()}
    found.values["rcrc"] = measures.ratio(min(charges.values()), charges[NO_STEP])
    found.values["masked"] = float(max(good_and_masked(output) for output in outputs.values()))
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
        f"Tracks found: good channels, of {GOOD_CHANNELS}, in which both crossing tracks are found; masked: channels, of 48.",
        "Each subset is compared with the same subset without one of its steps.",
        "The basic steps leave the twin at the gain and shaping of its electronics: there a track is found with "
        f"{TWIN_AREA:.3f} of the charge, the ratio of the areas of the responses.",
        "With `coherent` no further step loses tracks; in subsets without it the shared noise is three times the rest, and single "
        "channels are at the threshold of ROIs.",
        "The charge of the RC-RC group must be that without steps or more.",
        "The dead and the chirping channel may be masked, and so may their twins.",
    ),
    (
        *(
            at_most(
                group.name,
                f"most good channels, of {GOOD_CHANNELS}, whose tracks one more step loses, {group.name} group",
                0,
                digits=0,
            )
            for group in TRACKS
        ),
        at_least("rcrc", "smallest charge of the RC-RC group / charge without steps", 0.99),
        at_most("masked", "most masked good channels of these groups", 0, digits=0),
    ),
    run,
)
