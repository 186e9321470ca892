# SPDX-License-Identifier: Apache-2.0
"""A twin of MicroBooNE's misconfigured channels: the chirping group as electronics of 4.7 mV/fC and 1 us would have recorded it."""

from __future__ import annotations

from scripts.output import Table

from .. import measures
from ..bars import Limit
from ..datasets import CHIRPING
from ..microboone import EVERY_STEP, TWIN, run_twin, twin_frame
from ..pictures import Panel
from ..study import Context, Findings, Study
from .chirping import channels_found
from .noisy import masked

NO_STEP = "none"


def run(context: Context, found: Findings) -> None:
    """Process the raw groups and the twin."""
    outputs = {
        steps: run_twin(context.jobs, context.folder, steps)
        for steps in (NO_STEP, "tails,coherent", EVERY_STEP)
    }
    rows = []
    for steps, output in outputs.items():
        for group in (CHIRPING, TWIN):
            signal = output.rows(group.channels)
            rows.append(
                [
                    steps,
                    f"{group.name} ({group.first} to {group.channels[-1]})",
                    f"{measures.charge(signal):.1f}",
                    f"{100 * measures.roi_share(signal):.1f}",
                    str(channels_found(signal if group == CHIRPING else signal[::-1])),
                    str(masked(output, group.channels).sum()),
                ]
            )
    best = outputs[EVERY_STEP]
    source, twin = best.rows(CHIRPING.channels), best.rows(TWIN.channels)[::-1]
    found.values |= {
        "charge": measures.ratio(measures.charge(twin), measures.charge(source)),
        "source": float(channels_found(source)),
    }
    heads = [
        "noise_filter",
        "channels",
        "charge [10^6 e]",
        "in ROIs [%]",
        "channels with both tracks",
        "masked",
    ]
    found.tables.append(Table("Misconfigured twin", heads, rows, 2))
    name = context.gallery.images(
        "real-misconfigured",
        [
            Panel(
                "waveforms of the twin", twin_frame(context.folder).only().rows(TWIN.channels), TWIN.first, 40
            ),
            Panel("charge, noise_filter=none", outputs[NO_STEP].rows(TWIN.channels), TWIN.first),
            Panel("charge, all steps of the detector", best.rows(TWIN.channels), TWIN.first),
        ],
    )
    found.pictures.append((name, "Misconfigured twin: waveforms, before and after."))


STUDY = Study(
    "misconfigured",
    "MicroBooNE: misconfigured electronics",
    (
        "A twin, not data: the waveforms of the chirping group times the ratio of the responses of 4.7 mV/fC and 1 us to 14 mV/fC "
        "and 2.2 us, mirrored, as channels 2016 to 2063, which were misconfigured in MicroBooNE.",
        "All real groups are in the same frame.",
    ),
    (
        Limit("charge", "charge of the twin / charge of the chirping group", 0.95, 1.05),
        Limit(
            "source",
            "channels, of 48, of the real group in which both crossing tracks are found",
            46,
            None,
            "",
            0,
        ),
    ),
    run,
)
