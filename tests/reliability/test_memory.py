# SPDX-License-Identifier: Apache-2.0
"""Little memory: the smallest budget, and less and less address space."""

from __future__ import annotations

import json
import re
import resource
from pathlib import Path

import pytest

from tests.support import figures, wire_cell
from tests.support.measured_runs import choose, digest, limited, main_job, names, run, succeeded

pytestmark = [wire_cell.needs_program, pytest.mark.reliability]

MAX_RETRIES = 3
SPACES_MB = range(600, 1501, choose(50, 300))


@pytest.fixture(name="free", scope="module")
def fixture_free(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of the default event with the network, and its report free.json beside it."""
    folder = tmp_path_factory.mktemp("free")
    words = main_job(input=wire_cell.default_input(), model="default", output="free.npz")
    succeeded(["--timing", "free.json", *words], folder)
    return folder / "free.npz"


def peak_mb(report: Path) -> float:
    """Return the largest memory of tensors in a report."""
    return json.loads(report.read_text(encoding="utf-8"))["run"]["host_tensor_peak_bytes"] / 1e6


def test_smallest_budget(free: Path, tmp_path: Path) -> None:
    """The error for an impossible budget names it; it gives the same bytes in tiles."""
    given = {"input": wire_cell.default_input(), "model": "default"}
    impossible = run(main_job(memory_budget="50MB", **given), tmp_path)
    found = re.search(r"at least ([\d.]+) (\w+)", impossible.errors)
    assert impossible.status == 2 and found is not None and names(tmp_path) == [], impossible.errors
    job = main_job(memory_budget=found[1] + found[2], **given)
    succeeded(["--timing", "small.json", *job], tmp_path)
    figures.note("smallest budget", found[1] + found[2])
    figures.note("tensors with it [MB]", peak_mb(tmp_path / "small.json"))
    figures.note("without a budget [MB]", peak_mb(free.with_suffix(".json")))
    assert digest(tmp_path / "out.npz") == digest(free)


@pytest.mark.parametrize("limit_mb", SPACES_MB)
def test_address_space(free: Path, tmp_path: Path, limit_mb: int) -> None:
    """The same bytes, or an error about memory: not one that the user should report."""
    words = main_job(input=wire_cell.default_input(), model="default")
    done = run(words, tmp_path, limited(resource.RLIMIT_AS, limit_mb * 1_000_000))
    restarts = [int(each) for each in re.findall(r"restart (\d+) of \d+", done.errors)]
    figures.note("space [MB] that suffices, up to" if done.status == 0 else "that does not, up to", limit_mb)
    assert max(restarts, default=0) <= MAX_RETRIES
    if done.status == 0:
        assert digest(tmp_path / "out.npz") == digest(free)
        return
    errors = [line for line in done.errors.splitlines() if line.startswith(("error:", "  seen:"))]
    assert done.status == 1 and names(tmp_path) == [], done.errors
    assert "memory" in " ".join(errors or done.errors.splitlines()[-1:]), done.errors
