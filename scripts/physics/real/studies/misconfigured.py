# SPDX-License-Identifier: Apache-2.0
"""MicroBooNE's misconfigured channels: the real ones, which have no track, and a twin: the chirping group as electronics of
4.7 mV/fC and 1 us would have recorded it.
"""

from __future__ import annotations

from scripts.output import Table

from .. import measures
from ..bars import Limit, at_least, at_most
from ..datasets import CHIRPING, MISCONFIGURED, DataMissing
from ..jobs import WAVEFORM_TAG
from ..microboone import EVERY_STEP, NO_STEP, TWIN, run_misconfigured, run_twin, twin_frame
from ..pictures import Panel
from ..study import Context, Findings, Study, first_lines
from .chirping import GOOD_CHANNELS, channels_found
from .noisy import masked


def run_real(context: Context, found: Findings) -> None:
    """Process the raw groups and the misconfigured one, if it is present."""
    try:
        context.folder.microboone(MISCONFIGURED)
    except DataMissing as problem:
        found.problems.append(first_lines(problem))
        return
    rows = []
    for steps in (NO_STEP, EVERY_STEP):
        output = run_misconfigured(context.jobs, context.folder, steps)
        signal, lost = output.rows(MISCONFIGURED.channels), masked(output, MISCONFIGURED.channels).sum()
        share = 100 * measures.roi_share(signal)
        noise = measures.quiet_noise(output.rows(MISCONFIGURED.channels, WAVEFORM_TAG))
        rows.append([steps, f"{measures.charge(signal):.2f}", f"{share:.2f}", f"{noise:.0f}", str(lost)])
        found.values |= {"masked": float(lost), "share": share}
    heads = ["noise_filter", "charge [10^6 e]", "in ROIs [%]", "quiet noise [e/tick]", "masked"]
    found.tables.append(Table("Misconfigured group", heads, rows))


def run(context: Context, found: Findings) -> None:
    """Process the raw groups with the twin, then with the misconfigured group."""
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
        "twin": float(channels_found(twin)),
    }
    heads = [
        "noise_filter",
        "channels",
        "charge [10^6 e]",
        "in ROIs [%]",
        f"good channels, of {GOOD_CHANNELS}, with both tracks",
        "masked",
    ]
    found.tables.append(Table("Misconfigured twin", heads, rows, 2))
    waveforms = twin_frame(context.folder).only().rows(TWIN.channels)
    raw = Panel("waveforms of the twin", waveforms, TWIN.first, 40)
    name = context.gallery.before_and_after("real-misconfigured", raw, TWIN.channels, outputs[NO_STEP], best)
    found.pictures.append((name, "Misconfigured twin: waveforms, before and after."))
    run_real(context, found)


STUDY = Study(
    "misconfigured",
    "MicroBooNE: misconfigured electronics",
    (
        f"Channels {MISCONFIGURED.first} to {MISCONFIGURED.channels[-1]} of MicroBooNE were misconfigured; no track is seen in their "
        f"waveforms (`{MISCONFIGURED.header}`).",
        "So charge is measured on a twin, which is not data: the waveforms of the chirping group times the ratio of the responses of "
        "4.7 mV/fC and 1 us to 14 mV/fC and 2.2 us, mirrored, as the same channels.",
        "The other groups are in the same frame.",
    ),
    (
        Limit("charge", "charge of the twin / charge of the chirping group", 0.95, 1.05),
        *(
            at_least(
                key,
                f"good channels, of {GOOD_CHANNELS}, of the {name} in which both crossing tracks are found",
                low,
                digits=0,
            )
            for key, name, low in (("source", "chirping group", GOOD_CHANNELS), ("twin", "twin", 44))
        ),
        at_most("masked", "masked channels of the misconfigured group", 0, digits=0, is_optional=True),
        at_most("share", "samples of the misconfigured group in ROIs", 1.0, "%", 2, is_optional=True),
    ),
    run,
)
