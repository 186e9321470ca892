# SPDX-License-Identifier: Apache-2.0
"""Frame files through the native module: types and memory of arrays, errors of events and files, chosen events.

Files are written and read independently by NumPy. Conversions between all formats are in test_frame_tools.py.
"""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spng.native import core

import spng
from tests.python.frame_examples import frame, require_equal, rich_events, signal
from tests.support import wire_cell
from tests.support.wire_cell import ENDINGS, event, read_arrays, write_arrays

WHERE = "out.npz"


def checked(samples: object) -> np.ndarray:
    """Return the samples as a file would have them."""
    traces = spng.Traces("*", samples, np.arange(3))  # type: ignore[arg-type]
    return core.checked(spng.Frame({"*": traces}), WHERE)["*"].dense()


@pytest.mark.parametrize("ending", ENDINGS)
class TestFiles:
    """Files against NumPy's reader and writer."""

    def test_written(self, tmp_path: Path, ending: str) -> None:
        path = tmp_path / f"out{ending}"
        first = rich_events()[0]
        spng.write_frames(path, first)
        arrays = read_arrays(path)
        signal_traces = first["signal"]
        assert arrays["frame_signal_9"].tobytes() == signal_traces.samples.tobytes()
        assert arrays["frame_signal_9"].dtype == np.float32 and arrays["frame_roi_9"].dtype == np.int16
        assert arrays["channels_signal_9"].tolist() == signal_traces.channels.tolist()
        assert arrays["tickinfo_signal_9"].tolist() == [1000.25 * 9, 512.0, 3.0]
        assert (arrays["summary_signal_9"] == signal_traces.summary).all()
        assert arrays["chanmask_bad_9"].tolist() == [[8, 1, 5], [9, 0, 300]]
        assert list(arrays)[:4] == [
            f"{kind}_signal_9" for kind in ("frame", "channels", "tickinfo", "summary")
        ]

    def test_read(self, tmp_path: Path, ending: str) -> None:
        """Members in Fortran order and with foreign bytes, as other programs write them."""
        samples = np.asfortranarray(np.arange(12, dtype=">i4").reshape(3, 4))
        arrays = event(samples, np.array([7, 3, 5]), 4, "gauss0", -300.0)
        arrays["chanmask_bad_4"] = np.array([[3, 0, 2]], np.int32)
        (found,) = spng.read_frames(write_arrays(tmp_path / f"in{ending}", arrays))
        traces = found.only()
        assert (found.ident, traces.tag, traces.start_ns, traces.tick_ns) == (4, "gauss0", -300.0, 500.0)
        assert traces.samples.dtype == np.int16 and traces.samples.flags.c_contiguous
        assert traces.samples.tolist() == samples.tolist()
        assert found.masks["bad"].tolist() == [[3, 0, 2]] and found.masks["bad"].dtype == np.int64

    @pytest.mark.parametrize("form", ["dense", "sparse"])
    def test_there_and_back(self, tmp_path: Path, ending: str, form: str) -> None:
        path, again = tmp_path / f"out{ending}", tmp_path / f"again{ending}"
        spng.write_frames(path, iter(rich_events()), form=form)
        found = list(spng.read_frames(path))
        assert len(found) == 3
        for seen, expected in zip(found, rich_events()):
            require_equal(seen, expected)
            assert isinstance(seen["signal"].samples, spng.SparseSamples) == (form == "sparse")
        spng.write_frames(again, found, form=form)
        assert again.read_bytes() == path.read_bytes()


class TestArrays:
    """Types and memory."""

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            (np.bool_, np.int16),
            (np.uint8, np.int16),
            (np.int64, np.int16),
            (np.uint64, np.int16),
            (np.float16, np.float32),
            (np.float64, np.float32),
            (">f4", np.float32),
            (">i2", np.int16),
        ],
    )
    def test_types(self, given: Any, expected: type) -> None:
        samples = (np.arange(12).reshape(3, 4) % 2).astype(given)
        found = checked(samples)
        assert found.dtype == expected and found.tolist() == samples.tolist()

    def test_large_integers_become_floats(self) -> None:
        samples = np.full((3, 4), 70_000, np.uint32)
        assert checked(samples).dtype == np.float32 and (checked(samples) == 70_000).all()
        with pytest.raises(spng.Error, match="samples cannot be held in 32-bit floats"):
            checked(samples.astype(np.int64) * 1000 + 1)

    @pytest.mark.parametrize("dtype", [np.int16, np.float32])
    def test_samples_are_not_copied(self, dtype: type) -> None:
        samples = np.ones((3, 4), dtype)
        found = checked(samples)
        assert np.shares_memory(found, samples)
        read_only = samples.view()
        read_only.flags.writeable = False
        assert np.shares_memory(checked(read_only), samples)
        del samples, read_only
        assert found.sum() == 12  # the memory lives as long as the array

    def test_other_layouts(self) -> None:
        samples = np.arange(24, dtype=np.float32).reshape(3, 8)
        for view in (samples[:, ::2], samples[::-1], samples.T.reshape(3, 8), samples[:, 2:5]):
            assert checked(view).tolist() == view.tolist()
        assert checked(samples.tolist()).tolist() == samples.tolist()

    def test_torch(self) -> None:
        torch = pytest.importorskip("torch", exc_type=ImportError)
        tensor = torch.zeros(3, 4)
        found = checked(tensor)
        tensor[1, 2] = 5
        assert found[1, 2] == 5
        assert checked(tensor.to(torch.bfloat16).requires_grad_()).tolist() == tensor.tolist()

    def test_rows(self) -> None:
        traces = spng.Traces("*", np.arange(6).reshape(3, 2), np.array([7, 3, 5]))
        assert traces.rows(np.array([3, 4, 7, 9])).tolist() == [[2, 3], [0, 0], [0, 1], [0, 0]]


def changed(**properties: object) -> spng.Frame:
    """Return an event of 3 channels and 4 ticks whose traces have other properties."""
    traces = spng.Traces("gauss", np.ones((3, 4), np.float32), np.arange(3))
    return spng.Frame({"gauss": replace(traces, **properties)}, 5)  # type: ignore[arg-type]


def runs(*rows: tuple[int, int, int]) -> spng.SparseSamples:
    return spng.SparseSamples(np.array(rows), np.ones(2, np.float32), (3, 4))


class TestErrors:
    """Each error is one block that names event, tag and value."""

    @pytest.mark.parametrize(
        ("properties", "what", "seen"),
        [
            ({"samples": np.ones(3)}, "wrong number of axes", "shape 3"),
            ({"samples": np.ones((3, 0))}, "the frame has no ticks", "shape 3 x 0"),
            ({"samples": np.array([["a"]])}, "this cannot be taken as numbers", "<U1 on cpu"),
            ({"samples": np.ones((3, 4), complex)}, "this cannot be taken as numbers", "complex128"),
            ({"samples": runs((0, 1, 3), (0, 2, 4))}, "two runs overlap", ""),
            ({"samples": runs((0, 3, 5))}, "run", "5"),
            ({"samples": runs((0, 0, 4))}, "values", "2"),
            ({"channels": [0, 1, 1]}, "a channel occurs twice", "channel 1 again in row 2"),
            ({"channels": [0, 1]}, "the arrays of the event do not match", "2 channels"),
            ({"channels": [0.5, 1, 2]}, "the array must hold integers", "Double"),
            ({"channels": [0, 1, 2**40]}, "a number is too large", str(2**40)),
            ({"summary": [1.0]}, "the arrays of the event do not match", "1 values in the summary"),
            ({"tick_ns": 0}, "the tick information is unusable", "tick 0.0"),
            ({"tick_ns": "fast"}, "has the wrong type", "tick_ns = 'fast'"),
            ({"first_tick": 2**40}, "has the wrong type", f"first_tick = {2**40}"),
            ({"tag": "signal"}, "the traces have another tag", "'signal'"),
        ],
    )
    def test_traces(self, properties: dict[str, Any], what: str, seen: str, tmp_path: Path) -> None:
        path = tmp_path / "out.npz"
        spng.write_frames(path, frame(signal(), 77))
        before = path.read_bytes()
        with pytest.raises(spng.Error, match=what) as caught:
            spng.write_frames(path, changed(**properties))
        error = caught.value
        assert error.kind == "Input" and seen in error.seen and error.expected
        assert error.where.startswith(f"{path}, event 5, tag 'gauss'")
        assert str(error).splitlines()[:2] == [f"error: {error.what}", f"  where:    {error.where}"]
        assert path.read_bytes() == before and os.listdir(tmp_path) == ["out.npz"]

    @pytest.mark.parametrize(
        ("given", "what"),
        [
            (spng.Frame({}), "the event has no traces"),
            (replace(changed(), ident="one"), "has the wrong type"),
            (replace(changed(), notes={"a": 1}), "has the wrong type"),
            (replace(changed(), masks={"bad": np.ones((2, 2), int)}), "the channel mask has the wrong shape"),
            (replace(changed(), masks={"bad": np.array([[1, 5, 2]])}), "ends before it begins"),
            (replace(changed(), masks={"bad": np.array([[1, 0, 2**31]])}), "a number is too large"),
            (["text"], "this is no event"),
            ([], "there is no event to write"),
            ([changed(), changed()], "two events have the same ident"),
        ],
    )
    def test_events(self, given: Any, what: str, tmp_path: Path) -> None:
        with pytest.raises(spng.Error, match=what) as caught:
            spng.write_frames(tmp_path / "out.npz", given)
        assert caught.value.kind == "Input" and not os.listdir(tmp_path)

    def test_arguments(self, tmp_path: Path) -> None:
        for path, arguments, what, kind in (
            ("out.npz", {"form": "spares"}, "unknown form", "Input"),
            ("out.npz", {"level": 12}, "level", "Configuration"),
            ("out.root", {}, "unknown ending of the output file", "Configuration"),
            ("none/out.npz", {}, "folder", "Output"),
        ):
            with pytest.raises(spng.Error, match=what) as caught:
                spng.write_frames(tmp_path / path, changed(), **arguments)  # type: ignore[arg-type]
            assert caught.value.kind == kind and caught.value.expected and not os.listdir(tmp_path)

    def test_files(self, tmp_path: Path) -> None:
        (tmp_path / "text.npz").write_text("no archive")
        np.savez(tmp_path / "other.npz", readme=np.ones(3))
        for name, what, seen in (
            ("none.npz", "cannot open the input file", "No such file"),
            ("text.npz", "not an archive", ""),
            ("other.npz", "the file holds no event", "members readme.npy"),
        ):
            with pytest.raises(spng.Error, match=what) as caught:
                list(spng.read_frames(tmp_path / name))
            error = caught.value
            assert error.kind == "Input" and str(tmp_path / name) in error.where and seen in error.seen

    def test_a_damaged_file_gives_the_events_before_the_damage(self, tmp_path: Path) -> None:
        path = tmp_path / "in.tar"
        spng.write_frames(path, [frame(signal(ident), ident) for ident in range(4)])
        data = path.read_bytes()
        path.write_bytes(data[: len(data) * 5 // 8])
        found = []
        with pytest.raises(spng.Error) as caught:
            for each in spng.read_frames(path):
                found.append(each.ident)
        assert found == [0, 1] and caught.value.kind == "Input" and str(path) in caught.value.where

    def test_too_little_memory_is_an_error(self, tmp_path: Path) -> None:
        """Without the names of LibTorch's functions."""
        code = (
            "import resource, numpy as np, spng\n"
            "from spng.native import core\n"
            "samples = np.zeros((20_000, 20_000), np.int8)\n"
            "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize() + (1 << 29)\n"
            "resource.setrlimit(resource.RLIMIT_AS, (size, size))\n"
            "event = core.FrameAssembly('a.h5', 0, ['*'])\n"
            "try:\n"
            "    event.add('frame_a', samples)\n"
            "except spng.Error as error:\n"
            "    print(error.kind, error)\n"
        )
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.startswith("Device error: ") and "memory" in done.stdout
        assert "frame #" not in done.stdout

    def test_errors_travel_between_processes(self) -> None:
        error = spng.Error("Device", "it failed", "here", hint="wait")
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error) == "error: it failed\n  where:    here\n  hint:     wait"
        assert (again.kind, again.hint, again.seen) == ("Device", "wait", "")

    def test_without_the_native_module(self, tmp_path: Path) -> None:
        """The package is imported; the first use says how to build the module."""
        code = "import spng\ntry: spng.read_frames('a.npz')\nexcept spng.Error as error: print(error)"
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"SPNG_BUILD": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.startswith("error: the native module of spng cannot be loaded")
        assert f"{tmp_path}/python/spng" in done.stdout and "./wcb --notests" in done.stdout


class TestChoice:
    """Chosen tags and events."""

    @pytest.mark.parametrize("ending", [".npz", ".tar.gz", ".h5"])
    def test_events(self, tmp_path: Path, ending: str) -> None:
        if ending == ".h5":
            pytest.importorskip("h5py")
        path = tmp_path / f"in{ending}"
        spng.write_frames(path, [frame(signal(ident), ident) for ident in (3, 1, 8, 5)])
        found = list(spng.read_frames(path, idents=[5, 1]))
        assert [each.ident for each in found] == [1, 5]
        assert found[1]["signal"].samples.tobytes() == signal(5).tobytes()
        with pytest.raises(spng.Error, match="lacks events") as caught:
            list(spng.read_frames(path, idents={8, 2, 9}))
        assert caught.value.seen == "no event 2, 9"

    def test_other_events_are_not_read(self, tmp_path: Path) -> None:
        """An unusable event that is not wanted does no harm."""
        arrays = event(np.ones((2, 3)), np.array([1, 1]), 0) | event(np.ones((2, 3)), np.array([1, 2]), 6)
        path = write_arrays(tmp_path / "in.npz", arrays)
        assert [each.ident for each in spng.read_frames(path, idents=[6])] == [6]
        with pytest.raises(spng.Error, match="a channel occurs twice"):
            next(spng.read_frames(path))

    def test_tags(self, tmp_path: Path) -> None:
        spng.write_frames(tmp_path / "in.npz", rich_events())
        for tags in ("roi", ["roi"], ("roi", "never")):
            assert [list(each.traces) for each in spng.read_frames(tmp_path / "in.npz", tags)] == [
                ["roi"]
            ] * 3
        with pytest.raises(spng.Error, match="no frame of an accepted tag") as caught:
            next(spng.read_frames(tmp_path / "in.npz", "rio"))
        assert "'roi'" in caught.value.seen


@wire_cell.needs_program
def test_npz_is_read_by_its_directory(tmp_path: Path) -> None:
    """Members sorted by name, as some archivers write them, and one with another alphabet, in the C locale."""
    events = event(np.arange(6, dtype=np.int16).reshape(2, 3), np.arange(2), 12)
    events |= event(np.arange(6, 12, dtype=np.int16).reshape(2, 3), np.arange(2), 7)
    path, output = tmp_path / "sorted.npz", tmp_path / "output.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Überblick.txt", "of a user")
        for name in sorted(events):
            content = io.BytesIO()
            np.save(content, events[name])
            archive.writestr(name + ".npy", content.getvalue())
    assert [frame.ident for frame in spng.read_frames(path)] == [12, 7]
    done = wire_cell.run(
        "cfg/convert.jsonnet",
        *wire_cell.settings(f"input={path}", f"output={output}"),
        env={**os.environ, "LC_ALL": "C"},
    )
    assert done.returncode == 0, done.stderr
    with np.load(output) as arrays:
        assert arrays.files == [
            f"{kind}_*_{ident}" for ident in (12, 7) for kind in ("frame", "channels", "tickinfo")
        ]
        assert all(np.array_equal(arrays[name], events[name]) for name in arrays.files)


def test_names_of_one_event_may_be_apart_but_not_twice(tmp_path: Path) -> None:
    """In a zip whose names repeat, as of two appended files, members are read in their order."""
    one = event(np.zeros((2, 3), np.int16), np.arange(2), 1)
    other = event(np.zeros((2, 3), np.int16), np.arange(2), 2)
    path = tmp_path / "twice.npz"
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, array in [*one.items(), *other.items(), *one.items()]:
            content = io.BytesIO()
            np.save(content, array)
            archive.writestr(name + ".npy", content.getvalue())
    assert [frame.ident for frame in spng.read_frames(path)] == [1, 2, 1]
