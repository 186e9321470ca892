# SPDX-License-Identifier: Apache-2.0
"""The charge of the default event against the truth, in ROIs and before them."""

from __future__ import annotations

import numpy as np
from spng.charge_tags import TRUTH_TAGS, first_of

from scripts.output import Table
from scripts.wcb.checkout import ROOT
from spng import planes, read_frames

from .. import measures
from ..bars import Limit, at_most
from ..jobs import WAVEFORM_TAG
from ..study import Context, Findings, Study
from .boards import default_event

TRUTH = ROOT / "data" / "tracks10-truth.npz"
VIEWS = ("U", "V", "W")
LARGEST_BASELINE = 1.0  # electrons per tick


def run(context: Context, found: Findings) -> None:
    """Compare the sum of the charge with the truth, and look for baselines in the waveforms before ROIs."""
    given = context.jobs.input("default-event", default_event)
    tags = f"signal,{WAVEFORM_TAG}"
    output = context.jobs.pipeline(given, detname="pdhd", tags=tags, noise_filter="none", model="default")
    truth = first_of(next(read_frames(TRUTH)), TRUTH_TAGS)
    rows = []
    for view, channels in planes("pdhd", 0).items():
        true = measures.charge(truth.rows(channels))
        ratio = measures.ratio(measures.charge(output.rows(channels)), true)
        baseline = float(np.abs(np.median(output.rows(channels, WAVEFORM_TAG), axis=1)).max())
        rows.append([view, f"{true:.1f}", f"{ratio:.3f}", f"{baseline:.1f}"])
        found.values |= {view: ratio, f"baseline {view}": baseline}
    heads = ["view", "truth [10^6 e]", "signal / truth", f"largest baseline of {WAVEFORM_TAG} [e/tick]"]
    found.tables.append(Table("Products", heads, rows))


STUDY = Study(
    "products",
    "Charge in ROIs and before them",
    (
        "The simulated default event of ProtoDUNE-HD with the network, sums over all channels and ticks.",
        f"`signal` is what other programs of the field call gauss; `{WAVEFORM_TAG}` is the waveform before ROIs.",
        "Its baseline here is the mean of the two middle samples of a channel; the program subtracts the lower one, so half of their "
        "distance is left.",
    ),
    (
        *(Limit(view, f"charge in ROIs / truth on {view}", 0.95, 1.05) for view in VIEWS),
        *(
            at_most(
                f"baseline {view}", f"largest baseline before ROIs on {view}", LARGEST_BASELINE, "e/tick", 1
            )
            for view in VIEWS
        ),
    ),
    run,
)
