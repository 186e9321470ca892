# SPDX-License-Identifier: Apache-2.0
"""The measurement: simulate batches of events, process them with every variant and compare the output with the truth.

Several programs run in parallel, each with one thread, which uses the cores best: batches in a full study, the jobs of all
batches in a brief one, where a variant processes the events of all batches in one job.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import numpy as np
from spng.charge_tags import OUTPUT_TAGS, first_of

from spng import metrics, read_frames, write_frames

from . import events as events_module
from . import linescan, perfect_rois, roc
from .events import Events
from .program import Processed, Program
from .settings import PERFECT, Plan, Sample, Variant
from .wires import COLLECTION, VIEWS, Anode
from .workers import Progress, workers


@dataclass(frozen=True)
class Measured:
    """One view of one event by one variant.

    ratios  output / true charge of the channels with enough charge
    shift   ticks by which the output lags the truth
    runs    number of separate ROIs
    lines   figures per angle, for the view of a line scan
    roc     for variants with a probability
    """

    sample: str
    variant: str
    view: int
    seed: int
    counts: metrics.Counts
    ratios: np.ndarray
    shift: float
    runs: int
    channels: int
    lines: tuple[linescan.LineFigures, ...] = ()
    roc: roc.Roc | None = None


@dataclass
class Results:
    """All measurements. seconds: wall time of the wire-cell runs of the simulation and of each variant."""

    measured: list[Measured] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    def of(self, sample: str, variant: str, view: int) -> list[Measured]:
        """Return the measurements of a sample, variant and view in the order of their seeds."""
        found = (
            one for one in self.measured if (one.sample, one.variant, one.view) == (sample, variant, view)
        )
        return sorted(found, key=lambda one: one.seed)


@dataclass(frozen=True)
class Batch:
    """Events of one run of the simulation, and the samples that they belong to."""

    samples: tuple[Sample, ...]
    seed: int
    count: int

    def variants(self) -> set[str]:
        """Return the names of the variants of all samples."""
        return {each.name for sample in self.samples for each in sample.variants}

    def work(self) -> int:
        """Return the work in units of one event by one job: the simulation and each variant."""
        return self.count * (1 + len(self.variants()))

    def name(self) -> str:
        """Return the description for progress messages."""
        labels = " and ".join(dict.fromkeys(sample.label for sample in self.samples))
        return f"{labels}, seed {self.seed}, {self.count} event{'s' if self.count > 1 else ''}"


@dataclass(frozen=True)
class Simulated:
    """The events of a batch."""

    batch: Batch
    events: Events


def batches(plan: Plan) -> list[Batch]:
    """Return all batches, the longest first, so that all cores end together. Samples of the same events share them."""
    shared: dict[tuple[int, int], list[Sample]] = {}
    for sample in plan.samples:
        for first in range(0, sample.events, sample.batch):
            key = (sample.seed + first, min(sample.batch, sample.events - first))
            shared.setdefault(key, []).append(sample)
    found = [Batch(tuple(samples), seed, count) for (seed, count), samples in shared.items()]
    return sorted(found, key=Batch.work, reverse=True)


def measure_view(
    sample: Sample,
    variant: Variant,
    view: int,
    seed: int,
    signal: np.ndarray,
    truth: np.ndarray,
    probability: np.ndarray | None = None,
) -> Measured:
    """Measure one view. signal, truth (channel, tick) [electrons]; probability (channel, pixel)."""
    has_truth = bool(truth.any())
    return Measured(
        sample.name,
        variant.name,
        view,
        seed,
        metrics.count(signal, truth),
        metrics.channel_ratios(signal, truth) if has_truth else np.zeros(0),
        metrics.best_shift(signal, truth) if has_truth and sample.kind == "muons" else float("nan"),
        metrics.runs(metrics.any_tick(signal != 0)),
        len(signal),
        roc=None if probability is None else roc.count(probability, metrics.true_pixels(truth)),
    )


def measure_lines(
    sample: Sample,
    name: str,
    seed: int,
    signal: np.ndarray,
    truth: np.ndarray,
    rows_of_lines: list[np.ndarray],
) -> Measured:
    """Measure the view of a line scan. name: of the variant; signal, truth (channel, tick) [electrons]."""
    lines = tuple(linescan.measure(signal[rows], truth[rows]) for rows in rows_of_lines)
    return Measured(
        sample.name,
        name,
        sample.view,
        seed,
        metrics.count(signal, truth),
        np.zeros(0),
        float("nan"),
        0,
        len(signal),
        lines=lines,
    )


def probabilities(path: Path | None, anode: Anode, ident: int) -> list[np.ndarray | None]:
    """Return the network's output for each view, rows as in `anode`; None for views without one."""
    found: list[np.ndarray | None] = [None] * len(VIEWS)
    if path is not None:
        with np.load(path) as file:
            values, ids = file[f"probability_{ident}"], file[f"probability_ids_{ident}"]
        values, ids = values.reshape(-1, values.shape[-1]), ids.ravel()
        for view, channels in enumerate(anode.channels):
            rows = np.nonzero(np.isin(ids, channels))[0]
            if len(rows) == len(channels):
                found[view] = values[rows[np.argsort(ids[rows])]]
    return found


def measure(
    sample: Sample, variant: Variant, given: Simulated, first: int, done: Processed, anode: Anode
) -> list[Measured]:
    """Measure all events of a batch, processed by one variant. first: what their ids in its files have in addition."""
    found: list[Measured] = []
    seed, events = given.batch.seed, given.events
    has_dead = any(each.dead for each in sample.variants)
    outputs = read_frames(done.output, idents=range(first, first + given.batch.count))
    for (ident, true), frame in zip(events.true_charge(), outputs, strict=True):
        output = first_of(frame, OUTPUT_TAGS)
        probability = probabilities(done.probability, anode, first + ident)
        without = (
            events_module.dead_channels(output.channels, seed) if has_dead else np.zeros(0, dtype=np.int64)
        )
        for view, channels in enumerate(anode.channels):
            pixels = probability[view]
            live = ~np.isin(channels, without)
            signal, truth = (traces.rows(channels[live]) for traces in (output, true))
            if sample.kind == "lines":
                if view == sample.view:
                    lines = [
                        np.searchsorted(channels, own) for own in events.line_channels(anode, view, ident)
                    ]
                    found.append(measure_lines(sample, variant.name, seed + ident, signal, truth, lines))
                    if variant.perfect:
                        waveform = frame["decon_charge"].rows(channels[live])
                        perfect = perfect_rois.charge(waveform, truth, view < COLLECTION)
                        found.append(measure_lines(sample, PERFECT.name, seed + ident, perfect, truth, lines))
                continue
            found.append(
                measure_view(
                    sample,
                    variant,
                    view,
                    seed + ident,
                    signal,
                    truth,
                    None if pixels is None else pixels[live],
                )
            )
    return found


def joined_variants(group: list[Batch]) -> list[Variant]:
    """Return the variants of all samples, each once, those with the most events first."""
    found: dict[str, Variant] = {}
    for each in (variant for batch in group for sample in batch.samples for variant in sample.variants):
        perfect = each.perfect or (each.name in found and found[each.name].perfect)
        found[each.name] = replace(each, perfect=perfect)
    return sorted(
        found.values(), key=lambda variant: -sum(variant.name in batch.variants() for batch in group)
    )


def input_of(variant: Variant, given: list[Simulated], folder: Path) -> Path:
    """Return the file with the ADC counts of all batches, the ids of each counted on from those of the one before."""
    paths = [each.events.dead if variant.dead else each.events.adc for each in given]
    known = [path for path in paths if path is not None]
    assert len(known) == len(given), "simulate() writes the ADC with dead channels if a variant needs them"
    if len(known) == 1:
        return known[0]
    joined = folder / f"{variant.name}-adc.tar"
    frames = chain.from_iterable(map(read_frames, known))
    write_frames(joined, (replace(frame, ident=ident) for ident, frame in enumerate(frames)))
    return joined


def run_variant(
    program: Program, anode: Anode, variant: Variant, simulated: list[Simulated], folder: Path
) -> tuple[list[Measured], float]:
    """Process the batches that have a variant in one job, and measure them; return the wall time of the job too."""
    given = [each for each in simulated if variant.name in each.batch.variants()]
    adc = input_of(variant, given, folder)
    done = program.process(folder, variant, adc)
    found: list[Measured] = []
    first = 0
    for each in given:
        for sample in each.batch.samples:
            for own in (own for own in sample.variants if own.name == variant.name):
                found += measure(sample, own, each, first, done, anode)
        first += each.batch.count
    done.remove()
    if adc.parent == folder:  # joined for this job
        adc.unlink()
    return found, done.seconds


def run_group(
    program: Program, anode: Anode, group: list[Batch], folder: Path, spread: Callable
) -> tuple[list[Measured], dict[str, float]]:
    """Simulate, process and measure batches in `folder`; remove the folder. spread: as map, for the jobs."""

    def simulate(index: int) -> Simulated:
        batch, own = group[index], folder / f"events-{index}"
        own.mkdir(parents=True)
        with_dead = any(variant.dead for sample in batch.samples for variant in sample.variants)
        return Simulated(
            batch,
            events_module.simulate(program, batch.samples[0], batch.seed, batch.count, own, with_dead),
        )

    try:
        simulated = list(spread(simulate, range(len(group))))
        variants = joined_variants(group)
        runs = list(spread(lambda variant: run_variant(program, anode, variant, simulated, folder), variants))
        seconds = {variant.name: spent for variant, (_, spent) in zip(variants, runs, strict=True)}
        seconds["simulation"] = sum(each.events.seconds for each in simulated)
        return [one for found, _ in runs for one in found], seconds
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(
    program: Program, anode: Anode, plan: Plan, count: int, folder: Path, say: Callable[[str], None]
) -> Results:
    """Run all batches in `count` threads. Raise program.JobFailed if a job fails."""
    results, todo, lock = Results(), batches(plan), threading.Lock()
    events = sum(batch.count for batch in todo)
    progress = Progress(f"{events} events", sum(batch.work() for batch in todo), say)
    groups = [todo] if plan.is_brief else [[batch] for batch in todo]

    def run_one(index: int) -> None:
        group = groups[index]
        found, seconds = run_group(program, anode, group, folder / f"group-{index}", inside)
        with lock:
            results.measured += found
            for job, spent in seconds.items():
                results.seconds[job] = results.seconds.get(job, 0.0) + spent
        simulation = seconds["simulation"]
        progress.add(
            sum(batch.count for batch in group),
            sum(batch.work() for batch in group),
            f"{'; '.join(batch.name() for batch in group)} (simulation {simulation:.1f} s, chain "
            f"{sum(seconds.values()) - simulation:.1f} s)",
        )

    with workers(count) as pool:
        inside, across = (pool.map, map) if plan.is_brief else (map, pool.map)
        list(across(run_one, range(len(groups))))
    return results
