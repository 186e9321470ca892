"""The list of inputs: a text file with one path or pattern a line."""

from __future__ import annotations

import errno
import glob
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from .errors import WrongUse
from .layout import OWN_NAMES, longest_name
from .paths import require_usable

ARCHIVES = (".tar.bz2", ".tar.gz", ".tar", ".npz")


@dataclass(frozen=True)
class Entry:
    """An input and the name of its output."""

    input: Path
    name: str


def read_entries(given: str, suffix: str, longest: int = longest_name(on_own_disk=False)) -> list[Entry]:
    """The entries of a list, in its order.

    One path a line; relative ones start at the list's folder, those of standard input (`-`) at the working folder.
    `#` at the start of a line begins a comment. A line with *, ? or [ that names no file itself is a pattern.
    `suffix` is the ending of outputs, and their names have `longest` bytes at most. WrongUse for a list that cannot be read or
    is empty, a pattern without a file, a path that wire-cell cannot work with, an input that is given twice, an output with
    too long a name, and two of the same name. Inputs need not exist here.
    """
    folder, text = read_text(given)
    places: dict[Path, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        where = f"{given}, line {number}"
        if "\0" in line:
            raise WrongUse("the list is no text", where, "a byte of value zero", "one path a line")
        for path in expand(line, folder, where):
            require_usable(path, "an input", where)
            if path in places:
                raise WrongUse(
                    "an input is given twice",
                    f"{given}, lines {places[path]} and {number}",
                    str(path),
                    "each file once",
                )
            places[path] = number
    if not places:
        raise WrongUse("the list is empty", given, expected="one path a line")
    entries = [Entry(path, output_name(path, suffix)) for path in places]
    for entry in entries:
        if (size := len(entry.name.encode("utf-8"))) > longest:
            raise WrongUse(
                "an output would have too long a name",
                f"{given}, line {places[entry.input]}",
                f"{entry.name}, {size} bytes",
                f"at most {longest} bytes, for longer names are made of it",
                "give the input a shorter name, by a link for example",
            )
    refuse_equal_names(entries, given)
    return entries


def read_text(given: str) -> tuple[Path, str]:
    """The folder at which relative paths start, and the text."""
    path = Path(given).absolute()
    try:
        if given == "-":
            return Path.cwd(), sys.stdin.read()
        return path.parent, path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise WrongUse("the list is no text", given, expected="one path a line, UTF-8") from None
    except OSError as error:
        raise WrongUse("the list cannot be read", given, error.strerror or str(error)) from None


def expand(line: str, folder: Path, where: str) -> list[Path]:
    """The files of a line."""
    path = normal(folder / line, where)
    if not any(sign in line for sign in "*?[") or os.path.exists(path):
        return [path]
    found = sorted(glob.glob(str(folder / line), recursive=True))
    if not found:
        raise WrongUse("no file fits the pattern", where, line)
    return [normal(Path(name), where) for name in found]


def normal(path: Path, where: str) -> Path:
    """Absolute, and the same for all ways to write the way to a file's folder; a link stays itself. WrongUse for a folder whose
    links go in a circle."""
    folder = os.path.realpath(path.parent)
    try:
        os.stat(folder)
    except OSError as error:  # what else is wrong is found, and may be skipped, when the input is opened
        if error.errno == errno.ELOOP:
            raise WrongUse("the links of a path go in a circle", where, str(path)) from None
    return Path(folder) / path.name


def output_name(path: Path, suffix: str) -> str:
    """a/event-adc.tar.bz2 -> event-adc.npz."""
    for ending in ARCHIVES:
        if path.name.endswith(ending) and path.name != ending:
            return path.name.removesuffix(ending) + suffix
    return path.stem + suffix


def refuse_equal_names(entries: list[Entry], where: str) -> None:
    """WrongUse when two outputs would be one file, or one of the campaign's own."""
    first: dict[str, Path] = {}
    for entry in entries:
        if entry.name in OWN_NAMES or entry.name.startswith("."):
            raise WrongUse("an output would have a name that the campaign uses itself", where, entry.name)
        if entry.name in first:
            raise WrongUse(
                "two inputs have outputs of the same name",
                where,
                f"{first[entry.name]} and {entry.input} -> {entry.name}",
                "different names, without their folders and endings",
                "make a list and an output folder for each of them",
            )
        first[entry.name] = entry.input


def unreadable(entries: list[Entry]) -> dict[str, str]:
    """Output name -> why the input cannot be opened on this machine."""
    found = {}
    for entry in entries:
        try:
            with open(entry.input, "rb") as file:
                file.read(1)
        except OSError as error:
            found[entry.name] = error.strerror or str(error)
    return found
