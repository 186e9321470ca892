# SPDX-License-Identifier: Apache-2.0
"""The simulated set on disk, and the crops of a training step.

An event is one compressed file: charge image and truth as float16, masks as bits. The targets are made from the truth when
the set is read, so the rule can change without a new simulation. A crop depends only on the seed of the training and the
index of the step, so a resumed training sees the same crops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from wirecell_profile.output_file import output_file

from .events import depositions
from .network import ELECTRONS
from .simulation import Event, simulate
from .target import TargetRule, regions

Progress = Callable[[int, int, str], None]


def event_file(folder: Path, seed: int) -> Path:
    """Return the path of the event of a seed."""
    return folder / f"event-{seed:07d}.npz"


def write_event(path: Path, event: Event) -> None:
    """Write an event completely or not at all (see output_file)."""
    bits = event.masks[:, 0].astype(np.uint8) + 2 * event.masks[:, 1].astype(np.uint8)
    limit = np.finfo(np.float16).max
    with output_file(path) as partial:
        np.savez_compressed(
            partial,
            charge=event.charge.clip(-limit, limit).astype(np.float16),
            bits=bits,
            truth=event.truth.clip(0, limit).astype(np.float16),
        )


def read_event(path: Path) -> Event:
    """Read a file of write_event."""
    with np.load(path) as arrays:
        bits = arrays["bits"]
        masks = np.stack([bits & 1, bits >> 1 & 1], axis=1).astype(bool)
        return Event(arrays["charge"], masks, arrays["truth"])


def make_events(
    folder: Path, seeds: Sequence[int], program: Path, progress: Progress, together: int = 4
) -> None:
    """Simulate the events that the folder lacks, `together` in a job."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [seed for seed in seeds if not event_file(folder, seed).exists()]
    done = len(seeds) - len(missing)
    for begin in range(0, len(missing), together):
        part = missing[begin : begin + together]
        for seed, event in zip(part, simulate(program, [depositions(seed) for seed in part], part[0])):
            write_event(event_file(folder, seed), event)
            done += 1
            progress(done, len(seeds), "events")


@dataclass(frozen=True)
class CropRule:
    """Crops of a step and their variations."""

    count: int = 16
    channels: int = 64
    samples: int = 512
    on_charge: float = 0.85  # share of crops around a true sample
    dead: float = 0.2  # share of crops with dead channels, up to three


class EventSet:
    """Events in memory: images as float16, targets as bool, all (event * view, channel, sample)."""

    def __init__(self, folder: Path, seeds: Sequence[int], rule: TargetRule = TargetRule()) -> None:
        events = [read_event(event_file(folder, seed)) for seed in seeds]
        self.charge = np.concatenate([event.charge for event in events])
        self.masks = np.concatenate([event.masks for event in events])
        self.truth = np.concatenate([event.truth for event in events])
        self.target = np.stack([regions(view.astype(np.float32), rule) for view in self.truth])
        self._charged = [np.flatnonzero(view) for view in self.target]
        self._with_charge = [view for view, samples in enumerate(self._charged) if len(samples)]

    def features(self, view: int) -> np.ndarray:
        """Return the network's input, float32 (3, channel, sample)."""
        return np.concatenate(
            [self.charge[view : view + 1].astype(np.float32) / ELECTRONS, self.masks[view].astype(np.float32)]
        )

    def _crop_origin(self, rng: np.random.Generator, rule: CropRule) -> tuple[int, int, int]:
        """Draw view, first channel (the axis is cyclic) and first sample of a crop."""
        channels, samples = self.charge.shape[1:]
        last = max(samples - rule.samples, 0)
        if self._with_charge and rng.random() < rule.on_charge:
            view = self._with_charge[rng.integers(len(self._with_charge))]
            row, sample = divmod(int(rng.choice(self._charged[view])), samples)
            first = sample - int(rng.integers(rule.samples))
            return view, row - int(rng.integers(rule.channels)), min(max(first, 0), last)
        return int(rng.integers(len(self.charge))), int(rng.integers(channels)), int(rng.integers(last + 1))

    def crops(
        self, seed: int, step: int, rule: CropRule
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return a step's crops: features, target, true charge, and the weight of each sample (0 on dead channels, else 1).

        Features are (crop, 3, channel, sample), the others (crop, 1, channel, sample); all float32.
        """
        rng = np.random.default_rng((seed, step))
        rows_of_all = self.charge.shape[1]
        parts: list[tuple[np.ndarray, ...]] = []
        for _ in range(rule.count):
            view, row, first = self._crop_origin(rng, rule)
            rows = np.arange(row, row + rule.channels)
            if rng.random() < 0.5:
                rows = rows[::-1]  # the response is the same on both sides of a wire
            rows = rows % rows_of_all
            samples = slice(first, first + rule.samples)
            charge = self.charge[view][rows, samples].astype(np.float32) / ELECTRONS
            masks = self.masks[view][:, rows, samples].astype(np.float32)
            counts = np.ones_like(charge)
            if rng.random() < rule.dead:
                dead = rng.choice(rule.channels, rng.integers(1, 4), replace=False)
                charge[dead], counts[dead] = 0.0, 0.0
            parts.append(
                (
                    np.concatenate([charge[None], masks]),
                    self.target[view][rows, samples][None].astype(np.float32),
                    self.truth[view][rows, samples][None].astype(np.float32),
                    counts[None],
                )
            )
        features, target, truth, counts = (torch.from_numpy(np.stack(part)) for part in zip(*parts))
        return features, target, truth, counts
