# SPDX-License-Identifier: Apache-2.0
"""Pipelines that the tests of a file share, and a wheel of the present build."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import spng
from scripts.wcb.checkout import ROOT


@pytest.fixture(name="pipeline", scope="module")
def fixture_pipeline() -> Iterator[spng.Pipeline]:
    """A pipeline without the network."""
    with spng.Pipeline(model="none", device="cpu") as own:
        yield own


@pytest.fixture(name="simulation", scope="module")
def fixture_simulation() -> spng.Simulation:
    return spng.Simulation(noise=False)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive that ./wcb wheel makes."""
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [str(ROOT / "wcb"), "wheel", "--no-build", f"--out={folder}"],
        capture_output=True,
        text=True,
        check=False,
    )
    if "nothing is built" in done.stderr or "needs a release build" in done.stderr:
        pytest.skip("no release build")
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="session")
def unpacked_wheel(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its files with their modes, as unzip and pip write them. Tests must not change them."""
    folder = tmp_path_factory.mktemp("unpacked") / "wheel"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        for entry in archive.infolist():
            (folder / entry.filename).chmod(entry.external_attr >> 16)
    return folder
