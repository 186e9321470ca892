# SPDX-License-Identifier: Apache-2.0
"""Functions that the Python tests share: runs of the program, error blocks, frame files in every format, the
default event.
"""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import tarfile
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from tests.support import figures

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("SPNG_WIRE_CELL", ROOT / "build" / "bin" / "wire-cell"))
DATA = ROOT / "data"
ADC = DATA / "tracks10-adc.tar.bz2"
TRUTH = DATA / "tracks10-truth.npz"
PIPELINE = "cfg/pipeline.jsonnet"
ENDINGS = (".npz", ".tar", ".tar.gz", ".tar.bz2")

TAR_MODES: dict[str, Literal["w", "w:gz", "w:bz2"]] = {".tar": "w", ".gz": "w:gz", ".bz2": "w:bz2"}

Arrays = dict[str, np.ndarray]

needs_program = pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built")


def run(
    *arguments: str | Path, folder: Path | None = None, seconds: float = 300, **options: Any
) -> subprocess.CompletedProcess:
    """Run wire-cell to its end. Fail if a signal ended it."""
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        **options,
    )
    assert done.returncode >= 0, done.stderr
    return done


def default_signals() -> None:
    """For preexec_fn: restore signals that a background shell (SIGINT, SIGQUIT) or nohup (SIGHUP) ignores,
    because wire-cell keeps ignoring them.
    """
    for ignored in (
        signal.SIGINT,
        signal.SIGTERM,
        signal.SIGQUIT,
        signal.SIGHUP,
        signal.SIGUSR1,
        signal.SIGXCPU,
    ):
        signal.signal(ignored, signal.SIG_DFL)


def settings(*words: str, **arguments: Any) -> list[str]:
    """Return `-A name=value` for each word of that form and each argument."""
    given = [*words, *(f"{name}={value}" for name, value in arguments.items())]
    return [word for each in given for word in ("-A", each)]


def job(
    folder: Path, *flags: str, job_file: str | Path = PIPELINE, device: str = "cpu", **arguments: Any
) -> Arrays:
    """Run a job in `folder` with its arguments as -A name=value; return the arrays of its output file,
    `output.npz` unless given.

    The main job reads the default event unless told otherwise.
    """
    given = {"output": "output.npz", "device": device, **arguments}
    if job_file == PIPELINE:
        given = {"input": default_input(), **given}
    words = settings(**given)
    done = run("-c", job_file, *flags, *words, folder=folder)
    assert done.returncode == 0, done.stderr
    return read_arrays(folder / str(given["output"]))


def rejected(*arguments: str | Path, folder: Path, status: int) -> str:
    """Run a command that must fail with one readable error block; return the block."""
    done = run(*arguments, folder=folder)
    assert done.returncode == status, (done.returncode, done.stderr)
    assert done.stderr.startswith("error: "), done.stderr
    labels = re.findall(r"^  (where|seen|expected|hint): ", done.stderr, re.MULTILINE)
    assert labels and len(labels) == len(set(labels)), f"not one block: {done.stderr}"
    return done.stderr


def read_arrays(path: Path) -> Arrays:
    """Return all arrays of a frame file of any format, by their names without ending."""
    if path.suffix in (".npz", ".zip"):
        with np.load(path) as archive:
            return {name: archive[name] for name in archive.files}
    with tarfile.open(path) as archive:
        return {member.name.removesuffix(".npy"): _array(archive, member) for member in archive}


def _array(archive: tarfile.TarFile, member: tarfile.TarInfo) -> np.ndarray:
    content = archive.extractfile(member)
    assert content is not None, f"{member.name} is no file"
    return np.load(io.BytesIO(content.read()))


def add_array(archive: tarfile.TarFile, name: str, array: np.ndarray) -> None:
    """Append an array as the member name.npy. NumPy keeps Fortran order and byte order."""
    stream = io.BytesIO()
    np.save(stream, array)
    member = tarfile.TarInfo(f"{name}.npy")
    member.size = stream.tell()
    stream.seek(0)
    archive.addfile(member, stream)


def write_arrays(path: Path, arrays: Arrays) -> Path:
    """Write arrays in their order, in the format of the file's ending. NumPy keeps Fortran order and byte
    order.
    """
    if path.suffix == ".npz":
        np.savez(path, allow_pickle=False, **arrays)
        return path
    with tarfile.open(path, TAR_MODES[path.suffix]) as archive:
        for name, array in arrays.items():
            add_array(archive, name, array)
    return path


def event(
    samples: np.ndarray,
    channels: np.ndarray,
    ident: int = 0,
    tag: str = "*",
    start_ns: float = 0.0,
    tick_ns: float = 500.0,
) -> Arrays:
    """The arrays of one event of a frame file: samples (channel, tick), channels (channel,)."""
    return {
        f"frame_{tag}_{ident}": samples,
        f"channels_{tag}_{ident}": np.asarray(channels, dtype=np.int32),
        f"tickinfo_{tag}_{ident}": np.array([start_ns, tick_ns, 0.0]),
    }


@cache
def default_input() -> Path:
    """Return the default event as an uncompressed file, which a job reads in a tenth of the time; it is made
    once, beside the build, and without the package spng, which wheels do not have for every Python.
    """
    path = ROOT / "build" / "test" / "default-event.tar"
    if not path.exists() or path.stat().st_mtime < ADC.stat().st_mtime:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_arrays(path.with_name(f"{os.getpid()}-{path.name}"), read_arrays(ADC)).replace(path)
    return path


@cache
def default_adc() -> tuple[np.ndarray, np.ndarray, float]:
    """Return the ADC counts of the default event: (channel, tick) int16, channel ids, start [ns]."""
    arrays = read_arrays(default_input())
    samples, channels = np.ascontiguousarray(arrays["frame_*_0"]), arrays["channels_*_0"]
    for shared in (samples, channels):
        shared.flags.writeable = False
    return samples, channels, float(arrays["tickinfo_*_0"][0])


def description(name: str) -> Path:
    """Return the path of a detector file of data/: `name`.json.gz or `name`.json.bz2."""
    [path] = [path for ending in ("gz", "bz2") if (path := DATA / f"{name}.json.{ending}").exists()]
    return path


def difference(seen: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest |seen - expected| in units of the RMS of `expected`."""
    assert seen.shape == expected.shape, (seen.shape, expected.shape)
    rms = np.sqrt(np.mean(np.abs(expected) ** 2, dtype=np.float64))
    found = float(np.abs(seen - expected).max() / rms)
    figures.note("difference", found)
    return found
