# SPDX-License-Identifier: Apache-2.0
"""The noisy group of MicroBooNE: channels with up to 285 ADC of noise between quiet ones."""

from __future__ import annotations

import numpy as np

from scripts.output import Table

from .. import measures
from ..bars import at_least, at_most
from ..datasets import NOISY, TICKS
from ..jobs import Output
from ..microboone import EVERY_STEP, NO_STEP, run_groups
from ..pictures import Panel
from ..study import Context, Findings, Study

LOUD_ADC, NOISY_ADC = 200.0, 5.0  # RMS of the raw samples
NOISY_CHANNELS = 20  # above NOISY_ADC


def masked(output: Output, channels: np.ndarray) -> np.ndarray:
    """Return (channel,) bool: in the mask `bad` for the whole readout."""
    return np.isin(channels, measures.whole_readout(output.events[0].masks.get("bad"), TICKS))


def run(context: Context, found: Findings) -> None:
    """Process the group with and without steps."""
    raw = context.folder.microboone(NOISY)
    rms = raw.std(axis=1)
    kinds = {
        f"above {LOUD_ADC:g} ADC": rms > LOUD_ADC,
        f"{NOISY_ADC:g} to {LOUD_ADC:g} ADC": (rms > NOISY_ADC) & (rms <= LOUD_ADC),
        f"below {NOISY_ADC:g} ADC": rms <= NOISY_ADC,
    }
    outputs = {steps: run_groups(context.jobs, context.folder, steps) for steps in (NO_STEP, EVERY_STEP)}
    rows = []
    for steps, output in outputs.items():
        lost, signal = masked(output, NOISY.channels), output.rows(NOISY.channels)
        for kind, chosen in kinds.items():
            share, charge = measures.roi_share(signal[chosen]), measures.charge(signal[chosen])
            rows.append(
                [
                    steps,
                    kind,
                    str(chosen.sum()),
                    str((lost & chosen).sum()),
                    f"{100 * share:.2f}",
                    f"{charge:.2f}",
                ]
            )
    lost = masked(outputs[EVERY_STEP], NOISY.channels)
    found.values |= {
        "noisy": float(lost[rms > NOISY_ADC].sum()),
        "quiet": float(lost[rms <= NOISY_ADC].sum()),
    }
    heads = ["noise_filter", "RMS of the raw samples", "channels", "masked", "in ROIs [%]", "charge [10^6 e]"]
    found.tables.append(Table("Noisy group", heads, rows, 2))
    panel = Panel("raw waveforms", raw, NOISY.first, 40)
    name = context.gallery.before_and_after(
        "real-noisy", panel, NOISY.channels, outputs[NO_STEP], outputs[EVERY_STEP]
    )
    found.pictures.append((name, "Noisy group: raw, before and after."))


STUDY = Study(
    "noisy",
    "MicroBooNE: noisy channels",
    (
        f"48 induction wires: {NOISY_CHANNELS} are noisy, 17 of them with 234 to 285 ADC RMS and 3 with 10 ADC, and 28 have 1.1 to "
        "1.4 ADC.",
        "No track is seen in the quiet ones.",
    ),
    (
        at_least(
            "noisy",
            f"channels above {NOISY_ADC:g} ADC, of {NOISY_CHANNELS}, that are masked",
            NOISY_CHANNELS,
            digits=0,
        ),
        at_most("quiet", f"channels below {NOISY_ADC:g} ADC, of 28, that are masked", 0, digits=0),
    ),
    run,
)
