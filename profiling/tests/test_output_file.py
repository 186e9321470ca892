# SPDX-License-Identifier: Apache-2.0
"""The rule for outputs holds for every option that names one.

The tests make their own devices and never use those of the machine.
"""

from __future__ import annotations

import gzip
import json
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from synthetic import Synthetic
from wirecell_profile import cli
from wirecell_profile.output_file import output_file, target_of

from tests.support.special_files import make_null_device, reader_of_pipe, require_only, same

OPTIONS: dict[str, tuple[str, Callable[[Path], list[str]], Callable[[bytes], bool]]] = {
    "html": (
        ".html",
        lambda path: ["html", "run.sqlite", "-o", str(path)],
        lambda content: b"</html>" in content,
    ),
    "trace": (
        ".json",
        lambda path: ["trace", "run.sqlite", "-o", str(path)],
        lambda content: bool(json.loads(content)),
    ),
    "trace.gz": (
        ".json.gz",
        lambda path: ["trace", "run.sqlite", "-o", str(path)],
        lambda content: bool(json.loads(gzip.decompress(content))),
    ),
    "summary": (
        ".txt",
        lambda path: ["summary", "run.sqlite", "-o", str(path)],
        lambda content: len(content) > 100,
    ),
    "merge": (
        ".sqlite",
        lambda path: ["merge", "--overwrite", "run.sqlite", "other.sqlite", "-o", str(path)],
        lambda content: content.startswith(b"SQLite format 3"),
    ),
}


# Output of an earlier run; files of other kinds are not replaced (test_output_kind.py).
OLD = {
    "html": b"<!doctype html>old",
    "trace": b"{old",
    "trace.gz": gzip.compress(b"{old"),
    "summary": b"window W: old",
    "merge": b"old",
}


@pytest.fixture(name="option", params=OPTIONS)
def fixture_option(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(name="folder")
def fixture_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder for the output; the profiles are in the working folder."""
    for name, pid in (("run", 100), ("other", 200)):
        with Synthetic(tmp_path / f"{name}.sqlite", pid=pid) as file:
            file.manifest(host="h", file=name, stop_ns="900")
            file.device(0, "GPU", uuid="gpu")
            file.domain("spng", 1)
            file.node(0, "SPNGDecon", "a")
            file.node_call(1, 0, 5, 100, 200)
            file.range("step", 110, 190)
            file.launch("kernel", call=(120, 130), run=(140, 160))
            file.thread_name("main", 1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder"


def path_of(option: str, folder: Path) -> Path:
    return folder / f"out{OPTIONS[option][0]}"


def run(option: str, path: Path) -> int:
    return cli.main(OPTIONS[option][1](path))


def require_right(option: str, content: bytes) -> None:
    assert OPTIONS[option][2](content)


def test_regular_file_is_replaced(option: str, folder: Path) -> None:
    path = path_of(option, folder)
    path.write_bytes(OLD[option])
    before = path.stat().st_ino
    assert run(option, path) == 0
    require_right(option, path.read_bytes())
    assert path.stat().st_ino != before
    require_only(folder, path.name)


@pytest.mark.parametrize("exists", [True, False])
def test_link_is_followed(option: str, folder: Path, exists: bool) -> None:
    (folder / "there").mkdir()
    link, target = path_of(option, folder), folder / "there" / "target"
    link.symlink_to("there/target")
    if exists:
        target.write_bytes(OLD[option])
    assert run(option, link) == 0
    assert link.is_symlink() and not target.is_symlink()
    require_right(option, target.read_bytes())
    require_only(folder, link.name, "there")
    require_only(target.parent, target.name)


@pytest.mark.parametrize("is_link", [False, True])
def test_device_is_written_directly(option: str, folder: Path, is_link: bool) -> None:
    path = path_of(option, folder)
    device = folder.parent / "device" if is_link else path
    before = make_null_device(device)
    if is_link:
        path.symlink_to(device)
    assert run(option, path) == (1 if option == "merge" else 0)  # a database wants a regular file
    assert same(before, device) and path.is_symlink() == is_link
    require_only(folder, path.name)


def test_pipe_gets_all_of_it(option: str, folder: Path) -> None:
    path = path_of(option, folder)
    with reader_of_pipe(path) as got:
        before = path.lstat()
        status = run(option, path)
    if option == "merge":
        assert status == 1 and not got
    else:
        assert status == 0
        require_right(option, b"".join(got))
    assert same(before, path)
    require_only(folder, path.name)


@pytest.mark.parametrize("kind", ["folder", "socket", "loop"])
def test_rest_is_rejected(option: str, folder: Path, kind: str, capsys: pytest.CaptureFixture) -> None:
    path = path_of(option, folder)
    if kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path.name)
    else:
        os.chdir(folder)  # a socket's name is short
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
        os.chdir(folder.parent)
    before = path.lstat()
    assert run(option, path) == 1
    assert str(path) in capsys.readouterr().err
    assert same(before, path)
    require_only(folder, path.name)


def test_failure_removes_no_device(folder: Path) -> None:
    path = folder / "out"
    before = make_null_device(path)
    with pytest.raises(KeyboardInterrupt), output_file(path) as partial:
        partial.write_text("half")
        raise KeyboardInterrupt
    assert same(before, path)
    require_only(folder, path.name)


def test_what_comes_meanwhile_is_not_replaced(folder: Path) -> None:
    path = folder / "out"
    with pytest.raises(FileExistsError), output_file(path) as partial:
        partial.write_text("whole")
        os.mkfifo(path)
    assert stat.S_ISFIFO(path.lstat().st_mode)
    require_only(folder, path.name)


def test_standard_output_that_is_a_file(folder: Path) -> None:
    """An open descriptor is appended to."""
    with (folder / "printed").open("wb") as stream:
        stream.write(b"before\n")
        stream.flush()
        path = Path(f"/proc/self/fd/{stream.fileno()}")
        assert target_of(path) is None
        with output_file(path) as partial:
            partial.write_text("after\n")
    assert (folder / "printed").read_text() == "before\nafter\n"
