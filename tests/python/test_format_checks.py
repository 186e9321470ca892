# SPDX-License-Identifier: Apache-2.0
"""Checks of HDF5 and Zarr files: the same as of .npz files, checksums, sizes, names of dimensions."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spng.formats import members
from spng.formats.input import readable_input
from spng.native import core

import spng
from spng import Error
from tests.python.frame_examples import frame, require_equal, rich_events, signal
from tests.support.raw_frames import FAULTS, raw_event, write_raw

h5py = pytest.importorskip("h5py")
zarr = pytest.importorskip("zarr")
FORMATS = pytest.mark.parametrize("ending", [".h5", ".zarr"])
FLIPS = 40


@pytest.mark.parametrize(("changes", "what", "seen"), FAULTS)
@pytest.mark.parametrize("ending", [".npz", ".tar", ".tar.gz", ".h5", ".zarr"])
def test_every_door_has_the_checks_of_npz(
    tmp_path: Path, ending: str, changes: dict[str, Any], what: str, seen: str
) -> None:
    path = write_raw(tmp_path / f"in{ending}", raw_event(**changes))
    with pytest.raises(Error) as caught:
        list(spng.read_frames(path))
    assert caught.value.kind == "Input" and what in caught.value.what and seen in caught.value.seen
    assert str(path) in caught.value.where


@pytest.mark.parametrize(("changes", "what", "seen"), FAULTS)
def test_every_door_has_the_checks_of_npz_in_memory(changes: dict[str, Any], what: str, seen: str) -> None:
    members = raw_event(**changes)
    masks = {name.removeprefix("chanmask_"): rows for name, rows in members.items() if "mask" in name}
    times = dict(zip(("start_ns", "tick_ns", "first_tick"), members["tickinfo_a"]))
    with pytest.raises(Error) as caught:
        arrays = (members["frame_a"], members["channels_a"])
        traces = spng.Traces("a", *arrays, summary=members.get("summary_a"), **times)
        core.checked(spng.Frame({"a": traces}, masks=masks), "the event")
    assert caught.value.kind == "Input"


@pytest.mark.parametrize("ending", [".npz", ".h5", ".zarr"])
def test_every_door_has_the_conversions_of_npz(tmp_path: Path, ending: str) -> None:
    """Integers beyond int16 become floats, masks count from the start, other integers become int32."""
    changes = {"frame_a": np.full((3, 4), 70_000), "channels_a": np.array([9, 7, 8], np.uint16)}
    path = write_raw(tmp_path / f"in{ending}", raw_event(**changes, chanmask_bad=np.array([[7, -2, 3]])))
    (event,) = spng.read_frames(path)
    assert event["a"].samples.dtype == np.float32 and (event["a"].samples == 70_000).all()
    assert event["a"].channels.tolist() == [9, 7, 8] and event.masks["bad"].tolist() == [[7, -2, 3]]


@pytest.mark.parametrize(
    "members",
    [
        {"tickinfo_a": "abc"},
        {"channels_a": "123"},
        {"frame_a": np.zeros((3, 4), np.complex64)},
        {"notes_spng": np.arange(4)},
        {"notes_spng": "[1]"},
        {"notes_spng": "no JSON"},
        {"chanmask_bad": "text"},
        {"channels_a": np.array([b"a", b"b", b"c"])},
        {"frame_a": np.zeros(12, [("x", "i2")]).reshape(3, 4)},
    ],
)
def test_members_of_other_types(tmp_path: Path, members: dict[str, Any]) -> None:
    path = write_raw(tmp_path / "in.h5", raw_event(**members))
    with pytest.raises(Error, match=next(iter(members))):
        list(spng.read_frames(path))


@pytest.mark.parametrize(
    ("group", "attributes"),
    [
        ("/", {"events": 5}),
        ("/", {"events": ["0"]}),
        ("/", {"events": [2**31]}),
        ("/", {"events": [True]}),
        ("/", {"events": [0, 3]}),
        ("/", {"events": []}),
        ("/", {"events": [0, 0]}),
        ("/", {"events": None}),
        ("/", {"checksums": [1]}),
        ("0", {"tags": 5}),
        ("0", {"tags": ["b"]}),
        ("0", {"tags": "a"}),
        ("0", {"tags": ["a", "a"]}),
        ("0", {"tags": [["a"]]}),
        ("0", {"tags": ["\ud800"]}),
        ("0", {"masks": [1, 2]}),
        ("0", {"masks": {"bad": [[1, 2, 3], [4]]}}),
        ("0", {"masks": {"bad": 7}}),
        ("0", {"masks": {"bad": None}}),
        ("0", {"masks": {"bad": False}}),
        ("0", {"masks": {"bad": ""}}),
        ("0", {"masks": {"bad": [[7, 0, True]]}}),
        ("0", {"masks": {"\ud800": []}}),
        ("0", {"masks": [["bad", [[7, 0, 3]]]]}),
        ("0", {"masks": {"bad": [["7", 0, 1]]}}),
        ("0", {"masks": {"bad": [[2**70, 0, 1]]}}),
        ("0", {"notes": {"a": 1}}),
        ("0", {"notes": "text"}),
        ("0", {"notes": [["a", "b"]]}),
        ("0", {"checksums": 1}),
        ("0/frame_a", {"tick_ns": None}),
        ("0/frame_a", {"tick_ns": True}),
        ("0/frame_a", {"start_ns": 2**70}),
        ("0/frame_a", {"first_tick": "0"}),
    ],
)
def test_attributes_of_other_types(tmp_path: Path, group: str, attributes: dict[str, Any]) -> None:
    path = write_raw(tmp_path / "in.zarr", raw_event())
    root = zarr.open(path)
    (root if group == "/" else root[group]).attrs.update(attributes)
    with pytest.raises(Error) as caught:
        list(spng.read_frames(path))
    assert caught.value.kind == "Input" and "nanobind" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "seen"),
    [("0/frame_a", "frame_a is missing"), ("0", "no '0'"), ("0/channels_a", "channels_a is missing")],
)
def test_groups_in_place_of_arrays(tmp_path: Path, name: str, seen: str) -> None:
    path = write_raw(tmp_path / "in.zarr", raw_event())
    attributes = dict(zarr.open(path)[name].attrs)
    shutil.rmtree(path / name)
    if name != "0":
        zarr.open_group(path).create_group(name, attributes=attributes)
    with pytest.raises(Error) as caught:
        list(spng.read_frames(path))
    assert seen in caught.value.seen


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("00", "0", "the ident of an event is wrong"),
        ("-0", "0", "the ident of an event is wrong"),
        ("2147483648", "0", "the ident of an event is wrong"),
        ("0/frame_b", "0", "this is no array"),
        ("0/summary_a", h5py.Empty("f8"), "this is no array"),
        ("0/notes_spng", h5py.Empty("S3"), "this is no array"),
        ("0/summary_a", np.dtype("f8"), "this is no array"),
        (b"0/frame_\xe9", np.zeros(3), "a name cannot be read"),
        ("checksums_spng", "null", "the file is damaged"),
        ("0/checksums_spng", "[]", "the file is damaged"),
    ],
)
def test_names_and_groups(tmp_path: Path, name: str | bytes, content: Any, what: str) -> None:
    path = write_raw(tmp_path / "in.h5", raw_event())
    with h5py.File(path, "a") as file:
        if isinstance(content, str) and content == "0":
            file.copy("0", name)
        else:
            file[name] = content
    with pytest.raises(Error) as caught:
        list(spng.read_frames(path))
    assert (caught.value.kind, caught.value.what.startswith(what)) == ("Input", True)


def test_groups_that_are_no_events(tmp_path: Path) -> None:
    path = write_raw(tmp_path / "in.h5", raw_event())
    with h5py.File(path, "a") as file:
        file.create_group(b"\xe9")
        file["1"], file["1.5"], file["0/other"] = [1, 2], [3], h5py.SoftLink("/nothing")
    assert [event.ident for event in spng.read_frames(path)] == [0]


class TestSizes:
    """Arrays that claim more than the 4 GiB of a .npz are rejected before anything is allocated."""

    @pytest.mark.parametrize("name", ["0/frame_a", "0/notes_spng", "0/checksums_spng", "checksums_spng"])
    def test_hdf5(self, tmp_path: Path, name: str) -> None:
        path = write_raw(tmp_path / "in.h5", raw_event(notes_spng="{}"))
        with h5py.File(path, "a") as file:
            if name in file:
                del file[name]
            file.create_dataset(name, (100_000, 50_000), "f4", chunks=(1000, 1000))
        with pytest.raises(Error, match="too large a size"):
            list(spng.read_frames(path))

    @pytest.mark.parametrize("key", ["shape", "chunk"])
    def test_zarr(self, tmp_path: Path, key: str) -> None:
        path = write_raw(tmp_path / "in.zarr", raw_event())
        metadata = path / "0/frame_a/zarr.json"
        content = json.loads(metadata.read_text())
        if key == "shape":
            content["shape"] = [100_000, 50_000]
        else:
            content["chunk_grid"]["configuration"]["chunk_shape"] = [100_000, 50_000]
        metadata.write_text(json.dumps(content))
        with pytest.raises(Error, match="too large a size"):
            list(spng.read_frames(path))

    @FORMATS
    def test_several_arrays(self, tmp_path: Path, ending: str) -> None:
        """A file of 30 kB whose arrays, each of less than 4 GiB, are more together."""
        path = write_raw(tmp_path / f"in{ending}", raw_event(summary_a=np.zeros(3)))
        for name in ("frame_a", "summary_a"):
            if ending == ".h5":
                with h5py.File(path, "a") as file:
                    del file[f"0/{name}"]
                    file.create_dataset(f"0/{name}", (1000, 600_000), "f4", chunks=(10, 600_000))
            else:
                metadata = path / f"0/{name}/zarr.json"
                content = json.loads(metadata.read_text()) | {
                    "shape": [1000, 600_000],
                    "data_type": "float32",
                }
                content["chunk_grid"]["configuration"]["chunk_shape"] = [10, 600_000]
                content["fill_value"] = 0.0
                content.pop("dimension_names", None)
                metadata.write_text(json.dumps(content))
        with pytest.raises(Error, match="an event claims too large a size") as caught:
            list(spng.read_frames(path))
        assert caught.value.where == f"{path}, event 0" and " bytes in all" in caught.value.seen

    def test_masks(self, tmp_path: Path) -> None:
        path = write_raw(tmp_path / "in.h5", raw_event())
        with h5py.File(path, "a") as file:
            for name in ("a", "b"):
                file.create_dataset(f"0/chanmask_{name}", (2**21 + 1, 3), "i4", chunks=(2**18, 3))
        with pytest.raises(Error, match="an event claims too large a size") as caught:
            list(spng.read_frames(path))
        assert caught.value.seen == "4194306 rows of masks in all"

    @FORMATS
    def test_what_cannot_be_read_is_not_written(
        self, tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(members, "MOST_MASK_ROWS", 2)
        frames = [spng.Frame(frame(signal()).traces, masks={"bad": np.zeros((n, 3), int)}) for n in (2, 3)]
        spng.write_frames(tmp_path / f"two{ending}", frames[0])
        with pytest.raises(Error, match="3 rows of masks in all"):
            spng.write_frames(tmp_path / f"three{ending}", frames[1])
        assert [each.name for each in tmp_path.iterdir()] == [f"two{ending}"]

    @pytest.mark.parametrize(
        "failure",
        [
            MemoryError("Unable to allocate 3 GiB"),
            OSError("Can't read data (memory allocation failed for raw data chunk)"),
        ],
    )
    def test_memory_that_is_lacking(self, tmp_path: Path, failure: Exception) -> None:
        with (
            pytest.raises(Error, match="error: not enough memory"),
            readable_input(tmp_path, "no such words"),
        ):
            raise failure

    @FORMATS
    def test_chunks_without_number(self, tmp_path: Path, ending: str) -> None:
        """A file of 2 kB whose 16 million chunks, all absent, take minutes and GB."""
        path = write_raw(tmp_path / f"in{ending}", raw_event())
        if ending == ".h5":
            with h5py.File(path, "a") as file:
                del file["0/frame_a"]
                file.create_dataset("0/frame_a", (4096, 4096), "i2", chunks=(1, 1))
        else:
            metadata = path / "0/frame_a/zarr.json"
            content = json.loads(metadata.read_text()) | {"shape": [4096, 4096]}
            content["chunk_grid"]["configuration"]["chunk_shape"] = [1, 1]
            metadata.write_text(json.dumps(content))
        with pytest.raises(Error, match="too many chunks") as caught:
            list(spng.read_frames(path))
        assert "16777216 chunks" in caught.value.seen


def files_of(path: Path) -> list[Path]:
    return sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]


class TestChecksums:
    """Damage of any part is an error, or it changes nothing."""

    @FORMATS
    @pytest.mark.parametrize("form", ["dense", "sparse"])
    def test_flipped_bytes(self, tmp_path: Path, ending: str, form: str) -> None:
        whole = tmp_path / f"whole{ending}"
        spng.write_frames(whole, rich_events(), form=form)
        contents = {each: each.read_bytes() for each in files_of(whole)}
        chosen, rejected = random.Random(f"{ending} {form}"), 0
        for _ in range(FLIPS):
            (file,) = chosen.choices(list(contents), [len(content) for content in contents.values()])
            damaged = bytearray(contents[file])
            damaged[chosen.randrange(len(damaged))] ^= chosen.randrange(1, 256)
            file.write_bytes(damaged)
            try:
                for seen, expected in zip(spng.read_frames(whole), rich_events(), strict=True):
                    require_equal(seen, expected)
            except Error as error:
                assert error.kind == "Input"
                rejected += 1
            file.write_bytes(contents[file])
        assert rejected > FLIPS // 5

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (np.arange(26, dtype="<i4").tobytes(), np.array([4096, *range(1, 26)], "<i4").tobytes()),
            (np.array([1000.25, 512, 3], "<f8").tobytes(), np.array([1000.25, 512, 4], "<f8").tobytes()),
            (np.full(26, 2.5).tobytes(), np.array([3.5, *[2.5] * 25]).tobytes()),
            (b'"my note"', b'"my vote"'),
            (b"chanmask_bad", b"chanmask_bed"),
            (b"summary_signal", b"summery_signal"),
        ],
        ids=["channels", "tickinfo", "summary", "notes", "name of a mask", "name of a summary"],
    )
    def test_hdf5(self, tmp_path: Path, before: bytes, after: bytes) -> None:
        path = tmp_path / "a.h5"
        self.write(path)
        content = path.read_bytes()
        assert content.count(before) >= 1
        path.write_bytes(content.replace(before, after))
        with pytest.raises(Error):
            list(spng.read_frames(path))

    @pytest.mark.parametrize(
        ("file", "before", "after"),
        [
            ("0", "my note", "my vote"),
            ("0", '"bad"', '"bed"'),
            ("0", '"signal"', '"sigmal"'),
            ("0", "5\n", "6\n"),
            ("0/frame_signal", "512.0", "513.0"),
            ("0/frame_signal", '"first_tick": 3', '"first_tick": 4'),
            ("", "      0\n", "      1\n"),
        ],
    )
    def test_zarr(self, tmp_path: Path, file: str, before: str, after: str) -> None:
        path = tmp_path / "a.zarr"
        self.write(path)
        metadata = path / file / "zarr.json"
        content = metadata.read_text()
        assert before in content
        metadata.write_text(content.replace(before, after, 1))
        with pytest.raises(Error):
            list(spng.read_frames(path))

    @staticmethod
    def write(path: Path) -> None:
        properties: dict[str, Any] = {"tick_ns": 512.0, "start_ns": 1000.25, "first_tick": 3}
        properties |= {"masks": {"bad": np.array([[8, 1, 5]])}, "notes": {"key": "my note"}}
        spng.write_frames(path, frame(signal(), summary=np.full(26, 2.5), **properties))

    def test_an_event_that_vanished(self, tmp_path: Path) -> None:
        path = tmp_path / "a.h5"
        spng.write_frames(path, rich_events())
        with h5py.File(path, "a") as file:
            del file["4"]
        with pytest.raises(Error, match="damaged") as caught:
            list(spng.read_frames(path))
        assert "no 4" in caught.value.seen
        spng.write_frames(path.with_suffix(".zarr"), rich_events())
        zarr.open_group(path.with_suffix(".zarr")).attrs["events"] = [9, 10]
        with pytest.raises(Error, match="damaged") as caught:
            list(spng.read_frames(path.with_suffix(".zarr")))
        assert "no 4" in caught.value.seen

    def test_as_the_page_says(self, tmp_path: Path) -> None:
        """The recipe of docs/frame-files.md."""
        from zlib import crc32

        self.write(tmp_path / "a.h5")
        with h5py.File(tmp_path / "a.h5") as file:
            listed = json.loads(file["0/checksums_spng"][()])
            for name, value in listed.items():
                array = file["0"][name][()]
                array = np.frombuffer(array, np.uint8) if isinstance(array, bytes) else array
                shape = "x".join(map(str, array.shape))
                assert crc32(f"{name} {array.dtype.str} {shape}\n".encode() + array.tobytes()) == value
            for text in ("0/checksums_spng", "0/notes_spng", "checksums_spng"):
                assert file[text].dtype.kind == "S", "HDF5 never returns from a damaged heap"
            text = f"0 {json.dumps(listed)}"
            assert json.loads(file["checksums_spng"][()]) == {"0": crc32(text.encode())}


def test_names_of_dimensions(tmp_path: Path) -> None:
    """xarray.open_zarr needs them, and gives one size to each name."""
    path = tmp_path / "a.zarr"
    for form, kind, names in (
        ("dense", "frame", ("channel_signal", "tick_signal")),
        ("sparse", "runs", ("run_signal", "row_begin_end_signal")),
    ):
        spng.write_frames(path, rich_events(), form=form)
        group = zarr.open_group(path, mode="r")["9"]
        assert group[f"{kind}_signal"].metadata.dimension_names == names
        sizes: dict[str, int] = {}
        for _, array in group.arrays():
            for name, size in zip(array.metadata.dimension_names, array.shape, strict=True):
                assert sizes.setdefault(name, size) == size
        shutil.rmtree(path)
