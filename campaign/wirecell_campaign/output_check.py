# SPDX-License-Identifier: Apache-2.0
"""Check that an output frame file is complete: read every member to its end, including the checksums of the archive.

It keeps no arrays, and this package is installed without the checkout's scripts/: it does not use spng.
"""

from __future__ import annotations

import math
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

import numpy as np

EVENT = re.compile(r"^(frame|runs|values|shape)_.*_(\d+)\.npy$")
SPARSE = ("runs", "values", "shape")  # a sparse frame has these members in place of frame_
# Larger blocks are mapped anew for each read, which takes three times as long on a worker of dask.
BLOCK = 1 << 16


class Readable(Protocol):
    """A stream as drain() needs it: the one of an open tar has less than IO."""

    def read(self, size: int, /) -> bytes: ...


class Unreadable(Exception):
    """The file is incomplete; the text gives the reason."""


@dataclass
class Content:
    """Content of a frame file: events, and the samples of all frames, without those that a sparse frame leaves out.

    charge: sum of the samples, None if it is not finite.
    """

    events: int = 0
    samples: int = 0
    not_zero: int = 0
    charge: float | None = 0.0


@dataclass
class Numbers:
    """Figures of an array. product: of its elements, computed for the shape of a sparse frame only."""

    count: int = 0
    not_zero: int = 0
    total: float = 0.0
    product: int = 1


def read_content(path: Path) -> Content:
    """Read a complete frame file; its events are the distinct ids of `frame_<tag>_<id>.npy` and of sparse frames.

    Raise Unreadable if the file is incomplete or no .npz or .tar, OSError if the disk fails.
    """
    content, charge = Content(), 0.0
    events, names = set(), set()
    try:
        for name, stream in members(path):
            names.add(name)
            match = EVENT.match(name)
            if match:
                events.add(match[2])
            if not name.endswith(".npy"):
                drain(stream)
                continue
            numbers = check_array(name, stream, match[1] if match else "")
            if match and match[1] in ("frame", "values"):
                content.not_zero += numbers.not_zero
                charge += numbers.total
            if match and match[1] in ("frame", "shape"):
                content.samples += numbers.count if match[1] == "frame" else numbers.product
    except (
        zipfile.BadZipFile,
        zipfile.LargeZipFile,
        tarfile.TarError,
        zlib.error,
        EOFError,
        ValueError,
    ) as error:
        raise Unreadable(str(error) or type(error).__name__) from None
    for name in names:
        kind, _, rest = name.partition("_")
        lacking = [f"{each}_{rest}" for each in SPARSE if f"{each}_{rest}" not in names]
        if kind in SPARSE and EVENT.match(name) and lacking:
            raise Unreadable(f"{name} without {lacking[0]}")
    content.events, content.charge = len(events), charge if math.isfinite(charge) else None
    return content


def members(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield names and streams of the members. Reading a stream to its end checks its checksum."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for item in archive.infolist():
                with archive.open(item) as stream:
                    yield item.filename, stream
        return
    with tarfile.open(path) as tar:
        for member in tar:
            content = tar.extractfile(member)
            if content is not None:
                yield member.name, content
        check_tar_end(tar, path)


def check_tar_end(archive: tarfile.TarFile, path: Path) -> None:
    """Check the end mark of a tar: tarfile does not notice if the file is cut between two members. Read the rest too, since
    the checksum of the compression is at the end.
    """
    archive.fileobj.seek(archive.offset)
    if drain(archive.fileobj) < tarfile.BLOCKSIZE:
        raise Unreadable(f"{path.name} has no end mark")


def check_array(name: str, stream: IO[bytes], kind: str) -> Numbers:
    """Check that the content has as many bytes as the header of the array states; return figures of the array.

    kind: `frame`, `values` or `shape` of a frame; other arrays are counted only.
    """
    version = np.lib.format.read_magic(stream)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(stream)
    numbers, seen, rest = Numbers(math.prod(shape)), 0, b""
    is_measured = kind in ("frame", "values", "shape") and dtype.kind in "fiu"
    while block := stream.read(BLOCK):
        seen += len(block)
        if not is_measured:
            continue
        block = rest + block
        values = np.frombuffer(block, dtype, len(block) // dtype.itemsize)
        rest = block[values.nbytes :]
        numbers.not_zero += int(np.count_nonzero(values))
        numbers.total += float(values.sum(dtype="f8"))
        if kind == "shape":
            numbers.product *= math.prod(int(value) for value in values)
    if seen != numbers.count * dtype.itemsize:
        raise Unreadable(f"{name} has {seen} bytes of data, expected {numbers.count * dtype.itemsize}")
    return numbers


def drain(stream: Readable) -> int:
    """Read to the end; return the number of bytes."""
    total = 0
    while block := stream.read(BLOCK):
        total += len(block)
    return total
