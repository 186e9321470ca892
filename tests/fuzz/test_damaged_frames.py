# SPDX-License-Identifier: Apache-2.0
"""Readers of HDF5 and Zarr on damaged files: a few of them, always the same ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz import python_target

pytest.importorskip("h5py")
pytest.importorskip("zarr")

import spng  # noqa: E402
from tests.fuzz.damaged_frames import SAME, TARGET, events  # noqa: E402

COUNT = 30
SEED = 20261128


def content(path: Path) -> dict[str, bytes]:
    """Return the content of the files of a folder, or of a file."""
    files = path.rglob("*") if path.is_dir() else [path]
    return {str(each): each.read_bytes() for each in files if each.is_file()}


def test_files_give_the_frames_that_were_written_or_one_error(tmp_path: Path) -> None:
    failures = list(python_target.failures_of(TARGET, COUNT, SEED, tmp_path))
    assert not failures, "\n".join(f"{failure.command}: {failure.reason}" for failure in failures)


def test_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    for index in range(20):
        first, second = (content(TARGET.write(tmp_path, SEED, index)[0]) for _ in range(2))
        assert first == second


@pytest.mark.parametrize("ending", [".h5", ".zarr"])
def test_other_frames_than_those_that_were_written_are_a_failure(tmp_path: Path, ending: str) -> None:
    changed = events()
    changed[1].traces["roi"].samples[1, 2] += 1
    for name, frames in (("whole", events()), ("changed", changed), ("less", events()[:2])):
        spng.write_frames(tmp_path / f"{name}{ending}", frames)
    reasons = [
        python_target.run_in_child(TARGET, SAME, tmp_path / f"{name}{ending}", tmp_path)
        for name in ("whole", "changed", "less")
    ]
    assert reasons[0] == "" and "AssertionError" in reasons[1] and "zip()" in reasons[2]


@pytest.mark.parametrize(
    ("errors", "is_explained"),
    [
        ("error: it failed\n  where:    here\n  seen:     a\n            b\n", True),
        ("error: it failed\n  where:    here\nerror: it failed\n", False),
        ("warning: a\nerror: it failed\n", False),
        ("", False),
    ],
)
def test_one_block_explains_a_failure(errors: str, is_explained: bool) -> None:
    assert TARGET.is_explained(1, errors, "") is is_explained
