# SPDX-License-Identifier: Apache-2.0
"""Errors that the user can correct, printed as one block."""

from __future__ import annotations

import re

from wirecell_profile.errors import block
from wirecell_profile.terminal import HIDDEN_IN_LINES

MAX_PART = 4000  # letters; names in files may have millions


class Error(Exception):
    """A failure of the library; str() is the block of readable lines.

    kind      Usage, Configuration, Input, Output, Device, Model or Internal, as in spng/core/error.h
    what      one sentence: what failed
    where     file, event and tag, or the node
    seen      the offending value
    expected  a valid value
    hint      how to correct it

    The last four may be empty; the block leaves them out. Control characters, of names in files, are spelled.
    """

    def __init__(
        self, kind: str, what: str, where: str = "", seen: str = "", expected: str = "", hint: str = ""
    ) -> None:
        parts = (each.translate(HIDDEN_IN_LINES) for each in (what, where, seen, expected, hint))
        what, where, seen, expected, hint = parts
        super().__init__(kind, what, where, seen, expected, hint)
        self.kind, self.what, self.where = kind, what, where
        self.seen, self.expected, self.hint = seen, expected, hint

    def __str__(self) -> str:
        """Return the block."""
        return block(self.what, self.where, self.seen, self.expected, self.hint, MAX_PART)


def of_library(kind: str, *strings: str) -> Error:
    """Return an error of the native module."""
    return Error(kind, *map(in_python, strings))


_ARGUMENT = re.compile(r"-A (?!(?:or|and)\b)(\w+)(=?)((?:[^\s;,)]|,(?=\w))*)")
_NAMES = {"detname": "detector", "tpcid": "anode"}
_OPTIONS = {
    "-A, --tla-code, -V or -C": "arguments",
    "-A or --tla-code": "arguments",
    "--set": "set",
    "with -P or in": "in",
}


def in_python(text: str) -> str:
    """Return a text of the library with arguments in the words of Python: device='cpu' for "-A device=cpu"."""

    def argument(found: re.Match[str]) -> str:
        name, equals, value = found[1], found[2], found[3]
        end = "" if value.endswith("...") else value[len(value.rstrip(".")) :]
        value = value.removesuffix(end)
        if not equals:
            return f"argument {name}{value}{end}"
        if value in ("true", "false"):
            value = value.capitalize()
        elif not re.fullmatch(r"\.\.\.|[A-Z_]+|-?[\d.]+", value):
            value = repr(value) if value else "..."
        return f"{name}={value}{end}"

    for option, words in _OPTIONS.items():
        text = re.sub(rf"(?<!\S){re.escape(option)}(?![\w-])", words, text)
    text = _ARGUMENT.sub(argument, text)
    return re.sub(r"(?<![\w/.-])(detname|tpcid)(?![\w/.-])", lambda found: _NAMES[found[0]], text)


def input_error(what: str, *, where: str = "", seen: str = "", expected: str = "", hint: str = "") -> Error:
    """Return the error of unusable input."""
    return Error("Input", what, where, seen, expected, hint)
