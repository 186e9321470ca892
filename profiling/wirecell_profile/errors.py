# SPDX-License-Identifier: Apache-2.0
"""Errors that the user can correct, printed as one block."""

from __future__ import annotations

import shlex
import sys

from .path_names import url_hint

MAX_PART = 2000  # letters of each part of an error; names in files may have millions


def block(what: str, where: str, seen: str, expected: str, hint: str, longest: int = MAX_PART) -> str:
    """Return the lines of an error. Empty parts are left out.

    Further lines of a part are indented: no line of it, such as one in the name of a file, looks like one of the block.
    """

    def part(text: str) -> str:
        text = text if len(text) <= longest else f"{text[:longest]}..."
        return text.replace("\n", "\n" + 12 * " ")

    parts = (("where", where), ("seen", seen), ("expected", expected), ("hint", hint))
    lines = [f"  {name + ':':<10}{part(text)}" for name, text in parts if text]
    return "\n".join([f"error: {part(what)}", *lines])


class ProfileError(Exception):
    """An error with its location, the seen and the expected value, and a hint, as one block."""

    def __init__(
        self, what: str, where: str = "", seen: str = "", expected: str = "", hint: str = ""
    ) -> None:
        super().__init__(block(what, where, seen, expected, hint))
        self.what = what


class MissingData(ProfileError):
    """The file lacks the data of a report. Callers must not show a zero instead.

    `recorded`: the parts that the file has; a list of several reasons tells them once.
    """

    def __init__(
        self, what: str, where: str = "", seen: str = "", hint: str = "", recorded: str = ""
    ) -> None:
        super().__init__(f"{what} (recorded: {recorded})" if recorded else what, where, seen, hint=hint)
        self.what = what


class UsageError(ProfileError):
    """Usage error: an invalid argument. Exit status 2."""


def system_error(what: str, path: object, error: OSError, hint: str = "") -> ProfileError:
    """Make the error for a file that the system does not let us read or write."""
    return ProfileError(what, str(path), error.strerror or str(error), hint=url_hint(str(path)) or hint)


def pip_install(package: str) -> str:
    """Return the command that installs a package for the Python that runs."""
    return f"{shlex.quote(sys.executable)} -m pip install {package}"
