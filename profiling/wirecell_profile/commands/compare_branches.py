# SPDX-License-Identifier: Apache-2.0
"""Build two commits with the same settings, run a job alternately on both, and compare the runs.

The library and the program of each commit are built in a git worktree under --folder, with this checkout's
.venv. After one uncounted run of each side, the runs alternate in random blocks A B B A or B A A B, so that a
slow drift of the machine affects both sides equally. Each run repeats the event; its first event is warm-up.
Builds and finished runs are kept: after an interruption the same command continues.

  wirecell-profile compare-branches main my-branch --runs 12
  wirecell-profile compare-branches main my-branch --metric wall,cpu --html branches.html
  wirecell-profile compare-branches v1 v2 --job '-c cfg/pipeline.jsonnet -A input=many.tar -A device=cuda'
  wirecell-profile compare-branches --build-a build --build-b ../other/build

Exit status: 0 no slowdown; 1 a node is slower or a count grew; 2 usage error, or the comparison failed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..compare.branch_builds import Build, built, commit_of, git, given_build, tail, time_left
from ..compare.comparison import compare
from ..compare.measurements import WHOLE_EVENT, Run
from ..compare.readers import read_runs
from ..errors import ProfileError, UsageError, system_error
from ..output import write
from ..output_file import output_file
from ..units import short_time
from .compare import add_criteria, add_outputs, check_files, criteria_of, report

NAME = "compare-branches"
HELP = "build two commits, run a job alternately on both, and compare"

DEFAULT_JOB = "-c cfg/pipeline.jsonnet -A threads=1"
DEFAULT_INPUT = "data/tracks10-adc.tar.bz2"
DEFAULT_EVENTS = 7
DEFAULT_CONFIGURE = "--with-nvtx"
# Bytes of environment, which shift the stack; varied so that memory layout does not appear as a difference.
MAX_PADDING = 4096


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "references", nargs="*", metavar="REF", help="two branches, tags or commits: A, then B"
    )
    parser.add_argument("--job", default=DEFAULT_JOB, help="arguments of wire-cell (default: %(default)s)")
    for side in "AB":
        parser.add_argument(
            f"--job-{side.lower()}",
            default="",
            metavar="WORDS",
            help=f"further arguments of {side} alone, for options that the other commit does not have",
        )
    parser.add_argument(
        "--events",
        type=int,
        metavar="N",
        help=f"run on N copies of --input (default {DEFAULT_EVENTS} if the job names no input)",
    )
    parser.add_argument("--input", type=Path, help=f"file with one event, .tar.* (default {DEFAULT_INPUT})")
    parser.add_argument(
        "--runs", type=int, default=12, metavar="N", help="runs per side (default %(default)s)"
    )
    parser.add_argument(
        "--configure",
        default=DEFAULT_CONFIGURE,
        metavar="OPTIONS",
        help="options of ./wcb configure for both builds (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), metavar="N", help="compile N files at once"
    )
    parser.add_argument(
        "--build-a", type=Path, metavar="DIR", help="use this build as A instead of building a commit"
    )
    parser.add_argument("--build-b", type=Path, metavar="DIR", help="use this build as B")
    parser.add_argument(
        "--repository",
        type=Path,
        default=Path("."),
        metavar="DIR",
        help="checkout with the commits (default: this folder)",
    )
    parser.add_argument(
        "--folder", type=Path, metavar="DIR", help="folder of builds and runs (default out/compare-branches)"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the order of the runs")
    parser.add_argument("--restart", action="store_true", help="repeat finished runs")
    add_criteria(parser)
    add_outputs(parser)


def run(arguments: argparse.Namespace) -> int:
    """Build, run, compare. All errors have exit status 2, because 1 means slower."""
    try:
        return compare_branches(arguments)
    except ProfileError as error:
        print(error, file=sys.stderr)
    except KeyboardInterrupt:
        say("stopped; the same command continues from here")
        raise
    return 2


def say(text: str) -> None:
    """Print a line of progress to standard error, separate from --json -."""
    print(text, file=sys.stderr, flush=True)


def compare_branches(arguments: argparse.Namespace) -> int:
    """Run the command."""
    criteria = criteria_of(arguments)
    check_files(arguments, 1)
    if arguments.runs < 2:
        raise UsageError("too few runs", "--runs", str(arguments.runs), "2 or more, better 12")
    repository = Path(git(arguments.repository, "rev-parse", "--show-toplevel"))
    folder = (arguments.folder or repository / "out" / "compare-branches").resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise system_error("cannot make the folder", folder, error) from None
    builds = both_builds(arguments, repository, folder)
    job = full_job(arguments, repository, folder)
    further = [shlex.split(arguments.job_a), shlex.split(arguments.job_b)]
    jobs = [[*job, *with_full_paths(words)] for words in further]
    plan = Plan(folder, builds, jobs, arguments.runs, arguments.seed)
    if arguments.restart:
        plan.forget()
    sides = [without_conditions(side, differing_conditions(further)) for side in plan.carry_out()]
    results = [compare(sides[0], sides[1], criteria, (builds[0].label, builds[1].label), arguments.force)]
    return report(results, sides[0], [sides[1]], criteria, arguments)


def both_builds(arguments: argparse.Namespace, repository: Path, folder: Path) -> list[Build]:
    """Return the two sides; commits fill the sides without a given build folder."""
    references = list(arguments.references)
    given = [arguments.build_a, arguments.build_b]
    if len(references) != given.count(None):
        raise UsageError(
            "two sides are needed",
            seen=f"{len(references)} commits and {2 - given.count(None)} build folders",
            expected="REF REF, or --build-a DIR and --build-b DIR, or one of each",
        )
    named = [
        (reference, commit_of(repository, reference)) for reference in references
    ]  # resolve all before the first build
    configure = shlex.split(arguments.configure)
    return [
        given_build(build)
        if build
        else built(repository, *named.pop(0), folder, configure, arguments.jobs, say)
        for build in given
    ]


def differing_conditions(further: list[list[str]]) -> set[str]:
    """Return the conditions of runs that the further arguments of one side set."""
    words = [word for side in further for word in side]
    names = {f"argument {word.partition('=')[0]}" for word in words if "=" in word}
    return names | ({"job"} if "-c" in words else set())


def without_conditions(runs: list[Run], names: set[str]) -> list[Run]:
    """Return the runs without these conditions, so that they may differ."""
    return [
        replace(run, conditions={name: text for name, text in run.conditions.items() if name not in names})
        for run in runs
    ]


def with_full_paths(words: list[str]) -> list[str]:
    """Return arguments with absolute paths of files, because each run has its own working folder."""
    full = list(words)
    for index, (before, word) in enumerate(zip(words, words[1:]), 1):
        name, equals, value = word.partition("=")
        if before == "-A" and equals and value and Path(value).exists():
            full[index] = f"{name}={Path(value).resolve()}"
    return full


def full_job(arguments: argparse.Namespace, repository: Path, folder: Path) -> list[str]:
    """Return the job's words with absolute paths and an input of several events."""
    words = with_full_paths(shlex.split(arguments.job))
    has_input = any(word.startswith("input=") for word in words)
    events = arguments.events or (None if has_input else DEFAULT_EVENTS)
    if events:
        if has_input:
            raise UsageError(
                "--events makes the input, and the job names one",
                "--job",
                arguments.job,
                hint="give --input FILE instead",
            )
        words += [
            "-A",
            f"input={copied_events(repository, arguments.input or repository / DEFAULT_INPUT, events, folder)}",
        ]
    return words


def copied_events(repository: Path, frame: Path, events: int, folder: Path) -> str:
    """Make a file with `events` copies of the event of `frame`; return its path."""
    inputs = (
        folder / "inputs" / hashlib.sha256(frame.read_bytes()).hexdigest()[:8] if frame.is_file() else folder
    )
    inputs.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [
            sys.executable,
            "-P",
            "-m",
            "bench.frames",
            str(frame.resolve()),
            str(events),
            str(inputs),
        ],
        text=True,
        env=os.environ | {"PYTHONPATH": str(repository)},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise ProfileError(
            "cannot make the input",
            str(frame),
            (done.stderr.strip().splitlines() or ["?"])[-1],
            "a .tar file with one event",
            "give a job with an input of several events",
        )
    return done.stdout.strip()


def block_order(runs: int, generator: np.random.Generator) -> list[int]:
    """Return `runs` of each side (0 and 1) in random blocks A B B A or B A A B.

    For odd `runs` the last block is half.
    """
    order: list[int] = []
    for _ in range((runs + 1) // 2):
        first = int(generator.integers(2))
        order += [first, 1 - first, 1 - first, first]
    return order[: 2 * runs]


class Plan:
    """The runs of a comparison, with their order and files."""

    def __init__(
        self, folder: Path, builds: list[Build], jobs: list[list[str]], runs: int, seed: int
    ) -> None:
        self._builds, self._jobs = builds, jobs
        self._generator = np.random.default_rng(seed)
        self._order = block_order(runs, self._generator)
        self._padding = self._generator.integers(0, MAX_PADDING, len(self._order)).tolist()
        state = {
            "jobs": jobs,
            "seed": seed,
            "sides": [[build.commit, str(build.program), stamp_of(build)] for build in builds],
        }
        self._state = json.dumps(state, sort_keys=True)
        self._folder = folder / ("runs-" + hashlib.sha256(self._state.encode()).hexdigest()[:12])
        self._folder.mkdir(parents=True, exist_ok=True)
        write(self._state + "\n", self._folder / "state.json")

    def forget(self) -> None:
        """Remove the finished runs."""
        for file in self._folder.glob("[ab]-*.json"):
            file.unlink()

    def _files(self) -> list[Path]:
        """Return the timing file of each run in order, numbered within its side."""
        seen = [0, 0]
        files = []
        for side in self._order:
            seen[side] += 1
            files.append(self._folder / f"{'ab'[side]}-{seen[side]:03d}.json")
        return files

    def carry_out(self) -> list[list[Run]]:
        """Do the unfinished runs, and return the runs of both sides."""
        files = self._files()
        missing = [index for index, file in enumerate(files) if not file.exists()]
        say(f"runs: {len(files) - len(missing)} of {len(files)} are done, in {self._folder}")
        if missing:
            # Shows early that both sides run; fills the page cache, and compiles kernels at their first use.
            for side in (0, 1):
                say(f"uncounted run of {'AB'[side]}, {self._builds[side].label}")
                self._run(side, self._folder / f"warm-{'ab'[side]}.json", 0)
        started = time.monotonic()
        for done, index in enumerate(missing):
            self._run(self._order[index], files[index], self._padding[index])
            self._progress(
                files[: index + 1],
                index,
                (time.monotonic() - started) / (done + 1) * (len(missing) - done - 1),
            )
        return [
            [run for side, file in zip(self._order, files) if side == wanted for run in read_runs(file)]
            for wanted in (0, 1)
        ]

    def _run(self, side: int, target: Path, padding: int) -> None:
        """Run one process. Its timing file gets the final name only after success."""
        build, folder = self._builds[side], self._folder / "work"
        folder.mkdir(exist_ok=True)
        log = self._folder / "last.log"
        with output_file(target) as partial:
            command = [str(build.program), *self._jobs[side], "--timing", str(partial)]
            with log.open("w", encoding="utf-8") as stream:
                done = subprocess.run(
                    command,
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=subprocess.STDOUT,
                    check=False,
                    env=os.environ | {"WIRECELL_PROFILE_PADDING": "x" * padding},
                )
            if done.returncode or not partial.exists():
                raise ProfileError(
                    f"a run of {build.label} failed with status {done.returncode}",
                    shlex.join(command),
                    tail(log),
                    hint="correct the job, and give arguments that only one commit has with --job-a or --job-b; "
                    "the same command then continues from here",
                )

    def _progress(self, files: list[Path], index: int, left: float) -> None:
        """Print the time of a finished run, the medians so far, the machine's load and the time left."""
        medians: list[list[float]] = [[], []]
        for side, file in zip(self._order, files):
            for run in read_runs(file):
                medians[side].append(float(np.median(run.times["wall"][WHOLE_EVENT])))
        so_far = ", ".join(
            f"{name} {short_time(float(np.median(values)))}" for name, values in zip("AB", medians) if values
        )
        say(
            f"[{index + 1:3d}/{len(self._order)}] {'AB'[self._order[index]]} {short_time(medians[self._order[index]][-1])} per event; "
            f"so far {so_far}; load {os.getloadavg()[0]:.1f}; {time_left(left)}"
        )


def stamp_of(build: Build) -> str:
    """Return a stamp of a given build folder that changes with its program or library, so that runs are not
    mixed."""
    if build.commit:
        return ""
    files = [build.program, *sorted((build.program.parent.parent / "lib").glob("*.so"))]
    return " ".join(str(file.stat().st_mtime_ns) for file in files)
