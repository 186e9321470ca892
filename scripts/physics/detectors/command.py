# SPDX-License-Identifier: Apache-2.0
"""The command ./wcb physics --detectors, after its options and the set-up."""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

from bench import machine_load
from bench.programs import ready_build, use_cores
from scripts.output import Table
from scripts.wcb.checkout import fail, say

from .. import page, summary
from ..about import about_run
from ..program import JobFailed, Program
from ..sections import Section
from ..tables import CHARGE_HEADS, charge_row
from ..wires import VIEWS
from . import cases
from .cases import FilesMissing
from .study import Results, Study

Result = dict[str, Any]
WORDING = page.Wording(
    "SPNG: figures of every detector",
    "Detectors: charge against the truth",
    "./wcb physics --detectors --data FOLDER",
    "detectors.html",
    page.DEFINITIONS,
)


def sample_figures(results: Results, name: str) -> Result:
    """Return variant -> view -> figures of a sample."""
    found: Result = {}
    for one in results.measured[name]:
        found.setdefault(one.variant, {}).setdefault(VIEWS[one.view], []).append(one)
    return {
        variant: {
            view: summary.view_figures(sorted(events, key=lambda one: one.seed))
            for view, events in views.items()
        }
        for variant, views in found.items()
    }


def result_of(study: Study, results: Results, about: dict[str, Any]) -> Result:
    """Return the result as JSON (schema "spng-detectors-1")."""
    labels = {
        variant.name: variant.label for detector in cases.DETECTORS for variant in cases.variants_of(detector)
    }
    return {
        "schema": "spng-detectors-1",
        **about,
        "model": "data/dnnroi.ts for DNNROI",
        "variants": labels,
        "samples": summary.samples_json(sample for _, sample in study.samples),
        "frames": [given.label for given in study.frames],
        "figures": {
            name: sample_figures(results, name)
            for name in [sample.name for _, sample in study.samples] + [each.label for each in study.frames]
        },
    }


def figure_table(result: Result, title: str, labels: dict[str, str]) -> Table:
    """Return the figures of samples by variant and view. labels: sample -> first column."""
    rows = [
        [label, result["variants"][variant], *charge_row(view, found)]
        for name, label in labels.items()
        for variant, views in result["figures"][name].items()
        for view, found in views.items()
    ]
    return Table(title, ["detector", "variant", *CHARGE_HEADS], rows, 3)


def sections_of(result: Result) -> list[Section]:
    """Return the sections of the page; those without figures are left out."""
    simulated = {sample["name"]: sample["label"] for sample in result["samples"]}
    sections = [
        Section(
            "simulated",
            "Our simulation",
            [
                "Muons from above (+y, across the drift) or from all directions, with the noise of the detector's file, on seeds on "
                "which no choice was made."
            ],
            tables=[figure_table(result, "Simulated", simulated)],
        ),
        Section(
            "frames",
            "Frames of another simulation",
            ["Processed and compared with their truth; no choice was made on them."],
            tables=[figure_table(result, "Frames", {name: name for name in result["frames"]})],
        ),
    ]
    return [section for section in sections if section.tables[0].rows]


def data_folders(given: Path | None) -> list[Path]:
    """Return the folders of detector files, and give them to wire-cell."""
    folders = [cases.PRODUCT_DATA, *([given.resolve()] if given else [])]
    old = os.environ.get("WIRECELL_PATH")
    os.environ["WIRECELL_PATH"] = ":".join([*map(str, folders), *([old] if old else [])])
    return folders


def main(options: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    path = ready_build(options.build) / "bin" / "wire-cell"
    cores = use_cores(options.cores)
    folders = data_folders(options.data)
    samples = cases.samples_of(options.events, options.first_seed, options.only)
    start = machine_load.now()
    try:
        frames = [cases.parse_frames(text) for text in options.frames]
        detectors = [detector for detector, _ in samples] + [each.detector for each in frames]
        study = Study(samples, frames, {detector.label: detector.load(folders) for detector in detectors})
        say(f"\nDetectors: {sum(sample.events for _, sample in samples)} events on {cores} cores")
        with tempfile.TemporaryDirectory(prefix="wcb-detectors-") as name:
            results = study.run(Program(path, 1), cores, Path(name), say)
    except FilesMissing as problem:
        fail(f"{problem}\nGive the folder of the public wire-cell-data with --data.")
    except JobFailed as problem:
        fail(str(problem), 1)
    about = about_run(results.timing, cores, start)
    result = result_of(study, results, about)
    sections = sections_of(result)
    for section in sections:
        say("\n" + section.tables[0].text())
    page.publish(options, result, sections, WORDING)
    return 0
