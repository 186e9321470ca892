# SPDX-License-Identifier: Apache-2.0
"""Paths of the checkout, and functions that run programs in it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from .child import wait_for

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
STATE = ROOT / ".wcb"  # locks; not tracked
OUT = ROOT / "out"

USAGE_ERROR = 2  # exit status, equal to wire-cell's


def fail(text: str, status: int = USAGE_ERROR) -> NoReturn:
    """End the program with one readable message."""
    sys.stdout.flush()
    sys.stderr.write(f"wcb: {text}\n")
    raise SystemExit(status)


def say(text: str = "") -> None:
    """Print and flush, so that lines keep their order among those of started programs."""
    print(text, flush=True)


def run(command: list[str], is_quiet: bool = False) -> int:
    """Run a command in the root without standard input; return its exit status (128 + signal if killed)."""
    try:
        return wait_for(command, cwd=ROOT, is_quiet=is_quiet)
    except FileNotFoundError:
        fail(f"program not found: {command[0]}")


def wcb(*arguments: str) -> None:
    """Run ./wcb; if it fails, end this program with the same status."""
    status = run([sys.executable, str(ROOT / "wcb"), *arguments])
    if status:
        raise SystemExit(status)


def commit() -> str:
    """Return the commit of the checkout, with -dirty if tracked files other than Markdown differ from it."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!*.md")
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + ("-dirty" if changed else "")


def build_folder() -> Path | None:
    """Return the folder that the last configure chose, or None before the first configure."""
    lock = ROOT / lock_name()
    if not lock.exists():
        return None
    for line in lock.read_text(encoding="utf-8").splitlines():
        if line.startswith("out_dir ="):
            folder = Path(line.split("=", 1)[1].strip().strip("'\""))
            return folder if (folder / "c4che").is_dir() else None
    return None


def build(*options: str) -> Path:
    """Run ./wcb build with these options, after a configure if there was none; return the build folder."""
    if build_folder() is None:
        wcb("configure", "--with-nvtx")
    wcb("build", *options)
    folder = build_folder()
    assert folder is not None, "a build that ended well has a folder"
    return folder


def lock_name() -> str:
    """Return the name of waf's file in the root that stores the build folder."""
    return os.environ.get("WAFLOCK", ".lock-wcb")


@contextlib.contextmanager
def one_at_a_time(name: str) -> Iterator[None]:
    """Hold a lock, since several people or shells may use one checkout and builds must not mix."""
    STATE.mkdir(exist_ok=True)
    with open(STATE / f"{name}.lock", "w", encoding="utf-8") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"wcb: waiting for another ./wcb in this checkout ({name})")
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield
