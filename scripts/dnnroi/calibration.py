# SPDX-License-Identifier: Apache-2.0
"""Make the output of a network the probability of its target (docs/dnnroi.md#calibration).

The loss weights the samples within an ROI, so the trained output is too high. A straight line on the logits, fitted on events that
are not used otherwise, corrects it. The line becomes part of the last convolution of the network, and the threshold moves with it, so
that the ROIs stay the same.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np
import torch

from .dataset import EventSet
from .evaluation import probabilities

LARGEST_LOGIT = 16.0  # float32 has no larger probability below 1
STEPS = 4000  # of the logit, in the fit


@dataclass(frozen=True)
class Line:
    """logit of the probability = slope * logit of the output + offset."""

    slope: float
    offset: float

    def probability(self, output: float) -> float:
        """Return the probability for an output of the network."""
        odds = (output / (1 - output)) ** self.slope * np.exp(self.offset)
        return float(odds / (1 + odds))


def metadata(line: Line, threshold: float) -> dict[str, Any]:
    """Return keys of a model file (spng/nodes/dnn/model.h). threshold: of the output before the line."""
    return {"mask_threshold": line.probability(threshold), "calibration": asdict(line)}


def fit_line(logits: np.ndarray, samples: np.ndarray, in_target: np.ndarray) -> Line:
    """Return the line with the smallest cross entropy (Platt scaling), by Newton's method.

    samples  with these logits; in_target: those of them in the target. All (step,).
    """
    terms = np.stack([logits, np.ones_like(logits)])
    line = np.array([1.0, 0.0])
    for _ in range(50):
        probability = 1 / (1 + np.exp(-line @ terms))
        gradient = terms @ (samples * probability - in_target)
        curvature = (terms * samples * probability * (1 - probability)) @ terms.T
        change = np.linalg.solve(curvature, gradient)
        line -= change
        if np.abs(change).max() < 1e-10:
            break
    return Line(float(line[0]), float(line[1]))


def fit(model: torch.nn.Module, events: EventSet) -> Line:
    """Return the line for a model file or an export.Probability."""
    counted = np.zeros((2, STEPS))
    for index in range(len(events.charge)):
        output = probabilities(model, events, index).astype(np.float64)
        with np.errstate(divide="ignore"):
            logits = (np.log(output) - np.log1p(-output)).clip(-LARGEST_LOGIT, LARGEST_LOGIT)
        steps = np.rint((logits / LARGEST_LOGIT + 1) / 2 * (STEPS - 1)).astype(np.int64).ravel()
        counted[0] += np.bincount(steps, minlength=STEPS)
        counted[1] += np.bincount(steps, events.target[index].ravel(), minlength=STEPS)
    return fit_line(np.linspace(-LARGEST_LOGIT, LARGEST_LOGIT, STEPS), *counted)


def apply_line(line: Line, weight: torch.Tensor, bias: torch.Tensor) -> None:
    """Change the last convolution of a network, which gives its logits."""
    with torch.no_grad():
        weight.mul_(line.slope)
        bias.mul_(line.slope).add_(line.offset)


def last_convolution(model: torch.jit.ScriptModule) -> tuple[torch.Tensor, torch.Tensor]:
    """Return weight and bias of the last convolution of a file of export.write_torch_script; changes of them change the model."""
    convolution = [node for node in model.graph.nodes() if node.kind() == "aten::conv2d"][-1]
    _, weight, bias, *_ = convolution.inputs()
    return cast(torch.Tensor, weight.toIValue()), cast(torch.Tensor, bias.toIValue())
