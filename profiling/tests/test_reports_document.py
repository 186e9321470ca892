# SPDX-License-Identifier: Apache-2.0
"""docs/profiling-reports.md names all commands, reports, rules and tables, and its examples run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from wirecell_profile.cli import load_commands, main
from wirecell_profile.rules import Limits, all_rules
from wirecell_profile.tables.sections import SECTIONS

from tests.support.shared import ROOT

TEXT = (ROOT / "docs" / "profiling-reports.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^\.venv/bin/wirecell-profile (.*)$", TEXT, re.MULTILINE)


@pytest.fixture
def recorded(profile_file, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write run.sqlite into the current folder."""
    with profile_file.writing() as file:
        file.manifest(what="calls,nvtx,cuda")
        file.domain("spng", 1)
        file.range("SPNGDecon:induction", 0, 100, domainId=1, event=0)
        file.node(1, "SPNGDecon", "induction")
        file.node_call(1, 1, 0, 1, 99, bytes_in=10, bytes_out=20, rss=1000)
        file.launch("kernel", (10, 20), (30, 72))
        file.copy(80, 90, file.call("cudaMemcpyAsync", 75, 76))
        file.sample(5, "process", "resident_bytes", 1000.0)
    monkeypatch.chdir(profile_file.path.parent)
    return profile_file.path.parent


@pytest.mark.parametrize("command", EXAMPLES)
def test_examples(command: str, recorded: Path) -> None:
    assert main(shlex.split(command)) == 0


def test_examples_were_found() -> None:
    assert len(EXAMPLES) == 6


def test_everything_is_named() -> None:
    names = [module.NAME for module in load_commands()] + [*SECTIONS, *all_rules()]
    assert [name for name in names if f"`{name}`" not in TEXT] == []


def test_defaults_are_those_of_the_program() -> None:
    limits = Limits()
    assert (limits.gap, limits.chunks, limits.utilisation, limits.short_kernel, limits.storm) == (
        20_000,
        30,
        50.0,
        3_000,
        100,
    )
    for text in (
        "`--gap` (20 us)",
        "`--chunks` (30)",
        "`--utilisation` (50 %)",
        "`--short-kernel` (3 us)",
        "`--storm` (100)",
    ):
        assert text in TEXT
