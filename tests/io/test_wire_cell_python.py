# SPDX-License-Identifier: Apache-2.0
"""The programs of wire-cell-python read our frame files. Skipped unless `wirecell-plot` is on the PATH."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.support.wire_cell import ENDINGS, event, needs_program, run, settings, write_arrays

NO_TOOLS = "wirecell-plot of wire-cell-python is not on the PATH"

pytestmark = [needs_program, pytest.mark.skipif(shutil.which("wirecell-plot") is None, reason=NO_TOOLS)]

CONVERT = "cfg/convert.jsonnet"
CHANNELS = np.arange(100, 140)
SAMPLES = np.zeros((40, 256), dtype=np.float32)
SAMPLES[7, 50:60] = 1000.0
SAMPLES[31, 200:220] = -250.0


def tool(folder: Path, *words: str) -> subprocess.CompletedProcess:
    """Run a program of wire-cell-python."""
    return subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def printed(folder: Path, *words: str) -> str:
    """Return all that a program of wire-cell-python prints; it must succeed."""
    done = tool(folder, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture(name="folder", scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one event, written by the program in all formats and as sparse frames."""
    folder = tmp_path_factory.mktemp("wire_cell_python")
    arrays = event(SAMPLES, CHANNELS, ident=3, tag="signal", start_ns=-1000.0)
    write_arrays(folder / "made.npz", arrays)
    for output, form in [*((f"signal{ending}", "dense") for ending in ENDINGS), ("sparse.npz", "sparse")]:
        words = settings(f"output={output}", f"frames={form}")
        done = run("-c", CONVERT, "-A", "input=made.npz", *words, folder=folder)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("ending", ENDINGS)
def test_ls(folder: Path, ending: str) -> None:
    """`wirecell-util ls` lists the arrays of an event."""
    listing = printed(folder, "wirecell-util", "ls", f"signal{ending}")
    for line in (
        "frame_signal_3 (40, 256) float32",
        "channels_signal_3 (40,) int32",
        "tickinfo_signal_3 (3,) float64",
    ):
        assert line in listing


@pytest.mark.parametrize("ending", ENDINGS)
def test_framels(folder: Path, ending: str) -> None:
    """`wirecell-util framels` reads tag, ident, shape, channels and times."""
    [found] = json.loads(printed(folder, "wirecell-util", "framels", f"signal{ending}"))
    expected = {"tag": "signal", "index": 3, "nchans": 40, "nticks": 256, "chidmin": 100, "chidmax": 139}
    assert {name: found[name] for name in expected} == expected
    assert (found["tref"], found["period"], found["tbin"]) == (-1000.0, 500.0, 0)


@pytest.mark.parametrize("ending", [".npz", ".tar.gz"])
@pytest.mark.parametrize(
    "command",
    [
        ["frame", "-t", "signal"],
        ["frame", "-t", "signal", "-n", "spectra"],
        ["frame-image", "--tier", "signal"],
        ["channels", "-c", "107,131", "-t", "0,100*us", "--single"],
    ],
    ids=lambda words: "-".join(word.strip("-") for word in words[:4:3]),
)
def test_pictures(folder: Path, ending: str, command: list[str]) -> None:
    """`wirecell-plot` draws waveforms, spectra and images of an event."""
    picture = folder / f"picture{ending}.pdf"
    printed(folder, "wirecell-plot", *command, "-o", picture.name, f"signal{ending}")
    assert picture.read_bytes().startswith(b"%PDF")
    picture.unlink()


def test_two_files_in_one_picture(folder: Path) -> None:
    """`wirecell-plot comp1d` and `frame-diff` compare two files."""
    two = ("signal.npz", "signal.tar.gz")
    printed(
        folder,
        "wirecell-plot",
        "comp1d",
        "-t",
        "signal",
        "--chmin",
        "107",
        "--chmax",
        "108",
        "-o",
        "c.pdf",
        *two,
    )
    printed(
        folder, "wirecell-plot", "frame-diff", "--tier1", "signal", "--tier2", "signal", "-o", "d.pdf", *two
    )
    for name in ("c.pdf", "d.pdf"):
        assert (folder / name).read_bytes().startswith(b"%PDF")


def test_sparse_frames_are_not_frames_to_it(folder: Path) -> None:
    """Of sparse frames `ls` lists the arrays; `framels` and `frame` find no frame, so documents say to convert them."""
    assert "runs_signal_3" in printed(folder, "wirecell-util", "ls", "sparse.npz")
    assert json.loads(printed(folder, "wirecell-util", "framels", "sparse.npz")) == []
    done = tool(folder, "wirecell-plot", "frame", "-t", "signal", "-o", "none.pdf", "sparse.npz")
    assert done.returncode != 0
    assert 'No frames of tier "signal"' in done.stderr
