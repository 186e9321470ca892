# SPDX-License-Identifier: Apache-2.0
"""Files of the client replace regular files only. The tests make their own devices."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from wirecell_campaign.layout import write_json, write_whole

from tests.support.special_files import make_null_device


def make(path: Path, kind: str) -> None:
    """Make something that is no regular file."""
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        make_null_device(path)


@pytest.mark.parametrize("kind", ["device", "pipe", "folder"])
@pytest.mark.parametrize("is_link", [False, True])
def test_what_is_no_file_is_not_replaced(tmp_path: Path, kind: str, is_link: bool) -> None:
    object_path, path = tmp_path / "object", tmp_path / "manifest.json"
    make(object_path, kind)
    if is_link:
        path.symlink_to("object")
    else:
        object_path.rename(path)
        object_path = path
    before = object_path.lstat()
    with pytest.raises(OSError, match="manifest.json"):
        write_json(path, {"a": 1})
    now = object_path.lstat()
    assert (now.st_ino, now.st_mode, now.st_rdev) == (before.st_ino, before.st_mode, before.st_rdev)
    assert path.is_symlink() == is_link
    assert len(list(tmp_path.iterdir())) == 1 + is_link


@pytest.mark.parametrize("exists", [True, False])
def test_target_of_a_link_is_replaced(tmp_path: Path, exists: bool) -> None:
    target, link = tmp_path / "there" / "target", tmp_path / "link"
    target.parent.mkdir()
    link.symlink_to("there/target")
    if exists:
        target.write_text("old")
    write_whole(link, "new")
    assert link.is_symlink() and target.read_text() == "new" and not target.is_symlink()
    assert [path.name for path in target.parent.iterdir()] == ["target"]
