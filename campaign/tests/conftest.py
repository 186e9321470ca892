# SPDX-License-Identifier: Apache-2.0
"""Tests of campaigns. They run from the source tree: no installation is needed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "profiling"), str(HERE)]

from campaign_support import Bench, Servers  # noqa: E402  after the path


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A fake program, a folder of inputs and a list, in a new folder that is the working folder."""
    monkeypatch.chdir(tmp_path)
    return Bench(tmp_path)


@pytest.fixture(scope="module")
def cluster_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A scheduler with two workers shared by the tests of a file; tests must not end the workers."""
    with Servers(tmp_path_factory.mktemp("servers")) as servers:
        address = servers.scheduler()
        for _ in range(2):
            servers.worker(address)
        servers.wait_for_workers(address, 2)
        yield address


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    """Schedulers and workers as processes of their own, for tests that kill them."""
    with Servers(tmp_path) as made:
        yield made
