"""./wcb bench: every step and the whole chain, the own operators, and what the chain is held against.

Set-up and build if needed. Then, in turn, the chain's yardstick (one real two-dimensional transform there and back of
the same planes) and the main job on copies of the frame in data/, one event in flight; then the programs of
build/bench. Prints tables and writes out/bench/bench.json. Times never decide about success: the exit status is 0
when all ran.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path

from benchlib import cold, machine_load, programs
from benchlib.frames import copies_of_frame
from benchlib.page import write_page
from benchlib.result import Measurements, result_of
from benchlib.tables import print_result
from wcblib import setup
from wcblib.checkout import OUT, ROOT, build_folder, fail, say, wcb

FOLDER = OUT / "bench"
FRAME = ROOT / "data" / "tracks10-adc.tar.bz2"


def command_line() -> argparse.Namespace:
    """What the user wants."""
    parser = argparse.ArgumentParser(prog="wcb bench", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=6, help="events of a run of the chain (default 6)")
    parser.add_argument("--runs", type=int, default=3,
                        help="runs of the chain, each after one of the yardstick (default 3)")
    parser.add_argument("--quick", action="store_true", help="one run of three events, no operators")
    parser.add_argument("--cold", action="store_true",
                        help="instead: what a new process pays once, its compile caches (the driver's too) in an empty folder. "
                             "Today nothing is compiled at run time, so this is first use of libraries and memory")
    parser.add_argument("--cores", type=int, default=2, help="processor cores to use, 0: all (default 2)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:N or auto (default cpu)")
    parser.add_argument("--dtype", default="float32", help="float32 or float64 (default float32)")
    parser.add_argument("--model", default="none", help="none, standin or a model file (default none)")
    parser.add_argument("--engine", default="Pgrapher", help="Pgrapher or TbbFlow (default Pgrapher)")
    parser.add_argument("--only", metavar="WORD", default="",
                        help="only operators with WORD in their name, and no chain")
    parser.add_argument("--page", type=Path, help="also write this page (Markdown), such as docs/benchmarks/cpu.md")
    parser.add_argument("--build", type=Path, metavar="FOLDER",
                        help="measure the programs of this build folder as they are; no set-up, no build")
    setup.add_options(parser)
    options = parser.parse_args()
    if options.events < 1 or options.runs < 1 or options.cores < 0:
        parser.error("--events and --runs are at least 1, --cores at least 0")
    if options.quick:
        options.events, options.runs = 3, 1
    if options.cold and options.events < 2:
        parser.error("--cold compares the first event with later ones: --events is at least 2")
    return options


def ready_build(options: argparse.Namespace) -> Path:
    """The build folder with programs in it."""
    if options.build is not None:
        folder = options.build.resolve()
        if not (folder / "bin" / "wire-cell").exists():
            fail(f"no program bin/wire-cell in {folder}")
        return folder
    setup.ensure(options.mode, options.no_system, quiet=True)
    if build_folder() is None:
        wcb("configure", "--with-nvtx")
    wcb("build")
    return build_folder()


def use_cores(count: int) -> int:
    """Keep this process and those it starts on so many cores; returns the number."""
    allowed = sorted(os.sched_getaffinity(0))
    if 0 < count < len(allowed):
        os.sched_setaffinity(0, allowed[:count])
    return len(os.sched_getaffinity(0))


def chain_command(options: argparse.Namespace, build: Path, cores: int) -> list[str]:
    """The main job on copies of the frame."""
    arguments = {"input": str(copies_of_frame(FRAME, options.events, FOLDER)), "output": str(FOLDER / "signal.tar"),
                 "device": options.device, "threads": str(cores), "dtype": options.dtype, "model": options.model,
                 "engine": options.engine}
    return programs.chain_command(build / "bin" / "wire-cell", arguments, FOLDER / "timing.json")


def measure_cold(options: argparse.Namespace, build: Path, cores: int) -> None:
    """Runs with empty compile caches."""
    command = chain_command(options, build, cores)
    say(f"\nCold, {options.runs} x {options.events} events on {cores} cores\n  " + shlex.join(command))
    runs = [cold.cold_run(command, FOLDER / "caches") for _ in range(options.runs)]
    figures = cold.cold_figures([timing for timing, _ in runs], [size for _, size in runs])
    say(cold.cold_text(figures))
    path = FOLDER / "cold.json"
    cold.write_cold(figures, path)
    say(f"\nWritten: {path}")


def measure_chain(options: argparse.Namespace, build: Path, cores: int, found: Measurements) -> None:
    """Yardstick and chain in turn, so that both see the same machine; then what start-up consists of."""
    program = build / "bin" / "wire-cell"
    yardstick = build / "bench" / programs.YARDSTICK
    threads = {"OMP_NUM_THREADS": str(cores)}
    found.command = chain_command(options, build, cores)
    if not yardstick.exists():
        say(f"  {yardstick} is not built (it needs Google Benchmark): the chain is not compared with it")
    say("  " + shlex.join(found.command))
    for number in range(options.runs):
        if yardstick.exists():
            (times,) = programs.google_benchmark(yardstick, "", 3, threads).values()
            found.yardsticks.append(times)
        found.timings.append(programs.run_chain(found.command))
        say(f"  run {number + 1} of {options.runs}")
    found.start_up = {
        "the program alone (wire-cell -v)": programs.wall_seconds([str(program), "-v"]),
        "and the configuration (wire-cell --check)":
            programs.wall_seconds([str(program), "-c", "cfg/pipeline.jsonnet", "--check"]),
    }


def measure_operators(options: argparse.Namespace, build: Path, cores: int, found: Measurements) -> None:
    """The other programs of build/bench."""
    for program in sorted((build / "bench").glob("*_bench")):
        if program.name != programs.YARDSTICK or options.only:
            say(f"  {program.name}")
            times = programs.google_benchmark(program, options.only, 3, {"OMP_NUM_THREADS": str(cores)})
            found.operators.update({f"{program.name}/{name}": values for name, values in times.items()})


def main() -> int:
    """The command."""
    options = command_line()
    build = ready_build(options)
    FOLDER.mkdir(parents=True, exist_ok=True)
    cores = use_cores(options.cores)
    if options.cold:
        measure_cold(options, build, cores)
        return 0
    found = Measurements(cores=cores, own_command=shlex.join(["./wcb", "bench", *sys.argv[1:]]))
    if not options.only:
        say(f"\nChain, {options.runs} x {options.events} events on {cores} cores")
        start = machine_load.now()
        measure_chain(options, build, cores, found)
        found.load = machine_load.since(start)
    if not options.quick:
        say("\nOperators")
        measure_operators(options, build, cores, found)

    result = result_of(found)
    print_result(result)
    path = FOLDER / "bench.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    say(f"\nWritten: {path}")
    if options.page is not None:
        if options.only:
            fail("a page needs the chain: leave out --only")
        page = options.page if options.page.is_absolute() else ROOT / options.page
        write_page(result, page)
        say(f"Written: {page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
