# SPDX-License-Identifier: Apache-2.0
"""Every subset of the five basic steps on all groups: no step may delete tracks."""

from __future__ import annotations

from itertools import combinations

from scripts.output import Table

from .. import measures
from ..bars import Limit
from ..datasets import CHIRPING, NOISY, RCRC, Group
from ..jobs import WAVEFORM_TAG, Output
from ..microboone import EVERY_STEP, TWIN, run_twin
from ..study import Context, Findings, Study
from .chirping import channels_found
from .noisy import masked

NO_STEP = "none"
TRACKS = (CHIRPING, TWIN)  # groups in which two tracks cross all channels
STEPS = ("sticky", "tails", "lines", "channels", "coherent")


def subsets() -> list[str]:
    """Return the 31 subsets of the steps, small ones first."""
    return [",".join(each) for count in range(1, len(STEPS) + 1) for each in combinations(STEPS, count)]


def tracks_in(output: Output, group: Group) -> int:
    """Return the count of channels of a group, of 48, in which both crossing tracks are found."""
    signal = output.rows(group.channels)
    return channels_found(signal[::-1] if group is TWIN else signal)


def row_of(steps: str, output: Output) -> list[str]:
    """Return a row of the table."""
    cells = [steps]
    for group in (CHIRPING, TWIN, RCRC):
        signal = output.rows(group.channels)
        cells += [f"{measures.charge(signal):.1f}", f"{100 * measures.roi_share(signal):.1f}"]
    cells += [", ".join(str(tracks_in(output, group)) for group in TRACKS)]
    cells += [", ".join(str(masked(output, group.channels).sum()) for group in (NOISY, CHIRPING, TWIN, RCRC))]
    cells += [f"{measures.quiet_noise(output.rows(CHIRPING.channels, WAVEFORM_TAG)):.0f}"]
    return cells


def run(context: Context, found: Findings) -> None:
    """Process the groups and the twin with every subset, and with the steps of the detector."""
    outputs = {steps: run_twin(context.jobs, context.folder, steps) for steps in (*subsets(), EVERY_STEP)}
    reference = run_twin(context.jobs, context.folder, NO_STEP)
    for group in TRACKS:
        found.values[group.name] = min(tracks_in(each, group) for each in outputs.values()) - tracks_in(
            reference, group
        )
    found.values["rcrc"] = min(measures.charge(each.rows(RCRC.channels)) for each in outputs.values())
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
        "A subset must find the tracks in as many channels as the job without steps, and the charge of the RC-RC group must be that "
        "without steps or more.",
        "One channel is dead and one chirps: more than these two must not be masked.",
        "Tracks found: channels, of 48, in which both crossing tracks are found; masked: channels, of 48.",
    ),
    (
        *(
            Limit(
                group.name,
                f"fewest channels with tracks, {group.name} group, less those without steps",
                0,
                None,
                "",
                0,
            )
            for group in TRACKS
        ),
        Limit("rcrc", "smallest charge of the RC-RC group", 8.0, None, "10^6 e", 2),
        Limit("masked", "most masked channels, of 48, of these groups", None, 2, "", 0),
    ),
    run,
)
