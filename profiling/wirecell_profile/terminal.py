# SPDX-License-Identifier: Apache-2.0
"""Text on the terminal. Names in a file may hold control characters, which would command the terminal."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO, cast

# C0, DEL and C1; marks that reverse the direction of text.
HIDDEN = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}
HIDDEN |= {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
HIDDEN |= {
    code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)
}  # halves of characters, which are no text
HIDDEN |= {
    0xDC00 + byte: f"\\x{byte:02x}" for byte in range(0x80, 0x100)
}  # bytes of paths that are not UTF-8
HIDDEN |= {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"}
HIDDEN_IN_LINES = {code: shown for code, shown in HIDDEN.items() if code != ord("\n")}


def visible(text: str) -> str:
    """Return a text with its control characters spelled, on one line."""
    return text.translate(HIDDEN)


class _VisibleStream(io.TextIOBase):
    """A stream that spells control characters except the ends of lines, and characters that it cannot encode."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        encoding = self._stream.encoding or "utf-8"
        self._stream.write(
            text.translate(HIDDEN_IN_LINES).encode(encoding, "backslashreplace").decode(encoding)
        )
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()


@contextmanager
def visible_output() -> Iterator[None]:
    """Spell control characters in everything that the block writes to standard output and error.

    Also if they are redirected: redirected output is often shown later. Files of -o stay exact.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, _VisibleStream(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
