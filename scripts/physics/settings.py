# SPDX-License-Identifier: Apache-2.0
"""Samples to simulate, their seeds, and the variants of the main job that process them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from .program import Variant
from .sizes import Sizes
from .wires import VIEWS

SEEDS_PER_SAMPLE = 1000
DEAD_FRACTION = 0.03  # of all channels, in the sample with dead channels
DEAD_ACTIVITY = 30
KINDS = {"muons": "muons", "none": "noise", "line": "lines"}  # kind of the simulation -> kind of the sample

# The rule of `model=none` without the two other views: every seed counts, and no ROI grows to neighbouring wires.
ALONE = {"SPNGCoincidenceROIs": "{ lone_seed_rms_factor: super.seed_rms_factor, neighbour_rms_factor: 1e9 }"}
# Thresholds that no sample of the induction views passes, so that MP2 and MP3 are empty.
NO_WITNESS = {"SPNGThresholdROIs:induction": "{ threshold_rms_factor: 1e9, weak_rms_factor: 1e9 }"}


def rule_variants() -> list[Variant]:
    """Return the variants without a network."""
    return [
        Variant("simple", "simple thresholds, no MP2/MP3", {"model": "none", "filters": "pdsp"}, ALONE),
        Variant("rule-alone", "rule without MP2/MP3", {"model": "none"}, ALONE),
        Variant("rule", "rule (model=none)", {"model": "none"}),
    ]


def model_variants(model: str) -> list[Variant]:
    """Return the variants with the network in the file `model`."""
    return [
        Variant("model-alone", "DNNROI, MP2/MP3 empty", {"model": model}, NO_WITNESS),
        Variant("model", "DNNROI", {"model": model}, probability=True),
    ]


def seed_variants(factors: tuple[float, ...]) -> list[Variant]:
    """Return the rule with other seed thresholds [noise RMS], the points of its curve of efficiency against purity."""
    return [
        Variant(
            f"rule-seed-{factor:g}",
            f"rule, seeds above {factor:g} sigma",
            {"model": "none"},
            {"SPNGCoincidenceROIs": f"{{ seed_rms_factor: {factor}, lone_seed_rms_factor: {factor + 1} }}"},
        )
        for factor in factors
    ]


def fast(variant: Variant) -> Variant:
    """Return the variant with precision=fast."""
    return Variant(
        f"{variant.name}-fast",
        f"{variant.label}, precision=fast",
        {**variant.arguments, "precision": "fast"},
        variant.changes,
    )


PERFECT = Variant("perfect", "perfect ROIs, these events")  # no job: measured on the rule's waveforms


def dead(variant: Variant, is_hit: bool) -> Variant:
    """Return the variant for events with dead channels."""
    name, words = ("dead-is-hit", "dead_is_hit=true") if is_hit else ("dead", "dead channels")
    return Variant(
        f"{variant.name}-{name}",
        f"{variant.label}, {words}",
        {**variant.arguments, "dead_is_hit": "true" if is_hit else "false"},
        variant.changes,
        dead=True,
    )


@dataclass(frozen=True)
class Sample:
    """Events of one kind.

    arguments  of the simulation
    view       index of the view of a line scan
    batch      events of one run of the simulation
    """

    name: str
    label: str
    kind: str  # muons, lines or noise
    arguments: dict[str, Any]
    events: int
    seed: int
    batch: int
    variants: tuple[Variant, ...]
    view: int = -1


@dataclass(frozen=True)
class Plan:
    """All samples, and the variants by name.

    main           name of the variant that the bars apply to
    default_event  variants of the event in data/
    timed          events of the job whose time is measured
    is_brief       a variant processes the events of all samples in one job
    """

    samples: list[Sample]
    main: str
    model: str | None
    default_event: list[Variant]
    timed: int
    is_brief: bool
    variants: dict[str, Variant] = field(default_factory=dict)


def plan(sizes: Sizes, first_seed: int, model: str | None) -> Plan:
    """Plan a study. model: file of the network, or None to leave out its variants."""
    rules = rule_variants()
    networks = model_variants(model) if model else []
    main = networks[-1] if model else rules[-1]
    compared = [*rules, *networks]
    best = [rules[-1], *networks[-1:]]
    seeds = iter(range(first_seed, first_seed + 100 * SEEDS_PER_SAMPLE, SEEDS_PER_SAMPLE))
    busy = min(sizes.activity, key=lambda count: abs(count - DEAD_ACTIVITY))
    with_dead = [one for each in best for one in (each, dead(each, False), dead(each, True))]
    seed_by_simulation: dict[str, int] = {}

    def sample(
        name: str, label: str, arguments: dict[str, Any], events: int, variants: list[Variant], view: int = -1
    ) -> Sample:
        kind, seed = KINDS[arguments["kind"]], next(seeds)
        if sizes.is_brief:
            seed = seed_by_simulation.setdefault(str(arguments), seed)
        return Sample(name, label, kind, arguments, events, seed, sizes.batch, tuple(variants), view)

    def muons(count: int) -> dict[str, Any]:
        return {"kind": "muons", "tracks": count}

    on_noise = [*rules, *networks[-1:]] if sizes.is_brief else compared
    label = f"{DEAD_FRACTION:.0%} of the channels dead"
    samples = [
        *(
            sample(f"muons-{count}", f"{count} muons", muons(count), sizes.muons, [*compared, fast(main)])
            for count in sizes.activity
        ),
        sample("noise", "noise alone", {"kind": "none"}, sizes.noise, on_noise),
        sample("dead", f"{busy} muons, {label}", muons(busy), sizes.dead, with_dead),
        sample(
            "roc", f"{busy} muons", muons(busy), sizes.dead, [*seed_variants(sizes.seed_factors), rules[-1]]
        ),
    ]
    on_lines = [replace(rules[-1], perfect=True), *networks[-1:]]
    for view, name in enumerate(VIEWS):
        line = {"kind": "line", "plane": view}
        samples.append(sample(f"lines-{name}", f"line scan {name}", line, sizes.lines, on_lines, view))
    return Plan(
        samples,
        main.name,
        model,
        best if sizes.is_brief else compared,
        sizes.timed,
        sizes.is_brief,
        {variant.name: variant for sample in samples for variant in (*sample.variants, PERFECT)},
    )
