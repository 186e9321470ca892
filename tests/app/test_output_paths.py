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
from contextlib import ExitStack, nullcontext
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
    words: Callable[[str], list[str]]  # behind those of the job
    is_right: Callable[[bytes], bool]
    job: tuple[str, ...] = (str(COPY), "-A", "input=adc.npz")
    streams: bool = True  # can be written in place
    appends: bool = False


OPTIONS = [
    Option("frames", ".npz", lambda path: ["-A", f"output={path}"], is_archive),
    Option(
        "depositions",
        ".npz",
        lambda path: ["-A", f"output={path}"],
        is_archive,
        job=("depos.jsonnet", "-A", "input=depos.npz"),
    ),
    Option("--timing", ".json", lambda path: ["--timing", path], is_json),
    Option("--dot", ".dot", lambda path: ["--dot", path], lambda content: content.startswith(b"digraph")),
    Option(
        "--record",
        ".sqlite",
        lambda path: ["--record", path],
        lambda content: content.startswith(b"SQLite format 3"),
        streams=False,
    ),
    Option(
        "-l",
        ".log",
        lambda path: ["-l", path, "-L", "debug"],
        lambda content: b"[ wire-cell ]" in content,
        appends=True,
    ),
]
HAS_RECORDER = (wire_cell.PROGRAM.parents[1] / "lib" / "libSpngRecorder.so").exists()


# The first rejected output ends the program. One function finds the kind of a file for all options but -l and
# --record (spng/core/files/temporary_files.cxx), so that these and the frames have every kind.
REJECTED = [(option, "folder") for option in OPTIONS] + [
    (option, kind)
    for option in OPTIONS
    if option.name in ("frames", "-l", "--record")
    for kind in ("socket", "loop")
]


# Options that one run of a job can have together. A job with --dot only draws.
TOGETHER = {
    "job": [option for option in OPTIONS if option.name not in ("depositions", "--dot")],
    "depositions": [option for option in OPTIONS if option.name == "depositions"],
    "--dot": [option for option in OPTIONS if option.name == "--dot"],
}


@pytest.fixture(name="options", params=TOGETHER.values(), ids=list(TOGETHER))
def fixture_options(request: pytest.FixtureRequest) -> list[Option]:
    """Return options of one run, for outputs that are accepted."""
    return [option for option in request.param if HAS_RECORDER or option.name != "--record"]


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


def path_of(option: Option, folder: Path) -> Path:
    """Return the path of the output of an option."""
    return folder / "results" / f"out-{option.name.strip('-')}{option.ending}"


def run(options: list[Option], folder: Path) -> subprocess.CompletedProcess:
    """Run one job with all these outputs."""
    words = [word for option in options for word in option.words(str(path_of(option, folder)))]
    return wire_cell.run(*options[0].job, "--overwrite", *words, folder=folder)


def require_rejected(done: subprocess.CompletedProcess, path: Path) -> None:
    assert done.returncode in (1, 2), (done.returncode, done.stderr)
    assert done.stderr.startswith("error: ") and path.name in done.stderr


class TestKinds:
    """Kinds of files at the path of an output."""

    def test_regular_file(self, options: list[Option], folder: Path) -> None:
        paths = {option: path_of(option, folder) for option in options}
        for path in paths.values():
            path.write_bytes(OLD)
        done = run(options, folder)
        assert done.returncode == 0, done.stderr
        for option, path in paths.items():
            content = path.read_bytes()
            assert option.is_right(content) and content.startswith(OLD) == option.appends, option.name
        require_only(folder / "results", *(path.name for path in paths.values()))

    @pytest.mark.parametrize("exists", [True, False])
    def test_link_to_a_file(self, options: list[Option], folder: Path, exists: bool) -> None:
        """The link stays; its target is replaced or made."""
        there = folder / "results" / "there"
        there.mkdir()
        links = {option: path_of(option, folder) for option in options}
        for link in links.values():
            link.symlink_to(f"there/{link.name}")
            if exists:
                (there / link.name).write_bytes(OLD)
        done = run(options, folder)
        assert done.returncode == 0, done.stderr
        for option, link in links.items():
            target = there / link.name
            assert link.is_symlink() and not target.is_symlink(), option.name
            assert option.is_right(target.read_bytes()), option.name
        require_only(folder / "results", *(link.name for link in links.values()), "there")
        assert {path.name for path in there.iterdir()} == {link.name for link in links.values()}

    @pytest.mark.parametrize("is_link", [False, True])
    def test_device(self, options: list[Option], folder: Path, is_link: bool) -> None:
        """A device is written in place."""
        devices = {}
        for option in (option for option in options if option.streams):
            path = path_of(option, folder)
            device = folder / f"device-{path.name}" if is_link else path
            devices[option] = (device, make_null_device(device))
            if is_link:
                path.symlink_to(device)
        done = run(list(devices), folder)
        assert done.returncode == 0, done.stderr
        for option, (device, before) in devices.items():
            assert same(before, device) and path_of(option, folder).is_symlink() == is_link, option.name
        require_only(folder / "results", *(path_of(option, folder).name for option in devices))

    def test_pipe(self, options: list[Option], folder: Path) -> None:
        """The reader of a pipe gets the whole output."""
        pipes = [path_of(option, folder) for option in options if option.streams]
        with ExitStack() as readers:
            got = [readers.enter_context(reader_of_pipe(path)) for path in pipes]
            before = [path.lstat() for path in pipes]
            done = run([option for option in options if option.streams], folder)
        assert all(same(state, path) for state, path in zip(before, pipes, strict=True))
        require_only(folder / "results", *(path.name for path in pipes))
        assert done.returncode == 0, done.stderr
        streams = [option for option in options if option.streams]
        for option, blocks in zip(streams, got, strict=True):
            assert option.is_right(b"".join(blocks)), option.name

    @pytest.mark.skipif(not HAS_RECORDER, reason="built without the recorder")
    @pytest.mark.parametrize("kind", ["device", "link to a device", "pipe"])
    def test_a_recording_is_not_written_in_place(self, folder: Path, kind: str) -> None:
        [option] = [option for option in OPTIONS if not option.streams]
        path = path_of(option, folder)
        device = folder / "device" if kind == "link to a device" else path
        with reader_of_pipe(path) if kind == "pipe" else nullcontext():
            before = path.lstat() if kind == "pipe" else make_null_device(device)
            if kind == "link to a device":
                path.symlink_to(device)
            require_rejected(run([option], folder), path)
        assert same(before, device) and path.is_symlink() == (kind == "link to a device")
        require_only(folder / "results", path.name)

    @pytest.mark.parametrize(
        ("option", "kind"), REJECTED, ids=[f"{option.name}-{kind}" for option, kind in REJECTED]
    )
    def test_rejected(self, option: Option, folder: Path, kind: str) -> None:
        if option.name == "--record" and not HAS_RECORDER:
            pytest.skip("built without the recorder")
        path = path_of(option, folder)
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
        require_rejected(run([option], folder), path)
        assert same(before, path)
        require_only(folder / "results", path.name)

    def test_device_of_a_job_that_fails(self, folder: Path) -> None:
        """A job that fails does not remove the device."""
        path = path_of(OPTIONS[0], folder)
        before = make_null_device(path)
        whole = (folder / "adc.npz").read_bytes()
        (folder / "adc.npz").write_bytes(whole[: len(whole) // 2])
        done = run(OPTIONS[:1], folder)
        assert done.returncode == 1 and same(before, path)
        require_only(folder / "results", path.name)

    def test_standard_output_that_is_a_file(self, folder: Path) -> None:
        """Earlier output of the file stays."""
        with (folder / "printed").open("wb") as stream:
            done = subprocess.run(
                [wire_cell.PROGRAM, *OPTIONS[0].job, "--timing", "/dev/stdout"],
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
    written. One function compares every output with every file (spng/io/file_user.h).
    """

    FLAGS = ("-l", "--timing", "--record", "--dot")

    @staticmethod
    def words(flag: str, path: str) -> list[str]:
        """Return the options of a job that logs to a file from the start, and not to the terminal."""
        return [flag, path, "-L", "debug" if flag == "-l" else "error"]

    @staticmethod
    def other_names(folder: Path, name: str) -> list[str]:
        (folder / "soft").symlink_to(name)
        os.link(folder / name, folder / "hard")
        return [name, f"results/../{name}", "soft", "hard"]

    @pytest.mark.parametrize(
        ("victim", "flag"),
        [*(("adc.npz", flag) for flag in FLAGS), ("job.jsonnet", "-l"), ("job.jsonnet", "--timing")],
    )
    def test_input_and_configuration(self, folder: Path, flag: str, victim: str) -> None:
        (folder / "job.jsonnet").write_text(COPY.read_text(encoding="utf-8"), encoding="utf-8")
        before = (folder / victim).read_bytes()
        names = self.other_names(folder, victim)
        for name in names if (victim, flag) == ("adc.npz", "-l") else names[2:3]:
            there = sorted(folder.iterdir())
            block = wire_cell.rejected(
                "job.jsonnet", "-A", "input=adc.npz", *self.words(flag, name), folder=folder, status=2
            )
            assert flag in block and name in block
            assert (folder / victim).read_bytes() == before and sorted(folder.iterdir()) == there

    @pytest.mark.parametrize(
        ("victim", "flag"), [("model", "-l"), ("model", "--timing"), ("wires", "-l"), ("wires", "--timing")]
    )
    def test_model_and_detector(self, folder: Path, flag: str, victim: str) -> None:
        """Files that components find on the data path cannot be outputs."""
        source = "dnnroi-standin.ts" if victim == "model" else "protodunehd-wires-larsoft-v1.json.gz"
        copied = folder / source
        copied.write_bytes((wire_cell.DATA / source).read_bytes())
        before = copied.read_bytes()
        block = wire_cell.rejected(
            "-c",
            wire_cell.PIPELINE,
            *wire_cell.settings(
                "device=cpu", "input=adc.npz", "model=" + (source if victim == "model" else "none")
            ),
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
            *wire_cell.settings("input=adc.npz", "output=out.npz"),
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
            *wire_cell.settings("input=adc.npz", "engine=None"),
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
