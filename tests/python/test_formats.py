# SPDX-License-Identifier: Apache-2.0
"""HDF5 and Zarr files of frames: round trips, and the layout as other readers see it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spng import Error, Frame, SparseSamples, formats, frame_files
from tests.python.frame_examples import (
    fixture_path,  # noqa: F401
    frame,
    require_equal,
    rich_events,
    signal,
    without_checksums,
)
from tests.support import wire_cell
from tests.support.wire_cell import ROOT

h5py = pytest.importorskip("h5py")
zarr = pytest.importorskip("zarr")
ENDINGS = (".h5", ".hdf5", ".zarr")
MARK = {"mask_ticks": "from the start"}  # in files only


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
