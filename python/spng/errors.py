# SPDX-License-Identifier: Apache-2.0
"""The error of this package: one readable block, as the program prints it."""

from __future__ import annotations

LABEL_WIDTH = 10


class Error(Exception):
    """A failure that a user can correct. str() is the block.

    kind  Usage, Configuration, Input, Output, Device, Model or Internal
    what  one sentence: what failed; where, seen, expected, hint: the lines of the block, may be empty
    """

    def __init__(
        self, kind: str, what: str, where: str = "", seen: str = "", expected: str = "", hint: str = ""
    ) -> None:
        """Compose the block from its parts."""
        self.kind = kind
        self.what = what
        self.where = where
        self.seen = seen
        self.expected = expected
        self.hint = hint
        super().__init__(kind, what, where, seen, expected, hint)  # so that errors can be pickled

    def __str__(self) -> str:
        lines = [f"error: {self.what}"]
        for name in ("where", "seen", "expected", "hint"):
            text = getattr(self, name)
            if text:
                lines.append(f"  {name + ':':<{LABEL_WIDTH}}{text}")
        return "\n".join(lines)


def input_error(what: str, *, where: str = "", seen: str = "", expected: str = "", hint: str = "") -> Error:
    """Return the error of unusable input."""
    return Error("Input", what, where, seen, expected, hint)
