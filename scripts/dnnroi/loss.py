# SPDX-License-Identifier: Apache-2.0
"""Loss function of the training."""

from __future__ import annotations

import torch
from torch.nn import functional

HEAVY_ELECTRONS = 1000.0  # charge in a tick that doubles a sample's weight
HEAVIEST = 4.0


def weighted_loss(
    logits: torch.Tensor, target: torch.Tensor, truth: torch.Tensor, counts: torch.Tensor
) -> torch.Tensor:
    """Return the mean cross entropy with the weight 1 + truth / HEAVY_ELECTRONS, at most HEAVIEST.

    A hole in a long pulse costs more charge than a lost end, since each side of it gets its own baseline. Ends and empty
    samples have weight 1, so that the output there is the probability of the target.

    All (crop, 1, channel, sample) float32. truth: electrons; counts: 0 for samples that do not count.
    """
    weight = counts * (1 + truth / HEAVY_ELECTRONS).clamp(max=HEAVIEST)
    each = functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
    return (each * weight).sum() / weight.sum().clamp(min=1)
