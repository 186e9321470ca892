# SPDX-License-Identifier: Apache-2.0
"""Frame files in NumPy alone: .npz, .tar, .tar.gz or .tar.bz2.

gpu_check runs on machines that have a build or an unpacked wheel and a python3 with NumPy, of another version than the one for which
the native module of the package spng was built. Everything else uses spng.

An event `ident` with the frame tag `tag` is the members frame_<tag>_<ident> (channel, tick), channels_<tag>_<ident>,
tickinfo_<tag>_<ident> = [start ns, tick ns, first tick] and chanmask_<name>_<ident> (n, 3). Sparse frames (docs/sparse-frames.md)
have runs_, values_ and shape_ in place of frame_; the readers of this module expand them and show them as frame_.
"""

from __future__ import annotations

import bz2
import gzip
import io
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO

import numpy as np
from numpy.lib.npyio import NpzFile

ENDING = ".npy"
SPARSE = ("runs_", "values_", "shape_")  # kinds of the members of a sparse frame
DECOMPRESSORS: dict[str, Callable[[Path], io.BufferedIOBase]] = {".gz": gzip.open, ".bz2": bz2.open}


@dataclass(frozen=True)
class Frame:
    """One event.

    samples  (channel, tick)
    channels (channel,) channel ids of the rows
    masks    name -> (n, 3) integers: channel, first tick, end tick
    """

    samples: np.ndarray
    channels: np.ndarray
    start_ns: float
    tick_ns: float
    masks: dict[str, np.ndarray] = field(default_factory=dict)


def dense(runs: np.ndarray, values: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Return the samples (channel, tick) of a sparse frame.

    runs (n, 3): row, begin tick, end tick. Raise ValueError if the runs do not fit the values or the shape.
    """
    frame = np.zeros(shape, values.dtype)
    if (runs[:, 2] - runs[:, 1]).sum() != len(values):
        raise ValueError(f"{len(values)} values do not fit the runs")
    if len(runs) and (runs.min() < 0 or (runs.max(axis=0) > [shape[0] - 1, shape[1], shape[1]]).any()):
        raise ValueError("runs outside of the frame")
    position = 0
    for row, begin, end in runs.tolist():
        frame[row, begin:end] = values[position : position + end - begin]
        position += end - begin
    return frame


def is_sparse(name: str) -> bool:
    """Return true for the name of a member of a sparse frame."""
    return name.startswith(SPARSE) and name.count("_") > 1


class FrameFile:
    """Random access to the arrays of a file. An array is read at its first use.

    names  of the arrays in file order; a sparse frame has the name of the dense one
    """

    def __init__(self, path: Path) -> None:
        """Open a file. Raise OSError, EOFError, tarfile.TarError or ValueError if it is not a readable archive."""
        self.path = path
        self._archive: NpzFile | _Tar = np.load(path) if path.suffix == ".npz" else _Tar(path)
        runs, *others = SPARSE
        self.names = [
            name.replace(runs, "frame_", 1) if is_sparse(name) else name
            for name in self._archive.files
            if not (is_sparse(name) and name.startswith(tuple(others)))
        ]

    def __enter__(self) -> FrameFile:
        return self

    def __exit__(
        self, kind: type | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._archive.close()

    def array(self, name: str) -> np.ndarray:
        """Return one array, C contiguous. Raise KeyError if the file has no array of this name."""
        if name.startswith("frame_") and name not in self._archive.files:
            return dense(*(self._archive[name.replace("frame_", kind, 1)] for kind in SPARSE))
        return np.ascontiguousarray(self._archive[name])

    def tags(self) -> list[str]:
        """Return the frame tags, each once, in file order."""
        return list(dict.fromkeys(name.removeprefix("frame_").rsplit("_", 1)[0] for name in self._frames()))

    def idents(self, tag: str) -> list[int]:
        """Return the ids of the events that have a frame of this tag, in file order."""
        prefix = f"frame_{tag}_"
        return [
            int(name.removeprefix(prefix))
            for name in self._frames()
            if name.rsplit("_", 1)[0] + "_" == prefix
        ]

    def frame(self, tag: str, ident: int) -> Frame:
        """Return one event. Raise KeyError if the file has no such frame."""
        start, tick, first = self.array(f"tickinfo_{tag}_{ident}")
        ending = f"_{ident}"
        masks = {
            name.removeprefix("chanmask_").removesuffix(ending): self.array(name)
            - [0, int(first), int(first)]
            for name in self.names
            if name.startswith("chanmask_") and name.endswith(ending)
        }
        return Frame(
            self.array(f"frame_{tag}_{ident}"),
            self.array(f"channels_{tag}_{ident}").astype(np.int64),
            float(start + first * tick),
            float(tick),
            masks,
        )

    def _frames(self) -> list[str]:
        return [name for name in self.names if name.startswith("frame_")]


class _Tar:
    """The arrays of a tar, with the interface of NpzFile."""

    def __init__(self, path: Path) -> None:
        self._stream = _decompressed(path)
        self._tar = tarfile.open(fileobj=self._stream)
        self._members = {member.name: member for member in self._tar}
        self.files = [name.removesuffix(ENDING) for name in self._members]

    def __getitem__(self, name: str) -> np.ndarray:
        return _member(self._tar, self._members[name + ENDING])

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def _member(tar: tarfile.TarFile, member: tarfile.TarInfo) -> np.ndarray:
    """Return the array of a member. Raise ValueError if the member is a folder or the like."""
    content = tar.extractfile(member)
    if content is None:
        raise ValueError(f"{member.name} is no file")
    return np.load(io.BytesIO(content.read()))


def _decompressed(path: Path) -> IO[bytes]:
    """Open a tar. Decompress it to a temporary file first: otherwise each backward seek would decompress it again."""
    if path.suffix not in DECOMPRESSORS:
        return path.open("rb")
    stream = tempfile.TemporaryFile()
    with DECOMPRESSORS[path.suffix](path) as packed:
        shutil.copyfileobj(packed, stream, 1 << 20)
    stream.seek(0)
    return stream


def npy_bytes(array: np.ndarray) -> bytes:
    """Return the array as the content of a .npy file."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def add_array(archive: tarfile.TarFile, name: str, array: np.ndarray) -> None:
    """Append an array as the member name.npy."""
    content = npy_bytes(array)
    member = tarfile.TarInfo(name + ENDING)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def add_frame(archive: tarfile.TarFile, ident: int, frame: Frame, tag: str = "*") -> None:
    """Append the arrays of one event."""
    add_array(archive, f"frame_{tag}_{ident}", frame.samples)
    add_array(archive, f"channels_{tag}_{ident}", frame.channels.astype(np.int32))
    add_array(archive, f"tickinfo_{tag}_{ident}", np.array([frame.start_ns, frame.tick_ns, 0.0]))
    for name, mask in frame.masks.items():
        add_array(archive, f"chanmask_{name}_{ident}", mask.astype(np.int32))
