# SPDX-License-Identifier: Apache-2.0
"""The RC-RC group of MicroBooNE: a track whose coupling capacitors leave an undershoot of 45 ADC over 1 ms."""

from __future__ import annotations

from scripts.output import Table

from .. import measures
from ..bars import Limit, at_most
from ..datasets import RCRC
from ..jobs import WAVEFORM_TAG, Output
from ..microboone import EVERY_STEP, NO_STEP, run_groups
from ..pictures import Curves, Panel
from ..study import Context, Findings, Study

TRACK_ELECTRONS = 100_000.0  # of a channel of the track
GAP, AFTER = 40, 2000  # ticks: between the track and the undershoot that is measured, and the time constant
SHOWN_CHANNEL = 7737
TAILS = "tails"


def mean_after_track(output: Output, reference: Output) -> float:
    """Return the mean waveform after the track [electrons per tick], where the reference finds the track."""
    track = reference.rows(RCRC.channels)
    used = track.sum(axis=1) > TRACK_ELECTRONS
    ends = measures.end_of_track(track[used]) + GAP
    return measures.mean_after(output.rows(RCRC.channels, WAVEFORM_TAG)[used], ends, AFTER)


def run(context: Context, found: Findings) -> None:
    """Process the group with and without steps."""
    outputs = {
        steps: run_groups(context.jobs, context.folder, steps)
        for steps in (NO_STEP, TAILS, "tails,coherent", EVERY_STEP)
    }
    best = outputs[EVERY_STEP]
    rows = []
    for steps, output in outputs.items():
        signal = output.rows(RCRC.channels)
        after = mean_after_track(output, best)
        noise = measures.quiet_noise(output.rows(RCRC.channels, WAVEFORM_TAG))
        charge, share = measures.charge(signal), measures.roi_share(signal)
        rows.append([steps, f"{charge:.2f}", f"{100 * share:.2f}", f"{after:+.1f}", f"{noise:.0f}"])
        if steps == EVERY_STEP:
            found.values |= {"charge": charge, "share": 100 * share, "after": abs(after)}
    heads = (
        "noise_filter, charge [10^6 e], in ROIs [%], after the track [e/tick], quiet noise [e/tick]".split(
            ", "
        )
    )
    found.tables.append(Table("RC-RC group", heads, rows))
    raw = Panel("raw waveforms", context.folder.microboone(RCRC), RCRC.first, 40)
    shown = RCRC.channels.tolist().index(SHOWN_CHANNEL)
    labels = {"noise_filter=none": outputs[NO_STEP], "all steps of the detector": best}
    curves = Curves(
        f"deconvolved waveform of channel {SHOWN_CHANNEL}",
        {label: output.rows(RCRC.channels, WAVEFORM_TAG)[shown] for label, output in labels.items()},
        "electrons / tick",
        (-1500, 1500),
    )
    name = context.gallery.before_and_after("real-rcrc", raw, RCRC.channels, outputs[NO_STEP], best, curves)
    found.pictures.append((name, "RC-RC group: raw, before and after."))


STUDY = Study(
    "rcrc",
    "MicroBooNE: tails of the RC coupling",
    (
        "48 collection wires with a track that scatters, with delta rays, and an undershoot after it.",
        f"After the track: mean of the deconvolved waveform over {AFTER} ticks (1 ms) from {GAP} ticks after the end of the "
        f"track, in the channels of the track with more than {TRACK_ELECTRONS:g} electrons.",
    ),
    (
        Limit("charge", "charge of the RC-RC group", 9.5, 10.5, "10^6 e", 2),
        at_most("share", "samples of the RC-RC group in ROIs", 1.5, "%", 2),
        at_most("after", "mean after the track, either sign", 15.0, "e/tick", 1),
    ),
    run,
)
