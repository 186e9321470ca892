# SPDX-License-Identifier: Apache-2.0
"""The command ./wcb physics --robustness, after its options and the set-up."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from bench import machine_load
from bench.programs import ready_build, use_cores
from scripts.wcb.checkout import ROOT, fail, say

from .. import page
from ..about import about_run
from ..program import JobFailed, Program
from ..wires import load_anode
from . import measurement, pages, promises, study, tables
from .conditions import Plan, make_plan


def samples_json(plan: Plan) -> list[dict[str, Any]]:
    """Return the description of the samples."""
    return [
        {
            "name": sample.name,
            "label": sample.label,
            "events": sample.events,
            "seeds": [sample.batches[0].seed, sample.batches[-1].seed + sample.batches[-1].count - 1],
            "simulation": [batch.arguments for batch in sample.batches],
        }
        for sample in plan.samples()
    ]


def result_of(plan: Plan, results: study.Results, about: dict[str, Any]) -> dict[str, Any]:
    """Return the result as JSON (schema "spng-robustness-1")."""
    model = plan.model
    if model and Path(model).is_relative_to(ROOT):
        model = str(Path(model).relative_to(ROOT))
    result: dict[str, Any] = {
        "schema": "spng-robustness-1",
        **about,
        "model": model,
        "main_variant": plan.main,
        "variants": {name: variant.label for name, variant in plan.variants.items()},
        "samples": samples_json(plan),
        "conditions": {
            condition.name: {
                "label": condition.label,
                "group": condition.group,
                "sample": condition.sample.name,
                "figures": measurement.figures(results.measured[condition.name]),
                "warnings": results.warnings[condition.name],
            }
            for condition in plan.conditions
        },
    }
    result["bars"] = promises.bars_of(result)
    return result


def run_study(path: Path, wires: Path, plan: Plan, cores: int) -> dict[str, Any]:
    """Run all jobs; return the result."""
    start = machine_load.now()
    with tempfile.TemporaryDirectory(prefix="wcb-robustness-") as name:
        tasks = study.tasks_of(plan)
        events = sum(task.events for task in tasks)
        say(f"\nRobustness: {len(plan.conditions)} conditions, {events} events on {cores} cores")
        results = study.run(Program(path, 1), load_anode(wires, 0), plan, cores, Path(name), say)
    about = about_run(results.timing, cores, start)
    return result_of(plan, results, about)


def main(options: argparse.Namespace, model: str | None, wires: Path) -> int:
    """Run the command; return the exit status."""
    path = ready_build(options.build) / "bin" / "wire-cell"
    cores = use_cores(options.cores)
    plan = make_plan(model, options.events, options.first_seed, options.only)
    if plan.model is None:
        say("no trained network: the bars apply to the rule")
    try:
        result = run_study(path, wires, plan, cores)
    except JobFailed as problem:
        fail(str(problem), 1)
    sections = pages.sections_of(result)
    say("\n" + tables.bars_table(result).text())
    met = sum(bar["met"] for bar in result["bars"])
    say(f"\n{met} of {len(result['bars'])} bars are met; {result['wall_seconds']:.0f} s")
    page.publish(options, result, sections, pages.WORDING)
    return 0
