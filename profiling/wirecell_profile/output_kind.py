# SPDX-License-Identifier: Apache-2.0
"""An output replaces only files of its own kind, and no input: a mistyped name must not cost somebody's work.

The rule and its words are those of wire-cell (spng/io/output_kind.h).
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from .errors import UsageError
from .output_file import target_of

LOOKED_AT = 4096  # bytes at the beginning of a file
HINT = "choose another name, or give --overwrite"
CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\t\n\r\f\x1b"))
REPORT = re.compile(
    rb"^(window W: |\*\* |A = |nothing found: |not applicable:|missing, |-+(  -+)+\s*$)", re.MULTILINE
)
MAGICS = {
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"\x89PNG": "a PNG picture",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"PK": "a zip archive",
    b"\x1f\x8b": "a file compressed with gzip",
    b"\x7fELF": "a program or library",
    b"%PDF": "a PDF document",
    b"#!": "a script",
}


@dataclass(frozen=True)
class Kind:
    """A kind of output: its name, and the test of a file's beginning."""

    name: str
    test: Callable[[bytes], object]

    def holds(self, path: Path) -> bool:
        """Tell whether a file is of the kind."""
        return bool(self.test(_beginning_of(path)))


def _starts(*words: bytes) -> Callable[[bytes], bool]:
    return lambda beginning: beginning.lstrip().lower().startswith(words)


def _is_gzipped_json(beginning: bytes) -> bool:
    try:
        return JSON.test(zlib.decompressobj(wbits=31).decompress(beginning, LOOKED_AT)) is True
    except zlib.error:
        return False


HTML = Kind("an HTML page", _starts(b"<!doctype html", b"<html"))
SVG = Kind("an SVG picture", re.compile(rb"\s*(<\?xml[^>]*>\s*)?(<!DOCTYPE svg[^>]*>\s*)?<svg").match)
PNG = Kind("a PNG picture", _starts(b"\x89png"))
PDF = Kind("a PDF document", _starts(b"%pdf"))
JUNIT = Kind("JUnit's XML", re.compile(rb"\s*(<\?xml[^>]*>)?\s*<testsuite").match)
JSON = Kind("a JSON file", _starts(b"{", b"["))
JSON_GZ = Kind("a compressed JSON file", _is_gzipped_json)
REPORT_TEXT = Kind("a report of wirecell-profile", REPORT.search)
MARKDOWN = Kind("a Markdown text", re.compile(rb"#{1,6} |\*\*|Nothing found|Not applicable").match)
PARQUET = Kind("a Parquet file", _starts(b"par1"))
ARROW = Kind("an Arrow file", _starts(b"arrow1"))
HDF5 = Kind("an HDF5 file", _starts(b"\x89hdf"))
# Format of an option -> kind.
OF_FORMAT = {
    "table": REPORT_TEXT,
    "markdown": MARKDOWN,
    "junit": JUNIT,
    "json": JSON,
    "parquet": PARQUET,
    "arrow": ARROW,
    "hdf5": HDF5,
}


def csv_with(header: str) -> Kind:
    """Return the kind of the CSV files with a header: any other text may be a table of the user."""
    first = header.encode(errors="backslashreplace")[:LOOKED_AT]
    return Kind(
        f"a CSV file with the columns {header.strip()}", lambda beginning: beginning.startswith(first)
    )


def kind_seen(beginning: bytes) -> str:
    """Name the kind of a file for an error."""
    known = next((name for magic, name in MAGICS.items() if beginning.startswith(magic)), "")
    kinds = [HTML, SVG, JUNIT, JSON]
    known = known or next((kind.name for kind in kinds if kind.test(beginning)), "")
    return known or ("a file of another kind" if set(beginning) & set(CONTROLS) else "a text file")


def check_outputs(
    outputs: Iterable[tuple[str, Path, Kind | None]], inputs: Iterable[Path], overwrite: bool
) -> None:
    """Check each output, given with its option and kind, before anything is written.

    Raise UsageError if it is an input or another output, or, unless `overwrite`, exists and is of another kind. None as
    kind: any existing file is of another kind.
    """
    taken: dict[object, tuple[Path, str]] = {
        identity: (path, "an output would overwrite an input")
        for path in inputs
        if (identity := _identity(path))
    }
    for option, path, kind in outputs:
        try:
            target = target_of(path)
        except OSError:  # writing reports it
            continue
        if target is None:
            continue
        key: object = _identity(target) or str(target)
        if key in taken:
            other, what = taken[key]
            seen = f"{path} and {other}"
            raise UsageError(what, option, seen, "separate files", "choose another name")
        taken[key] = path, "two outputs are one file"
        if not overwrite and target.is_file():
            _require_own_kind(option, target, kind)


def foreign_kind(target: Path, is_own: Callable[[Path], object]) -> str:
    """Return the kind of a file that an output must not replace unless confirmed; "" if it may.

    is_own: tells whether a file is of the output's kind. An empty file may be replaced. So may one that cannot be read: the
    permissions of its folder decide.
    """
    try:
        beginning = _beginning_of(target)
    except OSError:
        return ""
    return kind_seen(beginning) if beginning and not is_own(target) else ""


def _beginning_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LOOKED_AT)


def _require_own_kind(option: str, target: Path, kind: Kind | None) -> None:
    if kind is None:
        raise UsageError("the output exists", option, str(target), hint=HINT)
    if seen := foreign_kind(target, kind.holds):
        raise UsageError(
            "an output would replace a file of another kind",
            option,
            f"{target}: {seen}",
            f"no file, or {kind.name}",
            HINT,
        )


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the identity of a file, the same for all its names, or None if there is none."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_dev, state.st_ino
