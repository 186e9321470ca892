# SPDX-License-Identifier: Apache-2.0
"""The bundle on a minimal Debian with python3 and a torch wheel, without compiler and without packages of ours."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.build.bundle_support import JOB, built_output, rejection, torch_folder, write_input
from tests.support import clean_root
from tests.support.clean_root import CleanRoot

HOME = "/opt/far away/the bundle"  # of the bundle in the root
SITE = "/usr/local/lib/python3.11/dist-packages"  # where python3 of Debian 12 finds packages


@pytest.fixture(scope="module")
def root(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CleanRoot]:
    """A root with a torch wheel and the bundle, both read-only."""
    problem = clean_root.obstacle()
    if problem:
        pytest.skip(problem)
    torch = torch_folder()
    problem = clean_root.make_archive()
    if problem:
        pytest.skip(problem)
    system = CleanRoot.unpack(tmp_path_factory.mktemp("clean") / "root")
    system.mounts = {f"{SITE}/torch": torch, f"{SITE}/nvidia": torch.parent / "nvidia", HOME: bundle}
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


def same_as_the_build(root: CleanRoot, folder: str, *words: str) -> subprocess.CompletedProcess:
    """Run the same job here and inside; the outputs must have the same bytes."""
    write_input(root.path_of(folder))
    given = ("-A", "input=adc.npz", "-A", "output=signal.npz", *words)
    done = root.run(f"{HOME}/bin/wire-cell", *JOB, *given, folder=folder)
    assert done.returncode == 0, done.stderr
    outputs = [
        word for word in words if word.startswith(("-A", "model="))
    ]  # the arguments on which the output depends
    assert root.path_of(f"{folder}/signal.npz").read_bytes() == built_output(*outputs)
    return done


def test_nothing_of_ours_is_there(root: CleanRoot) -> None:
    """The other tests depend on this."""
    for name in ("g++", "jsonnet", "pip", "pip3"):
        assert root.run("sh", "-c", f"command -v {name}").returncode != 0, name
    libraries = root.run("/sbin/ldconfig", "-p").stdout
    assert "libc.so.6" in libraries
    assert not [
        name
        for name in ("jsonnet", "archive", "tbb", "spdlog", "boost", "gomp", "torch", "xml2")
        if f"lib{name}" in libraries
    ]
    assert root.run("python3", "-c", "import numpy").returncode != 0
    assert (
        root.run("id", "-u").stdout == "65534\n"
        and root.run("sh", "-c", "echo ${HOME-none}").stdout == "none\n"
    )
    assert root.run("touch", f"{HOME}/file").returncode != 0


def test_without_a_network(root: CleanRoot, folder: str) -> None:
    done = same_as_the_build(root, folder, "-A", "model=none")
    assert "SPNGDecon:induction" in done.stdout


def test_with_the_network_and_a_recording(root: CleanRoot, folder: str) -> None:
    same_as_the_build(root, folder, "-A", "model=default", "--record", "run.sqlite")
    with sqlite3.connect(f"file:{root.path_of(folder)}/run.sqlite?mode=ro", uri=True) as database:
        query = "select count(*) from NVTX_EVENTS join StringIds on textId = id where value = 'SPNGDecon:induction'"
        assert database.execute(query).fetchone() == (1,)

    without = rejection(root.run(f"{HOME}/bin/wirecell-profile", "summary", "run.sqlite", folder=folder))
    assert without["error"] == "wirecell-profile cannot run with this Python"
    assert without["seen"] == "no package numpy in /usr/bin/python3"
    assert "pip install numpy" in without["hint"]

    numpy = torch_folder().parent
    with_numpy = CleanRoot(
        root.folder,
        root.mounts
        | {f"{SITE}/{name}": numpy / name for name in ("numpy", "numpy.libs") if (numpy / name).exists()},
    )
    summary = with_numpy.run(f"{HOME}/bin/wirecell-profile", "summary", "run.sqlite", folder=folder)
    assert summary.returncode == 0, summary.stderr
    assert "SPNGDecon:induction" in summary.stdout


def test_without_the_compilers_libraries(root: CleanRoot, tmp_path: Path) -> None:
    """A container image with Python only has no libstdc++; the bundle's own is used then."""
    kept = tmp_path / "kept"
    kept.mkdir()
    libraries = [
        path for name in ("libstdc++", "libgcc_s") for path in root.folder.glob(f"usr/lib/*/{name}.so*")
    ]
    assert len(libraries) >= 2
    for library in libraries:
        library.rename(kept / library.name)
    try:
        done = root.run(f"{HOME}/bin/wire-cell", "--check-configuration", *JOB)
        assert done.returncode == 0, done.stderr
    finally:
        for library in libraries:
            (kept / library.name).rename(library)


def test_without_torch(root: CleanRoot) -> None:
    bare = CleanRoot(root.folder, {HOME: root.mounts[HOME], "/opt/torch": root.mounts[f"{SITE}/torch"]})
    block = rejection(bare.run(f"{HOME}/bin/wire-cell", "--version"))
    assert (
        block["error"] == "LibTorch is not found" and block["seen"] == "no package torch in /usr/bin/python3"
    )
    given = rejection(bare.run(f"{HOME}/bin/wire-cell", "--torch", "/opt/torch", "--version"))
    if (
        torch_folder().parent / "nvidia"
    ).exists():  # a wheel for CUDA, without the packages that it depends on
        assert given["error"] == "libraries are missing or too old" and "libcudart.so" in given["seen"]


def test_the_demo(root: CleanRoot, folder: str) -> None:
    """Signals, timing and recording need no package; page and pictures report the packages that they need."""
    done = root.run(
        f"{HOME}/bin/spng-demo", "shown here", "-A", "device=cpu", "-A", "model=none", folder=folder
    )
    assert done.returncode == 0, done.stderr
    assert "SPNGCoincidenceROIs:induction" in done.stdout
    assert done.stdout.count("  none: ") == 2 and "python3 has no NumPy" in done.stdout
    seen = sorted(path.name for path in root.path_of(f"{folder}/shown here").iterdir())
    assert seen == ["run.sqlite", "timing.json", "tracks10-signal.npz"]
