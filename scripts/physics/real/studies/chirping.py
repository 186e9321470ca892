# SPDX-License-Identifier: Apache-2.0
"""The chirping group of MicroBooNE: tracks under strong shared noise, one dead and one chirping channel."""

from __future__ import annotations

import numpy as np

from scripts.output import Table

from .. import measures
from ..bars import Limit
from ..datasets import CHIRPING
from ..jobs import WAVEFORM_TAG, Output
from ..microboone import EVERY_STEP, run_groups
from ..pictures import Panel
from ..study import Context, Findings, Study

# Two tracks cross all channels of the group: seen in the raw waveforms.
CROSSINGS = ((5100, 5650), (9200, 9500))  # ticks
FOUND_ELECTRONS = 5000.0  # of a track in a channel; a minimum ionising one leaves 15,000 or more
DEAD_CHANNEL, CHIRPING_CHANNEL = 744, 746
GOOD_FROM = 4150  # tick from which the chirping channel has the noise of its neighbours
NO_STEP = "none"


def channels_found(signal: np.ndarray) -> int:
    """Return the count of channels, of a signal (48, tick), in which both crossing tracks are found."""
    parts = [measures.channels_with_charge(signal, first, last, FOUND_ELECTRONS) for first, last in CROSSINGS]
    return int(np.logical_and.reduce(parts).sum())


def silent_share(output: Output, channel: int, first: int, last: int) -> float:
    """Return the share of ticks of a channel, from first to last, that a mask `bad` covers."""
    is_masked = np.zeros(last, dtype=bool)
    for ident, begin, end in output.events[0].masks.get("bad", np.zeros((0, 3), np.int64)):
        if ident == channel:
            is_masked[max(0, begin) : end] = True
    return float(is_masked[first:last].mean())


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
    at = CHIRPING.channels.tolist().index(CHIRPING_CHANNEL)
    found.values |= {
        "channels": channels_found(best.rows(CHIRPING.channels)),
        "noise": measures.ratio(noise[EVERY_STEP], noise[NO_STEP]),
        "chirping": measures.charge(best.rows(CHIRPING.channels)[at : at + 1, GOOD_FROM:]),
    }
    heads = [
        "noise_filter",
        "charge [10^6 e]",
        "in ROIs [%]",
        "channels with both tracks",
        "quiet noise [e/tick]",
    ]
    found.tables.append(Table("Chirping group", heads, rows))
    name = context.gallery.images(
        "real-chirping",
        [
            Panel("raw waveforms", context.folder.microboone(CHIRPING), CHIRPING.first, 40),
            Panel("charge, noise_filter=none", outputs[NO_STEP].rows(CHIRPING.channels), CHIRPING.first),
            Panel("charge, all steps of the detector", best.rows(CHIRPING.channels), CHIRPING.first),
        ],
    )
    found.pictures.append((name, "Chirping group: raw, before and after."))


STUDY = Study(
    "chirping",
    "MicroBooNE: shared noise, a dead and a chirping channel",
    (
        "48 induction wires with several tracks; two of them cross all wires.",
        f"Channel {DEAD_CHANNEL} is dead, and {CHIRPING_CHANNEL} is silent until tick {GOOD_FROM} and good afterwards.",
        f"A track is found in a channel if it has more than {FOUND_ELECTRONS:g} electrons in the ticks of the track.",
    ),
    (
        Limit("channels", "channels, of 48, in which both crossing tracks are found", 46, None, "", 0),
        Limit("noise", "quiet noise with steps / without", None, 0.5),
        Limit("chirping", "charge of the chirping channel in its good time", 0.01, None, "10^6 e"),
    ),
    run,
)
