# SPDX-License-Identifier: Apache-2.0
"""Several anodes in one job give what a job for each gives: from one file or one each, batched or not, on either engine.

The anodes are those of a small detector (tests/support/small_anodes.py), of which anode 0, whose V plane collects, has another
response, other groups and other filters. Their frames are cuts of one readout with the channel ids of each anode. The wires of
pdhd_badAPA1, which wrap around two faces, are tested in one batch.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import small_anodes, wire_cell
from tests.support.small_anodes import ANODES, CHANNELS
from tests.support.wire_cell import Arrays, difference

pytestmark = wire_cell.needs_program

TICKS = 400
EVENTS = (4, 0)
DEAD = {anode: CHANNELS * anode + 30 + anode for anode in ANODES}
SATURATED = 2 * CHANNELS + 120  # of the collection wires
INDUCTION = 114  # channels of U and V of an anode, the first ones
MASKS = ("mp2", "mp3", "roi")
WAVEFORMS = ("signal", "error", "decon_charge", "wiener", "loose")
TAGS = ",".join(WAVEFORMS + MASKS)
# Of the largest value: four steps of float32. Transforms of another count of rows may add in another order, which depends
# on the processor.
BATCH_LIMIT = 4 * 2.0**-23
LABELS = {
    "true": ("anode0", "anodes1+2"),
    "false": ("anode0", "anode1", "anode2"),
}  # of batches, by batch_anodes
DETECTOR = "pdhd_badAPA1"
DETECTOR_CHANNELS = 2560
DETECTOR_STARTS = {1: 2000, 2: 900}  # first tick of an anode's cut of the default event


def groups_of(label: str) -> tuple[str, ...]:
    """Names of the groups of a batch."""
    return ("collection", "induction", "weak") if label == "anode0" else ("collection", "induction")


def run_job(folder: Path, *flags: str | Path, **arguments: Any) -> None:
    """The main job, to its good end."""
    given = {"device": "cpu", "threads": 1, "model": "standin", **arguments}
    words = wire_cell.settings(**given)
    done = wire_cell.run("-c", wire_cell.PIPELINE, *flags, *words, folder=folder)
    assert done.returncode == 0, done.stderr


def run_all(folder: Path, *flags: str | Path, **arguments: Any) -> Arrays:
    """The job over all anodes; the arrays of its output."""
    run_job(folder, *flags, **{"output": "all.npz", "tpcid": "0,1,2", **arguments})
    return wire_cell.read_arrays(folder / "all.npz")


@pytest.fixture(name="detector", scope="module")
def fixture_detector(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The flags with which jobs find the anodes."""
    return small_anodes.write_description(tmp_path_factory.mktemp("detector"))


@pytest.fixture(name="readout", scope="module")
def fixture_readout(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """TICKS for each anode in each event."""
    return small_anodes.readout(tmp_path_factory.mktemp("readout"), len(EVENTS) * len(ANODES), TICKS)


def frame_of(readout: np.ndarray, anode: int, ident: int) -> Arrays:
    """One anode's part of an event, with a dead channel."""
    first = TICKS * (len(ANODES) * EVENTS.index(ident) + anode)
    cut = np.ascontiguousarray(readout[:, first : first + TICKS])
    own = np.arange(CHANNELS) + CHANNELS * anode
    if SATURATED in own and ident == EVENTS[0]:
        cut[SATURATED - own[0], 100:103] = 2**14 - 1
    dead = np.array([[DEAD[anode], 0, TICKS]], dtype=np.int32)
    return wire_cell.event(cut, own, ident) | {f"chanmask_bad_{ident}": dead}


def joined(parts: list[Arrays]) -> Arrays:
    """Frames of one event with the channels of all parts, row by row in turn: no anode's rows are adjacent."""
    result = {}
    for name in parts[0]:
        if name.startswith("tickinfo"):
            result[name] = parts[0][name]
        elif name.startswith("chanmask"):
            result[name] = np.concatenate([part[name] for part in parts])
        else:
            result[name] = np.stack([part[name] for part in parts], axis=1).reshape(
                -1, *parts[0][name].shape[1:]
            )
    return result


@pytest.fixture(name="inputs", scope="module")
def fixture_inputs(readout: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with adc-N.npz of each anode and all.npz, two events each."""
    folder = tmp_path_factory.mktemp("inputs")
    for anode in ANODES:
        arrays = {name: array for ident in EVENTS for name, array in frame_of(readout, anode, ident).items()}
        wire_cell.write_arrays(folder / f"adc-{anode}.npz", arrays)
    together: Arrays = {}
    for ident in EVENTS:
        together |= joined([frame_of(readout, anode, ident) for anode in ANODES])
    wire_cell.write_arrays(folder / "all.npz", together)
    return folder


@pytest.fixture(name="singles", scope="module")
def fixture_singles(detector: list[str], inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with single-N.npz, each by a job of its own."""
    folder = tmp_path_factory.mktemp("singles")
    for anode in ANODES:
        run_job(
            folder,
            *detector,
            input=inputs / f"adc-{anode}.npz",
            output=f"single-{anode}.npz",
            tpcid=anode,
            tags=TAGS,
        )
    return folder


def rows_of(arrays: Arrays, name: str, anode: int) -> np.ndarray:
    """The rows of one anode of an array (channel, ...) of all of them."""
    return arrays[name][CHANNELS * anode : CHANNELS * (anode + 1)]


def rounding(seen: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest |seen - expected| in units of the largest |expected|."""
    return float(np.abs(seen - expected).max() / np.abs(expected).max())


def check_same_as_singles(arrays: Arrays, singles: Path, limit: float = 0.0) -> None:
    """Each anode's rows are what its own job gives: the same bits for a limit of 0, else waveforms within it (rounding) and equal masks."""
    for anode in ANODES:
        expected = wire_cell.read_arrays(singles / f"single-{anode}.npz")
        for ident in EVENTS:
            for tag in WAVEFORMS + MASKS:
                name = f"{tag}_{ident}"
                np.testing.assert_array_equal(
                    rows_of(arrays, f"channels_{name}", anode), expected[f"channels_{name}"]
                )
                np.testing.assert_array_equal(arrays[f"tickinfo_{name}"], expected[f"tickinfo_{name}"])
                seen, frame = rows_of(arrays, f"frame_{name}", anode), expected[f"frame_{name}"]
                assert seen.dtype == frame.dtype
                if limit == 0 or tag in MASKS:
                    np.testing.assert_array_equal(seen, frame, err_msg=f"{name}, anode {anode}")
                elif frame.any():
                    assert rounding(seen, frame) < limit, f"{name}, anode {anode}"
            noise = f"summary_wiener_{ident}"
            np.testing.assert_allclose(rows_of(arrays, noise, anode), expected[noise], rtol=limit)


class TestSameAsSingleJobs:
    """Byte for byte."""

    def test_there_is_something_to_compare(self, singles: Path) -> None:
        for anode in ANODES:
            arrays = wire_cell.read_arrays(singles / f"single-{anode}.npz")
            for ident in EVENTS:
                assert np.count_nonzero(arrays[f"frame_signal_{ident}"][:INDUCTION]) > 200, (anode, ident)
                notes = json.loads(arrays[f"notes_spng_{ident}"].tobytes())
                assert {"model", "wires", "field"} <= set(notes)
        others = [
            wire_cell.read_arrays(singles / f"single-{anode}.npz")["frame_signal_4"] for anode in (1, 2)
        ]
        assert difference(others[0], others[1]) > 1

    def test_one_file_for_all(self, detector: list[str], inputs: Path, singles: Path, tmp_path: Path) -> None:
        arrays = run_all(tmp_path, *detector, input=inputs / "all.npz", tags=TAGS)
        assert [name for name in arrays if name.startswith("frame_signal")] == [
            f"frame_signal_{ident}" for ident in EVENTS
        ]
        np.testing.assert_array_equal(arrays["channels_signal_4"], np.arange(CHANNELS * len(ANODES)))
        check_same_as_singles(arrays, singles)
        np.testing.assert_array_equal(np.sort(arrays["chanmask_bad_4"][:, 0]), sorted(DEAD.values()))
        np.testing.assert_array_equal(arrays["chanmask_saturated_4"], [[SATURATED, 100, 103]])
        for channel in DEAD.values():
            assert not arrays["frame_signal_4"][channel].any()

    def test_a_file_for_each(self, detector: list[str], inputs: Path, singles: Path, tmp_path: Path) -> None:
        """Whole files: channel masks and notes too are those of the anode. On the parallel engine."""
        run_job(
            tmp_path,
            *detector,
            input=inputs / "adc-%d.npz",
            output="part-%d.npz",
            tpcid="0,1,2",
            tags=TAGS,
            engine="TbbFlow",
        )
        assert sorted(path.name for path in tmp_path.iterdir()) == [f"part-{anode}.npz" for anode in ANODES]
        for anode in ANODES:
            assert (tmp_path / f"part-{anode}.npz").read_bytes() == (
                singles / f"single-{anode}.npz"
            ).read_bytes(), anode

    def test_one_anode_of_a_file(
        self, detector: list[str], inputs: Path, singles: Path, tmp_path: Path
    ) -> None:
        """The channels of the others are left out when asked; the masks of the file are passed on whole. Edges are written under
        the names of the anode's own job.
        """
        run_job(
            tmp_path,
            *detector,
            input=inputs / "all.npz",
            output="part-%d.npz",
            tpcid="1",
            other_anodes="ignore",
            tags=TAGS,
            dump="regions",
        )
        assert {path.name for path in tmp_path.iterdir()} == (
            {"part-1.npz"} | {f"part-1-regions-{group}.npz" for group in ("collection", "induction")}
        )
        arrays, expected = (
            wire_cell.read_arrays(path) for path in (tmp_path / "part-1.npz", singles / "single-1.npz")
        )
        for name in expected:
            if not name.startswith("chanmask"):
                np.testing.assert_array_equal(arrays[name], expected[name])


@pytest.fixture(name="timings", scope="module")
def fixture_timings(
    detector: list[str], inputs: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[dict, Arrays]]:
    """With and without batches: what --timing wrote, and the output. Coherent noise is removed, anode by anode."""
    timings = {}
    for choice in ("true", "false"):
        folder = tmp_path_factory.mktemp(choice)
        arrays = run_all(
            folder,
            *detector,
            "--timing",
            "timing.json",
            input=inputs / "all.npz",
            model="none",
            batch_anodes=choice,
            noise_filter="coherent",
            dump="regions",
            nevents=1,
        )
        timings[choice] = json.loads((folder / "timing.json").read_text(encoding="utf-8")), arrays
        assert {path.name for path in folder.glob("all-*")} == {
            f"all-regions-{label}-{group}.npz" for label in LABELS[choice] for group in groups_of(label)
        }
    return timings


class TestBatch:
    """Anodes with equal responses and networks in one tensor."""

    def test_same_within_rounding(
        self, detector: list[str], inputs: Path, singles: Path, tmp_path: Path
    ) -> None:
        arrays = run_all(tmp_path, *detector, input=inputs / "all.npz", tags=TAGS, batch_anodes="true")
        check_same_as_singles(arrays, singles, BATCH_LIMIT)

    def test_wires_around_two_faces(self, tmp_path: Path) -> None:
        """The rows of an anode of pdhd_badAPA1 are those of its own job."""
        samples, channels, _ = wire_cell.default_adc()
        given = {"detname": DETECTOR, "model": "none", "tags": "signal,decon_charge,roi"}
        parts, expected = [], []
        for anode, first in DETECTOR_STARTS.items():
            cut = np.ascontiguousarray(samples[:, first : first + TICKS])
            parts.append(wire_cell.event(cut, channels + DETECTOR_CHANNELS * anode))
            wire_cell.write_arrays(tmp_path / "adc.npz", parts[-1])
            expected.append(run_all(tmp_path, input="adc.npz", tpcid=anode, **given))
        wire_cell.write_arrays(tmp_path / "adc.npz", joined(parts))
        seen = run_all(tmp_path, input="adc.npz", tpcid="1,2", batch_anodes="true", **given)
        for index, arrays in enumerate(expected):
            rows = slice(DETECTOR_CHANNELS * index, DETECTOR_CHANNELS * (index + 1))
            assert np.count_nonzero(arrays["frame_signal_0"][:1600]) > 1000
            np.testing.assert_array_equal(seen["channels_signal_0"][rows], arrays["channels_signal_0"])
            np.testing.assert_array_equal(seen["frame_roi_0"][rows], arrays["frame_roi_0"])
            for tag in ("signal", "decon_charge"):
                assert rounding(seen[f"frame_{tag}_0"][rows], arrays[f"frame_{tag}_0"]) < BATCH_LIMIT
        assert difference(expected[0]["frame_signal_0"], expected[1]["frame_signal_0"]) > 1

    def test_boards_of_each_anode(
        self, timings: dict[str, tuple[dict, Arrays]], detector: list[str], inputs: Path, tmp_path: Path
    ) -> None:
        """Coherent noise is that of an anode's own boards."""
        expected = wire_cell.job(
            tmp_path,
            *detector,
            input=inputs / "adc-2.npz",
            tpcid=2,
            model="none",
            noise_filter="coherent",
            nevents=1,
            threads=1,
        )["frame_signal_4"]
        np.testing.assert_array_equal(rows_of(timings["false"][1], "frame_signal_4", 2), expected)
        seen = rows_of(timings["true"][1], "frame_signal_4", 2)
        np.testing.assert_array_equal(seen != 0, expected != 0)
        assert rounding(seen, expected) < BATCH_LIMIT

    def test_fewer_nodes_and_operations(self, timings: dict[str, tuple[dict, Arrays]]) -> None:
        """A batch of anodes 1 and 2 costs the operations of anode 2 alone, which finds the kernels of the deconvolution made.

        Their ratio says little: in the first event, a third of all operations make the kernels of anodes 0 and 1, with
        and without batches.
        """
        nodes, operations = {}, {}
        for choice, (timing, _) in timings.items():
            operations[choice] = {node["name"]: node["leaf_operations"] for node in timing["nodes"]}
            nodes[choice] = {node["name"] for node in timing["nodes"] if node["type"] == "SPNGDecon"}
            assert nodes[choice] == {
                f"SPNGDecon:{label}-{group}" for label in LABELS[choice] for group in groups_of(label)
            }
            assert "SPNGFrameToTorchSetFanout:anodes0+1+2" in operations[choice]
        of_anode_2 = sum(count for name, count in operations["false"].items() if "anode2-" in name)
        assert of_anode_2 > 30
        assert sum(operations["true"].values()) == sum(operations["false"].values()) - of_anode_2


def test_one_anode_after_the_other(tmp_path: Path) -> None:
    """A serial job calls nodes in the order of its components: all of an anode before the next, so that memory is that of one."""
    done = wire_cell.run(
        "-c",
        wire_cell.PIPELINE,
        *wire_cell.settings(f"detname={DETECTOR}", "tpcid=all", "tags=signal,wiener"),
        "--check-configuration",
        "--dot",
        "graph.dot",
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    order = re.findall(r'label="SPNG\w+\\n([^"]*)"', (tmp_path / "graph.dot").read_text(encoding="utf-8"))
    of_anode = [[i for i, name in enumerate(order) if f"anode{anode}-" in name] for anode in range(4)]
    assert len(order) > 90 and min(map(len, of_anode)) > 20
    for before, after in zip(of_anode, of_anode[1:]):
        assert max(before) < min(after), order


def rejected(folder: Path, status: int, *flags: str, **arguments: Any) -> str:
    """The block that the job ends with."""
    given = {"device": "cpu", "output": "output.npz", "tpcid": "all", "model": "none", **arguments}
    words = wire_cell.settings(**given)
    return wire_cell.rejected("-c", wire_cell.PIPELINE, *flags, *words, folder=folder, status=status)


class TestFaults:
    """Check mistakes that a user may make."""

    @pytest.mark.parametrize(
        "tpcid, words",
        [
            ("0,7", ["pdhd has no anode 7", "0, 1, 2, 3"]),
            ("-1", ["pdhd has no anode -1"]),
            ("0,x", ["argument 'tpcid'", "whole number", "'x'"]),
            ("1,0,1", ["names an anode twice", "1, 0, 1"]),
            (",", ["names no anode", "0, 1, 2, 3"]),
        ],
    )
    def test_wrong_anodes(self, tmp_path: Path, tpcid: str, words: list[str]) -> None:
        block = wire_cell.run(
            "--check-configuration", "-c", wire_cell.PIPELINE, "-A", f"tpcid={tpcid}", folder=tmp_path
        )
        assert block.returncode == 2
        for word in words:
            assert word in block.stderr

    def test_wrong_choices(self, tmp_path: Path) -> None:
        for argument, word in (
            ("batch_anodes=maybe", "true or false"),
            ("other_anodes=drop", "other_anodes drop"),
        ):
            done = wire_cell.run(
                "--check-configuration", "-c", wire_cell.PIPELINE, "-A", argument, folder=tmp_path
            )
            assert done.returncode == 2 and word in done.stderr, done.stderr

    def test_an_anode_that_is_not_in_the_file(
        self, detector: list[str], inputs: Path, tmp_path: Path
    ) -> None:
        block = rejected(tmp_path, 1, *detector, input=inputs / "adc-2.npz", tpcid="1,2")
        assert (
            "no channel of anode 1" in block
            and f"{CHANNELS} channels, of anodes 2" in block
            and f"{CHANNELS} to {2 * CHANNELS - 1}" in block
        )

    def test_channels_of_other_anodes(self, detector: list[str], inputs: Path, tmp_path: Path) -> None:
        block = rejected(tmp_path, 1, *detector, input=inputs / "all.npz", tpcid="0,2")
        assert "belong to none of the anodes" in block and "anodes 0, 2" in block
        assert f"{CHANNELS} of {3 * CHANNELS}" in block
        assert "other_anodes=ignore" in block

    def test_a_file_that_is_not_there(self, detector: list[str], inputs: Path, tmp_path: Path) -> None:
        (tmp_path / "adc-0.npz").symlink_to(inputs / "adc-0.npz")
        block = rejected(tmp_path, 2, *detector, input="adc-%d.npz", tpcid="0,1")
        assert "'adc-1.npz' not found" in block

    def test_a_channel_in_two_files(self, detector: list[str], inputs: Path, tmp_path: Path) -> None:
        for anode in (0, 1):
            (tmp_path / f"adc-{anode}.npz").symlink_to(inputs / "adc-0.npz")
        block = rejected(tmp_path, 1, *detector, input="adc-%d.npz", tpcid="0,1")
        assert "a channel is in two files" in block and "channel 0 in" in block and "adc-1.npz" in block

    def test_files_with_other_numbers_of_events(
        self, detector: list[str], inputs: Path, readout: np.ndarray, tmp_path: Path
    ) -> None:
        """The events that all files have are kept."""
        (tmp_path / "adc-0.npz").symlink_to(inputs / "adc-0.npz")
        wire_cell.write_arrays(tmp_path / "adc-1.npz", frame_of(readout, 1, 4))
        block = rejected(tmp_path, 1, *detector, input="adc-%d.npz", tpcid="0,1")
        assert "fewer events" in block and "adc-1.npz" in block and "adc-0.npz" in block
        assert "frame_signal_4" in wire_cell.read_arrays(tmp_path / "output.npz")

    def test_an_event_that_fails_in_one_anode_is_left_out_of_all(
        self, detector: list[str], inputs: Path, readout: np.ndarray, tmp_path: Path
    ) -> None:
        """No file has it, all have the others."""
        (tmp_path / "adc-1.npz").symlink_to(inputs / "adc-1.npz")
        damaged = frame_of(readout, 2, 4)
        wire_cell.write_arrays(
            tmp_path / "adc-2.npz",
            damaged | {"channels_*_4": damaged["channels_*_4"][:-1]} | frame_of(readout, 2, 0),
        )
        done = wire_cell.run(
            "--on-error",
            "skip",
            "-c",
            wire_cell.PIPELINE,
            *detector,
            *wire_cell.settings(
                "input=adc-%d.npz",
                "output=out-%d.npz",
                "tpcid=1,2",
                "device=cpu",
                "model=none",
                "engine=TbbFlow",
            ),
            folder=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        assert "adc-2.npz" in done.stderr and "event 4" in done.stderr
        for anode in (1, 2):
            arrays = wire_cell.read_arrays(tmp_path / f"out-{anode}.npz")
            assert {name for name in arrays if name.startswith("frame")} == {"frame_signal_0"}
            np.testing.assert_array_equal(arrays["channels_signal_0"], np.arange(CHANNELS) + CHANNELS * anode)
