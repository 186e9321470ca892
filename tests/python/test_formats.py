# SPDX-License-Identifier: Apache-2.0
"""HDF5 and Zarr files of frames: round trips, the layout as other readers see it, damage, failures while writing."""

from __future__ import annotations

import json
import re
import signal as signals
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from spng.formats.delayed_signals import delayed_signals
from wirecell_profile.stop_signals import stop_signals_raise

from spng import Error, Frame, SparseSamples, formats, frame_files
from tests.python.frame_examples import frame, require_equal, rich_events, signal
from tests.support import wire_cell
from tests.support.wire_cell import ROOT

h5py = pytest.importorskip("h5py")
zarr = pytest.importorskip("zarr")
ENDINGS = (".h5", ".hdf5", ".zarr")
MARK = {"mask_ticks": "from the start"}  # in files only


@pytest.fixture(name="path", params=(".h5", ".zarr"))
def fixture_path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return tmp_path / f"frames{request.param}"


class TestRoundTrip:
    """formats.write and formats.read."""

    @pytest.mark.parametrize("form", ["dense", "sparse"])
    @pytest.mark.parametrize("ending", ENDINGS)
    def test_all_is_kept(self, tmp_path: Path, ending: str, form: str) -> None:
        events = rich_events()
        path = tmp_path / f"frames{ending}"
        formats.write(path, events, form)
        seen = list(formats.read(path))
        assert len(seen) == len(events)
        for one, other in zip(seen, events):
            require_equal(one, other)
            kinds = {isinstance(traces.samples, SparseSamples) for traces in one.traces.values()}
            assert kinds == {form == "sparse"}

    def test_sparse_frames_become_dense_and_back(self, path: Path) -> None:
        events = rich_events()
        formats.write(path, events, "sparse")
        again = path.with_stem("again")
        formats.write(again, formats.read(path), "dense")
        formats.write(path, formats.read(again), "sparse")
        for one, other in zip(formats.read(path), events):
            require_equal(one, other)

    def test_chosen_tags(self, path: Path) -> None:
        formats.write(path, rich_events())
        assert [list(event.traces) for event in formats.read(path, ["roi", "*"])][0] == [
            "signal", "roi", "one_more_tag", "*",
        ]  # fmt: skip
        assert [list(event.traces) for event in formats.read(path, ("roi", "signal"))] == [
            ["signal", "roi"]
        ] * 3
        with pytest.raises(Error, match="no frame of an accepted tag") as caught:
            list(formats.read(path, ("gauss",)))
        assert "event 9" in str(caught.value) and "one_more_tag" in str(caught.value)

    def test_events_are_read_one_at_a_time(self, path: Path) -> None:
        formats.write(path, rich_events())
        events = formats.read(path)
        assert isinstance(events, Iterator) and next(events).ident == 9

    def test_many_rows_are_in_several_chunks(self, path: Path) -> None:
        samples = np.tile(signal(), (60, 10))  # 18.7 MB
        formats.write(path, [frame(samples)])
        array = (h5py.File(path) if path.suffix == ".h5" else zarr.open_group(path, mode="r"))[
            "0/frame_signal"
        ]
        assert array.chunks == (349, 3000)  # rows of together at most 4 MiB
        assert next(formats.read(path))["signal"].samples.tobytes() == samples.tobytes()

    def test_tensors(self, path: Path) -> None:
        torch = pytest.importorskip("torch")
        formats.write(path, [frame(torch.from_numpy(signal()))])
        assert next(formats.read(path))["signal"].samples.tobytes() == signal().tobytes()


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
            with delayed_signals():
                signals.raise_signal(signum)
                steps.append("after the signal")
            steps.append("never")
        assert steps == ["after the signal"] and signals.getsignal(signum) is before

    def test_other_threads_may_use_the_formats(self, path: Path) -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(formats.write, path, rich_events()).result()
            (first, *_) = pool.submit(lambda: list(formats.read(path))).result()
        require_equal(first, rich_events()[0])


@pytest.mark.parametrize("first_tick", [0, 1000, -3])
def test_ticks_of_masks_in_every_format(tmp_path: Path, first_tick: int) -> None:
    """Masks keep their ticks from format to format; files of earlier versions, which have notes without the mark, counted
    from the first sample.
    """
    mask = np.array([[8, 290, 330], [9, -5, 2000]])
    given = frame(
        signal(), first_tick=first_tick, start_ns=250.0, masks={"bad": mask}, notes={"model": "none"}
    )
    for ending in (".npz", ".tar.gz", ".h5", ".zarr"):
        path = tmp_path / f"new{ending}"
        frame_files.write_frames(path, [given])
        (seen,) = frame_files.read_frames(path)
        require_equal(seen, given)
        for notes, moved in ((given.notes, first_tick), ({}, 0)):
            (earlier,) = frame_files.read_frames(
                written_before(tmp_path / f"old{len(notes)}{ending}", given, notes)
            )
            require_equal(earlier, replace(given, masks={"bad": mask + [0, moved, moved]}, notes=notes))


def without_checksums(path: Path) -> Path:
    """Make a file one of earlier versions and of other programs, which write no checksums."""
    if path.suffix == ".zarr":
        for group in (root := zarr.open_group(path), *(root[name] for name in root)):
            del group.attrs["checksums"]
        return path
    with h5py.File(path, "a") as file:
        for group in [file, *(group for group in file.values() if isinstance(group, h5py.Group))]:
            del group["checksums_spng"]
    return path


def written_before(path: Path, event: Frame, notes: dict[str, str]) -> Path:
    """Write the event as earlier versions did: without the mark."""
    if path.suffix in (".h5", ".zarr"):
        formats.write(path, [replace(event, notes={})])
        without_checksums(path)
        if path.suffix == ".zarr":
            zarr.open_group(path)["0"].attrs["notes"] = notes
        elif notes:
            with h5py.File(path, "a") as file:
                file["0/notes_spng"] = json.dumps(notes)
        return path
    frame_files.write_frames(path, [replace(event, notes={})])
    arrays = wire_cell.read_arrays(path)
    if notes:
        arrays["notes_spng_0"] = np.frombuffer(json.dumps(notes).encode(), np.uint8)
    return wire_cell.write_arrays(path, arrays)


def test_the_endings_are_those_of_frame_files() -> None:
    assert tuple(formats.BY_ENDING) == frame_files.OTHER_FORMATS


class TestHdf5Layout:
    """The layout of WCT's HDF5FrameTap, read and written with h5py alone."""

    def test_as_its_readers_find_it(self, tmp_path: Path) -> None:
        (event, *_) = events = rich_events()
        formats.write(tmp_path / "frames.h5", events)
        with h5py.File(tmp_path / "frames.h5") as file:
            keys: list[str] = []
            file.visititems(lambda name, entry: keys.append(f"/{name}") if hasattr(entry, "shape") else None)
            found = {m[1] for key in keys if (m := re.match(r"/(\d+)/frame_signal$", key))}
            assert found == {"9", "4", "10"}
            samples = file["/9/frame_signal"]
            assert samples.dtype == np.float32 and samples[:].tobytes() == event["signal"].samples.tobytes()
            assert file["/9/frame_roi"].dtype == np.int16
            assert file["/9/channels_signal"].dtype == np.int32
            assert file["/9/channels_signal"][:].tolist() == event["signal"].channels.tolist()
            assert file["/9/tickinfo_signal"].dtype == np.float64
            assert file["/9/tickinfo_signal"][:].tolist() == [9002.25, 512.0, 3.0]
            assert file["/9/chanmask_bad"][:].tolist() == [[8, 1, 5], [9, 0, 300]]
            assert json.loads(file["/9/notes_spng"][()]) == event.notes | MARK

    def test_sparse_frames_are_no_frames_for_other_readers(self, tmp_path: Path) -> None:
        formats.write(tmp_path / "frames.h5", [frame(signal())], "sparse")
        with h5py.File(tmp_path / "frames.h5") as file:
            assert set(file["0"]) == {
                f"{kind}_signal" for kind in ("runs", "values", "shape", "channels", "tickinfo")
            } | {"checksums_spng"}

    def test_a_file_of_the_toolkit(self, tmp_path: Path) -> None:
        """Groups without creation order come by their ids; the toolkit writes no masks and no notes."""
        with h5py.File(tmp_path / "wct.h5", "w") as file:
            for ident in (10, 2):
                file[f"{ident}/frame_gauss0"] = signal(ident)
                file[f"{ident}/channels_gauss0"] = np.arange(26, dtype=np.int32)
                file[f"{ident}/tickinfo_gauss0"] = [250.0, 500.0, 20.0]
        seen = list(formats.read(tmp_path / "wct.h5"))
        for event, ident in zip(seen, (2, 10)):
            require_equal(event, frame(signal(ident), ident, "gauss0", start_ns=250.0, first_tick=20))

    @pytest.mark.parametrize(("kind", "expected"), [("int32", "int16"), ("float64", "float32")])
    def test_other_types(self, tmp_path: Path, kind: str, expected: str) -> None:
        values = signal().astype(np.int16)
        with h5py.File(tmp_path / "in.h5", "w") as file:
            file["0/frame_a"] = values.astype(kind)
            file["0/channels_a"], file["0/tickinfo_a"] = np.arange(26), [0.0, 500.0, 0.0]
        samples = next(formats.read(tmp_path / "in.h5"))["a"].samples
        assert samples.dtype == expected and (samples == values).all()


class TestZarrLayout:
    """The groups, read with zarr alone."""

    def test_groups_arrays_attributes(self, tmp_path: Path) -> None:
        (event, *_) = events = rich_events()
        formats.write(tmp_path / "frames.zarr", events)
        root = zarr.open_group(tmp_path / "frames.zarr", mode="r")
        assert root.metadata.zarr_format == 3 and root.attrs["events"] == [9, 4, 10]
        group = root["9"]
        assert group.attrs["tags"] == ["signal", "roi", "one_more_tag", "*"]
        assert group.attrs["masks"]["bad"] == [[8, 1, 5], [9, 0, 300]]
        assert group.attrs["notes"] == event.notes | MARK
        samples = group["frame_signal"]
        assert dict(samples.attrs) == {"start_ns": 9002.25, "tick_ns": 512.0, "first_tick": 3}
        assert samples.dtype == np.float32 and samples[:].tobytes() == event["signal"].samples.tobytes()
        (codec,) = samples.compressors
        assert codec.to_dict()["name"] == "zstd" and codec.to_dict()["configuration"]["checksum"]


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


def test_the_code_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python of docs/frame-files.md for both formats."""
    text = (ROOT / "docs" / "frame-files.md").read_text(encoding="utf-8")
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "h5py" in block]
    monkeypatch.chdir(tmp_path)
    for name in ("signal.h5", "signal.zarr"):
        formats.write(Path(name), [frame(signal())])
    names: dict[str, object] = {}
    exec(code.replace("\nevent =", "\nfirst = signal\nevent ="), names)
    assert names["first"].tobytes() == names["signal"].tobytes() == signal().tobytes()
    assert names["tick_ns"] == 500.0
