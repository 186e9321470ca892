# SPDX-License-Identifier: Apache-2.0
"""Remains of earlier runs: finished files, unfinished publications, damaged files, scratch folders.

This module runs under the lock, so there is no other client. An attempt of an earlier run may still run on an unreachable
machine; the decisions made here remain correct if it publishes afterwards (publish.py).
"""

from __future__ import annotations

import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from . import record
from .input_list import Entry
from .layout import Layout
from .publish import settle

CHECKERS = 4  # files whose checksums are computed at the same time


class State(Enum):
    """State of a file of the list."""

    TO_DO = "to do"
    DONE = "done"
    OTHER_SETTINGS = "done with other settings"
    OTHER_INPUT = "done, but of another content of the input"
    DOUBTFUL = "done without --strict, with warnings"
    DAMAGED = "damaged"  # the record, or the output against its record
    FOREIGN = "a file of this name that is not of this campaign"


@dataclass
class Found:
    """States of the files of the list."""

    states: dict[str, State]
    records: dict[str, dict] = field(default_factory=dict)

    def names(self, state: State) -> list[str]:
        """Return the files in one state, in the order of the list."""
        return [name for name, one in self.states.items() if one is state]


def look(layout: Layout, entries: list[Entry], digest: str, quick: bool, strict: bool = False) -> Found:
    """Find the state of every entry, and finish unfinished publications.

    quick: accept inputs and outputs of the recorded size and time; otherwise compute checksums.
    strict: accept no output with warnings that was made without --strict.
    """

    def one(entry: Entry) -> tuple[State, dict | None]:
        known = record.read(layout.record(entry.name))
        state = state_of(layout, entry, known, digest, quick)
        if strict and state is State.DONE and known and known.get("warnings") and not known.get("strict"):
            state = State.DOUBTFUL
        return state, known

    with ThreadPoolExecutor(CHECKERS) as pool:
        results = list(pool.map(one, entries))
    found = Found({entry.name: state for entry, (state, _) in zip(entries, results)})
    found.records = {
        entry.name: known for entry, (state, known) in zip(entries, results) if state is State.DONE and known
    }
    return found


def state_of(layout: Layout, entry: Entry, known: dict | None, digest: str, quick: bool) -> State:
    """Return the state of one file."""
    if known is None:
        if layout.record(entry.name).exists():
            return State.DAMAGED
        return State.FOREIGN if os.path.lexists(layout.root / entry.name) else State.TO_DO
    if not settle(layout, known, timeout=0.0) or record.wrong_products(layout, known, quick):
        return State.DAMAGED
    if known["settings"] != digest:
        return State.OTHER_SETTINGS
    return State.DONE if record.is_input_same(known, entry.input, quick) else State.OTHER_INPUT


def set_aside(layout: Layout, name: str) -> Path:
    """Move an output, damaged or foreign, and its record to a folder aside; return the folder. Delete nothing."""
    folder = layout.aside / f"{name}.{time.strftime('%Y%m%d-%H%M%S')}.{time.monotonic_ns() % 10**6}"
    folder.mkdir(parents=True)
    for path in (*product_paths(layout, name), layout.record(name)):  # the record last, as in forget()
        if os.path.lexists(path):
            path.rename(folder / path.name)
    return folder


def forget(layout: Layout, name: str) -> None:
    """Delete an output before it is made again. Delete the record last: an interruption before then leaves a damaged file,
    which is made again.
    """
    for path in product_paths(layout, name):
        path.unlink(missing_ok=True)
    layout.record(name).unlink(missing_ok=True)


def product_paths(layout: Layout, name: str) -> list[Path]:
    """Return the products of a complete record, else the output alone."""
    known = record.read(layout.record(name))
    return [layout.root / product["path"] for product in known["products"]] if known else [layout.root / name]


def clean_scratch(layout: Layout) -> None:
    """Remove the scratch folders of attempts. Raise OSError before removing anything if a publication cannot be finished.

    An attempt that was killed after publishing its record may have left the only copy of an output there. So finish all
    publications first, also of files outside the list.
    """
    left = sorted(layout.scratch.iterdir()) if layout.scratch.is_dir() else []
    if left:
        for known in record.read_all(layout).values():
            settle(layout, known, timeout=0.0)
    for path in left:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def clean_partials(layout: Layout) -> None:
    """Remove partial files of a killed client."""
    for folder in (layout.root, layout.internal, layout.failures):
        for path in folder.glob(".*.partial*"):
            path.unlink(missing_ok=True)
