# SPDX-License-Identifier: Apache-2.0
"""The measurement: simulate the samples, change their waveforms, process them and compare the output with the truth.

Several programs run in parallel, each with one thread. The files of a condition are deleted once it is measured.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from spng.charge_tags import first_of

from scripts.depositions import write_depositions
from spng import Frame, Traces, metrics, read_frames, write_frames

from .. import events as events_module
from ..program import JobFailed, Processed, Program
from ..wires import VIEWS, Anode
from ..workers import Progress, workers
from . import depositions, measurement
from .conditions import ANGLES, MAX_EVENTS_OF_JOB, Batch, Condition, Plan, Sample
from .measurement import Measured
from .waveforms import Change, separated

INPUT_TAG, OUTPUT_TAG, TRUTH_TAG = "*", "signal", "truth"


@dataclass(frozen=True)
class Simulated:
    """Files of a batch. signal: waveforms without noise; lines: depositions of lines. None: not needed."""

    batch: Batch
    adc: Path
    truth: Path
    signal: Path | None
    lines: Path | None

    def frames(self, change: Change | None) -> Iterator[Frame]:
        """Yield the frames, changed."""
        if change is None:
            yield from read_frames(self.adc, INPUT_TAG)
            return
        assert self.signal is not None, "a sample that is changed has a file with its signals"
        for frame, signal in zip(read_frames(self.adc, INPUT_TAG), read_frames(self.signal), strict=True):
            adc = first_of(frame, (INPUT_TAG,))
            given = separated(np.asarray(adc.samples, np.float32), signal.only().rows(adc.channels))
            samples = change.apply(given, self.batch.seed + frame.ident)
            yield Frame({adc.tag: replace(adc, samples=samples)}, frame.ident)

    def truths(self, factor: float) -> Iterator[tuple[int, Traces]]:
        """Yield id and true charge [electrons] of each event, times a factor."""
        for frame in read_frames(self.truth, TRUTH_TAG):
            true = first_of(frame, (TRUTH_TAG,))
            yield frame.ident, replace(true, samples=np.asarray(true.samples) * np.float32(factor))

    def line_channels(self, anode: Anode, view: int, ident: int) -> list[np.ndarray]:
        """Return the channels of the line at each of ANGLES."""
        events = events_module.Events(self.adc, self.truth, self.lines, None, 0.0)
        return events.line_channels(anode, view, ident, ANGLES)


@dataclass(frozen=True)
class Task:
    """A condition and batches of its sample, to process in one job for each variant."""

    condition: Condition
    batches: tuple[int, ...]  # indices

    @property
    def events(self) -> int:
        """Return the count of events."""
        return sum(self.condition.sample.batches[index].count for index in self.batches)

    @property
    def work(self) -> int:
        """Return the work in units of one event by one job: the input and each variant."""
        return self.events * (1 + len(self.condition.variants))


@dataclass
class Results:
    """Measurements, warnings (condition -> variant -> warnings of its jobs), and the timing report of one job."""

    measured: dict[str, list[Measured]] = field(default_factory=dict)
    warnings: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    timing: dict = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, condition: Condition, measured: list[Measured], warnings: dict[str, list[str]]) -> None:
        """Add the results of a task."""
        with self.lock:
            self.measured.setdefault(condition.name, []).extend(measured)
            known = self.warnings.setdefault(condition.name, {})
            for variant, found in warnings.items():
                known[variant] = list(dict.fromkeys([*known.get(variant, []), *found]))


def simulate(program: Program, sample: Sample, batch: Batch, folder: Path, with_signal: bool) -> Simulated:
    """Simulate a batch in a new folder."""
    folder.mkdir(parents=True)
    done = Simulated(
        batch,
        folder / "adc.tar",
        folder / "truth.tar",
        folder / "signal.tar" if with_signal else None,
        folder / "lines.npz" if sample.view >= 0 else None,
    )
    arguments = {
        "output": done.adc,
        "truth": done.truth,
        "frames": "sparse",
        "seed": batch.seed,
        "nevents": batch.count,
        **batch.arguments,
    }
    if done.signal:
        arguments["signal"] = done.signal
    if done.lines:
        arguments["write_depos"] = done.lines
    if sample.tracks:
        arguments["depos"] = folder / "tracks.npz"
        seeds = range(batch.seed, batch.seed + batch.count)
        write_depositions(
            arguments["depos"], [depositions.depositions(sample.tracks, seed) for seed in seeds]
        )
    program.simulate(folder, sample.code, sample.changes, **arguments)
    return done


def write_input(path: Path, given: list[Simulated], change: Change | None) -> None:
    """Write the changed frames of all batches; their ids count on."""
    frames = (frame for each in given for frame in each.frames(change))
    write_frames(path, (replace(frame, ident=ident) for ident, frame in enumerate(frames)))


def process(
    program: Program, plan: Plan, condition: Condition, adc: Path, folder: Path
) -> tuple[dict[str, Processed], dict[str, list[str]]]:
    """Return the results and the warnings of each variant. A job may reject the input of a wrong response: its error is a warning."""
    done, warnings = {}, {}
    for name in condition.variants:
        try:
            done[name] = program.process(folder, plan.variants[name], adc)
            warnings[name] = measurement.warnings_of(done[name].errors)
        except JobFailed as problem:
            if condition.group != "response" or not measurement.is_misfit([str(problem)]):
                raise
            warnings[name] = [str(problem)]
    return done, warnings


def measure(
    condition: Condition, given: list[Simulated], done: dict[str, Processed], anode: Anode
) -> list[Measured]:
    """Measure all events of a task."""
    factor = 1.0 if condition.change is None else condition.change.signal
    files = {name: read_frames(each.output, OUTPUT_TAG) for name, each in done.items()}
    found = []
    for each in given:
        for ident, true in each.truths(factor):
            outputs = {name: first_of(next(frames), (OUTPUT_TAG,)) for name, frames in files.items()}
            found += measure_event(condition, each, ident, true, outputs, anode)
    return found


def measure_event(
    condition: Condition, given: Simulated, ident: int, true: Traces, outputs: dict[str, Traces], anode: Anode
) -> list[Measured]:
    """Measure the outputs of all variants for one event."""
    sample, found = condition.sample, []
    for view in range(len(VIEWS)) if sample.view < 0 else [sample.view]:
        channels = anode.channels[view]
        truth = true.rows(channels)
        if sample.view >= 0:
            lines = given.line_channels(anode, view, ident)
            rows = [np.searchsorted(channels, own) for own in lines]
            found += [
                measurement.measure_lines(name, view, output.rows(channels), truth, rows, ANGLES)
                for name, output in outputs.items()
            ]
        else:
            far = metrics.far_pixels(truth)
            found += [
                measurement.measure_view(
                    name, view, output.rows(channels), truth, far, condition.group == "ends"
                )
                for name, output in outputs.items()
            ]
    return found


def tasks_of(plan: Plan) -> list[Task]:
    """Return all tasks, the longest first, so that all cores end together."""
    found = []
    for condition in plan.conditions:
        group: list[int] = []
        events = 0
        for index, batch in enumerate(condition.sample.batches):
            if group and events + batch.count > MAX_EVENTS_OF_JOB:
                found.append(Task(condition, tuple(group)))
                group, events = [], 0
            group.append(index)
            events += batch.count
        found.append(Task(condition, tuple(group)))
    return sorted(found, key=lambda task: -task.work)


def run(
    program: Program, anode: Anode, plan: Plan, count: int, folder: Path, say: Callable[[str], None]
) -> Results:
    """Run the study in `count` threads. Raise program.JobFailed if a job fails."""
    results, tasks = Results(), tasks_of(plan)
    progress = Progress(str(len(tasks)), sum(task.work for task in tasks), say)
    changed = [
        (condition.sample, index)
        for condition in plan.conditions
        if condition.change is not None
        for index in range(len(condition.sample.batches))
    ]
    # Samples that several conditions change are simulated first and kept; the others by the task of their condition.
    shared = {(sample.name, index): sample for sample, index in changed}
    kept: dict[tuple[str, int], Simulated] = {}

    def simulate_shared(key: tuple[str, int]) -> None:
        sample, batch = shared[key], shared[key].batches[key[1]]
        kept[key] = simulate(program, sample, batch, folder / f"{key[0]}-{key[1]}", True)
        say(f"  simulated {batch.count} events of {sample.label}, {progress.elapsed:.0f} s")

    def run_task(index: int) -> None:
        task, own = tasks[index], folder / f"task-{index}"
        condition, sample = task.condition, task.condition.sample
        own.mkdir()
        try:
            if condition.change is not None:
                given = [kept[sample.name, batch] for batch in task.batches]
            else:
                given = [
                    simulate(program, sample, sample.batches[batch], own / f"batch-{batch}", False)
                    for batch in task.batches
                ]
            if condition.change is None and len(given) == 1:
                adc = given[0].adc
            else:
                adc = own / "adc.tar"
                write_input(adc, given, condition.change)
            done, warnings = process(program, plan, condition, adc, own)
            results.add(condition, measure(condition, given, done, anode), warnings)
            results.timing = next((each.timing for each in done.values()), results.timing)
        finally:
            shutil.rmtree(own, ignore_errors=True)
        progress.add(1, task.work, f"{condition.label} ({task.events} events)")

    with workers(count) as pool:
        list(pool.map(simulate_shared, shared))
        list(pool.map(run_task, range(len(tasks))))
    return results
