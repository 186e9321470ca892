# SPDX-License-Identifier: Apache-2.0
"""Errors that the user can correct, printed as one block."""

from __future__ import annotations

import shlex
import sys


class Error(Exception):
    """A failure of the library; str() is the block of readable lines.

    kind      Usage, Configuration, Input, Output, Device, Model or Internal, as in spng/core/error.h
    what      one sentence: what failed
    where     file, event and tag, or the node
    seen      the offending value
    expected  a valid value
    hint      how to correct it

    The last four may be empty; the block leaves them out.
    """

    def __init__(
        self, kind: str, what: str, where: str = "", seen: str = "", expected: str = "", hint: str = ""
    ) -> None:
        super().__init__(kind, what, where, seen, expected, hint)
        self.kind, self.what, self.where = kind, what, where
        self.seen, self.expected, self.hint = seen, expected, hint

    def __str__(self) -> str:
        """Return the block."""
        parts = (("where", self.where), ("seen", self.seen), ("expected", self.expected), ("hint", self.hint))
        return "\n".join(
            [f"error: {self.what}", *(f"  {name + ':':<10}{text}" for name, text in parts if text)]
        )


def pip_install(package: str) -> str:
    """Return the command that installs a package for the Python that runs."""
    return f"{shlex.quote(sys.executable)} -m pip install {package}"


def input_error(what: str, *, where: str = "", seen: str = "", expected: str = "", hint: str = "") -> Error:
    """Return the error of unusable input."""
    return Error("Input", what, where, seen, expected, hint)
