# SPDX-License-Identifier: Apache-2.0
"""Check that an output frame file is complete: read every member to its end, including the checksums of the archive.

It checks bytes and makes no arrays, and this package is installed without the checkout's scripts/: it does not use spng.
"""

from __future__ import annotations

import math
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Protocol

import numpy as np

EVENT = re.compile(r"^(?:frame|runs|values|shape)_.*_(\d+)\.npy$")
SPARSE = ("runs", "values", "shape")  # a sparse frame has these members in place of frame_
# Larger blocks are mapped anew for each read, which takes three times as long on a worker of dask.
BLOCK = 1 << 16


class Readable(Protocol):
    """A stream as drain() needs it: the one of an open tar has less than IO."""

    def read(self, size: int, /) -> bytes: ...


class Unreadable(Exception):
    """The file is incomplete; the text gives the reason."""


def count_events(path: Path) -> int:
    """Return the number of events of a complete frame file: distinct ids of `frame_<tag>_<id>.npy` and of sparse frames.

    Raise Unreadable if the file is incomplete or no .npz or .tar, OSError if the disk fails.
    """
    events, names = set(), set()
    try:
        for name, stream in members(path):
            names.add(name)
            if name.endswith(".npy"):
                check_array(name, stream)
            else:
                drain(stream)
            if match := EVENT.match(name):
                events.add(match[1])
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
    return len(events)


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


def check_array(name: str, stream: IO[bytes]) -> None:
    """Check that the content has as many bytes as the header of the array states."""
    version = np.lib.format.read_magic(stream)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(stream)
    expected, seen = math.prod(shape) * dtype.itemsize, drain(stream)
    if seen != expected:
        raise Unreadable(f"{name} has {seen} bytes of data, expected {expected}")


def drain(stream: Readable) -> int:
    """Read to the end; return the number of bytes."""
    total = 0
    while block := stream.read(BLOCK):
        total += len(block)
    return total
