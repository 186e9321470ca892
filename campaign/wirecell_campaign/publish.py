# SPDX-License-Identifier: Apache-2.0
"""Publication: move products from an attempt's scratch folder to their final names, exactly once.

Two attempts at one file may run at the same time, since a worker that seems dead may be alive. The record decides:

1. All products are complete in the scratch folder and synced to disk, and the record with their checksums is beside them.
2. The record gets its final name by link(2), which never replaces a file and is atomic on shared file systems too. The
   attempt that succeeds has won; an attempt that finds the name taken has lost and discards its work.
3. The products of the winner get their final names, again by link(2), so that no other file is overwritten.

A crash between 2 and 3 leaves a record whose products are in the scratch folder, under names that the record contains. settle()
finishes such a publication; it may run at the same time as the attempt or another settle().
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

from .errors import CampaignError
from .layout import Layout

NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
VISIBLE_AFTER = 4.0  # s until a change by another machine is visible on a network file system


def link_first(source: Path, target: Path) -> bool:
    """Give a file a second name unless it is taken; return whether this call did it. Other failures are OSErrors.

    If its first answer was lost, NFS may answer that the name is taken although this call took it.
    """
    try:
        os.link(source, target)
        return True
    except FileExistsError:
        return os.path.samefile(source, target)


def sync(path: Path) -> None:
    """Sync a file, or the names in a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if (
            error.errno != errno.EINVAL or not path.is_dir()
        ):  # some network file systems lack fsync of folders
            raise
    finally:
        os.close(descriptor)


def publish(layout: Layout, record: dict, attempt_folder: Path) -> bool:
    """Publish an attempt's products; return False if another attempt was first.

    Raise OSError; FileExistsError if a foreign file has a product's name.
    """
    draft = attempt_folder / "record.json"
    draft.write_text(json.dumps(record, indent=1, sort_keys=True, allow_nan=False) + "\n", encoding="utf-8")
    for path in [draft, *(layout.root / product["scratch"] for product in record["products"])]:
        sync(path)
    sync(attempt_folder)
    target = layout.record(record["name"])
    if not link_first(draft, target):
        return False
    sync(target.parent)
    try:
        link_products(layout, record)
    except FileExistsError:
        withdraw(layout, record)
        raise
    return True


def withdraw(layout: Layout, record: dict) -> None:
    """Undo a publication after a product could not get its name. Remove the record last: without it, its products would be
    foreign files.
    """
    for product in record["products"]:
        source, target = layout.root / product["scratch"], layout.root / product["path"]
        if target.exists() and source.exists() and os.path.samefile(source, target):
            target.unlink()
    layout.record(record["name"]).unlink(missing_ok=True)


def link_products(layout: Layout, record: dict) -> None:
    """Give the products of a published record their names. Raise FileNotFoundError if neither name of a product exists."""
    for product in record["products"]:
        source, target = layout.root / product["scratch"], layout.root / product["path"]
        target.parent.mkdir(exist_ok=True)
        try:
            placed = link_first(source, target)
        except FileNotFoundError:
            if not target.exists():
                raise
            continue  # placed by another process that has already removed the name in the scratch folder
        if not placed:
            raise FileExistsError(errno.EEXIST, "a file of this name exists already", str(target))
        sync(target.parent)
    for product in record["products"]:
        (layout.root / product["scratch"]).unlink(missing_ok=True)


def settle(
    layout: Layout, record: dict, timeout: float = VISIBLE_AFTER, sleep: Callable[[float], None] = time.sleep
) -> bool:
    """Finish the publication of a record; return False if a product is missing for `timeout` [s]."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            link_products(layout, record)
            return True
        except FileNotFoundError:
            if time.monotonic() >= deadline:
                return False
            sleep(0.2)
        except FileExistsError:
            return False


def require_links(layout: Layout) -> None:
    """Raise CampaignError unless the output folder is writable and has hard links."""
    probe = layout.scratch / f".probe.{os.getpid()}"
    second = layout.records / f".probe.{os.getpid()}"
    try:
        probe.write_bytes(b"probe")
        os.link(probe, second)
    except OSError as error:
        if error.errno in NO_LINKS:
            raise CampaignError(
                "the file system of the output folder has no hard links",
                str(layout.root),
                error.strerror or "",
                "a file system with link(2), which makes publication atomic",
                "choose an output folder on another file system",
            ) from None
        raise
    finally:
        probe.unlink(missing_ok=True)
        second.unlink(missing_ok=True)
