# SPDX-License-Identifier: Apache-2.0
"""The command ./wcb physics, after its options and the set-up."""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench import machine_load
from bench.frames import copies_of_frame
from bench.programs import ready_build, use_cores
from scripts.wcb.checkout import ROOT, fail, say

from . import bars, compare, page, settings, study, summary, tables
from .about import about_run
from .detectors import command as detectors
from .linescan import LinesMissing
from .program import JobFailed, Processed, Program
from .real import command as real
from .robustness import command as robustness
from .sections import sections_of
from .settings import Plan
from .sizes import FULL, QUICK
from .wires import Anode, load_anode

DATA = ROOT / "data"
WIRES = DATA / "protodunehd-wires-larsoft-v1.json.gz"
DEFAULT_ADC, DEFAULT_TRUTH = DATA / "tracks10-adc.tar.bz2", DATA / "tracks10-truth.npz"
MODEL = DATA / "dnnroi.ts"


def model_file(name: str) -> str | None:
    """Return the path of the network, or None."""
    if name == "none":
        return None
    if name == "default":
        return str(MODEL) if MODEL.exists() else None
    if not Path(name).is_file():
        fail(f"--model: no file {name}")
    return str(Path(name).resolve())


def chosen_plan(options: argparse.Namespace, model: str | None) -> Plan:
    """Return the samples and variants that the options select."""
    sizes = QUICK if options.quick else FULL
    if options.seeds:
        sizes = replace(sizes, lines=options.seeds)
    if options.events:
        sizes = replace(sizes, muons=options.events, noise=options.events, dead=options.events)
    plan = settings.plan(sizes, options.first_seed, model)
    if options.only:
        wanted = options.only.split(",")
        plan = replace(
            plan, samples=[sample for sample in plan.samples if sample.name.split("-")[0] in wanted]
        )
    return plan


class DefaultEvent:
    """Figures of the event in data/ by variant, which is read from a file without compression."""

    def __init__(self, program: Program, anode: Anode, plan: Plan, folder: Path) -> None:
        self._program, self._anode, self._folder = program, anode, folder
        self._variants = {variant.name: variant for variant in plan.default_event}
        self._views: dict[str, Any] = {}

    def keep(self, name: str, done: Processed) -> None:
        """Measure the event, processed by a variant."""
        self._views[name] = compare.figures(done.output, DEFAULT_TRUTH, self._anode)["views"]

    def views(self) -> dict[str, Any]:
        """Return variant -> view -> figures; process the variants that are not measured."""
        for name, variant in self._variants.items():
            if name not in self._views:
                event = copies_of_frame(DEFAULT_ADC, 1, self._folder)
                done = self._program.process(self._folder, variant, event)
                self.keep(name, done)
                done.remove()
        return {name: self._views[name] for name in self._variants}


def timed_job(path: Path, plan: Plan, cores: int, folder: Path) -> Processed:
    """Process the default event several times by the main variant, alone on the machine."""
    variant = replace(
        next(variant for variant in plan.default_event if variant.name == plan.main),
        probability=False,
    )
    event = copies_of_frame(DEFAULT_ADC, 1, folder)
    return Program(path, cores).process(folder, variant, copies_of_frame(event, plan.timed, folder))


def run_study(path: Path, plan: Plan, cores: int, with_default: bool) -> dict[str, Any]:
    """Run all jobs; return the result without the figures of OSP."""
    start, anode, program = machine_load.now(), load_anode(WIRES, 0), Program(path, 1)
    with tempfile.TemporaryDirectory(prefix="wcb-physics-") as name:
        folder = Path(name)
        timed = timed_job(path, plan, cores, folder)
        seconds, timing = timed.chain_milliseconds() * 1e-3, timed.timing
        default_event = DefaultEvent(program, anode, plan, folder)
        if with_default:
            default_event.keep(plan.main, timed)
        timed.remove()
        say(f"\nPhysics: {sum(batch.count for batch in study.batches(plan))} events on {cores} cores")
        results = study.run(program, anode, plan, cores, folder, say)
        extra: dict[str, Any] = {}
        if with_default:
            say("  default event")
            extra["default_event"] = default_event.views()
    about = {**about_run(timing, cores, start), "chain_seconds": seconds}
    names = {
        variant.name: variant.label for variant in (*settings.rule_variants(), *settings.model_variants(""))
    }
    result = summary.result_of(plan, results, about) | extra
    result["variants"] = names | result["variants"]
    if plan.model and Path(plan.model).is_relative_to(ROOT):
        result["model"] = str(Path(plan.model).relative_to(ROOT))
    result["bars"] = bars.bars_of(result, seconds if plan.model else None)
    return result


def main(options: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    if options.detectors:
        return detectors.main(options)
    if options.real:
        return real.main(options)
    if options.robustness:
        return robustness.main(options, model_file(options.model), WIRES)
    model = model_file(options.model)
    path = ready_build(options.build) / "bin" / "wire-cell"
    cores = use_cores(options.cores)
    plan = chosen_plan(options, model)
    if plan.model is None:
        say("no trained network: without the variants with DNNROI")
    try:
        result = run_study(path, plan, cores, not options.only or "default" in options.only.split(","))
    except (JobFailed, LinesMissing, compare.ComparisonImpossible) as problem:
        fail(str(problem), 1)
    osp = compare.osp_figures(DATA)
    result["traditional"] = osp
    sections = sections_of(result, osp)
    say("\n" + tables.bars_table(result).text())
    missed = [bar for bar in result["bars"] if not bar["met"]]
    say(
        f"\n{len(result['bars']) - len(missed)} of {len(result['bars'])} bars are met; {result['wall_seconds']:.0f} s"
    )
    page.publish(options, result, sections)
    return 0
