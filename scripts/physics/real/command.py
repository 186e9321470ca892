# SPDX-License-Identifier: Apache-2.0
"""The command ./wcb physics --real FOLDER, after its options and the set-up."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from wirecell_profile.output import json_text

from bench import machine_load
from bench.programs import ready_build, use_cores
from scripts.output import page_path, write
from scripts.wcb.checkout import ROOT, fail, say

from ..about import about_run
from ..detectors.command import data_folders
from ..program import Program
from . import page
from .bars import NOT_RUN
from .datasets import Folder
from .jobs import Jobs
from .pictures import Gallery
from .studies import STUDIES
from .study import Context, result_of

PAGE = ROOT / "docs" / "real-data.md"


def detector_files(folder: Path, given: Path | None) -> Path | None:
    """Return the folder of detector files: the given one, else `detector` beside the folder of data, if it is there."""
    beside = folder.resolve().parent / "detector"
    return given or (beside if beside.is_dir() else None)


def target_of(options: argparse.Namespace) -> Path:
    """Return the page to write: without --page that of the documents, or with --only one in the output folder."""
    if options.page is not None:
        return page_path(options.page)
    return options.output / PAGE.name if options.only else PAGE


def files_of(folder: Folder) -> dict[str, str]:
    """Return for each file that the studies read whether it is present and has the known checksum."""
    words = {None: "absent", True: "as here", False: "another version"}
    return {file.name: words[folder.is_published(file)] for file in folder.files()}


def run_studies(context: Context, only: str) -> dict[str, Any]:
    """Run the chosen studies; return their results by name."""
    wanted = only.split(",") if only else [study.name for study in STUDIES]
    results = {}
    for study in STUDIES:
        if study.name in wanted:
            say(f"{study.title}")
            results[study.name] = result_of(study, context)
    return results


def main(options: argparse.Namespace) -> int:
    """Run the command; return the exit status: 0 if all jobs ran, whether or not all bars are met."""
    folder = Folder(options.real.resolve())
    if not folder.path.is_dir():
        fail(f"--real: no folder {folder.path}")
    path = ready_build(options.build) / "bin" / "wire-cell"
    cores = use_cores(options.cores)
    data_folders(detector_files(folder.path, options.data))
    start, target = machine_load.now(), target_of(options)
    with tempfile.TemporaryDirectory(prefix="wcb-real-") as name:
        jobs = Jobs(Program(path, cores), Path(name), say)
        context = Context(folder, jobs, Gallery(target.parent / page.IMAGES))
        studies = run_studies(context, options.only)
    if not jobs.timing:
        fail("no job ran: " + "; ".join(text for study in studies.values() for text in study["problems"]), 1)
    result = {
        "schema": "spng-real-1",
        **about_run(jobs.timing, cores, start),
        "command": "./wcb physics --real FOLDER" + (f" --only {options.only}" if options.only else ""),
        "files": files_of(folder),
        "studies": studies,
    }
    say("\n" + page.bars_table(result).text())
    say(f"\n{page.bar_counts(result)}; {result['wall_seconds']:.0f} s")
    write(options.json or options.output / "real.json", json_text(result))
    write(target, page.to_markdown(result, target))
    is_complete = all(bar["verdict"] != NOT_RUN for study in studies.values() for bar in study["bars"])
    return 0 if is_complete else 1
