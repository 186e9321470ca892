# SPDX-License-Identifier: Apache-2.0
"""Loss function of the training."""

from __future__ import annotations

import torch
from torch.nn import functional


def weighted_loss(logits: torch.Tensor, target: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Return the weighted mean cross entropy. All (crop, 1, channel, sample) float32; weights: target.target_and_weight."""
    each = functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
    return (each * weight).sum() / weight.sum().clamp(min=1)
