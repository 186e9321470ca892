# SPDX-License-Identifier: Apache-2.0
"""The rule for output files of the scripts. The tests make their own devices."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from wirecell_profile.output_file import output_file

from bench import regression
from scripts import output
from tests.support.special_files import make_null_device
from tests.support.wire_cell import ROOT

RUN = SimpleNamespace(time="now", commit="abc", conditions={}, json=lambda: {"source": "x"})
WRITERS: dict[str, Callable[[Path], None]] = {
    "./wcb physics --json": lambda path: output.write(path, "text"),
    "./wcb bench --save-reference": lambda path: regression.write_reference([RUN], "command", path),
}
PACKAGES = ("bench", "scripts", "profiling/wirecell_profile", "campaign/wirecell_campaign")
OWN_RULE = {"profiling/wirecell_profile/output_file.py"}
# Files that replace names which no user gives, each with its reason.
OTHERS = {
    "scripts/wcb/wheel/command.py": "a wheel, by a python3 that need not have the packages",
    "campaign/wirecell_campaign/aliases.py": "the output of a program for which the name was a link; nothing is replaced",
    "campaign/wirecell_campaign/resume.py": "moves damaged outputs aside; nothing is replaced",
}


def identity(path: Path) -> tuple[int, int, int]:
    """Return the identity of the object itself, also of a link."""
    found = path.lstat()
    return found.st_ino, found.st_mode, found.st_rdev


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("kind", ["device", "link to a device", "link to a file", "folder"])
def test_existing_objects_stay(tmp_path: Path, name: str, kind: str) -> None:
    path, target = tmp_path / "out.json", tmp_path / "target"
    if kind == "folder":
        path.mkdir()
    elif kind == "link to a file":
        target.write_text("old")
        path.symlink_to("target")
    else:
        device = target if "link" in kind else path
        make_null_device(device)
        if "link" in kind:
            path.symlink_to("target")
    there = sorted(tmp_path.iterdir())
    before = identity(path), kind == "link to a file" or not target.exists() or identity(target)
    if kind == "folder":
        with pytest.raises((OSError, SystemExit)):
            WRITERS[name](path)
    else:
        WRITERS[name](path)
    assert before == (identity(path), kind == "link to a file" or not target.exists() or identity(target))
    assert sorted(tmp_path.iterdir()) == there
    assert kind != "link to a file" or target.read_text() != "old"


def test_endings_are_kept(tmp_path: Path) -> None:
    """NumPy, Matplotlib and LibTorch choose the format by the ending."""
    with output_file(tmp_path / "picture.tar.png") as partial:
        assert partial.suffix == ".png"
        partial.write_text("x")
    assert [path.name for path in tmp_path.iterdir()] == ["picture.tar.png"]


def test_nothing_else_replaces_files() -> None:
    """Each Python package renames files in one function."""
    pattern = re.compile(r"\bos\.(replace|rename)\(|\.rename\(|\b(partial|temporary|stage|tmp)\.replace\(")
    found = {
        file.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for file in (ROOT / package).rglob("*.py")
        if pattern.search(file.read_text(encoding="utf-8"))
    }
    assert found - OWN_RULE == set(OTHERS)


def test_only_temporary_files_rename_in_cpp() -> None:
    """Every output gets its final name in TemporaryFile::commit()."""
    allowed = {"spng/core/files/temporary_files.cxx"}
    found = {
        file.relative_to(ROOT).as_posix()
        for folder in ("spng", "profiling/recorder")
        for file in (ROOT / folder).rglob("*.cxx")
        if re.search(r"\brename\(", file.read_text(encoding="utf-8"))
    }
    assert found == allowed
