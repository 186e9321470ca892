# SPDX-License-Identifier: Apache-2.0
"""R11: outputs that cannot be written: file size limit, full file system, read-only folder, /dev/full."""

from __future__ import annotations

import os
import re
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scripts.output import Table
from tests.support import wire_cell

from .row import Outcome, Verdict, judge
from .work import Ended, Work, names, run

STATUS = 1
MEMORY_FILE_SYSTEM = "8k"


def size_limit(limit: int) -> Callable[[], None]:
    """Return a function that limits the size of files, for a new process."""

    def apply() -> None:
        wire_cell.default_signals()
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return apply


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[bool]:
    """Mount a file system in memory at a folder; yield whether that is possible here."""
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    is_mounted = (
        os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0
    )
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", str(folder)], check=True)


def unwritable(work: Work) -> Outcome:
    """Measure R11."""
    adc = wire_cell.write_arrays(work.folder / "adc.npz", work.site.busy_frames(3, 6000))
    rows: list[list[str]] = []
    misses: list[str] = []
    missing: list[str] = []
    bad: set[str] = set()

    def add(name: str, done: Ended, path: str, left: list[str], allowed: str = r"$^") -> None:
        rows.append([name, str(done.status), message(done.errors), ", ".join(left) or "nothing"])
        found = [] if done.status == STATUS else [f"status {done.status} instead of {STATUS}"]
        if path not in done.errors:
            found.append("the message lacks the path")
        if "bytes" not in done.errors and not name.startswith(("--record", "read-only")):
            found.append("the message lacks the bytes")
        if others := [each for each in left if not re.fullmatch(allowed, each)]:
            found.append(f"leaves {', '.join(others)}")
        if found:
            bad.add(name)
        misses.extend(f"{name}: {each}" for each in found)

    def words(output: str | Path, *flags: Any, **arguments: Any) -> list[Any]:
        return [*flags, *work.small_job(input=adc, output=output, **arguments)]

    outputs = tuple(f"out{ending}" for ending in wire_cell.ENDINGS)
    for output in outputs[: work.choose(len(outputs), 2)]:
        for limit in (0, 4096, 10_000)[: work.choose(3, 1)]:
            folder = work.new(f"limit-{output}-{limit}")
            done = run(words(output), folder, before=size_limit(limit))
            add(f"{output}, files of at most {limit} bytes", done, output, names(folder))
    # The output fits, so that only the report fails.
    for flag, name, limit in (("--timing", "timing.json", 20_000), ("--record", "run.sqlite", 130_000)):
        folder = work.new(f"limit{flag}")
        done = run(words("out.npz", flag, name, frames="sparse", nevents=1), folder, before=size_limit(limit))
        left = [each for each in names(folder) if each != "out.npz"]
        add(f"{flag} {name}, files of at most {limit} bytes", done, name, left, rf"{name}\.\d+\.part(-wal)?")
    folder = work.new("full")
    with mounted(folder, f"size={MEMORY_FILE_SYSTEM}") as is_mounted:
        if is_mounted:
            for output in outputs[: work.choose(len(outputs), 1)]:
                done = run(words(output), folder)
                add(f"{output}, file system of {MEMORY_FILE_SYSTEM}B", done, output, names(folder))
        else:
            missing.append("a full file system: not run here (mounting one is not allowed)")
    folder = work.new("read-only")
    with mounted(folder, "ro") as is_mounted:
        if not is_mounted:
            folder.chmod(0o500)
        if is_mounted or os.geteuid() != 0:
            done = run(words(folder / "out.npz"), work.new("elsewhere"))
            add("read-only folder", done, "out.npz", names(folder))
        else:
            missing.append("a read-only folder: not run here (root writes everywhere)")
    folder = work.new("device")
    (folder / "out.npz").symlink_to("/dev/full")
    add("out.npz, a link to /dev/full", run(words("out.npz"), folder), "out.npz", names(folder)[1:])
    if not Path("/dev/full").is_char_device():
        misses.append("/dev/full was replaced")
    figure = (
        f"{len(rows) - len(bad)} of {len(rows)} cases end with status {STATUS}, name the path and leave nothing but the "
        "rows of a recording"
    )
    note = (
        "A recording that does not fit leaves its rows in a .part file, which the message names.\n"
        "An input/output error of a disk (EIO) cannot be made here."
    )
    table = Table("Cases", ["case", "status", "message", "left behind"], rows, words=4)
    if missing and not misses:
        return Outcome(figure, Verdict.PART, "; ".join(missing), note, [table])
    return judge(figure, misses + (missing if misses else []), note, [table])


def message(errors: str) -> str:
    """Return the first line of an error block and the value that it reports."""
    parts = re.findall(r"^(?:error:|  seen:) +(.*)", errors, re.MULTILINE)
    return ": ".join(parts)[:140]
