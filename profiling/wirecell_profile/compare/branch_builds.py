# SPDX-License-Identifier: Apache-2.0
"""Builds of commits, each in its own git worktree, for comparisons of branches.

A worktree has a link `.venv` to the virtual environment of the checkout, where ./wcb looks for it. So both
sides use the same LibTorch and waf, and nothing is downloaded.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from ..errors import ProfileError, UsageError
from ..output import write

SHOWN_LINES = 15  # last lines of a log to show in an error
STEP = re.compile(r"\[ *(\d+)/(\d+)\] ")  # waf's count of a step


@dataclass(frozen=True)
class Build:
    """The build of a side."""

    label: str  # as given by the user
    commit: str  # empty for a given build folder
    program: Path


class BuildProgress:
    """Prints the steps of a build and the time left, one line in `every` seconds."""

    def __init__(
        self,
        name: str,
        say: Callable[[str], None],
        every: float = 30,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name, self._say, self._every, self._clock = name, say, every, clock
        self._first: tuple[int, float] | None = None  # step and time of the first line with a count
        self._said = clock()

    def take(self, line: str) -> None:
        """Read a line of waf's output."""
        found = STEP.match(line)
        if found is None:
            return
        step, steps, now = int(found[1]), int(found[2]), self._clock()
        if self._first is None:
            self._first = (step, now)
        if now - self._said >= self._every and step > self._first[0]:
            self._said = now
            pace = (now - self._first[1]) / (step - self._first[0])
            self._say(f"{self._name}: step {step} of {steps}, {time_left(pace * (steps - step))}")


def time_left(seconds: float) -> str:
    """Return the time left in seconds or minutes."""
    return f"{seconds:.0f} s left" if seconds < 100 else f"{seconds / 60:.0f} min left"


def git(repository: Path, *words: str) -> str:
    """Run git and return its output. Raise UsageError with git's message if it fails."""
    done = subprocess.run(["git", "-C", str(repository), *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise UsageError(
            f"git {words[0]} failed", str(repository), done.stderr.strip() or f"status {done.returncode}"
        )
    return done.stdout.strip()


def commit_of(repository: Path, reference: str) -> str:
    """Return the full hash of a branch, tag or commit. Raise UsageError, with the nearest names, if there is none."""
    try:
        return git(
            repository, "rev-parse", "--verify", "--quiet", "--end-of-options", reference + "^{commit}"
        )
    except UsageError:
        names = git(repository, "for-each-ref", "--format=%(refname:short)").split()
        near = difflib.get_close_matches(reference, names, n=3)
        raise UsageError(
            f"no commit '{reference}'",
            str(repository),
            expected="a branch, a tag or a commit of this repository",
            hint=f"nearest: {', '.join(near)}"
            if near
            else "git branch --all lists the branches; git fetch gets those of others",
        ) from None


def given_build(folder: Path) -> Build:
    """Use an existing build folder, such as build/."""
    program = folder.resolve() / "bin" / "wire-cell"
    if not program.is_file():
        raise UsageError(
            "not a build folder", str(folder), "no bin/wire-cell", "the folder that ./wcb builds into"
        )
    return Build(str(folder), "", program)


def built(
    repository: Path,
    reference: str,
    commit: str,
    folder: Path,
    configure: list[str],
    jobs: int,
    say: Callable[[str], None],
) -> Build:
    """Build a commit with these options of ./wcb configure in `folder`, or continue an earlier build there."""
    options = hashlib.sha256(" ".join(configure).encode()).hexdigest()[:6] if configure else "default"
    tree = folder / f"{commit[:12]}-{options}"
    program, stamp = tree / "build" / "bin" / "wire-cell", tree.with_suffix(".built.json")
    wanted = {"commit": commit, "configure": configure}
    if program.is_file() and stamp.exists() and json.loads(stamp.read_text(encoding="utf-8")) == wanted:
        say(f"{reference}: already built in {tree}")
        return Build(reference, commit, program)
    if (tree / ".git").exists():
        git(tree, "reset", "--quiet", "--hard", commit)  # the checkout may have been stopped half-way
    else:
        git(repository, "worktree", "prune")
        git(repository, "worktree", "add", "--detach", str(tree), commit)
    share_environment(repository, tree, say)
    log = tree.with_suffix(".log")
    say(f"{reference}: building {commit[:12]} in {tree} (log: {log})")
    with log.open("w", encoding="utf-8") as stream:
        for words in (["configure", *configure], ["build", "--notests", f"--jobs={jobs}"]):
            status = run_build([sys.executable, str(tree / "wcb"), *words], tree, stream, reference, say)
            if status:
                raise ProfileError(
                    f"./wcb {words[0]} failed for {reference}",
                    str(log),
                    tail(log),
                    hint="correct the commit or --configure, or give a folder with --build-a or --build-b",
                )
    if not program.is_file():
        raise ProfileError(f"the build of {reference} gave no program", str(program), hint=f"see {log}")
    write(json.dumps(wanted) + "\n", stamp)
    return Build(reference, commit, program)


def run_build(command: list[str], tree: Path, log: TextIO, reference: str, say: Callable[[str], None]) -> int:
    """Run a step of a build with its output in the log and its progress shown; return its exit status.

    If this process is stopped, all processes of the build are too: a build that goes on keeps the next one out.
    """
    progress = BuildProgress(reference, say)
    with subprocess.Popen(
        command,
        cwd=tree,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        process_group=0,
    ) as process:
        try:
            for line in process.stdout or ():
                log.write(line)
                log.flush()
                progress.take(line)
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            raise
    return process.returncode


def share_environment(repository: Path, tree: Path, say: Callable[[str], None]) -> None:
    """Link the checkout's .venv into the worktree; report if the commit requires other packages."""
    environment = repository / ".venv"
    if environment.is_dir() and not (tree / ".venv").exists():
        (tree / ".venv").symlink_to(environment.resolve(), target_is_directory=True)
    here, there = repository / "requirements.txt", tree / "requirements.txt"
    if here.exists() and there.exists() and here.read_bytes() != there.read_bytes():
        say(
            f"note: {tree.name} requires other Python packages than this checkout; both sides use this checkout's"
        )


def tail(log: Path) -> str:
    """Return the end of a log."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-SHOWN_LINES:]
    return "\n".join(lines)
