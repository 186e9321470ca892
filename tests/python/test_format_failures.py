# SPDX-License-Identifier: Apache-2.0
"""Damaged HDF5 and Zarr files, files that are none, and failures, full disks and signals while they are written."""

from __future__ import annotations

import json
import os
import signal as signals
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from spng.formats.delayed_signals import DelayedSignals
from wirecell_profile.stop_signals import stop_signals_raise

import spng
from spng import Error, Frame, formats
from tests.python.frame_examples import (
    fixture_path,  # noqa: F401
    frame,
    require_equal,
    rich_events,
    signal,
    without_checksums,
)
from tests.python.test_format_checks import FORMATS
from tests.support.raw_frames import raw_event, write_raw
from tests.support.wire_cell import ROOT

h5py = pytest.importorskip("h5py")
pytest.importorskip("zarr")


@pytest.fixture(name="default_signals")
def fixture_default_signals() -> Iterator[None]:
    """Handle SIGINT as Python does, also where a shell in the background ignores it."""
    before = signals.signal(signals.SIGINT, signals.default_int_handler)
    yield
    signals.signal(signals.SIGINT, before)


class TestDelayedSignals:
    """Signals that raise exceptions wait for the end of the block."""

    @pytest.mark.parametrize("signum", [signals.SIGINT, signals.SIGTERM])
    def test_the_exception_comes_at_the_end(self, signum: signals.Signals, default_signals: None) -> None:
        steps = []
        before = signals.getsignal(signum)
        with stop_signals_raise(), pytest.raises(KeyboardInterrupt):
            with DelayedSignals():
                signals.raise_signal(signum)
                steps.append("after the signal")
            steps.append("never")
        assert steps == ["after the signal"] and signals.getsignal(signum) is before

    def test_other_threads_may_use_the_formats(self, path: Path) -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(formats.write, path, rich_events()).result()
            (first, *_) = pool.submit(lambda: list(formats.read(path))).result()
        require_equal(first, rich_events()[0])


class TestDamage:
    """Files that cannot be read give one readable block."""

    def test_absent(self, path: Path) -> None:
        with pytest.raises(Error, match="cannot be read") as caught:
            list(formats.read(path))
        assert str(path) in str(caught.value)

    @pytest.mark.parametrize(
        "change", [lambda data: data[: len(data) // 2], lambda data: b"no HDF5", lambda data: b""]
    )
    def test_hdf5_files(self, tmp_path: Path, change: object) -> None:
        path = tmp_path / "a.h5"
        formats.write(path, rich_events())
        path.write_bytes(change(path.read_bytes()))
        with pytest.raises(Error, match="cannot be read"):
            list(formats.read(path))

    def test_a_damaged_member_of_a_zarr_group_is_one_error(
        self, tmp_path: Path, recwarn: pytest.WarningsRecorder
    ) -> None:
        """No warning of zarr, and no line of the file that looks like one of ours."""
        path = write_raw(tmp_path / "a.zarr", raw_event())
        metadata = path / "0/channels_a/zarr.json"
        whole = metadata.read_text()
        for value in ("x\nerror: y\x1b[31m", "\ud800", "a" * 100_000):
            document = json.loads(whole)
            document["codecs"][0]["configuration"]["endian"] = value
            metadata.write_text(json.dumps(document))
            with pytest.raises(Error) as caught:
                list(formats.read(path))
            text = str(caught.value)
            assert text.count("\nerror: ") == 0 and "\x1b" not in text and len(text.encode()) < 6000
        metadata.write_text("{")
        with pytest.raises(Error):
            list(formats.read(path))
        assert not list(recwarn)

    @pytest.mark.parametrize(
        "kind", ["external link", "soft link", "external bytes", "virtual", "linked event"]
    )
    def test_hdf5_files_take_nothing_from_other_files(self, tmp_path: Path, kind: str) -> None:
        """A file from elsewhere could name any file of the reader."""
        path, other = tmp_path / "a.h5", tmp_path / "other.h5"
        formats.write(path, [frame(np.ones((4, 8), np.int16))])
        without_checksums(path).rename(other)
        with h5py.File(other, "r") as original, h5py.File(path, "w") as file:
            (ident,) = original
            if kind == "linked event":
                file[ident] = h5py.ExternalLink(str(other), ident)
            else:
                group = file.create_group(ident)
                for name, array in original[ident].items():
                    path_in_file = f"{ident}/{name}"
                    if not name.startswith("frame_"):
                        group[name] = array[()]
                    elif kind == "external link":
                        group[name] = h5py.ExternalLink(str(other), path_in_file)
                    elif kind == "soft link":
                        file["elsewhere"] = h5py.ExternalLink(str(other), "/")
                        group[name] = h5py.SoftLink(f"/elsewhere/{path_in_file}")
                    elif kind == "external bytes":
                        group.create_dataset(name, shape=(4, 8), dtype="i2", external=[(str(other), 0, 64)])
                    else:
                        layout = h5py.VirtualLayout(shape=array.shape, dtype=array.dtype)
                        layout[:] = h5py.VirtualSource(str(other), path_in_file, array.shape)
                        group.create_virtual_dataset(name, layout)
        with pytest.raises(Error, match="another file|is a link"):
            list(formats.read(path))

    def test_a_flipped_bit_in_the_samples(self, path: Path) -> None:
        samples = np.random.default_rng(1).normal(size=(50, 4000)).astype(np.float32)
        formats.write(path, [frame(samples)])
        if path.is_dir():
            file = max(
                (each for each in path.rglob("*") if each.is_file()), key=lambda each: each.stat().st_size
            )
        else:
            file = path
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 4
        file.write_bytes(data)
        with pytest.raises(Error, match="cannot be read"):
            list(formats.read(path))

    @pytest.mark.parametrize(
        ("name", "array", "message"),
        [
            ("channels_signal", np.arange(3), "3 values in channels_signal"),
            ("frame_signal", np.zeros(4, np.float32), "wrong number of axes"),
            ("frame_signal", np.full((26, 300), 2**24 + 1), "32-bit floats"),
            ("summary_signal", np.zeros(3), "3 values in summary_signal"),
        ],
    )
    def test_arrays_that_do_not_fit(self, tmp_path: Path, name: str, array: np.ndarray, message: str) -> None:
        formats.write(tmp_path / "a.h5", [frame(signal())])
        with h5py.File(without_checksums(tmp_path / "a.h5"), "a") as file:
            if name in file["0"]:
                del file["0"][name]
            file["0"][name] = array
        with pytest.raises(Error, match=message) as caught:
            list(formats.read(tmp_path / "a.h5"))
        assert "event 0" in str(caught.value)

    @pytest.mark.parametrize(
        "runs", [[[0, 5, 3]], [[0, 0, 9]], [[0, 3, 301]], [[26, 0, 2]], [[0, 1, 2], [0, 0, 1]], [[-1, 0, 2]]]
    )
    def test_runs_that_do_not_fit(self, tmp_path: Path, runs: list[list[int]]) -> None:
        formats.write(tmp_path / "a.h5", [frame(signal())], "sparse")
        with h5py.File(without_checksums(tmp_path / "a.h5"), "a") as file:
            for name, array in (("runs_signal", runs), ("values_signal", np.ones(2, np.float32))):
                del file["0"][name]
                file["0"][name] = array
        with pytest.raises(Error, match="(runs|values)_signal"):
            list(formats.read(tmp_path / "a.h5"))

    def test_a_member_is_missing(self, tmp_path: Path) -> None:
        formats.write(tmp_path / "a.h5", [frame(signal())], "sparse")
        with h5py.File(tmp_path / "a.h5", "a") as file:
            del file["0"]["values_signal"]
        with pytest.raises(Error, match="values_signal"):
            list(formats.read(tmp_path / "a.h5"))


class TestFailures:
    """A failure while writing keeps the old file and leaves nothing else."""

    @staticmethod
    def failing() -> Iterator[Frame]:
        yield frame(signal())
        raise RuntimeError("no more")

    @pytest.mark.parametrize("has_old", [False, True])
    def test_the_source_fails(self, path: Path, has_old: bool) -> None:
        if has_old:
            formats.write(path, rich_events())
        with pytest.raises(RuntimeError, match="no more"):
            formats.write(path, self.failing())
        assert list(path.parent.iterdir()) == ([path] if has_old else [])
        if has_old:
            require_equal(next(formats.read(path)), rich_events()[0])

    def test_an_old_output_is_replaced(self, path: Path) -> None:
        formats.write(path, rich_events())
        formats.write(path, [frame(signal(), 5)])
        assert [event.ident for event in formats.read(path)] == [5]
        assert list(path.parent.iterdir()) == [path]

    def test_two_events_of_one_id(self, path: Path) -> None:
        with pytest.raises(Error, match="two events have the same id"):
            formats.write(path, [frame(signal()), frame(signal())])
        assert list(path.parent.iterdir()) == []

    def test_a_folder_that_is_no_zarr_group_is_kept(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.zarr"
        path.mkdir()
        (path / "letter.txt").write_text("keep me")
        with pytest.raises(Error, match="no Zarr group"):
            formats.write(path, [frame(signal())])
        assert (path / "letter.txt").read_text() == "keep me" and list(tmp_path.iterdir()) == [path]

    def test_no_such_folder(self, path: Path) -> None:
        with pytest.raises(Error):
            formats.write(path.parent / "absent" / path.name, [frame(signal())])

    def test_a_tag_with_a_slash(self, path: Path) -> None:
        with pytest.raises(Error, match="'a/b'"):
            formats.write(path, [frame(signal(), tag="a/b")])

    @pytest.mark.parametrize("package", ["h5py", "zarr"])
    def test_the_package_is_missing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
    ) -> None:
        monkeypatch.setitem(sys.modules, package, None)
        path = tmp_path / ("a.h5" if package == "h5py" else "a.zarr")
        with pytest.raises(Error, match=f"pip install {package}"):
            formats.write(path, [frame(signal())])
        with pytest.raises(Error, match=f"pip install {package}"):
            list(formats.read(path))


class TestOtherThanFiles:
    """Pipes block, and links lead to files that the owner of the frames could not read."""

    @FORMATS
    def test_a_pipe(self, tmp_path: Path, ending: str) -> None:
        os.mkfifo(tmp_path / f"in{ending}")
        with pytest.raises(Error, match="cannot be read"):
            list(spng.read_frames(tmp_path / f"in{ending}"))

    @pytest.mark.parametrize("make", [os.mkfifo, lambda name: os.symlink("/etc/hostname", name)])
    @pytest.mark.parametrize("name", ["0/frame_a/c/0/0", "0/frame_a/zarr.json", "zarr.json"])
    def test_in_a_folder(self, tmp_path: Path, make: Callable[[Path], None], name: str) -> None:
        path = write_raw(tmp_path / "in.zarr", raw_event())
        (path / name).unlink()
        make(path / name)
        with pytest.raises(Error, match="is a link, a pipe or a device"):
            list(spng.read_frames(path))


FULL_DISK = """
import resource, sys
import spng
from pathlib import Path
from tests.python.frame_examples import frame, rich_events, signal

events = [frame(signal(seed), 20 + seed) for seed in range(6)] + rich_events()
folder = Path(sys.argv[1])
for ending in (".h5", ".zarr"):
    for size in (0, 100, 2000, 5000, 30_000, 60_000) if ending == ".h5" else (0, 100, 900):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        try:
            spng.write_frames(folder / f"out{ending}", events)
        except spng.Error as error:
            assert (error.kind, error.seen) == ("Output", "File too large"), error
            assert not list(folder.iterdir())
        else:
            raise SystemExit(f"{ending}: no failure at {size} bytes")
"""


def test_a_full_disk(tmp_path: Path) -> None:
    """HDF5 crashes at the end of a process in which a write failed."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, tmp_path],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
