# SPDX-License-Identifier: Apache-2.0
"""The list of inputs: a text file with one path or pattern per line."""

from __future__ import annotations

import errno
import glob
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from wirecell_profile.path_names import url_hint

from .checksum import require_regular
from .errors import UsageError
from .layout import OWN_NAMES, longest_name
from .paths import require_usable

BLANKS = " \t\r"  # around a path; wire-cell --files reads lists in the same way
ARCHIVES = (".tar.bz2", ".tar.gz", ".tar", ".npz")


@dataclass(frozen=True)
class Entry:
    """An input and the name of its output."""

    input: Path
    name: str


def read_entries(given: str, suffix: str, longest: int = longest_name(on_own_disk=False)) -> list[Entry]:
    """Return the entries of a list, in its order.

    One path per line; relative paths start at the list's folder, those of standard input (`-`) at the working folder.
    `#` at the start of a line begins a comment. A line with *, ? or [ that is no file's name is a pattern.
    Inputs need not exist here.

    @param suffix   ending of outputs
    @param longest  largest length of an output's name [bytes]
    @throws UsageError for an unreadable or empty list, a pattern without a file, a path that wire-cell cannot use, an input
        given twice, an output with too long a name, and two outputs of the same name
    """
    folder, text = read_text(given)
    lines: dict[Path, int] = {}
    for row, line in enumerate(text.split("\n"), 1):
        line = line.strip(BLANKS)
        if not line or line.startswith("#"):
            continue
        where = f"{given}, line {row}"
        if "\0" in line:
            raise UsageError("the list is not text", where, "a byte of value zero", "one path per line")
        for path in expand(line, folder, where):
            require_usable(path, "an input", where)
            if path in lines:
                raise UsageError(
                    "an input is given twice",
                    f"{given}, lines {lines[path]} and {row}",
                    str(path),
                    "each file once",
                )
            lines[path] = row
    if not lines:
        raise UsageError("the list is empty", given, expected="one path per line")
    entries = [Entry(path, output_name(path, suffix)) for path in lines]
    for entry in entries:
        if (size := len(os.fsencode(entry.name))) > longest:
            raise UsageError(
                "an output would have too long a name",
                f"{given}, line {lines[entry.input]}",
                f"{entry.name}, {size} bytes",
                f"at most {longest} bytes, because longer names are derived from it",
                "give the input a shorter name, for example by a link",
            )
    reject_equal_names(entries, given)
    return entries


def read_text(given: str) -> tuple[Path, str]:
    """Return the folder at which relative paths start, and the text."""
    path = Path(given).absolute()
    try:
        if given == "-":
            return Path.cwd(), os.fsdecode(sys.stdin.buffer.read())
        return path.parent, os.fsdecode(path.read_bytes())
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError("cannot read the list", given, reason, hint=url_hint(given)) from None


def expand(line: str, folder: Path, where: str) -> list[Path]:
    """Return the files of a line."""
    path = normal(folder / line, where)
    if not any(sign in line for sign in "*?[") or os.path.exists(path):
        return [path]
    found = sorted(glob.glob(str(folder / line), recursive=True))
    if not found:
        raise UsageError("no file matches the pattern", where, line)
    return [normal(Path(name), where) for name in found]


def normal(path: Path, where: str) -> Path:
    """Return an absolute path, the same for all paths to a file's folder; do not resolve a link to the file itself.

    Raise UsageError for a folder with a loop of links.
    """
    folder = os.path.realpath(path.parent)
    try:
        os.stat(folder)
    except OSError as error:  # other errors appear when the input is opened, and may be skipped then
        if error.errno == errno.ELOOP:
            raise UsageError("the links of a path form a loop", where, str(path)) from None
    return Path(folder) / path.name


def output_name(path: Path, suffix: str) -> str:
    """Return the output's name: a/event-adc.tar.bz2 -> event-adc.npz."""
    return path.name.removesuffix(ending_of(path.name)) + suffix


def ending_of(name: str) -> str:
    """Return the ending of an input: .tar.bz2 of event-adc.tar.bz2."""
    own = Path(name)
    return next((end for end in ARCHIVES if own.name.endswith(end) and own.name != end), own.suffix)


def reject_equal_names(entries: list[Entry], where: str) -> None:
    """Raise UsageError if two outputs would be the same file, or one of the campaign's own files."""
    first: dict[str, Path] = {}
    for entry in entries:
        if entry.name in OWN_NAMES or entry.name.startswith("."):
            raise UsageError("an output would have the name of a file of the campaign", where, entry.name)
        if entry.name in first:
            raise UsageError(
                "two inputs have outputs of the same name",
                where,
                f"{first[entry.name]} and {entry.input} -> {entry.name}",
                "different names, without their folders and endings",
                "make a list and an output folder for each of them",
            )
        first[entry.name] = entry.input


def unreadable(entries: list[Entry]) -> dict[str, str]:
    """Return output name -> reason why the input cannot be opened on this machine."""
    found = {}
    for entry in entries:
        try:
            require_regular(entry.input)
            with open(entry.input, "rb") as file:
                file.read(1)
        except OSError as error:
            found[entry.name] = error.strerror or str(error)
    return found
