# SPDX-License-Identifier: Apache-2.0
"""Tests of campaigns. They run from the source tree: no installation is needed."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "profiling"), str(HERE)]

from campaign_support import MEMORY, Bench, Servers  # noqa: E402  after the path


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in memory where there is one, because a campaign waits for the disk after each of its many small files."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path_factory.mktemp("campaign")
        return
    with tempfile.TemporaryDirectory(
        prefix="spng-campaign-", dir=MEMORY, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A fake program, a folder of inputs and a list, in a new folder that is the working folder."""
    monkeypatch.chdir(tmp_path)
    return Bench(tmp_path)


@pytest.fixture(scope="module")
def cluster_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A scheduler with two workers shared by the tests of a file; tests must not end the workers."""
    with Servers(tmp_path_factory.mktemp("servers")) as servers:
        address = servers.cluster()
        servers.wait_for_workers(address, 2)
        yield address


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    """Schedulers and workers as processes of their own, for tests that kill them."""
    with Servers(tmp_path) as made:
        yield made
