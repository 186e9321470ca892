"""What an earlier run left, found at the start of the next one: done files, unfinished publications, damage, scratch.

Runs under the lock, so that there is no other client. An attempt of an earlier run may still be at work on a machine that nobody
reached; whatever is decided here stays right when it publishes afterwards (publish.py).
"""

from __future__ import annotations

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from . import record
from .errors import CampaignError
from .input_list import Entry
from .layout import Layout
from .publish import settle

CHECKERS = 4  # files whose checksums are computed at the same time


class State(Enum):
    """Of a file of the list."""

    TO_DO = "to do"
    DONE = "done"
    OTHER_SETTINGS = "done with other settings"
    OTHER_INPUT = "done, but of another content of the input"
    DAMAGED = "damaged"  # the record, or the output against its record
    FOREIGN = "a file of this name that is not of this campaign"


@dataclass
class Found:
    """The files of the list by what they are."""

    states: dict[str, State]
    records: dict[str, dict] = field(default_factory=dict)

    def names(self, state: State) -> list[str]:
        """Those in one state, in the order of the list."""
        return [name for name, one in self.states.items() if one is state]


def look(layout: Layout, entries: list[Entry], digest: str, quick: bool) -> Found:
    """Find the state of every entry; unfinished publications are finished. quick: outputs of the recorded size and time are taken
    for whole, else their checksums are computed."""

    def one(entry: Entry) -> tuple[State, dict | None]:
        known = record.read(layout.record(entry.name))
        return state_of(layout, entry, known, digest, quick), known

    with ThreadPoolExecutor(CHECKERS) as pool:
        results = list(pool.map(one, entries))
    found = Found({entry.name: state for entry, (state, _) in zip(entries, results)})
    found.records = {
        entry.name: known for entry, (state, known) in zip(entries, results) if state is State.DONE and known
    }
    return found


def state_of(layout: Layout, entry: Entry, known: dict | None, digest: str, quick: bool) -> State:
    """Of one file."""
    if known is None:
        if layout.record(entry.name).exists():
            return State.DAMAGED
        return State.FOREIGN if (layout.root / entry.name).exists() else State.TO_DO
    if not settle(layout, known, patience=0.0) or record.wrong_products(layout, known, quick):
        return State.DAMAGED
    if known["settings"] != digest:
        return State.OTHER_SETTINGS
    return State.DONE if record.is_input_same(known, entry.input) else State.OTHER_INPUT


def set_aside(layout: Layout, name: str) -> Path:
    """Move a damaged output with its record out of the way; returns where to. Nothing is deleted."""
    folder = layout.aside / f"{name}.{time.strftime('%Y%m%d-%H%M%S')}.{time.monotonic_ns() % 10**6}"
    folder.mkdir(parents=True)
    for path in (*product_paths(layout, name), layout.record(name)):  # the record last, as in forget()
        if path.exists():
            path.rename(folder / path.name)
    return folder


def forget(layout: Layout, name: str) -> None:
    """Delete an output that is to be made again. The record goes last: until then a stop here leaves a damaged file, which is
    done again."""
    for path in product_paths(layout, name):
        path.unlink(missing_ok=True)
    layout.record(name).unlink(missing_ok=True)


def product_paths(layout: Layout, name: str) -> list[Path]:
    """The output, and the other products as far as a whole record names them."""
    known = record.read(layout.record(name))
    return [layout.root / product["path"] for product in known["products"]] if known else [layout.root / name]


def clean_scratch(layout: Layout) -> None:
    """Remove what attempts left behind. OSError, before anything is removed, when a publication cannot be finished.

    An attempt that was killed between its record and its products has left the only copy of a finished output in there. So all
    publications are finished first, those of files outside of the list too.
    """
    left = sorted(layout.scratch.iterdir()) if layout.scratch.is_dir() else []
    if left:
        for known in record.read_all(layout).values():
            settle(layout, known, patience=0.0)
    for path in left:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def clean_partials(layout: Layout) -> None:
    """Remove what a killed client left of its own files."""
    for folder in (layout.root, layout.internal, layout.failures):
        for path in folder.glob(".*.partial"):
            path.unlink(missing_ok=True)


def refuse_foreign(found: Found, layout: Layout) -> None:
    """CampaignError when outputs would meet files that the campaign did not write."""
    foreign = found.names(State.FOREIGN)
    if foreign:
        raise CampaignError(
            f"{len(foreign)} outputs have names of files that are there and not of this campaign",
            str(layout.root),
            ", ".join(foreign[:5]) + (", ..." if len(foreign) > 5 else ""),
            hint="move them away, or take another folder with --output",
        )
