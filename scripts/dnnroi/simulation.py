# SPDX-License-Identifier: Apache-2.0
"""Simulate events and process them up to the network's inputs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scripts.bench.programs import job_arguments, run_quietly
from scripts.frames import FrameFile
from tests.reference.detector import pdhd_channel_order

from .network import INPUTS, REBIN
from .target import largest_of_ticks

ANODE = 0
VIEWS = ("U", "V")
GROUP = "induction"  # group of the views in the names of dump files


@dataclass(frozen=True)
class Event:
    """One event of the views U, V.

    charge  float32 (2, channel, sample): ROI image of the charge, electrons, input of DNNROI
    masks   bool (2, 2, channel, sample): for each view mp2, mp3
    truth   float32 (2, channel, sample): true charge, maximum over a sample's ticks, electrons
    """

    charge: np.ndarray
    masks: np.ndarray
    truth: np.ndarray


class ProgramFailed(RuntimeError):
    """wire-cell ended with an error; the text is its error block."""


def run_job(program: Path, job: str, **arguments: object) -> None:
    """Run `wire-cell -c job -A name=value ...` on one CPU thread, so that several jobs may run in parallel."""
    words = job_arguments({"device": "cpu", "threads": 1, **arguments})
    status, errors = run_quietly([str(program), "-c", job, *words], {})
    if status:
        raise ProgramFailed(errors.strip() or f"{program} ended with status {status}")


def write_depositions(path: Path, events: Sequence[np.ndarray]) -> None:
    """Write a depo file of WCT: depo_data_<i> (7, n) and depo_info_<i> (4, n) for each event."""
    arrays: dict[str, np.ndarray] = {}
    for ident, data in enumerate(events):
        arrays[f"depo_data_{ident}"] = data
        info = np.zeros((4, data.shape[1]), dtype=np.int32)
        info[0] = np.arange(data.shape[1])
        arrays[f"depo_info_{ident}"] = info
    np.savez(path, allow_pickle=False, **arrays)


def network_inputs(
    program: Path, adc: Path, folder: Path, count: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield ROI image and masks, as in Event, of the first `count` events of a frame file."""
    run_job(
        program,
        "cfg/pipeline.jsonnet",
        input=adc,
        output=folder / "chain.npz",
        model="none",
        tags="roi",
        dump="loose,coincidence",
        nevents=count,
    )
    with (
        np.load(folder / f"chain-{INPUTS[0]}-{GROUP}.npz") as images,
        np.load(folder / f"chain-coincidence-{GROUP}.npz") as coincidence,
    ):
        for ident in range(count):
            masks = np.stack([coincidence[f"{name}_{ident}"] for name in INPUTS[1:]], axis=1).astype(bool)
            yield images[f"{INPUTS[0]}_{ident}"].astype(np.float32), masks


def simulate(program: Path, depositions: Sequence[np.ndarray], seed: int) -> Iterator[Event]:
    """Simulate events with noise in one job; yield them one by one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_depositions(folder / "depos.npz", depositions)
        run_job(
            program,
            "cfg/simulate.jsonnet",
            depos=folder / "depos.npz",
            output=folder / "adc.npz",
            truth=folder / "truth.npz",
            seed=seed,
            nevents=len(depositions),
            tpcid=ANODE,
        )
        inputs = network_inputs(program, folder / "adc.npz", folder, len(depositions))
        views = pdhd_channel_order(ANODE)[: len(VIEWS)]  # rows in the order of the chain's tensors
        with FrameFile(folder / "truth.npz") as truths:
            for ident, (charge, masks) in enumerate(inputs):
                frame = truths.frame("truth", ident)
                truth = [largest_of_ticks(frame.rows(channels), REBIN) for channels in views]
                yield Event(charge, masks, np.stack(truth).astype(np.float32))
