# SPDX-License-Identifier: Apache-2.0
"""A wheel on a minimal Debian with python3 and a torch wheel, without compiler and without packages of ours."""

from __future__ import annotations

import re
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.build.build_support import JOB, built_output, torch_folder, write_input
from tests.support import clean_root
from tests.support.clean_root import CleanRoot

SITE = "/opt/far away/site"  # the unpacked wheel, beside the torch wheel
PROGRAM = f"{SITE}/spng/bin/wire-cell"
PACKAGES = ("torch", "nvidia", "numpy", "numpy.libs")


@pytest.fixture(scope="module")
def root(unpacked_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CleanRoot]:
    """A root with the packages, read-only."""
    problem = clean_root.obstacle() or clean_root.make_archive()
    if problem:
        pytest.skip(problem)
    packages = torch_folder().parent
    system = CleanRoot.unpack(tmp_path_factory.mktemp("clean") / "root")
    system.mounts = {f"{SITE}/{path.name}": path for path in unpacked_wheel.iterdir() if path.is_dir()}
    system.mounts |= {f"{SITE}/{name}": packages / name for name in PACKAGES if (packages / name).exists()}
    yield system
    subprocess.run(["rm", "-rf", "--one-file-system", str(system.folder)], check=True)


@pytest.fixture
def folder(root: CleanRoot) -> Iterator[str]:
    """A new folder inside, writable for everyone."""
    inside = "/tmp/a job"
    root.path_of(inside).mkdir()
    root.path_of(inside).chmod(0o777)
    yield inside
    subprocess.run(["rm", "-rf", str(root.path_of(inside))], check=True)


def test_nothing_of_ours_is_there(root: CleanRoot) -> None:
    """The other tests depend on this."""
    for name in ("g++", "jsonnet", "pip", "pip3"):
        assert root.run("sh", "-c", f"command -v {name}").returncode != 0, name
    libraries = root.run("/sbin/ldconfig", "-p").stdout
    assert "libc.so.6" in libraries
    names = ("jsonnet", "archive", "tbb", "spdlog", "boost", "gomp", "torch", "xml2")
    assert not [name for name in names if f"lib{name}" in libraries]
    assert root.run("python3", "-c", "import numpy").returncode != 0
    assert root.run("id", "-u").stdout == "65534\n"
    assert root.run("sh", "-c", "echo ${HOME-none}").stdout == "none\n"
    assert root.run("touch", f"{SITE}/spng/file").returncode != 0


@pytest.mark.parametrize("model", ["none", "default"])
def test_a_job(root: CleanRoot, folder: str, model: str) -> None:
    """The output has the bytes of the build's."""
    write_input(root.path_of(folder))
    words = ("-A", "input=adc.npz", "-A", "output=signal.npz", "-A", f"model={model}")
    done = root.run(PROGRAM, *JOB, *words, folder=folder)
    assert done.returncode == 0, done.stderr
    assert root.path_of(f"{folder}/signal.npz").read_bytes() == built_output("-A", f"model={model}")


def test_a_recording(root: CleanRoot, folder: str) -> None:
    """The tools of the wheel read it."""
    if re.search(r"NVTX +no ranges", root.run(PROGRAM, "--version").stdout):
        pytest.skip("built without NVTX")
    write_input(root.path_of(folder))
    words = ("-A", "input=adc.npz", "-A", "output=signal.npz", "-A", "model=none", "--record", "run.sqlite")
    done = root.run(PROGRAM, *JOB, *words, folder=folder)
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(f"file:{root.path_of(folder)}/run.sqlite?mode=ro", uri=True) as database:
        query = "select count(*) from NVTX_EVENTS join StringIds on textId = id where value = 'SPNGDecon:induction'"
        assert database.execute(query).fetchone() == (1,)
    tool = ("python3", "-m", "wirecell_profile", "summary", "run.sqlite")
    summary = root.run(*tool, folder=folder, PYTHONPATH=SITE)
    assert summary.returncode == 0 and "SPNGDecon:induction" in summary.stdout, summary.stderr


def test_torch_in_another_folder(root: CleanRoot) -> None:
    """By LD_LIBRARY_PATH; without it the loader says what it does not find."""
    folders = {f"{SITE}/{name}" for name in PACKAGES}
    elsewhere = {
        path.replace(SITE, "/opt/venv") if path in folders else path: one for path, one in root.mounts.items()
    }
    moved = CleanRoot(root.folder, elsewhere)
    done = moved.run(PROGRAM, "--version")
    assert done.returncode != 0 and "libtorch_cpu.so" in done.stderr
    path = "/opt/venv/torch/lib:/opt/venv/nvidia/cu13/lib"
    assert moved.run(PROGRAM, "--version", LD_LIBRARY_PATH=path).returncode == 0
