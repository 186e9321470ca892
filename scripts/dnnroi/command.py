# SPDX-License-Identifier: Apache-2.0
"""The command python -m scripts.dnnroi."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from scripts.wcb.checkout import ROOT, build_folder, fail, say

from . import calibration, evaluation, export, figures, noise, package
from .conditions import NOMINAL, Conditions
from .dataset import EventSet, make_events
from .job_input import job_input
from .network import IMAGES, INPUTS
from .settings import SETTINGS, Setting
from .simulation import ProgramFailed
from .training import OtherTraining, Training, best_device, train

BAR = 30  # characters
EVERY_S = 10.0  # between lines if the output is not a terminal


class ProgressBar:
    """done/total with the time left: redrawn in a terminal, a line every EVERY_S elsewhere."""

    def __init__(self) -> None:
        self._begin = self._shown = time.monotonic()
        self._first: int | None = None

    def __call__(self, done: int, total: int, text: str) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first = done - 1
        terminal = sys.stdout.isatty()
        if done < total and now - self._shown < (0.2 if terminal else EVERY_S):
            return
        self._shown = now
        left = (now - self._begin) / (done - self._first) * (total - done)
        full = BAR * done // total
        line = f"[{'#' * full}{'.' * (BAR - full)}] {done}/{total} {text}, {left:.0f} s left"
        end = "\n" if done == total or not terminal else ""
        print(("\r\033[K" if terminal else "") + line, end=end, flush=True)


def arguments(words: list[str], description: str) -> argparse.Namespace:
    """Parse the command line."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "spng" / "dnnroi"
    parser = argparse.ArgumentParser(
        prog="python -m scripts.dnnroi",
        description=description,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--setting",
        choices=SETTINGS,
        default="full",
        help="numbers of events and training steps (default full)",
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=cache / "events",
        metavar="FOLDER",
        help=f"simulated events; missing ones are made (default {cache / 'events'})",
    )
    parser.add_argument(
        "--work", type=Path, metavar="FOLDER", help=f"checkpoint and figures (default {cache}/SETTING)"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="the model (default WORK/dnnroi.ts)")
    existing = parser.add_mutually_exclusive_group()
    existing.add_argument(
        "--evaluate",
        type=Path,
        metavar="FILE.ts",
        help="measure this model on held-out events; train nothing",
    )
    existing.add_argument(
        "--calibrate",
        type=Path,
        metavar="FILE.ts",
        help="write this model to OUTPUT with calibrated probabilities and the same ROIs; train nothing",
    )
    parser.add_argument(
        "--package",
        type=Path,
        metavar="FILE.pt2",
        help="also write the network as machine code for this machine's device, by AOTInductor",
    )
    parser.add_argument("--fresh", action="store_true", help="start again even if there is a checkpoint")
    parser.add_argument("--seed", type=int, help="seed of the weights and crops (default 1)")
    parser.add_argument("--steps", type=int, help="training steps instead of the setting's")
    parser.add_argument("--threads", type=int, help="CPU threads (default all cores)")
    parser.add_argument(
        "--build", type=Path, metavar="FOLDER", help="build folder (default that of ./wcb configure)"
    )
    options = parser.parse_args(words)
    options.work = options.work or cache / options.setting
    options.output = options.output or options.work / "dnnroi.ts"
    return options


def chosen_setting(options: argparse.Namespace) -> Setting:
    """Return the named setting with the changes of the command line."""
    setting = SETTINGS[options.setting]
    changes = {name: value for name in ("seed", "steps") if (value := getattr(options, name)) is not None}
    return dataclasses.replace(setting, training=dataclasses.replace(setting.training, **changes))


def wire_cell(options: argparse.Namespace) -> Path:
    """Return the path of wire-cell."""
    build = options.build.resolve() if options.build else build_folder()
    if build is None or not (build / "bin" / "wire-cell").exists():
        fail("wire-cell is not built. To fix: ./wcb, or give its build folder by --build")
    return build / "bin" / "wire-cell"


def figures_of(
    model: torch.nn.Module, held_out: EventSet, threshold: float, options: argparse.Namespace
) -> tuple[dict[str, Any], evaluation.Counts]:
    """Measure a model on held-out events; print the figures and draw the reliability. Return them for the metadata."""
    counts = evaluation.count(model, held_out)
    merits = evaluation.merits(counts, threshold)
    errors = evaluation.calibration_errors(counts)
    for view, merit in merits.items():
        figures_of_view = dataclasses.asdict(merit) | {
            f"calibration error, {name}": value for name, value in errors[view].items()
        }
        say(f"{view}: " + ", ".join(f"{name} {value:.4f}" for name, value in figures_of_view.items()))
    figures.draw_reliability(options.work / "reliability.png", counts)
    found = {
        "held_out": {view: dataclasses.asdict(merit) for view, merit in merits.items()},
        "area_under_roc": evaluation.area_under_roc(counts),
        "calibration_error": errors,
    }
    (options.work / "figures.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return found, counts


def measure_file(options: argparse.Namespace, path: Path) -> None:
    """Measure an existing model on held-out events; with --calibrate, calibrate it first and write it."""
    try:
        about = export.read_metadata(path.read_bytes())
        model = torch.jit.load(path)
    except (OSError, RuntimeError, KeyError) as failure:
        fail(f"{path} is no TorchScript file with metadata: {failure}")
    if about.get("inputs") != list(INPUTS) or "training_noise" not in about:
        fail(
            f"{path} has the inputs {about.get('inputs')}; the events are for a network with {list(INPUTS)} and the "
            "noise of its training. To fix: give a file that python -m scripts.dnnroi wrote"
        )
    program, setting = wire_cell(options), chosen_setting(options)
    unit = np.array([about["training_noise"][image] for image in IMAGES]).T
    threshold = about.get("mask_threshold", evaluation.MASK_THRESHOLD)
    if options.calibrate:
        make_events(options.data, setting.calibration_seeds(), NOMINAL, program, ProgressBar())
        line = calibration.fit(model, EventSet(options.data, setting.calibration_seeds(), unit))
        calibration.apply_line(line, *calibration.last_convolution(model))
        about |= calibration.metadata(line, threshold)
        threshold = about["mask_threshold"]
        say(
            f"logit of the probability = {line.slope:.3f} * logit {line.offset:+.3f}, threshold {threshold:.4f}"
        )
    make_events(options.data, setting.held_out_seeds(), NOMINAL, program, ProgressBar())
    held_out = EventSet(options.data, setting.held_out_seeds(), unit)
    found, _ = figures_of(model, held_out, threshold, options)
    if options.calibrate:
        export.write_whole(
            options.output, export.with_metadata(model.save_to_buffer(), about | {"figures": found})
        )
        say(f"Written: {options.output}")


def run(options: argparse.Namespace) -> None:
    """Simulate events, train, calibrate, measure and write the model."""
    setting, begin, commit = chosen_setting(options), time.monotonic(), export.commit(ROOT)
    say(f"1/4 Events: {2 * setting.held_out} held out, {setting.events} for training, in {options.data}")
    program = wire_cell(options)
    network_input = job_input(program)
    for seeds in (setting.held_out_seeds(), setting.calibration_seeds()):
        make_events(options.data, seeds, NOMINAL, program, ProgressBar())
    make_events(options.data, setting.training_seeds(), Conditions(), program, ProgressBar())
    held_out = EventSet(options.data, setting.held_out_seeds())

    device = best_device()
    say(f"2/4 Training: {setting.training.steps} steps on {device}, in {options.work}")
    checkpoint = options.work / "checkpoint.pt"
    training = Training(setting.training, device)
    if checkpoint.exists() and not options.fresh:
        training.load(checkpoint)
        say(f"resuming at step {training.step} of {checkpoint}")
    events = EventSet(options.data, setting.training_seeds(), held_out.training_noise)
    train(training, events, checkpoint, ProgressBar())

    say("3/4 Calibration, and figures of the held-out events")
    network = training.network.cpu()
    model = export.Probability(network)
    calibration_events = EventSet(options.data, setting.calibration_seeds(), held_out.training_noise)
    line = calibration.fit(model, calibration_events)
    calibration.apply_line(line, *network.head.parameters())
    calibrated = calibration.metadata(line, evaluation.MASK_THRESHOLD)
    threshold = calibrated["mask_threshold"]
    found, counts = figures_of(model, held_out, threshold, options)
    figures.draw(options.work / "figures.png", counts, threshold, training.losses)

    about = {
        "command": f"python -m scripts.dnnroi --setting {options.setting}",
        "commit": commit,
        "rule": dataclasses.asdict(setting.training),
        "events": setting.events,
        "minutes": round((time.monotonic() - begin) / 60, 1),
    }
    measured = noise.metadata(held_out.training_noise) | calibrated | network_input
    file_metadata = export.metadata(network, about, found, measured)
    size = export.write_torch_script(options.output, network, file_metadata)
    if options.package:
        package.write_package(options.package, network, file_metadata, device.type)
        say(f"compiled for {device.type}: {options.package}")
    say(f"4/4 Written: {options.output}, {size} bytes; figures: {options.work / 'figures.png'}")


def main(words: list[str], description: str) -> int:
    """Run the command; return the exit status."""
    options = arguments(words, description)
    if options.threads:
        torch.set_num_threads(options.threads)
    options.work.mkdir(parents=True, exist_ok=True)
    try:
        if options.evaluate or options.calibrate:
            measure_file(options, options.evaluate or options.calibrate)
        else:
            run(options)
    except (ProgramFailed, OtherTraining) as failure:
        fail(str(failure), 1)
    except KeyboardInterrupt:
        say("\nstopped; the same command resumes at the last checkpoint")
        return 130
    return 0
