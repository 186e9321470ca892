"""The rule for every file that the commands of this package, and the scripts of the checkout, write.

A regular file is replaced as a whole when its content is complete; of a symbolic link it is the target that is replaced. A device
or a pipe is written in place. What is neither is rejected. Nothing but a regular file is ever replaced or removed.
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
    """The regular file, there or not, that an output of this name replaces; None when it is written in place.

    OSError for a folder, a block device, a socket and a circle of links.
    """
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return Path(os.path.realpath(path))  # a link may lead to a file that is not there yet
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise OSError(errno.EINVAL, "neither a regular file nor a device or pipe to write to", str(path))
    if stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or _leads_to_open_file(path):
        return None
    return Path(os.path.realpath(path))


def _leads_to_open_file(path: Path) -> bool:
    """/dev/stdout sent to a file: links below /proc lead to open files and not to names."""
    for _ in range(40):  # the kernel's own limit
        if not path.is_symlink():
            return False
        if os.path.realpath(path.parent).startswith("/proc/"):
            return True
        path = path.parent / os.readlink(path)
    return False


@contextmanager
def output_file(path: Path) -> Iterator[Path]:
    """Give the name of a new file to write, with the same ending. When the block ends well, it becomes `path`, or its content goes
    there. OSError."""
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
    """Append a file to a device or pipe."""
    with (
        whole.open("rb") as source,
        os.fdopen(os.open(device, os.O_WRONLY | os.O_APPEND | os.O_NOCTTY), "wb") as out,
    ):
        shutil.copyfileobj(source, out)
