# SPDX-License-Identifier: Apache-2.0
"""The command ./wcb bench, after its options and the set-up."""

from __future__ import annotations

import argparse
import datetime
import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from wirecell_profile.output import json_text

from bench.gpu.machine import program_facts
from scripts.output import page_path, write
from scripts.wcb.checkout import OUT, ROOT, fail, say

from . import all_pages, cold, frame_files, machine_load, programs, recording, regression, roofline
from .frames import copies_of_frame
from .page import page
from .points import Setting
from .result import Measurements, result_of
from .tables import print_result

FOLDER = OUT / "bench"
FRAME = ROOT / "data" / "tracks10-adc.tar.bz2"


def chain_command(options: argparse.Namespace, build: Path, cores: int) -> list[str]:
    """Return the main job on copies of the frame."""
    arguments = {
        "input": str(copies_of_frame(FRAME, options.events, FOLDER)),
        "output": str(FOLDER / "signal.tar"),
        "device": options.device,
        "threads": str(cores),
        "dtype": options.dtype,
        "model": options.model,
        "engine": options.engine,
    }
    return programs.chain_command(build / "bin" / "wire-cell", arguments, FOLDER / "timing.json")


def measure_cold(options: argparse.Namespace, build: Path, cores: int) -> None:
    """Measure runs with empty compile caches."""
    command = chain_command(options, build, cores)
    say(f"\nCold, {options.runs} x {options.events} events on {cores} cores\n  " + shlex.join(command))
    figures = cold.measured(command, FOLDER / "caches", options.runs)
    say(cold.cold_text(figures))
    say()
    write(FOLDER / "cold.json", json_text({"schema": cold.SCHEMA, **figures}))


def measure_recording(options: argparse.Namespace, build: Path) -> None:
    """Measure the cost of recording ranges."""
    say(f"\nCost of recording, {options.runs} rounds")
    start = machine_load.now()
    figures = recording.measured(build, FOLDER, options.runs)
    say(f"\n{recording.recording_table(figures).text()}\n{recording.note(figures)}")
    say(f"Load during the run: {machine_load.since(start).text()}.\n")
    write(FOLDER / "recording.json", json_text(figures))


def measure_chain(options: argparse.Namespace, build: Path, cores: int, found: Measurements) -> None:
    """Run yardstick and chain in turn, so that both see the same load; then measure the parts of the start-up."""
    program = build / "bin" / "wire-cell"
    yardstick = build / "bench" / programs.YARDSTICK
    threads = {"OMP_NUM_THREADS": str(cores)}
    found.command = chain_command(options, build, cores)
    if not yardstick.exists():
        say(f"  {yardstick} is not built (it needs Google Benchmark): no comparison with the yardstick")
    say("  " + shlex.join(found.command))
    for index in range(options.runs):
        if yardstick.exists():
            (times,) = programs.google_benchmark(yardstick, "", 3, threads).values()
            found.yardsticks.append(times)
        found.timings.append(programs.run_chain(found.command, {}))
        if options.check is None:
            found.peaks = roofline.measured_machine(build, cores, found.peaks)
        say(f"  run {index + 1} of {options.runs}")
    found.start_up = {
        "the program alone (wire-cell -v)": programs.wall_seconds([str(program), "-v"]),
        "and the configuration (wire-cell --check)": programs.wall_seconds(
            [str(program), "-c", "cfg/pipeline.jsonnet", "--check"]
        ),
    }


def measure_operators(options: argparse.Namespace, build: Path, cores: int, found: Measurements) -> None:
    """Run the other programs of build/bench."""
    for program in sorted((build / "bench").glob("*_bench")):
        if program.name not in (programs.YARDSTICK, roofline.PROGRAM) or options.only:
            say(f"  {program.name}")
            times = programs.google_benchmark(program, options.only, 3, {"OMP_NUM_THREADS": str(cores)})
            found.operators.update({f"{program.name}/{name}": values for name, values in times.items()})


def measure_all(options: argparse.Namespace, build: Path, cores: int, result: dict) -> None:
    """Measure the series and write the pages with their pictures."""
    rounds = 1 if options.quick else options.runs
    arguments = {name: getattr(options, name) for name in ("device", "dtype", "model", "engine")} | {
        "threads": str(cores)
    }
    setting = Setting(build, FOLDER, FRAME, arguments)
    series, load = all_pages.measured_series(setting, options.quick, cores, rounds)
    scaling = {
        "rounds": rounds,
        "load_text": load,
        "cold": cold.measured(chain_command(options, build, cores), FOLDER / "caches", rounds),
    }
    all_pages.print_series(series)
    all_pages.write_pages(result, series, scaling, options.pages.resolve(), FOLDER)


def check(options: argparse.Namespace, build: Path, cores: int) -> int:
    """Compare with the reference; return the exit status."""
    if not (build / "bench" / programs.YARDSTICK).exists():
        fail("the check needs the yardstick, build/bench/fft_yardstick_bench, which needs Google Benchmark")
    reference = []
    try:
        if not options.update:
            reference = regression.read_reference(options.check)
    except ValueError as error:
        fail(f"{options.check} is not a reference: {error}. To make one: ./wcb bench --check --update")
    found = Measurements(cores=cores, own_command=own_command())
    start = machine_load.now()
    measure_chain(options, build, cores, found)
    say(f"Load during the run: {machine_load.since(start).text()}.")
    runs = regression.measured_runs(
        found.timings, [[time.wall for time in times] for times in found.yardsticks]
    )
    if options.update:
        regression.write_reference(runs, own_command(), options.check)
        say(f"Written: {options.check}")
        return 0
    try:
        verdict = regression.check(reference, runs)
    except ValueError as error:
        fail(f"{options.check} is the reference of another job: {error}")
    say(verdict.text())
    return 1 if verdict.failures else 0


def facts(build: Path) -> dict[str, Any]:
    """Return time, program and file system of the measurements."""
    return {
        "time": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "program": program_facts(build / "bin" / "wire-cell", dict(os.environ)),
        "file_system": frame_files.file_system_of(
            Path(tempfile.gettempdir()), Path("/proc/mounts").read_text(encoding="utf-8")
        ),
    }


def page_with_frame_files(path: Path, result: dict) -> str:
    """Return a page with another section on frame files. End with a message if they were not measured or have no section."""
    files = frame_files.table(result)
    if files is None:
        fail(
            "--page needs the chain, or with --only the frame files: --only 'write_compact|write_array|read_file'"
        )
    try:
        text = frame_files.section(files, frame_files.origin(result))
        return frame_files.with_section(path.read_text(encoding="utf-8"), text)
    except (OSError, ValueError) as problem:
        fail(f"cannot change {path}: {problem}", 1)


def own_command() -> str:
    """Return the command line as the user typed it."""
    return shlex.join(["./wcb", "bench", *sys.argv[1:]])


def main(options: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    build = programs.ready_build(options.build, "--benchmarks")
    FOLDER.mkdir(parents=True, exist_ok=True)
    cores = programs.use_cores(options.cores)
    if options.cold:
        measure_cold(options, build, cores)
        return 0
    if options.recording:
        measure_recording(options, build)
        return 0
    if options.check is not None:
        return check(options, build, cores)
    found = Measurements(cores=cores, own_command=own_command(), **facts(build))
    start = machine_load.now()
    if not options.only:
        say(f"\nChain, {options.runs} x {options.events} events on {cores} cores")
        measure_chain(options, build, cores, found)
        found.load = machine_load.since(start)
    if not options.quick or options.only:
        say("\nOperators")
        measure_operators(options, build, cores, found)
        found.load = found.load or machine_load.since(start)

    result = result_of(found)
    print_result(result)
    say()
    write(FOLDER / "bench.json", json_text(result))
    if options.all:
        measure_all(options, build, cores, result)
    if options.page is not None:
        path = page_path(options.page)
        write(path, page_with_frame_files(path, result) if options.only else page(result))
    return 0
