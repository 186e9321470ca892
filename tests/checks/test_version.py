# SPDX-License-Identifier: Apache-2.0
"""Library, program and both Python packages have the version of spng/VERSION, and the change log has an entry
for it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support import wire_cell

ROOT = Path(__file__).resolve().parents[2]
VERSION = (ROOT / "spng" / "VERSION").read_text(encoding="utf-8").strip()
PACKAGES = {"profiling": "wirecell_profile", "campaign": "wirecell_campaign"}


def test_version_is_semantic() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)


def test_build_reads_the_file() -> None:
    wscript = (ROOT / "wscript").read_text(encoding="utf-8")
    assert 'open("spng/VERSION"' in wscript and not re.search(r'VERSION = "', wscript)


@pytest.mark.parametrize("folder", PACKAGES)
def test_package_has_the_version(folder: str) -> None:
    package = PACKAGES[folder]
    shown = subprocess.run(
        [sys.executable, "-m", package, "--version"],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT / 'profiling'}:{ROOT / 'campaign'}", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert shown == f"{package.replace('_', '-')} {VERSION}\n"
    settings = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["project"]["dynamic"] == ["version"]
    (file,) = settings["tool"]["setuptools"]["dynamic"]["version"]["file"]
    assert (ROOT / folder / file).resolve() == ROOT / "spng" / "VERSION"


@wire_cell.needs_program
def test_program_shows_the_version() -> None:
    shown = wire_cell.run("--version").stdout
    assert shown.startswith(f"wire-cell (SPNG) {VERSION}\n")


def test_change_log_has_the_version() -> None:
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[:2] == ["Unreleased", VERSION]
