# SPDX-License-Identifier: Apache-2.0
"""Check the cost of an event in quantities that can be counted on any machine: operations, copies, bytes and memory.

Times depend on the machine and never fail a test (./wcb bench shows them); these numbers do not.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.small_site import Site
from tests.support.wire_cell import default_adc, event, job, needs_program, write_arrays

pytestmark = needs_program

EVENTS = 2
BALLAST = 1_100_000_000  # bytes
FILE_NODES = ("FrameFileSource", "FrameFileSink")

# The promise is 300. A change of a tenth in either direction is to be noticed and put down here.
MOST_OPERATIONS = 300
OPERATIONS = 29

# They make the host wait for a device: a value is read, or the size of an output depends on values.
HIDDEN_SYNCHRONISATIONS = {
    f"aten::{name}"
    for name in (
        "item",
        "_local_scalar_dense",
        "is_nonzero",
        "equal",
        "allclose",
        "nonzero",
        "argwhere",
        "masked_select",
        "unique_dim",
        "unique_consecutive",
        "_unique",
        "_unique2",
        "bincount",
        "repeat_interleave",
        "histc",
    )
}
# They move data from one device or type to another.
CONVERSIONS = {"aten::to", "aten::_to_copy", "aten::cpu", "aten::cuda", "aten::_pin_memory", "aten::clone"}

# Views are data, not nodes: a step has one node for each group of equal shapes, U with V and the two sides of W.
NODES = {
    "FrameFileSource": 1,
    "SPNGFrameToTorchSetFanout": 1,
    "SPNGDecon": 2,
    "SPNGApply1DSpectrum": 5,
    "SPNGChannelRMS": 2,
    "SPNGLongPulses": 1,
    "SPNGThresholdROIs": 2,
    "SPNGNoTileMPCoincidence": 1,
    "SPNGCoincidenceROIs": 1,
    "SPNGApplyROI": 2,
    "SPNGTorchTensorSetToFrameFanin": 1,
    "SPNGStitchWindows": 1,
    "FrameFileSink": 1,
}
PLUMBING = ("SPNGFanoutTensorSets", "SPNGFaninTensorSets")
PASSING_ON = ("SPNGFrameToTorchSetFanout", "SPNGTorchTensorSetToFrameFanin", "SPNGApplyROI")

INT16, FLOAT, COMPLEX = 2, 4, 8
TICKS, SLICES, FREQUENCIES = 6000, 1500, 6300 // 2 + 1
MASK = 8 * -(-SLICES // 64)  # bytes of a packed row
INDUCTION, COLLECTION = 2 * 800, 2 * 480

# Node: bytes of its input and output tensors for one event.
EDGES = {
    "SPNGFrameToTorchSetFanout:anode0": ((INDUCTION + COLLECTION) * TICKS * INT16,) * 2,
    "SPNGDecon:induction": (INDUCTION * TICKS * INT16, INDUCTION * FREQUENCIES * COMPLEX),
    "SPNGDecon:collection": (COLLECTION * TICKS * INT16, COLLECTION * FREQUENCIES * COMPLEX),
    "SPNGApply1DSpectrum:gauss-induction": (INDUCTION * FREQUENCIES * COMPLEX, INDUCTION * TICKS * FLOAT),
    "SPNGApply1DSpectrum:gauss-collection": (COLLECTION * FREQUENCIES * COMPLEX, COLLECTION * TICKS * FLOAT),
    "SPNGApply1DSpectrum:tight-induction": (INDUCTION * FREQUENCIES * COMPLEX, INDUCTION * SLICES * FLOAT),
    "SPNGApply1DSpectrum:loose-induction": (INDUCTION * FREQUENCIES * COMPLEX, INDUCTION * SLICES * FLOAT),
    "SPNGApply1DSpectrum:tight-collection": (COLLECTION * FREQUENCIES * COMPLEX, COLLECTION * SLICES * FLOAT),
    "SPNGNoTileMPCoincidence:induction": (
        (INDUCTION + COLLECTION) * MASK,
        2 * INDUCTION * MASK,
    ),
    "SPNGApplyROI:signal-induction": (INDUCTION * (TICKS * FLOAT + MASK), INDUCTION * TICKS * FLOAT),
    "SPNGApplyROI:signal-collection": (
        COLLECTION * (TICKS * FLOAT + MASK),
        COLLECTION * TICKS * FLOAT,
    ),
    "SPNGTorchTensorSetToFrameFanin:anode0": ((INDUCTION + COLLECTION) * TICKS * FLOAT,) * 2,
    "FrameFileSink": ((INDUCTION + COLLECTION) * TICKS * FLOAT, 0),
}
# Packed masks that a node which makes ROIs holds at once: the levels of its images, and seeds and runs of each pass. It
# makes one of them, an eighth of a bool mask, so that its memory is counted in masks and not in copies of float images.
MASKS_AT_ONCE = {
    "SPNGThresholdROIs:induction": 10,
    "SPNGThresholdROIs:collection": 4,
    "SPNGCoincidenceROIs:induction": 15,
}
# Small tensors go along with the large ones: channel ids, bad channels, noise of each channel.
SMALL = 200_000


@dataclass(frozen=True)
class Run:
    """The report of --timing about a run over EVENTS equal events."""

    timing: dict

    def nodes(self) -> list[dict]:
        """Between file input and output."""
        return [node for node in self.timing["nodes"] if node["type"] not in FILE_NODES]

    def operations(self) -> dict[str, Counter]:
        """Node -> operator -> leaf operations in an event."""
        return {
            node["name"]: Counter({name: count / EVENTS for name, count in node["operations"].items()})
            for node in self.nodes()
        }

    def total(self) -> float:
        """Leaf operations of an event."""
        return sum(node["leaf_operations"] for node in self.nodes()) / EVENTS


@pytest.fixture(name="frames", scope="module")
def fixture_frames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default event EVENTS times."""
    samples, channels, start = default_adc()
    arrays = {}
    for ident in range(EVENTS):
        arrays |= event(samples, channels, ident, start_ns=start)
    return write_arrays(tmp_path_factory.mktemp("frames") / "adc.tar", arrays)


def run_of(frames: Path, folder: Path, **arguments: object) -> Run:
    """The main job over the frames."""
    job(
        folder,
        "--timing",
        str(folder / "timing.json"),
        input=frames,
        output="signal.tar",
        model="none",
        **arguments,
    )
    return Run(json.loads((folder / "timing.json").read_text(encoding="utf-8")))


@pytest.fixture(name="serial", scope="module")
def fixture_serial(frames: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """As a user runs it, from a Python that is larger than the job may be."""
    ballast = b"\1" * BALLAST
    run = run_of(frames, tmp_path_factory.mktemp("serial"))
    assert len(ballast) == BALLAST
    return run


def check_operations(run: Run, most: float = MOST_OPERATIONS) -> None:
    """Few operations, and none that waits for a device or converts."""
    assert 0 < run.total() < most
    for node, operations in run.operations().items():
        assert not HIDDEN_SYNCHRONISATIONS & set(operations), (node, operations)
        assert not CONVERSIONS & set(operations), (node, operations)


def test_operations_are_few_and_none_waits(serial: Run) -> None:
    check_operations(serial)


def test_operations_are_as_many_as_known(serial: Run) -> None:
    assert serial.total() == pytest.approx(OPERATIONS, rel=0.1), serial.operations()


def test_totals_agree_with_the_operators_by_name(serial: Run) -> None:
    for node in serial.nodes():
        assert sum(node["operations"].values()) == node["leaf_operations"], node["name"]


def test_every_event_costs_the_same(serial: Run) -> None:
    for node in serial.nodes():
        assert len({call["leaf_operations"] for call in node["per_call"]}) == 1, node["name"]


def test_hardly_anything_is_copied(serial: Run) -> None:
    """At most one copy in a node, three where deconvolution pads channels and turns each of its two views, none where data are passed on."""
    for name, operations in serial.operations().items():
        assert operations["aten::copy_"] <= (3 if name.startswith("SPNGDecon") else 1), name
        if name.split(":")[0] in (*PLUMBING, *PASSING_ON):
            assert operations["aten::copy_"] == 0, name


def test_one_node_for_each_group_of_equal_shapes(serial: Run) -> None:
    seen = Counter(node["type"] for node in serial.timing["nodes"])
    assert {name: count for name, count in seen.items() if name not in PLUMBING} == NODES


def test_every_node_is_called_once_for_each_event(serial: Run) -> None:
    for node in serial.timing["nodes"]:
        assert sorted(call["event"] for call in node["per_call"]) == list(range(EVENTS)), node["name"]
        assert node["failed"] == 0


def test_bytes_on_the_edges_are_those_of_the_shapes(serial: Run) -> None:
    nodes = {node["name"]: node for node in serial.timing["nodes"]}
    for name, (given, made) in EDGES.items():
        assert 0 <= nodes[name]["in_bytes"] / EVENTS - given <= SMALL, (
            name,
            nodes[name]["in_bytes"] / EVENTS,
            given,
        )
        assert 0 <= nodes[name]["out_bytes"] / EVENTS - made <= SMALL, (
            name,
            nodes[name]["out_bytes"] / EVENTS,
            made,
        )


def test_plumbing_takes_no_memory(serial: Run) -> None:
    for node in serial.nodes():
        if node["type"] in PLUMBING:
            assert node["cpu_peak_bytes"] == 0, node["name"]


def test_memory_of_nodes_and_process(serial: Run) -> None:
    """A node needs at most four copies of what it makes at once (the transforms do), or MASKS_AT_ONCE; the process 1 GB
    in all."""
    for node in serial.nodes():
        made = max(call["out_bytes"] for call in node["per_call"])
        most = MASKS_AT_ONCE.get(node["name"], 4.2)
        assert node["cpu_peak_bytes"] <= most * made, (node["name"], node["cpu_peak_bytes"], made)
    assert max(node["cpu_peak_bytes"] for node in serial.nodes()) < 170e6
    assert serial.timing["run"]["process_peak_bytes"] < 1.0e9


def test_memory_is_that_of_the_program_alone(serial: Run) -> None:
    """The kernel hands the greatest memory of a process on to the program it becomes: a large Python must not count."""
    assert 0.5e9 < serial.timing["run"]["process_peak_bytes"] < 1.0e9 < BALLAST


@pytest.mark.parametrize("overlap", ["true", "false"])
def test_events_after_the_first_ones_get_no_new_pages(overlap: str, tmp_path: Path) -> None:
    """A buffer of 61 MB that is returned and asked for anew costs 15,000 page faults, or 30 on huge pages.

    The second event may need blocks beside those of the first, which is still being written; so the mean over nine later ones.
    The remainder is pages of thread stacks, small tables and the report. In files a small event is enough: all large buffers scale with it.
    """
    samples, channels, start = default_adc()
    arrays = {}
    for ident in range(10):
        arrays |= event(samples[:, :1500], channels, ident, start_ns=start)
    frames = write_arrays(tmp_path / "adc.tar", arrays)
    run = run_of(frames, tmp_path, overlap_files=overlap).timing["run"]
    assert 0 <= run["page_faults_per_later_event"] < 1500, run
    assert run["page_faults"] > 10_000, "those of the start are counted"
    beside = {"read-ahead", "write-behind"} if overlap == "true" else set()
    assert set(run["background_cpu_ns"]) == beside
    assert run["event_with_files_ns"] > 0 and run["event_without_files_ns"] > 0


def test_files_read_ahead_and_written_behind_are_the_same(tmp_path: Path) -> None:
    """Byte by byte, in both engines."""
    site = Site.at(tmp_path)
    frames = write_arrays(tmp_path / "adc.npz", site.busy_frames(4, 1500))
    files = {}
    for engine in ("Pgrapher", "TbbFlow"):
        for overlap in ("true", "false"):
            job(
                tmp_path,
                *site.flags,
                input=frames,
                output="signal.npz",
                engine=engine,
                overlap_files=overlap,
            )
            files[engine, overlap] = (tmp_path / "signal.npz").read_bytes()
    assert len(set(files.values())) == 1
    assert len(files["Pgrapher", "true"]) > 10_000


def test_the_parallel_engine_does_the_same_work(serial: Run, frames: Path, tmp_path: Path) -> None:
    parallel = run_of(frames, tmp_path, engine="TbbFlow")
    assert parallel.timing["run"]["engine"] == "TbbFlow"
    assert parallel.operations() == serial.operations()
    for run in (parallel, serial):
        assert run.timing["run"]["events"] == EVENTS
    # Two events in flight, each within what a serial run may take.
    assert parallel.timing["run"]["process_peak_bytes"] < 2.0e9


def test_nodes_for_single_views_take_no_more_than_twice_as_many(frames: Path, tmp_path: Path) -> None:
    """Two nodes in place of one, each with about the operations of the one."""
    check_operations(run_of(frames, tmp_path, batch="false"), most=2.1 * OPERATIONS)


@pytest.mark.skipif(not Path("/dev/nvidiactl").exists(), reason="no CUDA device")
def test_operations_on_cuda(frames: Path, tmp_path: Path) -> None:
    check_operations(run_of(frames, tmp_path, device="cuda"))
