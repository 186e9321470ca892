# SPDX-License-Identifier: Apache-2.0
"""The rule for outputs (spng/core/files/output_path.h) holds for every option of wire-cell that names
one.

A regular file, or the target of a link, is replaced as a whole; a device or pipe is written in place; the
rest is rejected. Only regular files are replaced or removed. The tests make their own devices and never use
those of the machine.
"""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.support import wire_cell
from tests.support.special_files import make_null_device, reader_of_pipe, require_only, same

pytestmark = wire_cell.needs_program

COPY = wire_cell.ROOT / "tests" / "app" / "jobs" / "copy.jsonnet"
OLD = b"what was there before\n"
DEPO_JOB = """
local pg = import 'pgraph.jsonnet';
function(input, output)
    local context = { type: 'SPNGContext', name: '', data: { device: 'cpu', threads: 1 } };
    local source = pg.pnode({ type: 'SPNGDepoFileSource', name: 'in', data: { inname: input } }, nout=1, uses=[context]);
    local sink = pg.pnode({ type: 'SPNGDepoFileSink', name: 'out', data: { outname: output } }, nin=1);
    pg.main(pg.pipeline([source, sink]), 'Pgrapher', ['WireCellSpng'])
"""


def is_archive(content: bytes) -> bool:
    return bool(zipfile.ZipFile(io.BytesIO(content)).namelist())


def is_json(content: bytes) -> bool:
    return bool(json.loads(content))


@dataclass(frozen=True)
class Option:
    """An option that names an output."""

    name: str
    ending: str
    words: Callable[[str], list[str]]
    is_right: Callable[[bytes], bool]
    streams: bool = True  # can be written in place
    appends: bool = False


def copying(*words: str) -> list[str]:
    return [str(COPY), "-A", "input=adc.npz", *words]


OPTIONS = [
    Option("frames", ".npz", lambda path: copying("-A", f"output={path}"), is_archive),
    Option(
        "depositions",
        ".npz",
        lambda path: ["depos.jsonnet", "-A", "input=depos.npz", "-A", f"output={path}"],
        is_archive,
    ),
    Option("--timing", ".json", lambda path: copying("--timing", path), is_json),
    Option("--trace-states", ".json", lambda path: copying("--trace-states", path), is_json),
    Option(
        "--dot", ".dot", lambda path: copying("--dot", path), lambda content: content.startswith(b"digraph")
    ),
    Option(
        "--record",
        ".sqlite",
        lambda path: copying("--record", path),
        lambda content: content.startswith(b"SQLite format 3"),
        streams=False,
    ),
    Option(
        "-l",
        ".log",
        lambda path: copying("-l", path, "-L", "debug"),
        lambda content: b"[ wire-cell ]" in content,
        appends=True,
    ),
]


@pytest.fixture(name="option", params=OPTIONS, ids=[option.name for option in OPTIONS])
def fixture_option(request: pytest.FixtureRequest) -> Option:
    if (
        request.param.name == "--record"
        and not (wire_cell.PROGRAM.parents[1] / "lib" / "libSpngRecorder.so").exists()
    ):
        pytest.skip("built without the recorder")
    return request.param


@pytest.fixture(name="folder")
def fixture_folder(tmp_path: Path) -> Path:
    """Make a folder with inputs, and an empty folder `results` for the output."""
    wire_cell.write_arrays(tmp_path / "adc.npz", wire_cell.event(np.ones((3, 4), np.int16), np.arange(3)))
    np.savez(
        tmp_path / "depos.npz",
        depo_data_0=-np.ones((7, 2), np.float32),
        depo_info_0=np.zeros((4, 2), np.int32),
    )
    (tmp_path / "depos.jsonnet").write_text(DEPO_JOB, encoding="utf-8")
    (tmp_path / "results").mkdir()
    return tmp_path


def run(option: Option, path: Path, folder: Path) -> subprocess.CompletedProcess:
    return wire_cell.run(*option.words(str(path)), folder=folder)


def require_rejected(done: subprocess.CompletedProcess, path: Path) -> None:
    assert done.returncode in (1, 2), (done.returncode, done.stderr)
    assert done.stderr.startswith("error: ") and path.name in done.stderr


class TestKinds:
    """Kinds of files at the path of an output."""

    def test_regular_file(self, option: Option, folder: Path) -> None:
        path = folder / "results" / f"out{option.ending}"
        path.write_bytes(OLD)
        done = run(option, path, folder)
        assert done.returncode == 0, done.stderr
        content = path.read_bytes()
        assert option.is_right(content) and content.startswith(OLD) == option.appends
        require_only(folder / "results", path.name)

    @pytest.mark.parametrize("exists", [True, False])
    def test_link_to_a_file(self, option: Option, folder: Path, exists: bool) -> None:
        """The link stays; its target is replaced or made."""
        (folder / "results" / "there").mkdir()
        target, link = (
            folder / "results" / "there" / f"target{option.ending}",
            folder / "results" / f"out{option.ending}",
        )
        link.symlink_to(f"there/{target.name}")
        if exists:
            target.write_bytes(OLD)
        done = run(option, link, folder)
        assert done.returncode == 0, done.stderr
        assert link.is_symlink() and not target.is_symlink() and option.is_right(target.read_bytes())
        require_only(folder / "results", link.name, "there")
        assert [path.name for path in target.parent.iterdir()] == [target.name]

    @pytest.mark.parametrize("is_link", [False, True])
    def test_device(self, option: Option, folder: Path, is_link: bool) -> None:
        """A device is written in place or rejected."""
        path = folder / "results" / f"out{option.ending}"
        device = folder / "device" if is_link else path
        before = make_null_device(device)
        if is_link:
            path.symlink_to(device)
        done = run(option, path, folder)
        assert same(before, device) and path.is_symlink() == is_link
        require_only(folder / "results", path.name)
        if option.streams:
            assert done.returncode == 0, done.stderr
        else:
            require_rejected(done, path)

    def test_pipe(self, option: Option, folder: Path) -> None:
        """The reader of a pipe gets the whole output."""
        path = folder / "results" / f"out{option.ending}"
        with reader_of_pipe(path) as got:
            before = path.lstat()
            done = run(option, path, folder)
        assert same(before, path)
        require_only(folder / "results", path.name)
        if option.streams:
            assert done.returncode == 0, done.stderr
            assert option.is_right(b"".join(got))
        else:
            require_rejected(done, path)

    @pytest.mark.parametrize("kind", ["folder", "socket", "loop"])
    def test_rejected(self, option: Option, folder: Path, kind: str) -> None:
        path = folder / "results" / f"out{option.ending}"
        if kind == "folder":
            path.mkdir()
        elif kind == "loop":
            path.symlink_to(path.name)
        else:
            here = os.getcwd()
            os.chdir(path.parent)  # a socket's name is short
            try:
                with socket.socket(socket.AF_UNIX) as server:
                    server.bind(path.name)
            finally:
                os.chdir(here)
        before = path.lstat()
        require_rejected(run(option, path, folder), path)
        assert same(before, path)
        require_only(folder / "results", path.name)

    def test_device_of_a_job_that_fails(self, folder: Path) -> None:
        """A job that fails does not remove the device."""
        path = folder / "results" / "out.npz"
        before = make_null_device(path)
        whole = (folder / "adc.npz").read_bytes()
        (folder / "adc.npz").write_bytes(whole[: len(whole) // 2])
        done = run(OPTIONS[0], path, folder)
        assert done.returncode == 1 and same(before, path)
        require_only(folder / "results", path.name)

    def test_standard_output_that_is_a_file(self, folder: Path) -> None:
        """Earlier output of the file stays."""
        with (folder / "printed").open("wb") as stream:
            done = subprocess.run(
                [wire_cell.PROGRAM, *copying("--timing", "/dev/stdout")],
                cwd=folder,
                stdout=stream,
                stderr=subprocess.PIPE,
                check=False,
                timeout=60,
            )
        assert done.returncode == 0, done.stderr
        printed = (folder / "printed").read_text(encoding="utf-8")
        assert "FrameFileSource" in printed.split("{")[0] and json.loads(printed[printed.index("{") :])


class TestFilesOfTheJob:
    """An output that the job also reads, or writes for another option, is rejected before anything is
    written.
    """

    FLAGS = ("-l", "--timing", "--trace-states", "--record", "--dot")

    @staticmethod
    def words(flag: str, path: str) -> list[str]:
        """Return the options of a job that logs to a file from the start, and not to the terminal."""
        return [flag, path, "-L", "debug" if flag == "-l" else "error"]

    @staticmethod
    def other_names(folder: Path, name: str) -> list[str]:
        (folder / "soft").symlink_to(name)
        os.link(folder / name, folder / "hard")
        return [name, f"results/../{name}", "soft", "hard"]

    @pytest.mark.parametrize("flag", FLAGS)
    @pytest.mark.parametrize("victim", ["adc.npz", "job.jsonnet"])
    def test_input_and_configuration(self, folder: Path, flag: str, victim: str) -> None:
        (folder / "job.jsonnet").write_text(COPY.read_text(encoding="utf-8"), encoding="utf-8")
        before = (folder / victim).read_bytes()
        names = self.other_names(folder, victim)
        for name in names if flag == "-l" else names[2:3]:
            there = sorted(folder.iterdir())
            block = wire_cell.rejected(
                "job.jsonnet", "-A", "input=adc.npz", *self.words(flag, name), folder=folder, status=2
            )
            assert flag in block and name in block
            assert (folder / victim).read_bytes() == before and sorted(folder.iterdir()) == there

    @pytest.mark.parametrize("flag", FLAGS)
    @pytest.mark.parametrize("victim", ["model", "wires"])
    def test_model_and_detector(self, folder: Path, flag: str, victim: str) -> None:
        """Files that components find on the data path cannot be outputs."""
        source = "dnnroi-standin.ts" if victim == "model" else "protodunehd-wires-larsoft-v1.json.gz"
        copied = folder / source
        copied.write_bytes((wire_cell.DATA / source).read_bytes())
        before = copied.read_bytes()
        block = wire_cell.rejected(
            "-c",
            wire_cell.PIPELINE,
            "-A",
            "device=cpu",
            "-A",
            "input=adc.npz",
            "-A",
            "model=" + (source if victim == "model" else "none"),
            *self.words(flag, source),
            folder=folder,
            status=2,
        )
        assert flag in block and source in block
        assert copied.read_bytes() == before

    @pytest.mark.parametrize("flag", [flag for flag in FLAGS if flag != "--dot"])
    def test_other_output(self, folder: Path, flag: str) -> None:
        there = sorted(folder.iterdir())
        block = wire_cell.rejected(
            COPY,
            "-A",
            "input=adc.npz",
            "-A",
            "output=out.npz",
            flag,
            "results/../out.npz",
            folder=folder,
            status=2,
        )
        assert flag in block and "out.npz" in block
        assert sorted(folder.iterdir()) == there

    def test_two_links_to_what_is_not_there_yet(self, folder: Path) -> None:
        (folder / "one.npz").symlink_to("new")
        (folder / "two").symlink_to("new")
        wire_cell.rejected(
            COPY, "-A", "input=adc.npz", "-A", "output=one.npz", "--timing", "two", folder=folder, status=2
        )
        assert not (folder / "new").exists()


class TestLogOfAJobThatCannotBeMade:
    """Log of a job that cannot be set up, so that its files are not known."""

    def test_new_file_gets_its_lines(self, folder: Path) -> None:
        wire_cell.rejected(
            COPY,
            "-A",
            "input=adc.npz",
            "-A",
            "engine=None",
            "-l",
            "job.log",
            "-L",
            "debug",
            folder=folder,
            status=2,
        )
        assert "evaluated" in (folder / "job.log").read_text(encoding="utf-8")

    def test_existing_file_is_left_alone(self, folder: Path) -> None:
        before = (folder / "adc.npz").read_bytes()
        done = wire_cell.run(
            COPY, "-A", "input=adc.npz", "-A", "engine=None", "-l", "adc.npz", "-L", "debug", folder=folder
        )
        assert done.returncode == 2 and "adc.npz, which may be a file of the job" in done.stderr
        assert (folder / "adc.npz").read_bytes() == before
