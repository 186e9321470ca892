# SPDX-License-Identifier: Apache-2.0
"""Prove this software on a machine with a GPU, in stages of a few minutes each, or turn results into a page.

    scripts/gpu_check smoke      does the program start, and do chain and operators agree with the CPU
    scripts/gpu_check modes      engines, CUDA graphs, precision, lengths, anodes, simulation, recorder, tests/gpu
    scripts/gpu_check sanitize   compute-sanitizer over operators and events
    scripts/gpu_check speed      copies, ways of the network, events in flight, slowest kernels under ncu
    scripts/gpu_check report OUT...   write docs/benchmarks/cuda.md from the results in these folders

A stage writes STAGE.json and STAGE.tgz into --out, and its section of the page. Exit status: 0 if every check passed or was
skipped with a reason, 1 if one failed, 2 for a usage error.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from scripts.output import write as write_text
from scripts.wcb.checkout import OUT, ROOT, USAGE_ERROR, say

from . import machine, modes, page, result_file, sanitize, smoke, speed
from .outcome import exit_status
from .result_file import Result
from .setting import DEFAULT_INPUT, Setting, environment_for, find_program
from .stage import Stage

PAGE = ROOT / "docs" / "benchmarks" / "cuda.md"
STAGES: dict[str, Callable[[Stage], None]] = {
    "smoke": smoke.run,
    "modes": modes.run,
    "sanitize": sanitize.run,
    "speed": speed.run,
}


def parse(words: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/gpu_check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stage", choices=[*STAGES, "report"], help="what to do")
    parser.add_argument("results", nargs="*", type=Path, metavar="OUT", help="report: folders with results")
    parser.add_argument(
        "--wheel",
        type=Path,
        metavar="FILE",
        help="folder or archive with the unpacked wheel of ./wcb wheel; default: the build",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(os.environ.get("OUT") or OUT / "gpu"),
        metavar="FOLDER",
        help="folder for results (default: the variable OUT, else out/gpu)",
    )
    parser.add_argument(
        "--work",
        type=Path,
        metavar="FOLDER",
        help="keep inputs and outputs here, for example below /dev/shm; default: a temporary folder",
    )
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE", help=f"page (default {PAGE.name})")
    parser.add_argument("--no-page", action="store_true", help="write no page")
    parser.add_argument("--device", default="cuda", help="argument `device` of the jobs (default cuda)")
    parser.add_argument(
        "--input",
        type=Path,
        default=DEFAULT_INPUT,
        metavar="FILE",
        help="frame file; its first event is used",
    )
    parser.add_argument("--events", type=int, default=24, help="events of a measured job (default 24)")
    parser.add_argument(
        "--job",
        default="",
        metavar="WORDS",
        help='further words of every job, such as "-P FOLDER -A threads=1"',
    )
    parser.add_argument(
        "--simulated",
        action="store_true",
        help="the CUDA runtime is simulated: skip checks that need hardware, write no page",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="WORD",
        help="run the checks with this word in their names; report adds them to those of an earlier run",
    )
    parser.add_argument("--limit", type=float, default=540, help="seconds for the stage (default 540)")
    options = parser.parse_args(words)
    if options.events < 4:
        parser.error("--events is at least 4")
    if (options.stage == "report") != bool(options.results):
        parser.error("report needs the folders with results; other stages take none")
    return options


def run_stage(options: argparse.Namespace, command: str) -> int:
    """Run a stage; print the table of checks, write results and page; return the exit status."""
    begin, started = time.monotonic(), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="spng-gpu-check-")))
        work = options.work or scratch
        work.mkdir(parents=True, exist_ok=True)
        program = find_program(options.wheel, scratch)
        setting = Setting(
            program,
            work.resolve(),
            options.device,
            options.input.resolve(),
            options.events,
            tuple(shlex.split(options.job)),
            options.simulated,
            environment_for(program, options.wheel is not None),
        )
        stage = Stage(options.stage, setting, begin + options.limit, only=tuple(options.only))
        stage.results["machine"] = {**machine.machine_facts(), "gpus": machine.gpu_facts()}
        stage.results["program"] = machine.program_facts(program, setting.environment)
        STAGES[options.stage](stage)
        if not stage.outcomes:
            raise ValueError(f"no check of stage {stage.name} has {' or '.join(options.only)} in its name")
        say(f"\n{stage.table().text()}\n")
        result = result_file.result_of(stage, command, started, time.monotonic() - begin)
        for path in result_file.write(result, stage.logs, options.out):
            say(f"Written: {path}")
    if not options.only:
        write_page(options, {options.stage: result})
    status = exit_status(stage.outcomes)
    say(f"{options.stage}: {'failed' if status else 'ok'} after {time.monotonic() - begin:.0f} s")
    return status


def write_page(options: argparse.Namespace, results: dict[str, Result]) -> None:
    """Put the sections of these results into the page, unless they are simulated."""
    if options.no_page:
        return
    if any(result["simulated"] for result in results.values()):
        say("No page is written: the device was simulated.")
        return
    folder = options.page.resolve().parent
    if folder.exists() and not os.access(folder, os.W_OK):
        say(f"No page is written: {folder} is read-only. Later: scripts/gpu_check report {options.out}")
        return
    before = options.page.read_text(encoding="utf-8") if options.page.exists() else ""
    write_text(options.page, page.page(results, before))


def main(words: list[str]) -> int:
    """Run the command; return the exit status."""
    options = parse(words)
    try:
        if options.stage == "report":
            write_page(options, result_file.read_all(options.results))
            return 0
        return run_stage(options, shlex.join(["scripts/gpu_check", *words]))
    except (ValueError, OSError) as problem:
        print(f"gpu_check: {problem}", file=sys.stderr)
        return USAGE_ERROR
