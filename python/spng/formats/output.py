# SPDX-License-Identifier: Apache-2.0
"""Outputs of the formats: a complete file or folder replaces the old one; a failure leaves the old one."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wirecell_profile.output_file import output_file

from ..errors import Error


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """Yield the name of a new file, which replaces `path` if the block succeeds. Raise Error(Output) on failure."""
    try:
        with output_file(path) as partial:
            yield partial
    except OSError as error:
        raise _failure(path, error) from None


@contextmanager
def replaced_folder(path: Path, mark: str) -> Iterator[Path]:
    """Yield the name of a new folder, which replaces `path` if the block succeeds.

    mark: name of a file in each folder that may be replaced; others are rejected. Raise Error(Output) on failure.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not (target / mark).is_file():
        raise Error(
            "Output", "the output exists and is no Zarr group", str(path), expected=f"a folder with {mark}"
        )
    unique = f"{os.getpid()}-{secrets.token_hex(4)}"
    partial = target.with_name(f".{target.stem}.{unique}.partial{target.suffix}")
    old = target.with_name(f".{target.stem}.{unique}.old{target.suffix}")
    try:
        partial.mkdir()
        yield partial
        if target.exists():
            target.rename(old)
        partial.rename(target)
    except OSError as error:
        raise _failure(path, error) from None
    finally:
        if old.exists() and not target.exists():
            old.rename(target)
        for folder in (partial, old):
            shutil.rmtree(folder, ignore_errors=True)


def _failure(path: Path, error: OSError) -> Error:
    return Error("Output", "cannot write the output", str(path), error.strerror or str(error))
