# SPDX-License-Identifier: Apache-2.0
"""The rule for every file that this package and the scripts of the checkout write.

A regular file is replaced as a whole once its content is complete; for a symbolic link, its target is
replaced. A device or pipe is written in place. Everything else is rejected. Only regular files are ever
replaced or removed.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def target_of(path: Path) -> Path | None:
    """Return the regular file, existing or not, that an output of this name replaces; None if it is written
    in place.

    Raise OSError for a folder, a block device, a socket or a loop of links.
    """
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return Path(os.path.realpath(path))  # the target of a link need not exist yet
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise OSError(errno.EINVAL, "neither a regular file nor a device or pipe to write to", str(path))
    if stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or _leads_to_open_file(path):
        return None
    return Path(os.path.realpath(path))


def _leads_to_open_file(path: Path) -> bool:
    """Detect /dev/stdout redirected to a file: links in /proc lead to open files instead of names."""
    for _ in range(40):  # the kernel's limit
        if not path.is_symlink():
            return False
        if os.path.realpath(path.parent).startswith("/proc/"):
            return True
        path = path.parent / os.readlink(path)
    return False


@contextmanager
def output_file(path: Path) -> Iterator[Path]:
    """Yield the name of a new file with the same ending.

    If the block succeeds, the file replaces `path`, or its content is appended to the device or pipe. Raise
    OSError on failure.
    """
    target = target_of(path)
    if target is None:
        with tempfile.TemporaryDirectory() as folder:
            whole = Path(folder) / f"output{path.suffix}"
            yield whole
            _send(whole, path)
        return
    partial = target.with_name(f".{target.stem}.{os.getpid()}-{secrets.token_hex(4)}.partial{target.suffix}")
    try:
        yield partial
        if target_of(target) is None:
            raise FileExistsError(errno.EEXIST, "a device or pipe that was not there before", str(target))
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def _send(whole: Path, device: Path) -> None:
    """Append the content of a file to a device or pipe."""
    with (
        whole.open("rb") as source,
        os.fdopen(os.open(device, os.O_WRONLY | os.O_APPEND | os.O_NOCTTY), "wb") as out,
    ):
        shutil.copyfileobj(source, out)
