# SPDX-License-Identifier: Apache-2.0
"""An installed tree, and the default event as plain arrays: for tests that run outside of the checkout's environment.

Needs NumPy and nothing that is built, so that the tests of a framework run in the environment of the framework.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import pytest

from scripts.wcb.checkout import ROOT, build_folder, one_at_a_time
from tests.support.wire_cell import settings

# Folders with files that are installed, or that say which and how.
INSTALLED = ("spng", "cfg", "data", "python", "profiling", "campaign", "waf", "scripts/wcb")


def prefix(folder: Path | None = None) -> Path:
    """Return the tree of SPNG_PREFIX, else that of the present build, or a copy of it in `folder`; skip if nothing is
    built.
    """
    if given := os.environ.get("SPNG_PREFIX"):
        return Path(given)
    return copy(folder) if folder else tree()


def copy(folder: Path) -> Path:
    """Return a copy of the tree of the present build."""
    return shutil.copytree(tree(), folder, symlinks=True)


def tree() -> Path:
    """Return the tree of the present build, which all tests share and none may change; skip if nothing is built.

    It is installed once, and again after a change of the build or of an installed file. It was moved: its name is not that
    of its installation.
    """
    build = build_folder()
    if build is None or not (build / "bin" / "wire-cell").exists():
        pytest.skip("wire-cell is not built, and SPNG_PREFIX names no installed tree")
    folder = build / "test" / "prefix"
    stamp, new, old = (folder.with_name(f"prefix.{end}") for end in ("stamp", "new", "old"))
    with one_at_a_time("test-prefix"):
        change = str(last_change([build / "bin", build / "lib", *(ROOT / name for name in INSTALLED)]))
        if folder.is_dir() and stamp.exists() and stamp.read_text(encoding="utf-8") == change:
            return folder
        for leftover in (new, old):
            shutil.rmtree(leftover, ignore_errors=True)
        command = [str(ROOT / "wcb"), "install", f"--prefix={new}", "--notests"]
        subprocess.run(command, check=True, capture_output=True)
        if folder.is_dir():
            folder.rename(old)
        new.rename(folder)
        stamp.write_text(change, encoding="utf-8")
        shutil.rmtree(old, ignore_errors=True)
    return folder


def last_change(folders: list[Path]) -> int:
    """Return the time [ns] of the last change of a file that is installed; C++ sources count when they are built."""
    files = (path for folder in folders for path in folder.rglob("*") if path.suffix not in (".cxx", ".pyc"))
    return max(path.stat().st_mtime_ns for path in files if path.is_file())


def default_event() -> tuple[np.ndarray, np.ndarray]:
    """Return the samples (channel, tick) int16 and the channel ids of the default event."""
    arrays = {}
    with tarfile.open(ROOT / "data" / "tracks10-adc.tar.bz2") as archive:
        for member in archive:
            content = archive.extractfile(member)
            assert content is not None
            arrays[member.name.removesuffix(".npy")] = np.load(io.BytesIO(content.read()))
    return np.ascontiguousarray(arrays["frame_*_0"]), arrays["channels_*_0"].astype(np.int32)


def write_frame(path: Path, samples: np.ndarray, channels: np.ndarray) -> Path:
    """Write a frame file with one event, ident 0."""
    np.savez(
        path,
        **{
            "frame_*_0": samples,
            "channels_*_0": channels,
            "tickinfo_*_0": np.array([0.0, 500.0, 0.0]),
        },
    )
    return path


def run_job(prefix: Path, folder: Path, **arguments: str | Path) -> subprocess.CompletedProcess:
    """Run the main job of the installed wire-cell on the CPU."""
    words = settings(**arguments)
    return subprocess.run(
        [prefix / "bin" / "wire-cell", "-c", "cfg/pipeline.jsonnet", "-A", "device=cpu", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def error_lines(text: str) -> list[str]:
    """Return the error block of an output without its line `where`, whose position differs between programs."""
    lines = text.splitlines()
    begin = next(index for index, line in enumerate(lines) if "error: " in line)
    block = [lines[begin][lines[begin].index("error: ") :]]
    for line in lines[begin + 1 :]:
        if not line.startswith("  "):
            break
        block.append(line)
    return [line for line in block if not line.startswith("  where: ")]
