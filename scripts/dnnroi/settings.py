# SPDX-License-Identifier: Apache-2.0
"""Sizes of a training. All its seeds are below 900000, the first seed of `./wcb physics`."""

from __future__ import annotations

from dataclasses import dataclass

from .dataset import CropRule
from .training import TrainingRule

FIRST_TRAINING_SEED = 100_000
FIRST_HELD_OUT_SEED = 200_000
FIRST_CALIBRATION_SEED = 203_000


@dataclass(frozen=True)
class Setting:
    """Numbers of events and the rule of the training."""

    events: int
    held_out: int  # also for the calibration
    training: TrainingRule

    def training_seeds(self) -> range:
        """Return the seeds of the training events."""
        return range(FIRST_TRAINING_SEED, FIRST_TRAINING_SEED + self.events)

    def held_out_seeds(self) -> range:
        """Return the seeds of the events for figures of merit, which are not used for training."""
        return range(FIRST_HELD_OUT_SEED, FIRST_HELD_OUT_SEED + self.held_out)

    def calibration_seeds(self) -> range:
        """Return the seeds of the events for the calibration, which are used for nothing else."""
        return range(FIRST_CALIBRATION_SEED, FIRST_CALIBRATION_SEED + self.held_out)


SETTINGS = {
    "full": Setting(events=200, held_out=8, training=TrainingRule(steps=9000)),
    "small": Setting(
        events=8,
        held_out=2,
        training=TrainingRule(
            steps=120, warm=20, checkpoint=40, crops=CropRule(count=16, channels=64, samples=256)
        ),
    ),
}
