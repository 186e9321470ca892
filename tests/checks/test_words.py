# SPDX-License-Identifier: Apache-2.0
"""Samples for the word list of ./wcb lint: uses that it must find, and correct uses."""

from __future__ import annotations

import pytest

from scripts.wcb.lint import words


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("spng/a.h", "/// the channel numbers", "channel numbers"),
        ("spng/a.cxx", "int lane = 0;", "lane"),
        ("spng/a.h", "/// What a node does.", "/// What"),
        ("spng/a.h", "/// Return it. What is left stays.", "t. What"),
        ("docs/a.md", "The window moves on.", "The window"),
        ("scripts/a.py", "def refuse_foreign():", "refuse"),
        ("campaign/a.py", '"""Those that failed."""', '"""Those that'),
    ],
)
def test_word_is_found(path: str, text: str, expected: str) -> None:
    (finding,) = words.check_text(path, text)
    assert finding.word == expected and finding.path == path


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("spng/a.cxx", "recommended(); // Connection refused"),
        ("docs/a.md", "| `cut` | number | the number of ticks |"),
        ("docs/a.md", "## What is in it"),
        ("spng/kernels/a.cu", "int lane = threadIdx.x % 32;"),
        ("docs/a.md", "The readout window moves on."),
    ],
)
def test_right_use_is_no_finding(path: str, text: str) -> None:
    assert list(words.check_text(path, text)) == []
