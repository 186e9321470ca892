# SPDX-License-Identifier: Apache-2.0
"""The published event of ProtoDUNE-HD."""

from __future__ import annotations

from ..bars import Limit, at_least
from ..datasets import PDHD
from ..study import Context, Findings, Study
from . import protodune

EVENT = protodune.Event(PDHD, "pdhd", 1, "gauss1", ("default", "none"))
# What independent code gave, charge .95, .93, .995 and efficiency 1.000, .999, 1.000, to the last digit.
CHARGE = {"U": 0.945, "V": 0.925, "W": 0.9945}
EFFICIENCY = {"U": 0.9995, "V": 0.9985, "W": 0.9995}
HIGHEST = 1.05


def run(context: Context, found: Findings) -> None:
    """Measure the event and the closure on it."""
    protodune.run(context, EVENT, "real-pdhd", found)


STUDY = Study(
    "pdhd",
    "ProtoDUNE-HD: charge that the Wire-Cell Toolkit found",
    (
        "The raw waveforms of this event are not public.",
        "Closure: waveforms are made of the published charge with the response of a wire and measured noise, processed "
        "with `noise_filter=none`, and compared with that charge.",
        "Short pulses: no pulse of the channel is longer than 50 us.",
        "Masked channels do not count.",
        "The published charge has weak parts that the other program kept or its regressor made; they count as truth.",
    ),
    (
        *(
            Limit(f"charge {view}", f"closure, charge of {view} / published", low, HIGHEST)
            for view, low in CHARGE.items()
        ),
        *(
            at_least(
                f"efficiency {view}", f"closure, efficiency of {view} above 1500 electrons", low, digits=4
            )
            for view, low in EFFICIENCY.items()
        ),
    ),
    run,
)
