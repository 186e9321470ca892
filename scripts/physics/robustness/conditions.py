# SPDX-License-Identifier: Apache-2.0
"""Samples and conditions of the study, their seeds, and the variants of the main job that process them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..program import Variant
from ..sizes import ROBUSTNESS_EVENTS, ROBUSTNESS_GROUPS, ROBUSTNESS_SEED
from ..wires import VIEWS
from .depositions import ShortTracks, points
from .waveforms import Change

SEEDS_PER_SAMPLE = 1000
MAX_EVENTS_OF_JOB = 20
CHECKED_EVENTS = 8  # SPNGInputCheck compares no more events with the detector's files
MIXED_TRACKS = (10, 5, 20)  # muons of the events of the main sample, a third each
FEW_TRACKS = 5
ENDS_TRACKS = 40
ENDS_NS = 1.5e6  # muons of the sample at the ends of the readout start so much earlier or later
ANGLES = (85, 86, 87, 88, 89)  # degrees
POINT_ELECTRONS = (5_000, 10_000, 25_000, 50_000, 76_000)
NOISE_FACTORS = (0.7, 1.0, 1.25, 1.5, 2.0)
NOISE_ALONE_FACTORS = (1.0, 1.5, 2.0)
CHARGE_FACTORS = (0.25, 0.5, 2.0, 5.0)
GAINS = (0.95, 1.05)
DRIFTS_ADC = (5.0, 20.0)
STEPS_ADC = 40.0
# 20 times a minimum ionising particle. One track saturates less than 5 % of the channels, which must be named too.
HEAVY = ShortTracks(count=1, length=600.0, electrons=20 * 5000.0 * 600.0)
SHAPING = "(import 'detectors/pdhd.jsonnet') { electronics+: { shaping: super.shaping * 2.4 / 2.2 } }"
NOMINAL = "noise-1"
MODEL, RULE = "model", "rule"  # names of the variants


@dataclass(frozen=True)
class Batch:
    """Events of one run of the simulation, with its arguments."""

    arguments: dict[str, Any]
    seed: int
    count: int


@dataclass(frozen=True)
class Sample:
    """Simulated events.

    code, changes  of the simulation, as in Program.simulate
    tracks         depositions to simulate; None: the simulation generates them
    view           index of the view of lines, or -1
    """

    name: str
    label: str
    batches: tuple[Batch, ...]
    code: dict[str, str] = field(default_factory=dict)
    changes: dict[str, str] = field(default_factory=dict)
    tracks: ShortTracks | None = None
    view: int = -1

    @property
    def events(self) -> int:
        """Return the count of events."""
        return sum(batch.count for batch in self.batches)


@dataclass(frozen=True)
class Condition:
    """A sample under a condition. change: of the waveforms of the sample; None: the frames as simulated."""

    name: str
    label: str
    group: str  # one of ROBUSTNESS_GROUPS
    sample: Sample
    variants: tuple[str, ...]
    change: Change | None = None


@dataclass(frozen=True)
class Plan:
    """Conditions, variants by name, and the variant that the bars apply to."""

    conditions: tuple[Condition, ...]
    variants: dict[str, Variant]
    main: str
    model: str | None

    def samples(self) -> list[Sample]:
        """Return the samples of the conditions, each once."""
        return list({condition.sample.name: condition.sample for condition in self.conditions}.values())


def make_variants(model: str | None) -> dict[str, Variant]:
    """Return the variants: the network, if there is one, and the rule."""
    found = [Variant(RULE, "rule (model=none)", {"model": "none", "frames": "sparse"})]
    if model:
        found.insert(0, Variant(MODEL, "DNNROI", {"model": model, "frames": "sparse"}))
    return {variant.name: variant for variant in found}


def _shares(events: int, parts: int) -> list[int]:
    """Return `events` divided into parts that differ by at most one, the largest first."""
    return [(events + parts - 1 - index) // parts for index in range(parts)]


class _Samples:
    """Makes samples with seeds of their own."""

    def __init__(self, first_seed: int, events: int) -> None:
        self._seed, self._events = first_seed, events

    def make(self, name: str, label: str, *arguments: dict[str, Any], events: int = 0, **more: Any) -> Sample:
        """Return a sample with equal shares of events for each set of arguments."""
        seed, batches = self._seed, []
        self._seed += SEEDS_PER_SAMPLE
        for given, share in zip(arguments, _shares(events or self._events, len(arguments)), strict=True):
            while share:
                count = min(share, MAX_EVENTS_OF_JOB)
                batches.append(Batch(given, seed, count))
                seed, share = seed + count, share - count
        return Sample(name, label, tuple(batches), **more)


def _muons(tracks: int) -> dict[str, Any]:
    return {"kind": "muons", "tracks": tracks}


def _waveform_conditions(muons: Sample, main: str, both: tuple[str, ...]) -> Iterator[Condition]:
    """Yield the conditions that change the waveforms of the muons, or their noise alone."""
    one = (main,)
    for factor in NOISE_FACTORS:
        yield Condition(f"noise-{factor:g}", f"noise x{factor:g}", "noise", muons, both, Change(noise=factor))
    for factor in NOISE_ALONE_FACTORS:
        label = f"noise x{factor:g}, no charge"
        yield Condition(f"alone-{factor:g}", label, "noise", muons, both, Change(signal=0.0, noise=factor))
    for factor in CHARGE_FACTORS:
        label = f"muons with x{factor:g} of the charge"
        yield Condition(f"charge-{factor:g}", label, "charge", muons, both, Change(signal=factor))
    for factor in GAINS:
        yield Condition(f"gain-{factor:g}", f"gain x{factor:g}", "gain", muons, both, Change(gain=factor))
    noisy = Change(signal=0.0, noisy=True)
    yield Condition("noisy", "3 % of the channels with x3 noise, no charge", "noisy", muons, one, noisy)
    for height in DRIFTS_ADC:
        label = f"drift of {height:g} ADC RMS below 5 kHz"
        yield Condition(f"drift-{height:g}", label, "drift", muons, one, Change(drift=height))
        alone = Change(signal=0.0, drift=height)
        yield Condition(f"drift-{height:g}-alone", f"{label}, no charge", "drift", muons, one, alone)
    label = f"steps of {STEPS_ADC:g} ADC on 3 % of the channels"
    yield Condition("steps", label, "drift", muons, one, Change(steps=STEPS_ADC))
    yield Condition(
        "steps-alone", f"{label}, no charge", "drift", muons, one, Change(signal=0.0, steps=STEPS_ADC)
    )


def _sample_conditions(
    samples: _Samples, events: int, main: str, both: tuple[str, ...]
) -> Iterator[Condition]:
    """Yield the conditions with samples of their own."""
    one = (main,)
    few = samples.make("few", f"{FEW_TRACKS} muons", _muons(FEW_TRACKS))
    yield Condition("few", few.label, "few", few, one)
    for electrons in POINT_ELECTRONS:
        sample = samples.make(
            f"points-{electrons}", f"points of {electrons} electrons", {}, tracks=points(electrons)
        )
        yield Condition(sample.name, sample.label, "points", sample, both)
    for view, name in enumerate(VIEWS):
        arguments = {"kind": "line", "plane": view, "angle": ",".join(map(str, ANGLES))}
        lines = samples.make(f"lines-{name}", f"{name} lines at 85 to 89 degrees", arguments, view=view)
        yield Condition(lines.name, f"{name} lines", "lines", lines, one)
    ends = samples.make(
        "ends",
        f"{ENDS_TRACKS} muons from 1.5 ms before to 1.5 ms after the trigger",
        _muons(ENDS_TRACKS),
        changes={"SPNGTrackDepos": f"{{ earliest: {-ENDS_NS}, latest: {ENDS_NS} }}"},
    )
    yield Condition("ends", "ends of the readout", "ends", ends, one)
    heavy = samples.make("heavy", "a track with x20 ionisation", {}, tracks=HEAVY)
    yield Condition("heavy", heavy.label, "heavy", heavy, one)
    checked = min(events, CHECKED_EVENTS)
    shaping = samples.make(
        "shaping", "shaping 2.4 us, 2.2 us assumed", _muons(20), events=checked, code={"detname": SHAPING}
    )
    collecting = samples.make(
        "collecting",
        "V plane that collects, induction assumed",
        {**_muons(20), "detname": "pdhd_badAPA1"},
        events=checked,
    )
    for sample in (shaping, collecting):
        yield Condition(sample.name, sample.label, "response", sample, one)


def make_plan(
    model: str | None, events: int = ROBUSTNESS_EVENTS, first_seed: int = ROBUSTNESS_SEED, only: str = ""
) -> Plan:
    """Plan a study. only: groups with commas; empty: all."""
    variants = make_variants(model)
    main, both = next(iter(variants)), tuple(variants)
    samples = _Samples(first_seed, events)
    label = f"{', '.join(map(str, sorted(MIXED_TRACKS)))} muons"
    muons = samples.make("muons", label, *(_muons(tracks) for tracks in MIXED_TRACKS))
    conditions = (
        *_waveform_conditions(muons, main, both),
        *_sample_conditions(samples, events, main, both),
    )
    wanted = only.split(",") if only else ROBUSTNESS_GROUPS
    return Plan(
        tuple(condition for condition in conditions if condition.group in wanted), variants, main, model
    )
