# SPDX-License-Identifier: Apache-2.0
"""The files that ./wcb lint reads: those that a branch changes, or all that git tracks."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ..checkout import ROOT, fail

PYTHON_SCRIPTS = ("wcb", "wscript", "scripts/gpu_check")  # without an ending

# Written by tools, not by hand.
GENERATED = ("data/", "docs/benchmarks/reference.json", "profiling/tests/data/")


def git(*arguments: str) -> list[str]:
    """Run git in the root; return the names that it prints with -z."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        fail(f"git {arguments[0]} failed: {done.stderr.strip()}", 1)
    return [name for name in done.stdout.split("\0") if name]


def base() -> str:
    """Return the commit that changes are counted from: where the branch left main; HEAD on main itself."""
    for main in ("origin/main", "main"):
        done = subprocess.run(
            ["git", "merge-base", main, "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return done.stdout.strip()
    return "HEAD"


def changed() -> list[str]:
    """Return changed and new files, committed or not."""
    names = git("diff", "--name-only", "--diff-filter=d", "-z", base())
    names += git("ls-files", "--others", "--exclude-standard", "-z")
    return existing(names)


def every() -> list[str]:
    """Return all files that git tracks, and new ones that it does not ignore."""
    return existing(git("ls-files", "--cached", "--others", "--exclude-standard", "-z"))


def existing(names: list[str]) -> list[str]:
    """Keep files that are there, are written by hand, and are not links."""
    kept = {name for name in names if not name.startswith(GENERATED)}
    return sorted(name for name in kept if (ROOT / name).is_file() and not (ROOT / name).is_symlink())


def with_ending(names: list[str], *endings: str) -> list[str]:
    """Keep files with one of these endings; "" stands for Python scripts without one."""
    return [
        name
        for name in names
        if Path(name).suffix in endings or (name in PYTHON_SCRIPTS and ".py" in endings)
    ]
