# SPDX-License-Identifier: Apache-2.0
"""Options that several commands have."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from ..errors import UsageError


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
