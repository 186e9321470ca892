# SPDX-License-Identifier: Apache-2.0
"""docs/campaigns.md agrees with the command."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from wirecell_campaign import cli, retries
from wirecell_campaign.commands.run import options

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "docs" / "campaigns.md", ROOT / "docs" / "user-guide.md"]
PAGE = PAGES[0].read_text(encoding="utf-8")
COMMANDS = sorted(
    {
        line
        for page in PAGES
        for block in re.findall(
            r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        )
        for line in block.splitlines()
        if re.match(r"(\S*/)?wirecell-campaign ", line)
    }
)


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_are_understood(line: str) -> None:
    given = cli.make_parser().parse_args(shlex.split(line)[1:])
    if hasattr(given, "list"):
        options(given)


def test_commands_were_found() -> None:
    assert len(COMMANDS) >= 9


def test_numbers_are_those_of_the_program() -> None:
    defaults = cli.make_parser().parse_args(["run", "list"])
    assert f"`--retries` times ({defaults.retries})" in PAGE
    assert f"`--cluster-timeout` ({options(defaults).cluster.scheduler_timeout:g} seconds)" in PAGE
    assert f"on which {retries.MAX_LOSSES} workers were lost" in PAGE
    assert retries.FAULTY_AFTER == 2 and "fails two files in a row" in PAGE
