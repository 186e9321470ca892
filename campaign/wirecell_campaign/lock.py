# SPDX-License-Identifier: Apache-2.0
"""Lock of an output folder against a second client. It is a lock of the kernel, which ends with its process, even by kill -9."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import CampaignError

BUSY = (errno.EAGAIN, errno.EACCES)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock. Raise CampaignError with the holder if another process has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in BUSY:
                raise CampaignError(
                    "cannot lock the output folder",
                    where=str(path),
                    seen=error.strerror or "",
                    hint="choose a folder on a file system with locks (flock)",
                ) from None
            raise CampaignError(
                "another client uses this output folder",
                where=str(path.parent.parent),
                seen=os.read(descriptor, 200).decode(errors="replace").strip(),
                expected="one client per folder",
                hint="wait for it or stop it; wirecell-campaign status shows its progress",
            ) from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield
    finally:
        os.close(descriptor)


def holder(path: Path) -> str:
    """Return the holder of the lock, empty if it is free."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return ""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return os.read(descriptor, 200).decode(errors="replace").strip()
    else:
        return ""
    finally:
        os.close(descriptor)
