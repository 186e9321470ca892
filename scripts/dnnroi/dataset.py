# SPDX-License-Identifier: Apache-2.0
"""The simulated set on disk, and the crops of a training step.

An event is one compressed file: images and truth as float16, masks as bits. The targets are made from the truth when
the set is read, so the rule can change without a new simulation. A crop depends only on the seed of the training and the
index of the step, so a resumed training sees the same crops.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from wirecell_profile.output_file import output_file

from .conditions import Conditions
from .events import depositions
from .network import ELECTRONS
from .noise import divisors, noise_of_channels, view_noise
from .simulation import Event, simulate
from .target import TargetRule, target_and_weight

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
            dead=event.dead,
        )


def read_event(path: Path) -> Event:
    """Read a file of write_event."""
    with np.load(path) as arrays:
        bits = arrays["bits"]
        masks = np.stack([bits & 1, bits >> 1 & 1], axis=1).astype(bool)
        return Event(arrays["charge"], masks, arrays["truth"], arrays["dead"])


def make_events(
    folder: Path,
    seeds: Sequence[int],
    conditions: Conditions,
    program: Path,
    progress: Progress,
    together: int = 4,
) -> None:
    """Simulate the events that the folder lacks: `together` in a job, one job on each core. The seeds of a job follow each other."""
    folder.mkdir(parents=True, exist_ok=True)
    jobs = [seeds[begin : begin + together] for begin in range(0, len(seeds), together)]

    def make(job: Sequence[int]) -> int:
        if not all(event_file(folder, seed).exists() for seed in job):
            events = simulate(program, [depositions(seed) for seed in job], job, conditions)
            for seed, event in zip(job, events):
                write_event(event_file(folder, seed), event)
        return len(job)

    done = 0
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as cores:
        for count in cores.map(make, jobs):
            done += count
            progress(done, len(seeds), "events")


@dataclass(frozen=True)
class CropRule:
    """Crops of a step and their variations."""

    count: int = 16
    channels: int = 64
    samples: int = 512
    on_charge: float = 0.6  # share of crops around a sample of a target ROI
    on_runs: float = (
        0.5  # share of these that choose the ROI first, so that short ones are as frequent as long ones
    )
    dead: float = 0.2  # share of crops with dead channels, up to three


class EventSet:
    """Events in memory: images as float16, targets as bool, all (event * view, ..., channel, sample).

    divisor  (event * view, image, channel) float32: of the images, from their noise, as in SPNGDNNROI
    weight   (event * view, channel, sample) float16: of the samples in the loss
    """

    def __init__(
        self,
        folder: Path,
        seeds: Sequence[int],
        training_noise: np.ndarray | None = None,
        rule: TargetRule = TargetRule(),
    ) -> None:
        """training_noise: (view, image) [electrons]; None: that of these events."""
        first = read_event(event_file(folder, seeds[0]))
        views, rows = len(first.truth), len(first.truth) * len(seeds)
        # Filled event by event, because events and arrays together would take twice the memory.
        self.charge, self.masks, self.truth, self.dead = (
            np.empty((rows, *part.shape[1:]), part.dtype)
            for part in (first.charge, first.masks, first.truth, first.dead)
        )
        self.target = np.empty(self.truth.shape, dtype=bool)
        self.weight = np.empty(self.truth.shape, dtype=np.float16)
        for index, seed in enumerate(seeds):
            event = read_event(event_file(folder, seed))
            own = slice(index * views, (index + 1) * views)
            self.charge[own], self.masks[own] = event.charge, event.masks
            self.truth[own], self.dead[own] = event.truth, event.dead
            for row in range(own.start, own.stop):
                self.target[row], self.weight[row] = target_and_weight(
                    self.truth[row].astype(np.float32), rule
                )
        rms = np.stack([noise_of_channels(images) for images in self.charge])
        self.noise = view_noise(rms, ~self.dead)
        if training_noise is None:
            training_noise = np.median(self.noise.reshape(len(seeds), views, -1), axis=0)
        self.training_noise = training_noise
        self.divisor = np.stack(
            [
                divisors(rms[view], self.training_noise[view % views], ~self.dead[view])
                for view in range(len(self.charge))
            ]
        )
        self._charged = [np.flatnonzero(view) for view in self.target]
        self._runs = [np.flatnonzero(view & ~np.pad(view[:, :-1], ((0, 0), (1, 0)))) for view in self.target]
        self._with_charge = [view for view, samples in enumerate(self._charged) if len(samples)]

    def features(self, view: int) -> np.ndarray:
        """Return the network's input, float32 (feature, channel, sample)."""
        return np.concatenate(
            [
                self.charge[view].astype(np.float32) / ELECTRONS / self.divisor[view][..., None],
                self.masks[view].astype(np.float32),
            ]
        )

    def _crop_origin(self, rng: np.random.Generator, rule: CropRule) -> tuple[int, int, int]:
        """Draw view, first channel (the axis is cyclic) and first sample of a crop."""
        channels, samples = self.charge.shape[-2:]
        last = max(samples - rule.samples, 0)
        if self._with_charge and rng.random() < rule.on_charge:
            view = self._with_charge[rng.integers(len(self._with_charge))]
            chosen = self._runs if rng.random() < rule.on_runs else self._charged
            row, sample = divmod(int(rng.choice(chosen[view])), samples)
            first = sample - int(rng.integers(rule.samples))
            return view, row - int(rng.integers(rule.channels)), min(max(first, 0), last)
        return int(rng.integers(len(self.charge))), int(rng.integers(channels)), int(rng.integers(last + 1))

    def crops(self, seed: int, step: int, rule: CropRule) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return a step's crops: features, target, and the weight of each sample (0 on channels that died in the crop).

        Features are (crop, feature, channel, sample), the others (crop, 1, channel, sample); all float32.
        """
        rng = np.random.default_rng((seed, step))
        rows_of_all = self.charge.shape[-2]
        parts: list[tuple[np.ndarray, ...]] = []
        for _ in range(rule.count):
            view, row, first = self._crop_origin(rng, rule)
            rows = np.arange(row, row + rule.channels)
            if rng.random() < 0.5:
                rows = rows[::-1]  # the response is the same on both sides of a wire
            rows = rows % rows_of_all
            samples = slice(first, first + rule.samples)
            scale = ELECTRONS * self.divisor[view][:, rows, None]
            charge = self.charge[view][:, rows, samples].astype(np.float32) / scale
            masks = self.masks[view][:, rows, samples].astype(np.float32)
            weight = self.weight[view][rows, samples].astype(np.float32)
            if rng.random() < rule.dead:
                dead = rng.choice(rule.channels, rng.integers(1, 4), replace=False)
                charge[:, dead], weight[dead] = 0.0, 0.0
            target = self.target[view][rows, samples].astype(np.float32)
            parts.append((np.concatenate([charge, masks]), target[None], weight[None]))
        features, target, weight = (torch.from_numpy(np.stack(part)) for part in zip(*parts))
        return features, target, weight
