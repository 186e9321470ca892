# SPDX-License-Identifier: Apache-2.0
"""Sparse frames (docs/sparse-frames.md): conversion of files, jobs that write and read them, and the readers in Python."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from wirecell_campaign import output_check

import spng
from tests.support import wire_cell
from tests.support.small_site import Site
from tests.support.wct_reader import Rejected, read_frames
from tests.support.wire_cell import Arrays, read_arrays

pytestmark = wire_cell.needs_program

CONVERT = "cfg/convert.jsonnet"
TAGS = "signal,error,roi"
PAGE = wire_cell.ROOT / "docs" / "sparse-frames.md"


def sparse_arrays(arrays: Arrays) -> Arrays:
    """Return the arrays of a file with sparse frames in place of the dense ones, independently of our code."""
    result: Arrays = {}
    for name, array in arrays.items():
        kind, _, rest = name.partition("_")
        if kind != "frame":
            result[name] = array
            continue
        is_set = array.view(np.int32 if array.dtype.itemsize == 4 else np.int16) != 0
        edges = np.diff(np.pad(is_set, ((0, 0), (1, 1))).astype(np.int8), axis=1)
        (row, begin), (_, end) = np.nonzero(edges == 1), np.nonzero(edges == -1)
        result[f"runs_{rest}"] = np.stack([row, begin, end], axis=1).astype(np.int32)
        result[f"values_{rest}"] = array[is_set]
        result[f"shape_{rest}"] = np.array(array.shape)
    return result


def event(ident: int, tag: str, samples: np.ndarray) -> Arrays:
    """Return one tag of an event."""
    return wire_cell.event(samples, 7 + np.arange(len(samples)), ident, tag, start_ns=1000.0 * ident)


@pytest.fixture(name="events", scope="module")
def fixture_events() -> Arrays:
    """Two events with tags of both types, masks, summaries and notes, the second without charge."""
    random = np.random.default_rng(3)
    noise = random.normal(0, 1, (20, 90)).astype(np.float32)
    signal = np.where(noise > 1, noise, np.float32(0))
    signal[3, :3] = [-0.0, np.nan, -np.inf]
    arrays: Arrays = {}
    for ident, scale in ((4, 1), (9, 0)):
        arrays |= event(ident, "signal", signal if scale else np.zeros_like(signal))
        arrays[f"summary_signal_{ident}"] = np.arange(20.0)
        arrays |= event(ident, "roi", (signal > 0).astype(np.int16) * np.int16(scale))
        arrays |= event(ident, "one_more_tag", np.full((1, 1), -3, np.int16))
        arrays |= event(ident, "*", random.integers(1, 9, (3, 7), dtype=np.int16))
        arrays[f"chanmask_bad_{ident}"] = np.array([[8, 1, 5]], np.int32)
        notes = json.dumps({"model": "none"}, separators=(",", ":"))
        arrays[f"notes_spng_{ident}"] = np.frombuffer(notes.encode(), np.uint8)
    return arrays


def convert(folder: Path, source: str, target: str, **arguments: object) -> Path:
    """Convert a file."""
    given = {"input": source, "output": target, **arguments}
    words = wire_cell.settings(**given)
    done = wire_cell.run("-c", CONVERT, *words, folder=folder)
    assert done.returncode == 0, done.stderr
    return folder / target


def require_same(seen: Arrays, expected: Arrays) -> None:
    """Check names, order, types and bits."""
    assert list(seen) == list(expected)
    for name, array in expected.items():
        assert seen[name].dtype == array.dtype and seen[name].shape == array.shape, name
        assert seen[name].tobytes() == array.tobytes(), name


@pytest.fixture(name="dense_file", scope="module", params=[".npz", ".tar.bz2"])
def fixture_dense_file(
    events: Arrays, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Path:
    """The events in a dense file that the converter wrote."""
    folder = tmp_path_factory.mktemp("converted")
    wire_cell.write_arrays(folder / f"in{request.param}", events)
    return convert(folder, f"in{request.param}", f"dense{request.param}")


class TestConverter:
    """cfg/convert.jsonnet."""

    def test_dense_to_dense(self, events: Arrays, dense_file: Path) -> None:
        require_same(read_arrays(dense_file), events)

    def test_there_and_back(self, events: Arrays, dense_file: Path) -> None:
        folder, ending = dense_file.parent, "".join(dense_file.suffixes)
        other = ".tar" if ending == ".npz" else ".npz"
        sparse = convert(folder, dense_file.name, f"sparse{other}", frames="sparse")
        require_same(read_arrays(sparse), sparse_arrays(events))
        assert output_check.read_content(sparse).events == 2
        assert convert(folder, sparse.name, f"again{ending}").read_bytes() == dense_file.read_bytes()

    def test_chosen_tags_and_events(self, events: Arrays, tmp_path: Path) -> None:
        wire_cell.write_arrays(tmp_path / "in.npz", sparse_arrays(events))
        seen = read_arrays(convert(tmp_path, "in.npz", "out.npz", tags="roi,one_more_tag", nevents=1))
        names = [
            name
            for name in events
            if re.fullmatch(r"(\w+_(roi|one_more_tag)|chanmask_bad|notes_spng)_4", name)
        ]
        require_same(seen, {name: events[name] for name in names})

    def test_the_check(self) -> None:
        """As for other jobs: arguments are read, data files are not; frames of unknown size have no memory plan."""

        def check(*words: str) -> tuple[int, str]:
            done = wire_cell.run("--check-configuration", "-c", CONVERT, *words)
            return done.returncode, done.stdout + done.stderr

        status, text = check("-A", "input=none.npz")
        assert status == 0 and "2 nodes, 1 edges, valid" in text
        assert re.findall("memory: .*", text) == [
            "memory: no plan, because the configuration does not give the size of an event"
        ]
        status, text = check("-A", "tags=")
        assert status == 2 and "FrameFileSource" in text and "an empty list of tags" in text

    def test_tags_with_their_own_times(self, tmp_path: Path) -> None:
        arrays = event(0, "early", np.ones((2, 3), np.int16)) | event(0, "late", np.ones((2, 3), np.int16))
        arrays["tickinfo_late_0"] = np.array([7000.0, 250.0, 0.0])
        wire_cell.write_arrays(tmp_path / "in.npz", arrays)
        require_same(read_arrays(convert(tmp_path, "in.npz", "out.npz")), arrays)

    def test_faults_name_file_and_member(self, events: Arrays, tmp_path: Path) -> None:
        arrays = sparse_arrays(events)
        arrays["runs_signal_4"] = arrays["runs_signal_4"][::-1]
        wire_cell.write_arrays(tmp_path / "in.npz", arrays)
        done = wire_cell.run("-c", CONVERT, "-A", "input=in.npz", "-A", "output=out.npz", folder=tmp_path)
        assert done.returncode == 1 and not (tmp_path / "out.npz").exists()
        assert "two runs overlap or are out of order" in done.stderr
        assert re.search(r"in\.npz, member runs_signal_4\.npy", done.stderr)


@pytest.fixture(name="frames", scope="module")
def fixture_frames(site: Site) -> Arrays:
    """One event as input."""
    return site.busy_frames(1, 400)


@pytest.fixture(name="dense_output", scope="module")
def fixture_dense_output(site: Site, frames: Arrays) -> Arrays:
    return site.job(frames, tags=TAGS, output="dense.npz")


@pytest.fixture(name="sparse_output", scope="module")
def fixture_sparse_output(site: Site, frames: Arrays) -> Arrays:
    return site.job(frames, tags=TAGS, output="sparse.npz", frames="sparse")


class TestJobs:
    """cfg/pipeline.jsonnet."""

    def test_sparse_output(self, dense_output: Arrays, sparse_output: Arrays) -> None:
        assert dense_output["frame_signal_0"].any()
        require_same(sparse_output, sparse_arrays(dense_output))

    @pytest.mark.usefixtures("dense_output", "sparse_output")
    def test_converted_output(self, site: Site) -> None:
        converted = convert(site.folder, "sparse.npz", "converted.npz")
        assert converted.read_bytes() == (site.folder / "dense.npz").read_bytes()

    def test_sparse_input(self, site: Site, frames: Arrays, dense_output: Arrays) -> None:
        require_same(site.job(sparse_arrays(frames), tags=TAGS, output="again.npz"), dense_output)

    def test_the_argument_is_checked(self) -> None:
        done = wire_cell.run("--check-configuration", "-c", wire_cell.PIPELINE, "-A", "frames=spares")
        assert done.returncode == 2 and "spares" in done.stderr and "known: dense, sparse" in done.stderr
        done = wire_cell.run("--check-configuration", "-c", wire_cell.PIPELINE, "-A", "frames=sparse")
        assert done.returncode == 0 and "valid" in done.stdout


class TestReaders:
    """Other readers of the same files."""

    @pytest.mark.parametrize("ending", wire_cell.ENDINGS)
    def test_python(self, events: Arrays, tmp_path: Path, ending: str) -> None:
        path = wire_cell.write_arrays(tmp_path / f"in{ending}", sparse_arrays(events))
        frames = list(spng.read_frames(path))
        assert [frame.ident for frame in frames] == [4, 9]
        for frame in frames:
            assert list(frame.traces) == ["signal", "roi", "one_more_tag", "*"]
            for tag, traces in frame.traces.items():
                assert isinstance(traces.samples, spng.SparseSamples)
                expected = events[f"frame_{tag}_{frame.ident}"]
                assert traces.dense().dtype == expected.dtype and traces.samples.shape == expected.shape
                assert traces.dense().tobytes() == expected.tobytes()

    @pytest.mark.parametrize("change", [[(0, 2, 1)], [(0, 0, 99)], [(0, 1, -1)]])
    def test_python_rejects_faults(self, tmp_path: Path, change: list[tuple[int, int, int]]) -> None:
        arrays = sparse_arrays(event(0, "signal", np.eye(3, dtype=np.float32)))
        for row, column, step in change:
            arrays["runs_signal_0"][row, column] += step
        path = wire_cell.write_arrays(tmp_path / "in.tar", arrays)
        with pytest.raises(spng.Error, match="run"):
            next(spng.read_frames(path))

    def test_the_code_of_the_page(
        self, events: Arrays, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
        first = {name.replace("_4", "_0"): array for name, array in events.items() if name.endswith("_4")}
        wire_cell.write_arrays(tmp_path / "signal.npz", sparse_arrays(first))
        monkeypatch.chdir(tmp_path)
        names: dict = {}
        exec(code, names)
        assert names["signal"].tobytes() == events["frame_signal_4"].tobytes()

    def test_wct_reads_the_dense_tags_only(self, tmp_path: Path) -> None:
        ones = np.ones((2, 3), np.float32)
        arrays = event(4, "gauss", ones) | sparse_arrays(event(4, "signal", ones))
        path = wire_cell.write_arrays(tmp_path / "in.npz", arrays)
        (seen,) = read_frames(path, ("gauss",))
        np.testing.assert_array_equal(seen.tags["gauss"].samples, ones)
        with pytest.raises(Rejected, match="tag signal"):
            read_frames(path, ("signal",))

    @pytest.mark.parametrize("kind", ["values", "shape"])
    def test_campaigns_miss_a_member(self, events: Arrays, tmp_path: Path, kind: str) -> None:
        arrays = sparse_arrays(events)
        del arrays[f"{kind}_roi_9"]
        path = wire_cell.write_arrays(tmp_path / "in.npz", arrays)
        with pytest.raises(output_check.Unreadable, match=rf"_roi_9.npy without {kind}_roi_9.npy"):
            output_check.read_content(path)
