# SPDX-License-Identifier: Apache-2.0
"""Make devices and pipes at the path of an output, and check them afterwards."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def make_null_device(path: Path) -> os.stat_result:
    """Make a device like /dev/null; skip the test if that is not allowed."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        with path.open("wb") as device:
            device.write(b"x")
    except OSError as problem:
        pytest.skip(f"no device can be made here: {problem.strerror}")
    return path.lstat()


def same(before: os.stat_result, path: Path) -> bool:
    """Return whether the path still leads to the same object."""
    now = path.lstat()
    return (now.st_ino, now.st_mode, now.st_rdev) == (before.st_ino, before.st_mode, before.st_rdev)


def require_only(folder: Path, *names: str) -> None:
    """Check that the folder holds these names only, without temporary files."""
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)


@contextmanager
def reader_of_pipe(path: Path) -> Iterator[list[bytes]]:
    """Make a pipe and read it until the `with` block ends; the list then holds all written data, in blocks."""
    os.mkfifo(path)
    got: list[bytes] = []
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # so that no side waits for the other
    os.set_blocking(descriptor, True)
    keeper = os.open(path, os.O_WRONLY)  # the end of the file comes when both writers are gone

    def read() -> None:
        while block := os.read(descriptor, 1 << 16):
            got.append(block)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield got
    finally:
        os.close(keeper)
        reader.join(60)
        os.close(descriptor)
