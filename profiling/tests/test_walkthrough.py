# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/profiling.md run on one profile, or parse if they need runs or builds; their output is
that of the page.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from wirecell_profile.cli import load_commands, main, make_parser

from tests.support.shared import ROOT

TEXT = (ROOT / "docs" / "profiling.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^wirecell-profile (.*)$", TEXT, re.MULTILINE)
NSYS = re.findall(r"^nsys (.*)$", TEXT, re.MULTILINE)
NEED_RUNS = ("compare", "compare-branches")
MS = 1_000_000


@pytest.fixture
def recorded(profile_file, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write run.sqlite into the current folder: three events of a node, no GPU."""
    with profile_file.writing() as file:
        file.manifest(what="calls,nvtx")
        file.domain("spng", 1)
        file.node(1, "SPNGDecon", "induction")
        for event in range(3):
            file.range("SPNGDecon:induction", event * MS, event * MS + 900_000, domainId=1, event=event)
            file.range("Decon::fft", event * MS + 100, event * MS + 800_000, domainId=1)
            file.node_call(event + 1, 1, event, event * MS + 50, event * MS + 899_000)
    monkeypatch.chdir(profile_file.path.parent)
    return profile_file.path.parent


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.split()[0] not in NEED_RUNS])
def test_commands_run(command: str, recorded: Path) -> None:
    assert main(shlex.split(command)) == 0


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.split()[0] in NEED_RUNS])
def test_commands_of_many_runs_parse(command: str) -> None:
    arguments = make_parser(load_commands()).parse_args(shlex.split(command))
    assert arguments.run.__module__.endswith(command.split()[0].replace("-", "_"))


def test_commands_were_found() -> None:
    assert len(COMMANDS) >= 12 and {command.split()[0] for command in COMMANDS} >= {
        "html",
        "summary",
        "compare-branches",
        "doctor",
    }


def test_same_job_with_nsys() -> None:
    """The nsys command runs the recorded job without the recorder's own option."""
    own = {
        re.sub(r"--record \S+ ", "", line)
        for line in re.findall(r"^wire-cell (--record .*)$", TEXT, re.MULTILINE)
    }
    assert {line.split(" wire-cell ")[1] for line in NSYS if " wire-cell " in line} == own and len(own) == 2
