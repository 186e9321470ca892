"""The checks of ./wcb lint that are quick, on all files; and that they find what they are for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts.wcb.lint import environment, files, markdown, words
from scripts.wcb.lint.checks import CHECKS, Check

QUICK = [check for check in CHECKS if check.is_quick]
ROOT = Path(__file__).resolve().parents[2]

# Findings of the word list by file, from before there was the check. `wcb lint` shows them; a change may only lower them.
WORDS_LEFT = Path(__file__).with_name("words_left.json")


@pytest.mark.parametrize(
    "check", [check for check in QUICK if check.name != "words"], ids=lambda check: check.name
)
def test_tree_is_clean(check: Check) -> None:
    if not environment.is_ready():
        pytest.skip("the lint tools are not installed (./wcb lint, or ./wcb test)")
    result = check.run(check.select(files.every()), False)
    if result.skipped:
        pytest.skip(result.skipped)
    assert result.is_clean, result.text


def test_words_become_fewer() -> None:
    """No file has more findings than before, and a new file has none."""
    left = json.loads(WORDS_LEFT.read_text(encoding="utf-8"))
    found: dict[str, list[words.Finding]] = {}
    for finding in words.check_files(ROOT, files.every()):
        found.setdefault(finding.path, []).append(finding)
    more = [
        str(finding)
        for path, all_of in found.items()
        if len(all_of) > left.get(path, 0)
        for finding in all_of
    ]
    assert not more, "\n".join(more)


def test_two_sentences_and_a_wrapped_one_are_found() -> None:
    text = "One. Two.\n\nA sentence that is\nwrapped.\n\n```\nOne. Two.\n```\n| One. Two. |\n"
    assert [line for line, _ in markdown.check(text)] == [1, 4]


def test_changed_files_exist() -> None:
    assert set(files.changed()) <= set(files.every())
