# SPDX-License-Identifier: Apache-2.0
"""The chirping group of MicroBooNE: tracks under strong shared noise, one dead and one chirping channel."""

from __future__ import annotations

import numpy as np

from scripts.output import Table

from .. import measures
from ..bars import at_least, at_most
from ..datasets import CHIRPING
from ..jobs import WAVEFORM_TAG, Output
from ..microboone import EVERY_STEP, NO_STEP, run_groups
from ..pictures import Panel
from ..study import Context, Findings, Study

# Two tracks cross all channels of the group: seen in the raw waveforms.
CROSSINGS = ((5100, 5650), (9200, 9500))  # ticks
FOUND_ELECTRONS = 5000.0  # of a track in a channel; a minimum ionising one leaves 15,000 or more
DEAD_CHANNEL, CHIRPING_CHANNEL = 744, 746
GOOD_FROM, MEASURED_FROM = 4150, 4300  # ticks: the chirping channel is good, and is measured
IS_GOOD = ~np.isin(CHIRPING.channels, (DEAD_CHANNEL, CHIRPING_CHANNEL))
GOOD_CHANNELS = int(IS_GOOD.sum())


def channels_found(signal: np.ndarray, electrons: float = FOUND_ELECTRONS) -> int:
    """Return the count of good channels, of a signal (48, tick), in which both crossing tracks have more than `electrons`."""
    parts = [measures.channels_with_charge(signal, first, last, electrons) for first, last in CROSSINGS]
    return int(np.logical_and.reduce([IS_GOOD, *parts]).sum())


def good_time(output: Output) -> tuple[float, float]:
    """Return noise and charge of the chirping channel in its good time over those of its two neighbours."""
    channels = np.array([CHIRPING_CHANNEL - 1, CHIRPING_CHANNEL, CHIRPING_CHANNEL + 1])
    noise = measures.channel_noise(output.rows(channels, WAVEFORM_TAG)[:, MEASURED_FROM:])
    charge = output.rows(channels)[:, MEASURED_FROM:].sum(axis=1, dtype=np.float64)
    return measures.ratio(noise[1], np.median(noise[::2])), measures.ratio(charge[1], charge[::2].mean())


def run(context: Context, found: Findings) -> None:
    """Process the group with and without steps."""
    outputs = {
        steps: run_groups(context.jobs, context.folder, steps)
        for steps in (NO_STEP, "coherent", "tails,coherent", EVERY_STEP)
    }
    rows, noise = [], {}
    for steps, output in outputs.items():
        signal = output.rows(CHIRPING.channels)
        noise[steps] = measures.quiet_noise(output.rows(CHIRPING.channels, WAVEFORM_TAG))
        rows.append(
            [
                steps,
                f"{measures.charge(signal):.1f}",
                f"{100 * measures.roi_share(signal):.1f}",
                str(channels_found(signal)),
                f"{noise[steps]:.0f}",
            ]
        )
    best = outputs[EVERY_STEP]
    noise_of_chirping, charge_of_chirping = good_time(best)
    found.values |= {
        "channels": channels_found(best.rows(CHIRPING.channels)),
        "noise": measures.ratio(noise[EVERY_STEP], noise[NO_STEP]),
        "chirping noise": noise_of_chirping,
        "chirping charge": charge_of_chirping,
    }
    heads = [
        "noise_filter",
        "charge [10^6 e]",
        "in ROIs [%]",
        f"good channels, of {GOOD_CHANNELS}, with both tracks",
        "quiet noise [e/tick]",
    ]
    found.tables.append(Table("Chirping group", heads, rows))
    raw = Panel("raw waveforms", context.folder.microboone(CHIRPING), CHIRPING.first, 40)
    name = context.gallery.before_and_after("real-chirping", raw, CHIRPING.channels, outputs[NO_STEP], best)
    found.pictures.append((name, "Chirping group: raw, before and after."))


STUDY = Study(
    "chirping",
    "MicroBooNE: shared noise, a dead and a chirping channel",
    (
        "48 induction wires with several tracks; two of them cross all wires.",
        f"Channel {DEAD_CHANNEL} is dead, and {CHIRPING_CHANNEL} is silent until tick {GOOD_FROM} and good afterwards.",
        f"Its good time is measured from tick {MEASURED_FROM} on, and compared with channels {CHIRPING_CHANNEL - 1} and "
        f"{CHIRPING_CHANNEL + 1}.",
        "It recovers with a drift of 8 ADC in the raw waveform over that time, which is part of its noise.",
        f"A track is found in a channel if it has more than {FOUND_ELECTRONS:g} electrons in the ticks of the track.",
    ),
    (
        at_least(
            "channels",
            f"channels, of the {GOOD_CHANNELS} others, in which both crossing tracks are found",
            GOOD_CHANNELS,
            digits=0,
        ),
        at_most("noise", "quiet noise with steps / without", 0.5),
        at_most(
            "chirping noise",
            "quiet noise of the chirping channel in its good time / median of its neighbours",
            1.5,
        ),
        at_least(
            "chirping charge", "charge of the chirping channel in its good time / mean of its neighbours", 0.5
        ),
    ),
    run,
)
