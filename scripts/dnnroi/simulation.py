# SPDX-License-Identifier: Apache-2.0
"""Simulate events and process them up to the network's inputs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench.programs import job_arguments, run_quietly
from scripts.depositions import write_depositions
from spng import Frame, read_frames, write_frames

from .conditions import Conditions, changed
from .network import IMAGES, MASKS, REBIN
from .target import largest_of_ticks

ANODE = 0
ADC_BITS = 14
VIEWS = ("U", "V")
# Channels of the rows of the views in the chain's tensors: neighbouring rows are neighbouring wires.
ROWS = (np.arange(0, 800), np.concatenate([np.arange(1199, 799, -1), np.arange(1599, 1199, -1)]))
GROUP = "induction"  # group of the views in the names of dump files


@dataclass(frozen=True)
class Event:
    """One event of the views U, V.

    charge  float32 (2, image, channel, sample): images of the charge, electrons, in the order of network.IMAGES
    masks   bool (2, 2, channel, sample): for each view mp2, mp3
    truth   float32 (2, channel, sample): true charge, maximum over a sample's ticks, electrons; 0 on dead channels
    dead    bool (2, channel)
    """

    charge: np.ndarray
    masks: np.ndarray
    truth: np.ndarray
    dead: np.ndarray


class ProgramFailed(RuntimeError):
    """wire-cell ended with an error; the text is its error block."""


def run_job(
    program: Path,
    job: str,
    code: Mapping[str, str] | None = None,
    flags: Sequence[str] = (),
    **arguments: object,
) -> None:
    """Run `wire-cell -c job -A name=value ...` on one CPU thread, so that several jobs may run in parallel.

    code: arguments as Jsonnet code; flags: other options of the program
    """
    words = job_arguments({"device": "cpu", "threads": 1, **arguments})
    words += [word for name, value in (code or {}).items() for word in ("--tla-code", f"{name}={value}")]
    status, errors = run_quietly([str(program), "-c", job, *words, *flags], {})
    if status:
        raise ProgramFailed(errors.strip() or f"{program} ended with status {status}")


def network_inputs(
    program: Path, adc: Path, folder: Path, count: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the images and masks, as in Event, of the first `count` events of a frame file."""
    run_job(
        program,
        "cfg/pipeline.jsonnet",
        input=adc,
        output=folder / "chain.npz",
        model="none",
        tags="roi",
        check_input="false",
        dump=",".join([*IMAGES, "coincidence"]),
        nevents=count,
    )
    with ExitStack() as files:
        images = [
            (name, files.enter_context(np.load(folder / f"chain-{name}-{GROUP}.npz"))) for name in IMAGES
        ]
        coincidence = files.enter_context(np.load(folder / f"chain-coincidence-{GROUP}.npz"))
        for ident in range(count):
            masks = np.stack([coincidence[f"{name}_{ident}"] for name in MASKS], axis=1).astype(bool)
            charge = np.stack([file[f"{name}_{ident}"] for name, file in images], axis=1)
            yield charge.astype(np.float32), masks


def _with_conditions(folder: Path, seeds: Sequence[int], rule: Conditions, output: Path) -> list[np.ndarray]:
    """Write the simulated events under conditions that depend on their seeds; return the dead channels of each."""
    dead_channels: list[np.ndarray] = []

    def frames() -> Iterator[Frame]:
        given = read_frames(folder / "adc.npz"), read_frames(folder / "signal.npz")
        for ident, (seed, frame, signal) in enumerate(zip(seeds, *given, strict=True)):
            traces = frame.only()
            adc = np.asarray(traces.dense())
            baseline = np.median(adc, axis=1, keepdims=True).astype(np.float32)
            pulses = signal.only().rows(traces.channels).astype(np.float32)
            noise = adc - baseline - pulses
            rng = np.random.default_rng((seed, 1))
            samples, dead = changed(pulses, noise, rng, rule)
            counts = np.rint(samples + baseline).clip(0, 2**ADC_BITS - 1).astype(np.int16)
            dead_channels.append(traces.channels[dead])
            # Half of the dead channels are known.
            known = np.sort(traces.channels[dead[::2]])
            mask = np.stack([known, np.zeros_like(known), np.full_like(known, counts.shape[1])], axis=1)
            yield Frame({traces.tag: replace(traces, samples=counts)}, ident, {"bad": mask})

    write_frames(output, frames())
    return dead_channels


def simulate(
    program: Path, depositions: Sequence[np.ndarray], seeds: Sequence[int], rule: Conditions
) -> Iterator[Event]:
    """Simulate events with noise in one job, under conditions drawn by their seeds; yield them one by one.

    The shaping time is that of the first seed.
    """
    shaping = rule.shaping[seeds[0] // len(seeds) % len(rule.shaping)]
    detector = (
        f"(import 'detectors/pdhd.jsonnet') {{ electronics+: {{ shaping: super.shaping * {shaping} }} }}"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_depositions(folder / "depos.npz", depositions)
        run_job(
            program,
            "cfg/simulate.jsonnet",
            {"detname": detector},
            depos=folder / "depos.npz",
            output=folder / "adc.npz",
            signal=folder / "signal.npz",
            truth=folder / "truth.npz",
            seed=seeds[0],
            nevents=len(depositions),
            tpcid=ANODE,
        )
        dead_channels = _with_conditions(folder, seeds, rule, folder / "changed.npz")
        inputs = network_inputs(program, folder / "changed.npz", folder, len(depositions))
        truths = read_frames(folder / "truth.npz", "truth")
        for (charge, masks), frame, of_event in zip(inputs, truths, dead_channels, strict=True):
            truth = [largest_of_ticks(frame["truth"].rows(channels), REBIN) for channels in ROWS]
            dead = np.stack([np.isin(channels, of_event) for channels in ROWS])
            yield Event(charge, masks, np.stack(truth).astype(np.float32) * ~dead[..., None], dead)
