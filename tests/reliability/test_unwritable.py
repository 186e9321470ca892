# SPDX-License-Identifier: Apache-2.0
"""Outputs that cannot be written: every format with a limit of the size of files, on a full and on a read-only file system."""

from __future__ import annotations

import os
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
def mounted(folder: Path, options: str) -> Iterator[None]:
    """Mount a file system in memory at a folder; skip the test if that is not possible here."""
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a file system is not allowed here")
    try:
        yield
    finally:
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


@pytest.mark.parametrize(
    ("flag", "limit"),
    [("--timing", 20_000), pytest.param("--record", 130_000, marks=recorded.needs_recorder)],
)
def test_reports(words: Words, tmp_path: Path, flag: str, limit: int) -> None:
    """The output fits, so that only the report fails; a recording leaves the rows that it has."""
    job = [flag, "report", *words(frames="sparse", nevents=1)]
    check(run(job, tmp_path, limited(resource.RLIMIT_FSIZE, limit)), "report", flag == "--timing")
    left = [name for name in names(tmp_path) if name != "out.npz"]
    assert all(".part" in name for name in left) and bool(left) == (flag == "--record")


@pytest.mark.parametrize("ending", wire_cell.ENDINGS)
def test_full_file_system(words: Words, tmp_path: Path, ending: str) -> None:
    with mounted(tmp_path, "size=8k"):
        check(run(words(output=f"out{ending}"), tmp_path), f"out{ending}")
        assert names(tmp_path) == []


def test_read_only_folder(words: Words, tmp_path: Path) -> None:
    (tmp_path / "read-only").mkdir()
    with mounted(tmp_path / "read-only", "ro"):
        check(run(words(output="read-only/out.npz"), tmp_path), "read-only", has_bytes=False)


def test_link_to_a_full_device(words: Words, tmp_path: Path) -> None:
    (tmp_path / "out.npz").symlink_to("/dev/full")
    check(run(words(), tmp_path), "out.npz")
    assert names(tmp_path) == ["out.npz"] and Path("/dev/full").is_char_device()
