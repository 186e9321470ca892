# SPDX-License-Identifier: Apache-2.0
"""Numbers of events of a study and their first seed. The command line shows them before NumPy is installed."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_SEED = 900_000  # seeds below are for training and tuning
ACTIVITY = (5, 10, 30, 60)  # muons of an event


@dataclass(frozen=True)
class Sizes:
    """Numbers of events of the samples. lines: for each view; muons: for each activity."""

    lines: int
    muons: int
    noise: int
    dead: int
    activity: tuple[int, ...] = ACTIVITY
    batch: int = 4


# 28 lines make the statistical error of a bias on U and V about 1 %.
FULL = Sizes(lines=28, muons=4, noise=4, dead=4)
QUICK = Sizes(lines=1, muons=1, noise=1, dead=1, activity=(10,), batch=1)
