# SPDX-License-Identifier: Apache-2.0
"""Options that several commands have."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from .. import output_kind
from ..compare.readers import files_of_sides
from ..errors import UsageError
from ..output import Result, as_csv
from ..output_kind import OF_FORMAT, Kind, csv_with


def add_profile(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """Add the argument for the profile to read."""
    about = "file of wire-cell --record, or nsys export in SQLite format"
    parser.add_argument("file", nargs=nargs, type=Path, help=about)


def add_format(parser: argparse.ArgumentParser, *formats: str) -> None:
    """Add the option for the format; the first is the default."""
    parser.add_argument("-f", "--format", choices=formats, default=formats[0], help=f"default: {formats[0]}")


def add_output(
    parser: argparse.ArgumentParser, about: str = "write there instead of the terminal", metavar: str = "FILE"
) -> None:
    """Add the option for the file to write."""
    parser.add_argument("-o", "--output", type=Path, metavar=metavar, help=about)
    add_overwrite(parser)


def add_overwrite(parser: argparse.ArgumentParser) -> None:
    """Add the option that confirms check_outputs()."""
    about = "let outputs replace files of other kinds; inputs are never replaced"
    parser.add_argument("--overwrite", action="store_true", help=about)


def check_outputs(arguments: argparse.Namespace, *outputs: tuple[str, Path | None, Kind | None]) -> None:
    """Check outputs (option, file, kind) before anything is written, see output_kind. None as file: standard output."""
    given = vars(arguments)
    inputs = [given.get(name) for name in ("file", "input")]
    inputs += [*given.get("files", ()), *files_of_sides(given.get("sides", []))]
    output_kind.check_outputs(
        [(option, path, kind) for option, path, kind in outputs if path is not None],
        [path for path in inputs if path is not None],
        arguments.overwrite,
    )


def kind_of_table(result: Result, style: str) -> Kind:
    """Return the kind of the file of a table in a format."""
    return csv_with(as_csv(Result(result.columns, []))) if style == "csv" else OF_FORMAT[style]


def add_value(
    parser: argparse.ArgumentParser, option: str, default: str | float, metavar: str, about: str
) -> None:
    """Add an option with a value of the default's type. In `about`, %s is the default."""
    form = "%(default)g" if isinstance(default, float) else "%(default)s"
    parser.add_argument(
        option, type=type(default), default=default, metavar=metavar, help=about.replace("%s", form)
    )


def chosen(
    given: list[str] | None, known: Iterable[str], option: str, what: str, hint: str = ""
) -> list[str]:
    """Return the names in the values A,B of a repeatable option, or all known names without it.

    Raise UsageError for an unknown name; it lists the known ones unless there is a hint.
    """
    known = list(known)
    names = [name for text in given for name in text.split(",")] if given else known
    for name in names:
        if name not in known:
            raise UsageError(f"no such {what}", option, name, "" if hint else ", ".join(known), hint)
    return names
