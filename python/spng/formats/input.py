# SPDX-License-Identifier: Apache-2.0
"""Inputs of the formats: any failure of their libraries, which fail in many ways on damaged files, is one error."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wirecell_profile.path_names import readable, url_hint

from ..errors import Error


@contextmanager
def readable_input(path: Path, what: str) -> Iterator[None]:
    """Turn any exception of the block into Error(Input)."""
    try:
        yield
    except Error:
        raise
    except Exception as error:
        if isinstance(error, MemoryError) or "memory allocation failed" in str(error):  # as HDF5 says it
            what = "not enough memory"
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        if isinstance(error, KeyError):  # a name, or a sentence
            reason = str(error.args[0]) if " " in str(error) else f"no {reason}"
        raise Error(
            "Input", what, readable(path), reason or type(error).__name__, hint=url_hint(path)
        ) from None


def require_regular_file(path: Path) -> None:
    """Raise OSError if there is no such file, and ValueError for a pipe or a device: opening it may block for ever."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("no regular file")


def require_regular_tree(folder: Path) -> None:
    """Raise ValueError if a folder holds anything but regular files and folders.

    A pipe may block for ever, and a link of somebody else could name any file of the reader.
    """
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            mode = os.lstat(os.path.join(parent, name)).st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise ValueError(
                    f"{os.path.relpath(os.path.join(parent, name), folder)} is a link, a pipe or a device"
                )
