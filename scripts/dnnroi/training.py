# SPDX-License-Identifier: Apache-2.0
"""Training with checkpoints. Equal seeds give equal networks, also after an interruption."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from wirecell_profile.output_file import output_file

from .dataset import CropRule, EventSet
from .loss import weighted_loss
from .network import DNNROINet, Shape

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class TrainingRule:
    """Parameters of a training."""

    shape: Shape = Shape()
    crops: CropRule = CropRule()
    steps: int = 3000
    seed: int = 1
    rate: float = 4e-3  # highest learning rate; it rises over the first steps and falls like a cosine to zero
    warm: int = 100  # steps of the rise
    decay: float = 1e-4  # of the weights (AdamW)
    checkpoint: int = 200  # steps between checkpoints


class OtherTraining(RuntimeError):
    """A checkpoint belongs to a training with other parameters."""


def learning_rate(rule: TrainingRule, step: int) -> float:
    """Return the learning rate of a step, counted from 0."""
    if step < rule.warm:
        return rule.rate * (step + 1) / rule.warm
    done = (step - rule.warm) / max(rule.steps - rule.warm, 1)
    return rule.rate * 0.5 * (1 + math.cos(math.pi * done))


def best_device() -> torch.device:
    """Return a GPU if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Training:
    """A network, its optimiser and the number of steps done."""

    def __init__(self, rule: TrainingRule, device: torch.device) -> None:
        torch.manual_seed(rule.seed)
        self.rule, self.device = rule, device
        network: Any = DNNROINet(rule.shape).to(device)  # the stub of Module.to() lacks memory_format
        self.network: DNNROINet = network.to(memory_format=torch.channels_last)
        self.optimiser = torch.optim.AdamW(self.network.parameters(), lr=rule.rate, weight_decay=rule.decay)
        self.step = 0
        self.losses: list[float] = []

    def advance(self, events: EventSet) -> float:
        """Do one step; return its loss."""
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate(self.rule, self.step)
        features, target, weight = (
            part.to(self.device) for part in events.crops(self.rule.seed, self.step, self.rule.crops)
        )
        self.network.train()
        loss = weighted_loss(self.network(features), target, weight)
        self.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimiser.step()
        self.step += 1
        self.losses.append(float(loss.detach()))
        return self.losses[-1]

    def save(self, path: Path) -> None:
        """Write a checkpoint completely or not at all (see output_file)."""
        with output_file(path) as partial:
            torch.save(
                {
                    "rule": dataclasses.asdict(self.rule),
                    "step": self.step,
                    "losses": self.losses,
                    "network": self.network.state_dict(),
                    "optimiser": self.optimiser.state_dict(),
                },
                partial,
            )

    def load(self, path: Path) -> None:
        """Resume from a checkpoint. Raise OtherTraining if the parameters differ."""
        state: dict[str, Any] = torch.load(path, map_location=self.device, weights_only=True)
        wanted = dataclasses.asdict(self.rule)
        differing = [name for name in wanted if state["rule"].get(name) != wanted[name]]
        if differing:
            raise OtherTraining(
                f"{path} is the checkpoint of a training with another {', '.join(differing)}; "
                "start again with --fresh, or give another --work folder"
            )
        self.network.load_state_dict(state["network"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.losses = state["step"], state["losses"]


def train(training: Training, events: EventSet, checkpoint: Path, progress: Progress) -> None:
    """Train up to the last step and write checkpoints."""
    rule = training.rule
    while training.step < rule.steps:
        training.advance(events)
        if training.step % rule.checkpoint == 0 or training.step == rule.steps:
            training.save(checkpoint)
        recent = training.losses[-100:]
        progress(training.step, rule.steps, f"steps, loss {sum(recent) / len(recent):.4f}")
