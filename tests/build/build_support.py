# SPDX-License-Identifier: Apache-2.0
"""The present build, its input and output, and what installed files look like."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

from scripts.wcb import virtual_environment
from scripts.wcb.checkout import build_folder
from tests.support import wire_cell

ROOT = Path(__file__).resolve().parents[2]


def program() -> Path:
    """Return the built program of a release build."""
    folder = build_folder()
    if folder is None or not (folder / "lib" / "libWireCellSpng.so").exists():
        pytest.skip("wire-cell is not built")
    if '"release"' not in (folder / "include" / "spng" / "build_info.h").read_text():
        pytest.skip("no release build")
    return folder / "bin" / "wire-cell"


TICKS = 1500
JOB = ("-c", "pipeline.jsonnet", "-A", "device=cpu", "-A", "threads=1")


def write_input(folder: Path) -> None:
    """Write adc.npz, the first TICKS ticks of the default event. The demo runs on the whole event."""
    samples, channels, _ = wire_cell.default_adc()
    wire_cell.write_arrays(folder / "adc.npz", wire_cell.event(samples[:, :TICKS], channels))


@cache
def built_output(*words: str) -> bytes:
    """Return the output file of JOB on write_input()'s file, by the built program."""
    with tempfile.TemporaryDirectory() as folder:
        write_input(Path(folder))
        done = subprocess.run(
            [program(), *JOB, "-A", "input=adc.npz", "-A", "output=signal.npz", *words],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert wire_cell.read_arrays(Path(folder) / "signal.npz")["frame_signal_0"].any()
        return (Path(folder) / "signal.npz").read_bytes()


def torch_folder() -> Path:
    """Return LibTorch of the virtual environment."""
    folder = virtual_environment.torch_folder()
    if not (folder / "lib" / "libtorch_cpu.so").exists():
        pytest.skip("no LibTorch in .venv")
    return folder


def fingerprint(folder: Path) -> dict[str, tuple]:
    """Return permissions, time and checksum of everything in a folder, by path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (state.st_mode, int(state.st_mtime), content)
    return found
