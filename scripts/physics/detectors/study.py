# SPDX-License-Identifier: Apache-2.0
"""The measurement: simulate events of each detector, process them with its variants and compare the output with the truth."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from spng.charge_tags import TRUTH_TAGS, first_of

from spng import read_frames

from .. import study
from ..program import Processed, Program
from ..settings import Sample, Variant
from ..study import Measured
from ..wires import VIEWS, Anode
from ..workers import workers
from .cases import Detector, Frames, variants_of

OUTPUT_TAG = "signal"


@dataclass
class Results:
    """Measurements by name of the sample, and the timing report of one job."""

    measured: dict[str, list[Measured]] = field(default_factory=dict)
    timing: dict = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, name: str, measured: list[Measured], done: Processed) -> None:
        """Add the measurements of one job."""
        with self.lock:
            self.measured.setdefault(name, []).extend(measured)
            self.timing = done.timing


def measure(
    sample: Sample, variant: Variant, output: Path, truth: Path, anode: Anode, seed: int
) -> list[Measured]:
    """Measure all events of a file; event i has the seed `seed` + i."""
    found = []
    frames = zip(read_frames(output, OUTPUT_TAG), read_frames(truth), strict=True)
    for index, (output_frame, truth_frame) in enumerate(frames):
        seen, true = first_of(output_frame, (OUTPUT_TAG,)), first_of(truth_frame, TRUTH_TAGS)
        for view in range(len(VIEWS)):
            channels = anode.channels[view]
            found.append(
                study.measure_view(
                    sample, variant, view, seed + index, seen.rows(channels), true.rows(channels)
                )
            )
    return found


@dataclass(frozen=True)
class Study:
    """Detectors with their samples, and frames of other simulations. anodes: by label."""

    samples: list[tuple[Detector, Sample]]
    frames: list[Frames]
    anodes: dict[str, Anode]

    def run(self, program: Program, count: int, folder: Path, say: Callable[[str], None]) -> Results:
        """Run all jobs in `count` threads. Raise program.JobFailed if one fails."""
        jobs = _Jobs(self, program, folder, say)
        work = [partial(jobs.process_frames, given) for given in self.frames]
        work += [
            partial(jobs.simulate, detector, sample, first)
            for detector, sample in self.samples
            for first in range(0, sample.events, sample.batch)
        ]
        with workers(count) as pool:
            list(pool.map(lambda task: task(), work))
        return jobs.results


@dataclass(frozen=True)
class _Jobs:
    """The jobs of a study."""

    study: Study
    program: Program
    folder: Path
    say: Callable[[str], None]
    results: Results = field(default_factory=Results)

    def simulate(self, detector: Detector, sample: Sample, first: int) -> None:
        """Simulate and measure the events from index `first` of a sample that one job makes."""
        seed = sample.seed + first
        own = self.folder / str(seed)
        own.mkdir()
        count = min(sample.batch, sample.events - first)
        adc, truth = own / "adc.tar", own / "truth.tar"
        arguments = {"output": adc, "truth": truth, "frames": "sparse", "seed": seed, "nevents": count}
        self.program.simulate(own, {}, detector.changes, **sample.arguments, **arguments)
        self.process(detector, sample, own, adc, truth, seed)
        self.say(f"  {detector.label}, {count} events with seed {seed}")

    def process_frames(self, given: Frames) -> None:
        """Process and measure frames of another simulation."""
        own = self.folder / given.adc.stem
        own.mkdir()
        variants = [
            replace(each, arguments=each.arguments | {"check_input": "true"})
            for each in variants_of(given.detector)
        ]
        sample = Sample(given.label, given.label, "muons", {}, 1, 0, 1, tuple(variants))
        warnings = self.process(given.detector, sample, own, given.adc, given.truth, 0)
        self.say("\n".join([f"  {given.label}", *(f"  warning: {text}" for text in warnings)]))

    def process(
        self, detector: Detector, sample: Sample, own: Path, adc: Path, truth: Path, seed: int
    ) -> list[str]:
        """Process and measure a file by all variants; delete the folder. Return the warnings about the file."""
        warnings: list[str] = []
        anode = self.study.anodes[detector.label]
        try:
            for variant in sample.variants:
                done = self.program.process(own, variant, adc)
                self.results.add(sample.name, measure(sample, variant, done.output, truth, anode, seed), done)
                warnings += done.timing.get("input", {}).get("warnings", [])
        finally:
            shutil.rmtree(own, ignore_errors=True)
        return list(dict.fromkeys(warnings))
