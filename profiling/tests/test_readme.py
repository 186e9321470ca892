# SPDX-License-Identifier: Apache-2.0
"""The examples of profiling/README.md run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from wirecell_profile.cli import main

TEXT = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\.venv/bin/wirecell-profile (stats .*)$", TEXT, re.MULTILINE)


@pytest.fixture
def recorded(profile_file, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write run.sqlite into the current folder, with one call of a node and its kernel."""
    with profile_file.writing() as file:
        file.domain("spng", 1)
        file.range("SPNGDecon:induction", 0, 100, domainId=1, event=2)
        file.launch("kernel", (10, 20), (30, 72))
    monkeypatch.chdir(profile_file.path.parent)
    (profile_file.path.parent / "out").mkdir()


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command: str, recorded: None) -> None:
    assert main(shlex.split(command)) == 0


def test_python_example(recorded: None, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out == "42 ['kernel']\n"


def test_the_examples_were_found() -> None:
    assert len(COMMANDS) == 3
