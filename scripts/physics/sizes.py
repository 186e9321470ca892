# SPDX-License-Identifier: Apache-2.0
"""Numbers of events of a study, its first seed and thresholds. The command line shows them before NumPy is installed."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_SEED = 900_000  # seeds below are for training and tuning
ACTIVITY = (5, 10, 30, 60)  # muons of an event
SEED_FACTORS = (3.0, 5.0, 6.0, 8.0, 12.0)  # thresholds of the rule's seeds [noise RMS]; the rule itself has 4


@dataclass(frozen=True)
class Sizes:
    """Numbers of events of the samples. lines: for each view; muons: for each activity.

    seed_factors  some of SEED_FACTORS
    timed         events of the job whose time is measured, two or more
    is_brief      samples of the same simulation have the same events; noise and the default event have fewer variants
    """

    lines: int
    muons: int
    noise: int
    dead: int
    activity: tuple[int, ...] = ACTIVITY
    batch: int = 4
    seed_factors: tuple[float, ...] = SEED_FACTORS
    timed: int = 4
    is_brief: bool = False


# 28 lines make the statistical error of a bias on U and V about 1 %.
FULL = Sizes(lines=28, muons=4, noise=4, dead=4)
QUICK = Sizes(
    lines=1,
    muons=1,
    noise=1,
    dead=1,
    activity=(10,),
    batch=1,
    seed_factors=(SEED_FACTORS[0], SEED_FACTORS[-1]),
    timed=2,
    is_brief=True,
)

ROBUSTNESS_SEED = 930_000  # first seed of ./wcb physics --robustness, beyond those of ./wcb physics
ROBUSTNESS_EVENTS = 20  # of each of its conditions
ROBUSTNESS_GROUPS = tuple("noise charge gain noisy drift few points lines ends heavy response".split())

DETECTORS_SEED = 950_000  # first seed of ./wcb physics --detectors
DETECTORS_EVENTS, DETECTORS_TRACKS = 20, 20  # events of each detector, muons of an event
DETECTORS = tuple("pdhd pdhd_badAPA1 pdsp microboone sbnd pdvd_bottom pdvd_top icarus".split())

REAL_STUDIES = tuple("rcrc chirping noisy misconfigured steps boards few pdhd pdvd products".split())
