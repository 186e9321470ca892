# SPDX-License-Identifier: Apache-2.0
"""The quick checks of ./wcb lint pass on all files, and find their kind of error."""

from __future__ import annotations

import pytest

from scripts.wcb.lint import environment, files, markdown
from scripts.wcb.lint.checks import CHECKS, Check

QUICK = [check for check in CHECKS if check.is_quick]


@pytest.mark.parametrize("check", QUICK, ids=lambda check: check.name)
def test_tree_is_clean(check: Check) -> None:
    if not environment.is_ready():
        pytest.skip("the lint tools are not installed (./wcb lint, or ./wcb test)")
    result = check.run(check.select(files.every()), False)
    if result.skipped:
        pytest.skip(result.skipped)
    assert result.is_clean, result.text


def test_two_sentences_and_a_wrapped_one_are_found() -> None:
    text = "One. Two.\n\nA sentence that is\nwrapped.\n\n```\nOne. Two.\n```\n| One. Two. |\n"
    assert [line for line, _ in markdown.check(text)] == [1, 4]


def test_changed_files_exist() -> None:
    assert set(files.changed()) <= set(files.every())
