# SPDX-License-Identifier: Apache-2.0
"""Outputs that cannot be written: every format with a limit of the size of files, on a full and on a read-only file system."""

from __future__ import annotations

import os
import re
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.recorder import recorded
from tests.support import wire_cell
from tests.support.measured_runs import Ended, limited, main_job, names, run
from tests.support.small_site import Site

pytestmark = [wire_cell.needs_program, pytest.mark.reliability]

Words = Callable[..., list[object]]


@pytest.fixture(name="words", scope="module")
def fixture_words(site: Site) -> Words:
    """A function that gives the words of a job on three events."""
    adc = wire_cell.write_arrays(site.folder / "adc.npz", site.busy_frames(3, 6000))
    return lambda **arguments: main_job(*site.flags, input=adc, **arguments)


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[bool]:
    """Mount a file system in memory at a folder; yield whether that is possible here."""
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    is_mounted = not os.geteuid() and not subprocess.run(command, capture_output=True, check=False).returncode
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", str(folder)], check=True)


def check(done: Ended, path: str, has_bytes: bool = True) -> None:
    """Require status 1 and a message with the path and the bytes."""
    assert done.status == 1 and path in done.errors, done.errors
    assert ("bytes" in done.errors) >= has_bytes, done.errors


@pytest.mark.parametrize("limit", [0, 4096, 10_000])
@pytest.mark.parametrize("ending", wire_cell.ENDINGS)
def test_limit_of_the_size(words: Words, tmp_path: Path, ending: str, limit: int) -> None:
    done = run(words(output=f"out{ending}"), tmp_path, limited(resource.RLIMIT_FSIZE, limit))
    check(done, f"out{ending}")
    assert names(tmp_path) == []


def failed_report(words: Words, folder: Path, flag: str, name: str, limit: int) -> list[str]:
    """Run a job whose output fits, so that only the report fails; return the files besides the output."""
    job = [flag, name, *words(frames="sparse", nevents=1)]
    check(run(job, folder, limited(resource.RLIMIT_FSIZE, limit)), name, has_bytes=flag == "--timing")
    return [each for each in names(folder) if each != "out.npz"]


def test_timing(words: Words, tmp_path: Path) -> None:
    assert failed_report(words, tmp_path, "--timing", "timing.json", 20_000) == []


@recorded.needs_recorder
def test_recording(words: Words, tmp_path: Path) -> None:
    """It leaves the rows that it has."""
    left = failed_report(words, tmp_path, "--record", "run.sqlite", 130_000)
    assert left and all(re.fullmatch(r"run\.sqlite\.\d+\.part(-wal)?", name) for name in left), left


@pytest.mark.parametrize("ending", wire_cell.ENDINGS)
def test_full_file_system(words: Words, tmp_path: Path, ending: str) -> None:
    with mounted(tmp_path, "size=8k") as is_mounted:
        if not is_mounted:
            pytest.skip("mounting a file system is not allowed here")
        check(run(words(output=f"out{ending}"), tmp_path), f"out{ending}")
        assert names(tmp_path) == []


def test_read_only_folder(words: Words, tmp_path: Path) -> None:
    """By a mount, which holds for root too, or by permissions."""
    folder = tmp_path / "read-only"
    folder.mkdir()
    with mounted(folder, "ro") as is_mounted:
        if not is_mounted:
            folder.chmod(0o500)
            if os.access(folder, os.W_OK):
                pytest.skip("root writes everywhere, and mounting a file system is not allowed here")
        check(run(words(output=folder / "out.npz"), tmp_path), "out.npz", has_bytes=False)
        assert names(folder) == [] and names(tmp_path) == ["read-only"]


def test_link_to_a_full_device(words: Words, tmp_path: Path) -> None:
    (tmp_path / "out.npz").symlink_to("/dev/full")
    check(run(words(), tmp_path), "out.npz")
    assert names(tmp_path) == ["out.npz"] and Path("/dev/full").is_char_device()
