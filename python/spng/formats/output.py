# SPDX-License-Identifier: Apache-2.0
"""Outputs of the package: a complete file or folder replaces the old one; a failure leaves the old one.

An output replaces only what is of its own kind, unless the caller says overwrite: a mistyped name must not cost
somebody's work. The commands of wirecell-frame check all their outputs and inputs before they read.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from wirecell_profile.output_file import output_file, target_of
from wirecell_profile.output_kind import foreign_kind
from wirecell_profile.path_names import readable, url_hint

from ..errors import Error

HINT = "choose another name, or give overwrite (wirecell-frame: --overwrite)"
MARK = "zarr.json"  # metadata of a group or an array of format 3
ARRAY = "(frame|runs|values|shape|channels|summary)_[^/]*"  # as zarr.py writes them
OWN_NAMES = re.compile(rf"(-?\d+/({ARRAY}/)?)?{re.escape(MARK)}|-?\d+/{ARRAY}/c(/\d+)*")


def require_own_kind(path: Path, is_own: Callable[[Path], object], kind: str) -> None:
    """Raise Error if an output would replace a file of another kind.

    is_own: tells whether a file is of the kind. kind: its name for the message.
    """
    try:
        target = target_of(path)
    except OSError:  # writing reports it
        return
    if target is not None and target.is_file() and (seen := foreign_kind(target, is_own)):
        raise _foreign(path, f"{readable(target)}: {seen}", f"no file, or {kind}")


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """Yield the name of a new file, which replaces `path` if the block succeeds. Raise Error(Output) on failure."""
    try:
        with output_file(path) as partial:
            yield partial
    except OSError as error:
        raise _failure(path, error) from None


@contextmanager
def replaced_folder(path: Path, overwrite: bool) -> Iterator[Path]:
    """Yield the name of a new folder, which replaces `path` if the block succeeds. Raise Error(Output) on failure.

    A folder that is no Zarr group is never replaced; one with other files than those of frames only with overwrite.
    """
    target = Path(os.path.realpath(path))
    _require_own_folder(target, path, overwrite)
    unique = f"{os.getpid()}-{secrets.token_hex(4)}"
    partial = target.with_name(f".{target.stem}.{unique}.partial{target.suffix}")
    old = target.with_name(f".{target.stem}.{unique}.old{target.suffix}")
    try:
        partial.mkdir()
        yield partial
        if target.exists():
            _require_own_folder(target, path, overwrite)  # files that came meanwhile
            target.rename(old)
        partial.rename(target)
    except OSError as error:
        raise _failure(path, error) from None
    finally:
        if old.exists() and not target.exists():
            old.rename(target)
        for folder in (partial, old):
            _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder, into which threads of zarr may still write after one of them failed."""
    for _ in range(20):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(0.05)


def _require_own_folder(target: Path, path: Path, overwrite: bool) -> None:
    if not target.exists():
        return
    if not (target / MARK).is_file():
        raise Error(
            "Output",
            "the output exists and is no Zarr group",
            readable(path),
            expected=f"a folder with {MARK}",
            hint="choose another name",
        )
    if not overwrite and (name := _foreign_name(target)):
        raise _foreign(path, name, "a folder with frames only")


def _foreign_name(folder: Path) -> str:
    """Return a file of a folder that is none of a frame in Zarr; "" if there is none."""
    try:
        attributes = json.loads((folder / MARK).read_bytes())["attributes"]
    except (OSError, ValueError, LookupError, TypeError):
        attributes = {}
    if "events" not in attributes:
        return readable(folder / MARK)
    for parent, folders, files in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        for name in (*links, *files):
            file = os.path.join(parent, name)
            if name in links or not OWN_NAMES.fullmatch(os.path.relpath(file, folder)):
                return readable(file)
    return ""


def _foreign(path: Path, seen: str, expected: str) -> Error:
    return Error(
        "Output", "an output would replace a file of another kind", readable(path), seen, expected, HINT
    )


def _failure(path: Path, error: OSError) -> Error:
    reason = error.strerror or str(error)
    return Error("Output", "cannot write the output", readable(path), reason, hint=url_hint(path))
